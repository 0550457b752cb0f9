//! Looking for events between two points of a solution.
//!
//! Between the points, states are quintics through their values, slopes and curvatures, and inputs
//! are what they are. The switching functions are looked at in a few places, and where they come
//! close to zero more closely: good enough to see that there is an event and about where. Exactly
//! where is found by integrating to it.

use dovetail_numerics::bracketed_root;

use super::branches::Branches;
use super::clauses::Clauses;
use super::drive::Driven;
use super::shared::SwitchingShape;
use crate::held::SwitchKind;

/// Parts between two points: functions are looked at between them.
const PARTS: usize = 4;

/// A return to zero is looked for down to this power of one half of the way to the first look.
const MOST_HALVINGS: usize = 40;

/// A place where everything is known.
#[derive(Clone)]
pub(super) struct WatchPoint {
    pub elapsed: f64,
    pub states: Vec<f64>,
    pub slopes: Vec<f64>,
    pub curvatures: Vec<f64>,
    /// The switching functions and their rates.
    pub values: Vec<f64>,
    pub rates: Vec<f64>,
}

impl WatchPoint {
    fn new(states: usize, functions: usize) -> Self {
        Self {
            elapsed: 0.0,
            states: vec![0.0; states],
            slopes: vec![0.0; states],
            curvatures: vec![0.0; states],
            values: vec![0.0; functions],
            rates: vec![0.0; functions],
        }
    }

    /// Evaluates everything at these states.
    pub fn measure(&mut self, driven: &mut Driven<'_>, elapsed: f64, states: &[f64]) {
        self.elapsed = elapsed;
        self.states.copy_from_slice(states);
        let time = driven.segment.time(elapsed);
        driven.drive.set(driven.inputs, elapsed, 1);
        let at = driven.drive.point(time, states);
        driven.dynamics.derivative(at, &mut self.slopes);
        let motion = driven.drive.motion(&self.slopes);
        driven
            .dynamics
            .derivative_rate(at, motion, &mut self.curvatures);
        driven
            .dynamics
            .functions(at, motion, &mut self.values, &mut self.rates);
    }
}

/// An event between two points.
#[derive(Clone, Copy)]
pub(super) struct Crossing {
    pub function: usize,
    /// About when.
    pub elapsed: f64,
    /// The function was on its way back already where the look began.
    pub at_once: bool,
}

/// The two points, and scratch.
pub(super) struct Watch {
    pub kinds: Vec<SwitchKind>,
    /// Whether derivatives or outputs depend on a function, and not conditions of clauses alone.
    pub acting: Vec<bool>,
    pub clauses: Clauses,
    pub before: WatchPoint,
    pub after: WatchPoint,
    /// How large each function has been.
    pub spans: Vec<f64>,
    /// The functions at the ends of the parts, one row for each end.
    samples: Vec<Vec<f64>>,
    states: Vec<f64>,
    slopes: Vec<f64>,
    values: Vec<f64>,
    rates: Vec<f64>,
}

/// In parts of the way from point to point: positive at its beginning, negative at its end.
struct Bracket {
    low: (f64, f64),
    high: (f64, f64),
}

impl Watch {
    pub fn new(states: usize, shape: &SwitchingShape, clauses: Clauses) -> Self {
        let kinds = shape.kinds.clone();
        let functions = kinds.len();
        let point = WatchPoint::new(states, functions);

        Self {
            kinds,
            acting: shape.acting.clone(),
            clauses,
            before: point.clone(),
            after: point,
            spans: vec![0.0; functions],
            samples: vec![vec![0.0; functions]; PARTS + 1],
            states: vec![0.0; states],
            slopes: vec![0.0; states],
            values: vec![0.0; functions],
            rates: vec![0.0; functions],
        }
    }

    /// The next look starts where this one ended.
    pub fn go_on(&mut self) {
        std::mem::swap(&mut self.before, &mut self.after);
    }

    /// The first event between the points.
    pub fn find(&mut self, driven: &mut Driven<'_>, branches: &Branches) -> Option<Crossing> {
        self.sample(driven);
        let mut first: Option<Crossing> = None;

        for function in 0..self.kinds.len() {
            let Some(crossing) = self.find_one(driven, branches, function) else {
                continue;
            };
            if first.is_none_or(|first| crossing.elapsed < first.elapsed) {
                first = Some(crossing);
            }
        }
        first
    }

    fn sample(&mut self, driven: &mut Driven<'_>) {
        let mut samples = std::mem::take(&mut self.samples);
        for (part, sample) in samples.iter_mut().enumerate() {
            if part == 0 {
                sample.copy_from_slice(&self.before.values);
            } else if part == PARTS {
                sample.copy_from_slice(&self.after.values);
            } else {
                self.look(driven, part as f64 / PARTS as f64);
                sample.copy_from_slice(&self.values);
            }
        }
        self.samples = samples;
    }

    /// The functions at a part of the way.
    fn look(&mut self, driven: &mut Driven<'_>, share: f64) {
        let size = self.after.elapsed - self.before.elapsed;
        self.interpolate(share, size);
        let elapsed = self.before.elapsed + share * size;
        let time = driven.segment.time(elapsed);
        driven.drive.set(driven.inputs, elapsed, 1);
        let at = driven.drive.point(time, &self.states);
        let motion = driven.drive.motion(&self.slopes);
        driven
            .dynamics
            .functions(at, motion, &mut self.values, &mut self.rates);
    }

    /// States and their slopes there.
    fn interpolate(&mut self, share: f64, size: f64) {
        let values = quintic(share);
        let slopes = quintic_slope(share);
        for i in 0..self.states.len() {
            let data = [
                self.before.states[i],
                self.before.slopes[i] * size,
                self.before.curvatures[i] * size * size,
                self.after.states[i],
                self.after.slopes[i] * size,
                self.after.curvatures[i] * size * size,
            ];
            self.states[i] = weighted(&values, &data);
            self.slopes[i] = weighted(&slopes, &data) / size;
        }
    }

    fn find_one(
        &mut self,
        driven: &mut Driven<'_>,
        branches: &Branches,
        function: usize,
    ) -> Option<Crossing> {
        let kind = self.kinds[function];
        let at = |sample: &[f64]| branches.margin(kind, function, sample[function]).distance;
        let margins: [f64; PARTS + 1] = std::array::from_fn(|part| at(&self.samples[part]));
        let bracket = first_change(&margins)
            .or_else(|| self.find_dip(driven, branches, function, &margins))
            .or_else(|| self.find_return(driven, branches, function, &margins));

        if let Some(bracket) = bracket {
            let share = bracketed_root(
                |share| self.margin_at(driven, branches, function, share),
                bracket.low,
                bracket.high,
            );
            let size = self.after.elapsed - self.before.elapsed;
            return Some(Crossing {
                function,
                elapsed: self.before.elapsed + share * size,
                at_once: false,
            });
        }

        let returns = margins.iter().all(|margin| *margin <= 0.0);
        (returns && margins[PARTS] < -branches.slack[function]).then_some(Crossing {
            function,
            elapsed: self.before.elapsed,
            at_once: true,
        })
    }

    fn margin_at(
        &mut self,
        driven: &mut Driven<'_>,
        branches: &Branches,
        function: usize,
        share: f64,
    ) -> f64 {
        self.look(driven, share);
        let kind = self.kinds[function];
        branches
            .margin(kind, function, self.values[function])
            .distance
    }

    /// A function that has just crossed, moves on to its new side, and is back before the first
    /// look: a ball that bounces lower and lower.
    fn find_return(
        &mut self,
        driven: &mut Driven<'_>,
        branches: &Branches,
        function: usize,
        margins: &[f64; PARTS + 1],
    ) -> Option<Bracket> {
        let value = self.before.values[function];
        let margin = branches.margin(self.kinds[function], function, value);
        let leaves = margin.sign * self.before.rates[function] > 0.0;
        if !leaves || margins[1] >= 0.0 {
            return None;
        }

        let mut high = (1.0 / PARTS as f64, margins[1]);
        for _ in 0..MOST_HALVINGS {
            let share = 0.5 * high.0;
            let distance = self.margin_at(driven, branches, function, share);
            if distance > 0.0 {
                return Some(Bracket {
                    low: (share, distance),
                    high,
                });
            }
            high = (share, distance);
        }
        None
    }

    /// A function that comes to zero and back between two looks: where a parabola says so.
    fn find_dip(
        &mut self,
        driven: &mut Driven<'_>,
        branches: &Branches,
        function: usize,
        margins: &[f64; PARTS + 1],
    ) -> Option<Bracket> {
        let size = self.after.elapsed - self.before.elapsed;
        let slope = |point: &WatchPoint| {
            let margin = branches.margin(self.kinds[function], function, point.values[function]);
            margin.sign * point.rates[function] * size / PARTS as f64
        };
        let slopes = [slope(&self.before), slope(&self.after)];

        for lowest in lowest_places(margins, slopes) {
            let share = lowest / PARTS as f64;
            let distance = self.margin_at(driven, branches, function, share);
            if distance < 0.0 {
                let part = (lowest.ceil() as usize).saturating_sub(1);
                return Some(Bracket {
                    low: (part as f64 / PARTS as f64, margins[part]),
                    high: (share, distance),
                });
            }
        }
        None
    }
}

/// The first part in which a function that was on its side leaves it.
fn first_change(margins: &[f64; PARTS + 1]) -> Option<Bracket> {
    let mut inside: Option<usize> = None;
    for (part, &margin) in margins.iter().enumerate() {
        if margin > 0.0 {
            inside = Some(part);
        }
        if let Some(inside) = inside
            && margin < 0.0
        {
            let share = |part: usize| part as f64 / PARTS as f64;
            return Some(Bracket {
                low: (share(inside), margins[inside]),
                high: (share(part), margin),
            });
        }
    }
    None
}

/// Where parabolas through neighboring values, or through a value and the slope at an end, are
/// below zero though all values are above; in parts.
fn lowest_places(margins: &[f64; PARTS + 1], slopes: [f64; 2]) -> impl Iterator<Item = f64> {
    let places: [Option<f64>; PARTS + 1] = std::array::from_fn(|part| match part {
        0 => {
            let bend = margins[1] - margins[0] - slopes[0];
            dip(margins[0], slopes[0], bend).filter(|shift| *shift > 0.0)
        }
        PARTS => {
            let bend = margins[PARTS - 1] - margins[PARTS] + slopes[1];
            let back = dip(margins[PARTS], -slopes[1], bend).filter(|shift| *shift > 0.0);
            back.map(|shift| PARTS as f64 - shift)
        }
        _ => {
            let [left, middle, right] = [margins[part - 1], margins[part], margins[part + 1]];
            let slope = 0.5 * (right - left);
            let bend = 0.5 * (right + left) - middle;
            dip(middle, slope, bend).map(|shift| part as f64 + shift)
        }
    });

    places.into_iter().flatten()
}

/// Where `value + slope s + bend s²` is lowest, if that is below zero and within a part.
fn dip(value: f64, slope: f64, bend: f64) -> Option<f64> {
    if value <= 0.0 || bend <= 0.0 {
        return None;
    }

    let lowest = -0.5 * slope / bend;
    let depth = value + 0.5 * slope * lowest;
    (lowest.abs() <= 1.0 && depth < 0.0).then_some(lowest)
}

/// The weights of value, slope and curvature at the start, then at the end.
fn quintic(s: f64) -> [f64; 6] {
    let [s2, s3] = [s * s, s * s * s];
    let [s4, s5] = [s2 * s2, s2 * s3];
    [
        1.0 - 10.0 * s3 + 15.0 * s4 - 6.0 * s5,
        s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5,
        0.5 * s2 - 1.5 * s3 + 1.5 * s4 - 0.5 * s5,
        10.0 * s3 - 15.0 * s4 + 6.0 * s5,
        -4.0 * s3 + 7.0 * s4 - 3.0 * s5,
        0.5 * s3 - s4 + 0.5 * s5,
    ]
}

/// Their derivatives.
fn quintic_slope(s: f64) -> [f64; 6] {
    let [s2, s3] = [s * s, s * s * s];
    let s4 = s2 * s2;
    [
        -30.0 * s2 + 60.0 * s3 - 30.0 * s4,
        1.0 - 18.0 * s2 + 32.0 * s3 - 15.0 * s4,
        s - 4.5 * s2 + 6.0 * s3 - 2.5 * s4,
        30.0 * s2 - 60.0 * s3 + 30.0 * s4,
        -12.0 * s2 + 28.0 * s3 - 15.0 * s4,
        1.5 * s2 - 4.0 * s3 + 2.5 * s4,
    ]
}

fn weighted(weights: &[f64; 6], data: &[f64; 6]) -> f64 {
    weights.iter().zip(data).map(|(w, d)| w * d).sum()
}
