//! Steps of its own choice: what the step just solved will miss, and what the step just integrated has missed.
//!
//! Two parts of the local error are known, as errors of the coupling variables at the end of the step. The cubic inputs differ
//! from smooth ones by `u'''' h⁴/4! · (s(s−1))²` on s in [0, 1]; the fourth derivative is that of the quintic through the previous
//! start as well, and the quartic is pushed through operators and coupling before anything is integrated. And the
//! integrated outputs minus the solved ones tell by how much the inputs ended at the wrong place; they are known after integrating, and
//! reject a step only where all systems can roll back.

use dovetail_core::{Grid, Knot, MacroStep, Signal, readable};

use super::global::Global;
use crate::coupling::Coupling;

/// A step may miss its target by this factor.
const MARGIN: f64 = 2.0;
/// Rejections of one step before it is integrated all the same.
const MOST_REJECTIONS: usize = 8;
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
    /// The local error that a step may have, relative to the range of the variable.
    target: f64,
    tolerance: f64,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// The interface at the start of the step before, and that step's size.
    before: Vec<Knot>,
    before_size: Option<f64>,
    /// Lowest and highest value of each variable.
    range: Vec<(f64, f64)>,
    /// The error that the solved step promises, in units of the target.
    promised: f64,
    rejections: usize,
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
            target: 0.15 * tolerance.powf(1.25),
            tolerance,
            size: None,
            before: vec![Knot::value_only(f64::NAN); variables],
            before_size: None,
            range: vec![(f64::INFINITY, f64::NEG_INFINITY); variables],
            promised: 0.0,
            rejections: 0,
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
        let (span, tolerance) = (self.span(), self.tolerance);
        let size = *self.size.get_or_insert_with(|| first_size(limit - reached, span, tolerance, global));
        for (range, knot) in self.range.iter_mut().zip(&coupling.start) {
            *range = (range.0.min(knot.value), range.1.max(knot.value));
        }
        let rest = limit - reached;
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
        self.promised = 0.0;
        let (Some(before_size), true) = (self.before_size, coupling.smooth) else { return true };
        let (size, count) = (step.size(), self.before.len());
        for c in 0..count {
            let end = Knot { value: solution[c], slope: solution[count + c], curvature: f64::NAN };
            let input = Signal::hermite(size, coupling.start[c], end);
            self.disturbance[c] = quartic(size, &input, before_size, self.before[c]);
        }
        global.disturb(&self.disturbance, &mut self.effect);
        global.solve(&mut self.effect);
        self.promised = self.largest();
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
        // What the inputs did wrong: in this step at its end, and in the next at its start.
        self.effect.iter_mut().zip(discrepancy).for_each(|(effect, d)| *effect = 2.0 * (*effect - d));
        let missed = self.largest();
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
        let miss = missed * self.target;
        (self.missed > 0).then(|| {
            format!(
                "{} steps were less accurate than asked, the worst at t = {} s (about {miss:.1e} of the range of a coupling \
                 variable), and could not be taken back: a smaller --tolerance or a fixed --step gives shorter steps",
                self.missed,
                readable(time)
            )
        })
    }

    fn at_shortest(&self, size: f64) -> bool {
        size <= SHORTEST * self.span()
    }

    /// The largest error among the values, in units of the target.
    fn largest(&self) -> f64 {
        let shares = self.effect.iter().zip(&self.range).map(|(error, &(low, high))| {
            let scale = (high - low).max(0.1 * low.abs().max(high.abs()));
            if *error == 0.0 { 0.0 } else { error.abs() / (scale * self.target) }
        });
        shares.fold(0.0, f64::max)
    }
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

/// The first step of a stretch of `rest`, from how fast states move and turn.
fn first_size(rest: f64, span: f64, tolerance: f64, global: &Global) -> f64 {
    let mut time_scale = f64::INFINITY;
    for here in global.local().iter().map(|task| &task.linearization) {
        for (i, (x, rate)) in here.x.iter().zip(&here.f).enumerate() {
            let turn: f64 = here.f.iter().enumerate().map(|(j, f)| here.a[(i, j)] * f).sum::<f64>() + here.f_time[i];
            let scales = [x.abs() / rate.abs(), (x.abs() / turn.abs()).sqrt()];
            let known = scales.iter().filter(|scale| **scale > 0.0);
            time_scale = known.fold(time_scale, |least, scale| least.min(*scale));
        }
    }
    (0.3 * tolerance.powf(0.25) * time_scale).min(0.1 * span).min(rest / 3.0).max(SHORTEST * span).min(rest)
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
