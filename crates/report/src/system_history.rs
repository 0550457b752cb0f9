//! What one system has answered, as curves: its variables between its own communication times.

use std::collections::VecDeque;

use dovetail_core::{Connections, Knot, Nature, Signal, Task};

use crate::variables::{Kind, Variable};

/// Points that a variable without slopes is interpolated through.
const MOST_POINTS: usize = 4;

/// Slopes that miss the change of a value by more than this part of themselves are not believed: with curvatures, and without.
const BELIEVED: [f64; 2] = [0.06, 0.25];

/// The answers of one system that are still needed: those ahead of the newest row.
///
/// A queue of one or two, but for a system that runs far ahead; it grows to what that needs and then stays.
pub(crate) struct SystemHistory {
    columns: Vec<Column>,
    segments: VecDeque<Segment>,
    /// Segments that are not needed any more, for those to come.
    spare: Vec<Segment>,
    /// Where the system stands: the time, minus infinity before the first answer, and its variables.
    reached: f64,
    now: Vec<Knot>,
    /// Earlier values since the last event, newest last, and their times.
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
}

/// A column of the row, and which of the system's variables it shows.
pub(crate) struct Column {
    pub index: usize,
    pub kind: Kind,
    pub position: usize,
    /// It jumps from value to value.
    pub held: bool,
}

/// The variables over one step.
struct Segment {
    start: f64,
    end: f64,
    /// In time elapsed since the start.
    curves: Vec<Signal>,
    /// The values at the end, as they were answered.
    values: Vec<f64>,
}

impl Column {
    pub fn new(index: usize, variable: &Variable, connections: &Connections) -> Self {
        let held = match variable.kind {
            Kind::Output => {
                connections.interfaces()[variable.system].outputs[variable.position].nature
            }
            _ => Nature::Continuous,
        } != Nature::Continuous;
        Self {
            index,
            kind: variable.kind,
            position: variable.position,
            held,
        }
    }

    /// The value after `elapsed` time, the end of what the task has done.
    #[inline]
    pub fn value(&self, task: &Task, elapsed: f64) -> f64 {
        match self.kind {
            Kind::Input => task.inputs[self.position].value(elapsed),
            Kind::State => task.response.states[self.position],
            Kind::Output => task.response.outputs[self.position].value,
            Kind::Signal => f64::NAN, // not a task's affair
        }
    }

    /// The same with slope and curvature, as far as they are known.
    fn knot(&self, task: &Task, elapsed: f64) -> Knot {
        match self.kind {
            Kind::Output => task.response.outputs[self.position],
            Kind::State => {
                let [slope, curvature] = task.response.motion[self.position];
                Knot {
                    value: task.response.states[self.position],
                    slope,
                    curvature,
                }
            }
            _ => Knot::value_only(self.value(task, elapsed)),
        }
    }
}

impl SystemHistory {
    pub fn new() -> Self {
        Self {
            columns: vec![],
            segments: VecDeque::new(),
            spare: vec![],
            reached: f64::NEG_INFINITY,
            now: vec![],
            times: vec![],
            values: vec![],
        }
    }

    pub fn add(&mut self, column: Column) {
        self.columns.push(column);
        self.now.push(Knot::value_only(f64::NAN));
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Room for the first few segments: a run that goes on as it began allocates nothing more.
    pub fn reserve(&mut self) {
        let width = self.columns.len();
        let segment = || Segment {
            start: 0.0,
            end: 0.0,
            curves: vec![Signal::constant(0.0); width],
            values: vec![0.0; width],
        };
        self.spare.extend((0..4).map(|_| segment()));
        self.segments.reserve(8);
        self.times.reserve(MOST_POINTS + 1);
        self.values = (0..=MOST_POINTS).map(|_| vec![0.0; width]).collect();
    }

    /// The newest time, or minus infinity before the first answer.
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// Starts from the row that all systems have reached together.
    pub fn seed(&mut self, time: f64, row: &[f64]) {
        self.reached = time;
        for (knot, column) in self.now.iter_mut().zip(&self.columns) {
            *knot = Knot::value_only(row[column.index]);
        }
        self.restart();
    }

    /// What was before says nothing of what comes.
    fn restart(&mut self) {
        self.times.clear();
        self.note_point();
    }

    /// Something has happened at this time, here or elsewhere: curves may have a corner there.
    pub fn expect_corner(&mut self, time: f64) {
        if self.reached == time {
            self.restart();
        }
    }

    fn note_point(&mut self) {
        if self.times.len() == MOST_POINTS {
            self.times.remove(0);
            self.values.rotate_left(1);
        }
        let place = self.times.len();
        self.times.push(self.reached);
        self.values[place]
            .iter_mut()
            .zip(&self.now)
            .for_each(|(value, knot)| *value = knot.value);
    }

    /// Adds an answer; an instant, or a second answer for the same time, replaces what was known of it. Without `curves` nobody will look between
    /// the last answer and this one.
    pub fn record(&mut self, task: &Task, curves: bool) {
        let (elapsed, first) = (elapsed(task), self.reached == f64::NEG_INFINITY);
        let again = task.step.is_instant() || self.reached == task.response.reached || first;
        if !again && curves {
            self.follow(task, elapsed);
        }
        self.reached = task.response.reached;
        for (knot, column) in self.now.iter_mut().zip(&self.columns) {
            *knot = column.knot(task, elapsed);
        }
        if again {
            if let Some(last) = self
                .segments
                .back_mut()
                .filter(|last| last.end == self.reached)
            {
                last.values
                    .iter_mut()
                    .zip(&self.now)
                    .for_each(|(value, knot)| *value = knot.value);
            }
            self.restart();
        } else {
            self.note_point();
        }
    }

    /// The curves of a step, from where the system stands to where the task has led it.
    fn follow(&mut self, task: &Task, elapsed: f64) {
        let width = self.columns.len();
        let mut segment = self.spare.pop().unwrap_or_else(|| Segment {
            start: 0.0,
            end: 0.0,
            curves: vec![Signal::constant(0.0); width],
            values: vec![0.0; width],
        });
        (segment.start, segment.end) = (self.reached, task.response.reached);
        for (i, column) in self.columns.iter().enumerate() {
            let (left, right) = (self.now[i], column.knot(task, elapsed));
            segment.values[i] = right.value;
            segment.curves[i] = match column.kind {
                Kind::Input => task.inputs[column.position],
                _ if column.held => Signal::constant(left.value),
                _ => self.curve(i, elapsed, left, right),
            };
        }
        self.segments.push_back(segment);
    }

    /// A curve between two knots: of degree 5 or 3 where derivatives are known and can be believed, otherwise through the last points, or a line.
    fn curve(&self, column: usize, size: f64, left: Knot, right: Knot) -> Signal {
        let known = |numbers: [f64; 2]| numbers.iter().all(|number| number.is_finite());
        let recent = self.recent(column, right.value);
        if known([left.slope, right.slope]) {
            let bends = known([left.curvature, right.curvature]);
            let curve = if bends {
                Signal::quintic(size, left, right)
            } else {
                Signal::hermite(size, left, right)
            };
            // Of the first points nothing follows.
            let far = self.times.len() >= 3 && bulge(&curve, size) > recent;
            if agree(size, left, right, bends) && !far {
                return curve;
            }
        }
        let curve = self.through_points(column, size, right.value);
        if bulge(&curve, size) <= 0.5 * recent {
            return curve;
        }
        let slope = (right.value - left.value) / size;
        if slope.is_finite() {
            Signal::new(&[left.value, slope])
        } else {
            Signal::constant(left.value)
        }
    }

    /// How far a variable has moved over the last points, this value included.
    fn recent(&self, column: usize, value: f64) -> f64 {
        let values = self.values[..self.times.len()]
            .iter()
            .map(|values| values[column]);
        let (low, high) = values.fold((value, value), |(low, high), value| {
            (value.min(low), value.max(high))
        });
        high - low
    }

    /// The polynomial through the last points and this value at the end of the step.
    fn through_points(&self, column: usize, size: f64, value: f64) -> Signal {
        let count = self.times.len().min(MOST_POINTS - 1);
        let first = self.times.len() - count;
        // Newton's form, the newest point first; times count from the start of the step.
        let (mut times, mut values) = ([0.0; MOST_POINTS], [0.0; MOST_POINTS]);
        (times[0], values[0]) = (size, value);
        for (place, at) in (first..self.times.len()).rev().enumerate() {
            (times[place + 1], values[place + 1]) =
                (self.times[at] - self.reached, self.values[at][column]);
        }
        interpolation(&times[..=count], &mut values[..=count])
    }

    /// Writes the values at `time` into the row and forgets what lies before.
    pub fn read(&mut self, time: f64, row: &mut [f64]) {
        while self
            .segments
            .front()
            .is_some_and(|segment| segment.end < time)
        {
            self.spare.extend(self.segments.pop_front());
        }
        match self.segments.front() {
            Some(segment) if segment.start <= time && time < self.reached => {
                let at_end = segment.end == time;
                for (i, column) in self.columns.iter().enumerate() {
                    let between = || segment.curves[i].value(time - segment.start);
                    row[column.index] = if at_end { segment.values[i] } else { between() };
                }
            }
            _ => self
                .columns
                .iter()
                .zip(&self.now)
                .for_each(|(column, knot)| row[column.index] = knot.value),
        }
    }
}

/// Whether the values at both ends of a step agree with the slopes there: their difference is about what the trapezoidal rule makes of the
/// slopes. Where something follows its input far faster than steps are, its slopes are differences of nearly equal numbers, magnified.
fn agree(size: f64, left: Knot, right: Knot, bends: bool) -> bool {
    let curvatures = if bends {
        size * size / 12.0 * (left.curvature - right.curvature)
    } else {
        0.0
    };
    let missed = right.value - left.value - size / 2.0 * (left.slope + right.slope) - curvatures;
    let believed = if bends { BELIEVED[0] } else { BELIEVED[1] };
    let moved = (right.value - left.value).abs();
    missed.abs() <= believed * (moved + size / 2.0 * (left.slope.abs() + right.slope.abs()))
}

/// How far a curve leaves the span between its ends.
fn bulge(curve: &Signal, size: f64) -> f64 {
    let (start, end) = (curve.value(0.0), curve.value(size));
    let (low, high) = (start.min(end), start.max(end));
    let beyond = |part: f64| {
        let value = curve.value(part * size);
        if value.is_finite() {
            (value - high).max(low - value).max(0.0)
        } else {
            f64::INFINITY
        }
    };
    [0.25, 0.5, 0.75]
        .into_iter()
        .map(beyond)
        .fold(0.0, f64::max)
}

/// The polynomial through these points, in powers of time; `values` become the divided differences.
fn interpolation(times: &[f64], values: &mut [f64]) -> Signal {
    let count = times.len();
    for order in 1..count {
        for i in (order..count).rev() {
            values[i] = (values[i] - values[i - 1]) / (times[i] - times[i - order]);
        }
    }
    let mut coefficients = [0.0; MOST_POINTS];
    for (i, difference) in values.iter().enumerate().rev() {
        for power in (1..count).rev() {
            coefficients[power] = coefficients[power - 1] - times[i] * coefficients[power];
        }
        coefficients[0] = difference - times[i] * coefficients[0];
    }
    Signal::new(&coefficients[..count])
}

/// The time since the step began. The size of the step, not the difference of its ends, which may be off by rounding; the
/// latter only where the system stopped early.
pub(crate) fn elapsed(task: &Task) -> f64 {
    let reached = task.response.reached;
    if reached == task.step.end {
        task.step.size()
    } else {
        reached - task.step.start
    }
}
