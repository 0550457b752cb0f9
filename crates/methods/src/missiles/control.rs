//! Steps of its own choice: what the step just solved will miss, and what the step just integrated has missed.
//!
//! Two parts of the local error are known. The cubic inputs differ from smooth ones by `u'''' h⁴/4! · (s(s−1))²` on s in [0, 1];
//! the fourth derivative is that of the quintic through the previous start as well, and the quartic is pushed through operators
//! and coupling before anything is integrated. And the integrated outputs minus the solved ones tell by how much the inputs ended
//! at the wrong place; they are known after integrating, and reject a step only where all systems can roll back.
//!
//! Each part is measured twice, on the coupling variables: as the error of the interface at the end of the step, which the next step
//! may repair, against the tolerance; and as what the states keep of it, which adds up over the run, against a smaller target.

use dovetail_core::{Grid, Knot, MAX_DEGREE, MacroStep, Signal, readable};

use super::global::Global;
use crate::coupling::Coupling;

/// A step may miss its target by this factor.
const MARGIN: f64 = 2.0;
/// Rejections of one step before it is taken all the same.
const MOST_REJECTIONS: usize = 20;
/// Halvings of a step that cannot be solved.
const MOST_HALVINGS: usize = 20;
/// No step is shorter than this part of the run.
const SHORTEST: f64 = 1e-9;
/// A step that could grow by less than this stays: operators and factors stay with it.
const WORTHWHILE: f64 = 1.2;
const GROWTH: f64 = 2.0;

/// The chooser of steps.
pub(super) struct Controller {
    grid: Grid,
    /// What a step may leave in the states, and by how much its interface may be wrong; relative to the range of each variable.
    lasting: f64,
    passing: f64,
    tolerance: f64,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// How fast states moved at the start of the stretch.
    time_scale: f64,
    /// The interface at the start of the step before, and that step's size.
    before: Vec<Knot>,
    before_size: Option<f64>,
    /// Lowest and highest value of each variable, and what it must be measured by at least.
    range: Vec<Range>,
    /// The error that the solved step promises, in units of the target.
    promised: f64,
    rejections: usize,
    /// The shortest and the longest step taken.
    extent: (f64, f64),
    /// Steps that missed and could not be taken back, and the worst of them.
    missed: u64,
    worst: (f64, f64),
    disturbance: Vec<Signal>,
    effect: Vec<f64>,
}

impl Controller {
    /// Steps over the span of `grid`, for so many coupling variables.
    pub fn new(grid: Grid, tolerance: f64, variables: usize) -> Self {
        Self {
            grid,
            // Equal local errors: at order 4 their number grows as tol^(-1/4).
            lasting: 0.15 * tolerance.powf(1.25),
            passing: 0.2 * tolerance,
            tolerance,
            size: None,
            time_scale: f64::INFINITY,
            before: vec![Knot::value_only(f64::NAN); variables],
            before_size: None,
            range: vec![Range::default(); variables],
            promised: 0.0,
            rejections: 0,
            extent: (f64::INFINITY, 0.0),
            missed: 0,
            worst: (0.0, f64::NAN),
            disturbance: vec![Signal::constant(0.0); variables],
            effect: vec![0.0; 2 * variables],
        }
    }

    /// The next step: of the chosen size, or to the next event or the end where that is near.
    pub fn step(&mut self, reached: f64, event: f64, coupling: &Coupling<'_>, global: &Global) -> MacroStep {
        let stop = self.grid.time(self.grid.count());
        let limit = if event > reached { event.min(stop) } else { stop };
        let (span, rest) = (self.span(), limit - reached);
        if self.size.is_none() {
            self.time_scale = time_scale(global).min(span);
            let wanted = (0.3 * self.tolerance.powf(0.25) * self.time_scale).min(0.1 * span).min(rest / 3.0);
            self.size = Some(wanted.max(SHORTEST * span));
        }
        let size = self.size.unwrap_or(rest);
        for (range, knot) in self.range.iter_mut().zip(&coupling.start) {
            range.include(knot.value);
        }
        if rest <= 1.01 * size {
            MacroStep::new(reached, limit)
        } else {
            MacroStep::of_size(reached, if rest < 2.0 * size { rest / 2.0 } else { size })
        }
    }

    fn span(&self) -> f64 {
        self.grid.time(self.grid.count()) - self.grid.time(0)
    }

    /// Whether the step, solved, promises to be accurate; if not the next one is shorter.
    pub fn admits(&mut self, step: MacroStep, coupling: &Coupling<'_>, solution: &[f64], global: &mut Global) -> bool {
        let count = self.before.len();
        for (range, (value, slope)) in self.range.iter_mut().zip(solution[..count].iter().zip(&solution[count..])) {
            range.least = range.least.max(0.1 * value.abs()).max(0.1 * slope.abs() * self.time_scale);
        }
        self.promised = 0.0;
        let (Some(before_size), true) = (self.before_size, coupling.smooth) else { return true };
        let size = step.size();
        for c in 0..count {
            let end = Knot { value: solution[c], slope: solution[count + c], curvature: f64::NAN };
            let input = Signal::hermite(size, coupling.start[c], end);
            self.disturbance[c] = quartic(size, &input, before_size, self.before[c]);
        }
        global.disturb(&self.disturbance, &mut self.effect);
        global.solve(&mut self.effect);
        self.promised = self.shares(size, 1.0, global);
        let admitted = self.promised <= MARGIN || self.at_shortest(size) || self.rejections >= MOST_REJECTIONS;
        if !admitted {
            self.rejections += 1;
            self.size = Some(size * (0.9 * self.promised.powf(-0.2)).clamp(0.3, 0.8));
        }
        admitted
    }

    /// Whether the step, integrated, was accurate, by what the integrated outputs miss the solved ones by. Chooses the next size.
    pub fn judge(&mut self, step: MacroStep, discrepancy: &[f64], revocable: bool, global: &mut Global) -> bool {
        self.effect.copy_from_slice(discrepancy);
        global.solve(&mut self.effect);
        self.disturbance.fill(Signal::constant(0.0));
        // The inputs were wrong in this step at its end, and will be in the next at its start.
        let missed = self.shares(step.size(), 2.0, global);
        let factor = (0.9 * self.promised.powf(-0.2)).min(0.9 * missed.powf(-0.25)).clamp(0.3, GROWTH);
        let accurate = self.promised + missed <= MARGIN || self.at_shortest(step.size());
        if !accurate && revocable && self.rejections < MOST_REJECTIONS {
            self.rejections += 1;
            self.size = Some(step.size() * factor.min(0.8));
            return false;
        }
        if !accurate && self.promised + missed > 2.0 * MARGIN {
            self.missed += 1;
            if missed > self.worst.0 {
                self.worst = (missed, step.start);
            }
        }
        self.rejections = 0;
        // A step that was cut for an event or the end says little about the size that would have been allowed.
        let size = self.size.unwrap_or(step.size()).min(step.size() * factor.max(1.0));
        let grown = if (1.0..WORTHWHILE).contains(&factor) { size } else { step.size() * factor };
        let whole = self.size.is_some_and(|planned| step.size() >= 0.99 * planned);
        self.size = Some(if whole || factor < 1.0 { grown } else { self.size.unwrap_or(grown) });
        true
    }

    /// The step has been taken.
    pub fn learn(&mut self, step: MacroStep, coupling: &Coupling<'_>) {
        self.before.copy_from_slice(&coupling.start);
        self.before_size = Some(step.size());
        self.extent = (self.extent.0.min(step.size()), self.extent.1.max(step.size()));
    }

    /// What may interest the user.
    pub fn remark(&self) -> Option<String> {
        let (shortest, longest) = self.extent;
        let (shortest, longest) = (rounded(shortest), rounded(longest));
        (longest > 0.0).then(|| format!("steps were chosen between {shortest} and {longest} s"))
    }

    /// The interface has jumped: the stretch after it starts as the run did.
    pub fn restart(&mut self) {
        (self.size, self.before_size) = (None, None);
    }

    /// Half the step that could not be solved, if that is still allowed.
    pub fn halve(&mut self, step: MacroStep) -> bool {
        self.size = Some(step.size() / 2.0);
        self.rejections += 1;
        self.rejections <= MOST_HALVINGS && step.start + step.size() / 2.0 > step.start
    }

    /// What the user should know.
    pub fn warning(&self) -> Option<String> {
        let (missed, time) = self.worst;
        let miss = missed * self.passing;
        let steps = if self.missed == 1 { "1 step was".to_owned() } else { format!("{} steps were", self.missed) };
        (self.missed > 0).then(|| {
            format!(
                "{steps} less accurate than asked, the worst at t = {} s (by about {miss:.1e} of the range of a coupling variable): \
                 a smaller --tolerance or a fixed --step gives shorter steps",
                readable(time)
            )
        })
    }

    fn at_shortest(&self, size: f64) -> bool {
        size <= SHORTEST * self.span()
    }

    /// The largest error, in units of what is allowed: of the interface, whose end is wrong by `effect`, and of what the states
    /// keep of that and of the disturbance within the step, so many times.
    fn shares(&mut self, size: f64, times: f64, global: &Global) -> f64 {
        let count = self.range.len();
        let share = |error: f64, range: &Range, allowed: f64| error.abs() / (range.scale() * allowed);
        let passing = self.effect.iter().zip(&self.range).map(|(error, range)| share(*error, range, self.passing));
        let passing = passing.fold(0.0, f64::max);
        for (c, disturbance) in self.disturbance.iter_mut().enumerate() {
            let knot = |value: f64, slope: f64| Knot { value, slope, curvature: f64::NAN };
            let moved = Signal::hermite(size, knot(0.0, 0.0), knot(self.effect[c], self.effect[count + c]));
            *disturbance = sum(disturbance, &moved);
        }
        global.disturb_states(&self.disturbance, &mut self.effect);
        let lasting =
            self.effect.iter().zip(&self.range).map(|(error, range)| share(times * error, range, self.lasting));
        lasting.fold(passing, f64::max)
    }
}

/// Three digits are enough to tell.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

fn sum(one: &Signal, other: &Signal) -> Signal {
    let mut coefficients = [0.0; MAX_DEGREE + 1];
    for signal in [one, other] {
        coefficients.iter_mut().zip(signal.coefficients()).for_each(|(sum, c)| *sum += c);
    }
    Signal::new(&coefficients[..=one.degree().max(other.degree())])
}

/// By how much a smooth variable differs from its cubic on a step, given where it started the step before.
fn quartic(size: f64, input: &Signal, before_size: f64, before: Knot) -> Signal {
    let s = -before_size / size;
    let (weight, weight_slope) = (s * s * (s - 1.0) * (s - 1.0), 2.0 * s * (s - 1.0) * (2.0 * s - 1.0));
    let q = (before.value - input.value(-before_size)) / weight;
    let bend = (size * (before.slope - input.derivative(1, -before_size)) - q * weight_slope) / weight;
    // Where the slope at the start before is not known, the quartic through its value must do.
    let height = if bend.is_finite() { q + bend * (0.5 - s) } else { q };
    let scaled = |factor: f64, power: i32| height * factor / size.powi(power);
    Signal::new(&[0.0, 0.0, scaled(1.0, 2), scaled(-2.0, 3), scaled(1.0, 4)])
}

/// In what time states move or turn by as much as they are large.
fn time_scale(global: &Global) -> f64 {
    let mut shortest = f64::INFINITY;
    for here in global.local().iter().map(|task| &task.linearization) {
        for (i, (x, rate)) in here.x.iter().zip(&here.f).enumerate() {
            let turn: f64 = here.f.iter().enumerate().map(|(j, f)| here.a[(i, j)] * f).sum::<f64>() + here.f_time[i];
            let scales = [x.abs() / rate.abs(), (x.abs() / turn.abs()).sqrt()];
            // A state at zero tells nothing.
            shortest = scales.iter().filter(|scale| **scale > 0.0).fold(shortest, |least, scale| least.min(*scale));
        }
    }
    shortest
}

/// A variable is measured by no less than this, whatever its unit: one that stays at zero has no range.
const SMALLEST_SCALE: f64 = 1e-6;

/// What a variable's errors are measured by.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
    least: f64,
}

impl Default for Range {
    fn default() -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, least: SMALLEST_SCALE }
    }
}

impl Range {
    fn include(&mut self, value: f64) {
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    fn scale(&self) -> f64 {
        (self.high - self.low).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quartic_is_the_error_of_a_cubic_on_a_quintic() {
        // A quartic is met exactly; so is the mean over the step of a quintic's error, but for its odd part.
        let exact = Signal::new(&[1.0, -0.5, 0.3, 0.2, -0.7]);
        let (size, before_size) = (0.4, 0.3);
        let cubic = Signal::hermite(size, exact.at(0.0), exact.at(size));
        let error = quartic(size, &cubic, before_size, exact.at(-before_size));
        for elapsed in [0.1, 0.2, 0.35] {
            let expected = exact.value(elapsed) - cubic.value(elapsed);
            assert!((error.value(elapsed) - expected).abs() < 1e-14);
        }
    }
}
