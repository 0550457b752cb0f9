//! How long the next step is: the rule of thumb of the paper, (28), where the step is given; where
//! it is not, by the error of the inputs.
//!
//! On each step an input is a cubic with a constant third derivative `c_n`. So its fourth
//! derivative is about `2 (c_n − c_{n−1}) / (h_n + h_{n−1})`, and it differs from a smooth input by
//! `u'''' h⁴/384` at most. That is an error of one input on one step, not of the states at the end
//! of the run; it needs no linearization.

use dovetail_core::{Grid, Knot, MacroStep, Signal};
use serde::{Deserialize, Serialize};

use crate::interface_vector::Stacking;
use crate::plan::GridPlan;
use crate::ranges::Ranges;
use crate::saved_steps::OnGrid;
use crate::step_bounds::StepBounds;
use crate::step_limits::StepLimits;

/// An input may be off by this part of the tolerance, relative to its range; and its iterations by
/// this part of that.
const SHARE: f64 = 0.1;
const ITERATED: f64 = 0.1;
/// By how much a step may miss that before it is taken back.
const MARGIN: f64 = 2.0;
/// Without the step before, the fourth derivative is not known: what the third one does is more
/// than enough.
const OF_THIRD: f64 = 1.0 / 48.0;
const OF_FOURTH: f64 = 1.0 / 384.0;
/// The first step of all, as a part of the run, and what a step may shrink or grow by.
const FIRST: f64 = 1e-4;
const SHRINKAGE: f64 = 0.2;
const GROWTH: f64 = 2.0;
const SAFETY: f64 = 0.9;
/// No step is shorter than this part of the run, once shorter ones have been in vain.
const SHORTEST_IN_VAIN: f64 = 1e-6;
/// Times that one step is taken back.
const MOST_REJECTIONS: usize = 20;

/// Where steps come from.
#[derive(Serialize, Deserialize)]
pub(super) enum StepSource {
    Given(GridPlan),
    Chosen(Chooser),
}

impl OnGrid for StepSource {
    fn grid(&self) -> Grid {
        match self {
            Self::Given(plan) => OnGrid::grid(plan),
            Self::Chosen(chooser) => chooser.grid(),
        }
    }

    fn set_grid(&mut self, grid: Grid) {
        match self {
            Self::Given(plan) => plan.set_grid(grid),
            Self::Chosen(chooser) => chooser.set_grid(grid),
        }
    }

    fn keeps_to_grid(&self) -> bool {
        matches!(self, Self::Given(_))
    }
}

impl StepSource {
    /// The shortest and the longest step, where they were chosen.
    pub fn step_sizes(&self) -> Option<(f64, f64)> {
        match self {
            Self::Given(_) => None,
            Self::Chosen(chooser) => chooser.step_sizes(),
        }
    }

    pub fn step(&self, reached: f64, event: f64) -> MacroStep {
        match self {
            Self::Given(plan) => plan.step(reached, event),
            Self::Chosen(chooser) => chooser.step(reached, event),
        }
    }

    /// A step did not converge: a shorter one may, if that is still allowed.
    pub fn shorten(&mut self, failed: MacroStep) -> bool {
        match self {
            Self::Given(plan) => plan.shorten(failed),
            Self::Chosen(chooser) => chooser.shrink(failed, 0.5),
        }
    }

    /// The tolerance of the iterations, where `tolerance` is that of the run.
    pub fn iterated(&self, tolerance: f64) -> f64 {
        match self {
            Self::Given(_) => tolerance,
            Self::Chosen(_) => ITERATED * SHARE * tolerance,
        }
    }
}

/// Steps by the error of the inputs.
#[derive(Serialize, Deserialize)]
pub(super) struct Chooser {
    limits: StepLimits,
    allowed: f64,
    size: f64,
    rejections: usize,
}

impl OnGrid for Chooser {
    fn grid(&self) -> Grid {
        self.limits.grid()
    }

    fn set_grid(&mut self, grid: Grid) {
        self.limits.set_grid(grid);
    }

    fn keeps_to_grid(&self) -> bool {
        false
    }
}

impl Chooser {
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds) -> Self {
        let limits = StepLimits::new(grid, tolerance, bounds);
        let mut chooser = Self {
            limits: limits.with_shortest_in_vain(SHORTEST_IN_VAIN),
            allowed: SHARE * tolerance,
            size: 0.0,
            rejections: 0,
        };
        chooser.restart();

        chooser
    }

    /// After the start of the run or an event: the course of the inputs is not known yet.
    pub fn restart(&mut self) {
        self.size = FIRST * self.limits.span();
    }

    fn step(&self, reached: f64, event: f64) -> MacroStep {
        let longest = self.limits.at_most_longest(self.size);
        let size = longest.max(self.limits.shortest(reached));
        self.limits.step_of(size, reached, event)
    }

    /// The shortest and the longest step taken.
    pub fn step_sizes(&self) -> Option<(f64, f64)> {
        self.limits.step_sizes()
    }

    fn shrink(&mut self, failed: MacroStep, factor: f64) -> bool {
        let may =
            self.rejections < MOST_REJECTIONS && failed.size() > self.limits.shortest(failed.start);
        self.size = failed.size() * factor;
        self.rejections += 1;
        self.limits.rejected();

        may
    }

    /// Whether a step with this error, relative to the ranges, may be taken; the size of the next
    /// one follows.
    pub fn judge(&mut self, step: MacroStep, error: InputError) -> bool {
        let excess = error.relative / self.allowed;
        let factor = SAFETY * excess.powf(-1.0 / f64::from(error.order));
        if excess > MARGIN && self.shrink(step, factor.clamp(SHRINKAGE, SAFETY)) {
            return false;
        }

        if excess <= MARGIN {
            self.limits.judged(true);
        }

        self.rejections = 0;
        // A step that was cut for an event or the end says little about the size that would have
        // been allowed.
        let whole = step.size() >= 0.9 * self.size;
        let next = step.size() * factor.clamp(SHRINKAGE, GROWTH);
        self.size = if whole || factor < 1.0 {
            next
        } else {
            self.size
        };
        self.limits.taken(step);

        true
    }
}

/// The largest error of an input on a step, relative to its range, and the power of the step with
/// which it grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputError {
    pub relative: f64,
    pub order: i32,
}

/// The errors of the inputs, from step to step.
#[derive(Serialize, Deserialize)]
pub(super) struct InputErrors {
    /// The third derivative of each variable on the step before, and that step's size; none after
    /// an event.
    thirds: Vec<f64>,
    before: Option<f64>,
    /// Of the step under way, and the largest of the run so far, absolute.
    newest: Vec<f64>,
    largest: Vec<f64>,
    now: Vec<f64>,
    /// A longer first step from the same start, whose slopes are not known: its size and inputs.
    longer: Option<f64>,
    inputs: Vec<Signal>,
}

impl InputErrors {
    pub fn new(variables: usize) -> Self {
        let zeros = || vec![0.0; variables];
        let inputs = vec![Signal::constant(0.0); variables];

        Self {
            thirds: zeros(),
            before: None,
            newest: zeros(),
            largest: zeros(),
            now: zeros(),
            longer: None,
            inputs,
        }
    }

    /// An event: what was says nothing of what comes.
    pub fn forget(&mut self) {
        self.before = None;
        self.longer = None;
    }

    /// The error of a first step without slopes at its start: by how much the inputs of a longer
    /// one differ at its end. Without a longer one it is not known, and the next try is to be
    /// shorter.
    pub fn estimate_first(
        &mut self,
        size: f64,
        start: &[Knot],
        end: &[f64],
        ranges: &Ranges,
    ) -> InputError {
        let stacking = Stacking {
            variables: start.len(),
        };
        for (c, miss) in self.newest.iter_mut().enumerate() {
            *miss = (self.inputs[c].value(size) - end[c]).abs();
        }

        let known = self.longer.is_some_and(|longer| size < longer);
        let relative = if known {
            ranges.largest_share(&self.newest)
        } else {
            f64::INFINITY
        };

        for (c, (input, knot)) in self.inputs.iter_mut().zip(start).enumerate() {
            *input = Signal::parabola_to(size, knot.value, stacking.knot(end, c));
        }

        self.now.fill(0.0);
        self.longer = Some(size);
        InputError { relative, order: 2 }
    }

    /// The error of a step that leaves `start` and arrives at values and slopes.
    pub fn estimate(
        &mut self,
        size: f64,
        start: &[Knot],
        end: &[f64],
        ranges: &Ranges,
    ) -> InputError {
        let stacking = Stacking {
            variables: start.len(),
        };
        for (c, knot) in start.iter().enumerate() {
            let Knot { value, slope, .. } = stacking.knot(end, c);
            self.now[c] =
                6.0 * (knot.slope + slope - 2.0 * (value - knot.value) / size) / (size * size);
            self.newest[c] = match self.before {
                Some(before) => {
                    let fourth = 2.0 * (self.now[c] - self.thirds[c]) / (size + before);
                    OF_FOURTH * (fourth * size.powi(4)).abs()
                }
                None => OF_THIRD * (self.now[c] * size.powi(3)).abs(),
            };
        }

        let relative = ranges.largest_share(&self.newest);
        InputError {
            relative,
            order: if self.before.is_some() { 4 } else { 3 },
        }
    }

    /// The step has been taken.
    pub fn accept(&mut self, size: f64) {
        self.largest
            .iter_mut()
            .zip(&self.newest)
            .for_each(|(largest, newest)| *largest = largest.max(*newest));
        std::mem::swap(&mut self.thirds, &mut self.now);
        self.before = Some(size);

        self.longer = None;
    }

    /// The largest error so far, relative to the ranges as they are now.
    pub fn largest(&self, ranges: &Ranges) -> f64 {
        ranges.largest_share(&self.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_derivative_of_a_quartic_is_found_over_uneven_steps() {
        let quartic = Signal::new(&[1.0, -0.5, 0.3, 0.2, -0.7]);
        let ends = |t: f64| [quartic.value(t), quartic.derivative(1, t)];
        let mut ranges = Ranges::new(1);
        ranges.include([0.0].into_iter());
        ranges.include([1.0].into_iter());
        let mut errors = InputErrors::new(1);
        errors.estimate(0.3, &[quartic.at(0.0)], &ends(0.3), &ranges);
        errors.accept(0.3);
        let error = errors.estimate(0.2, &[quartic.at(0.3)], &ends(0.5), &ranges);
        let cubic = Signal::hermite(0.2, quartic.at(0.3), quartic.at(0.5));
        let largest = (0..=20).map(|i| f64::from(i) * 0.01);
        let largest = largest
            .map(|t| (cubic.value(t) - quartic.value(0.3 + t)).abs())
            .fold(0.0, f64::max);
        assert!(
            (error.relative / largest - 1.0).abs() < 1e-9,
            "{} and {largest}",
            error.relative
        );
        assert_eq!(error.order, 4);
    }
}
