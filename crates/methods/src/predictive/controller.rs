//! Steps of the method's own choice: equal local errors, and a total that keeps to the tolerance.
//!
//! A step may leave `θ = κ · 0.15 · tol^(1+1/p)` in the states, relative to their ranges: at order
//! p the number of steps grows as `tol^(−1/p)`, so that the sum stays near tol. The factor κ
//! follows from the global error as it is estimated on the way.

use dovetail_core::{Grid, MacroStep};
use serde::{Deserialize, Serialize};

use super::tuning::{
    ACCURATE, ALLOWED, FIRST_GROWTH, FIRST_STEPS, GLOBAL_ERROR_DECAY, GROWTH, MAGNIFYING, MARGINS,
    MOST_MAGNIFYING, MOST_REFUSALS, OUT_OF_SHORTEST, REFUSED_AT_LEAST, REFUSED_AT_MOST, SAFETY,
    SHARES, SHRINKAGE, STEERED, STEERING, STEERING_AFTER, USUAL_OF_RUN, WHOLE,
};
use crate::saved_steps::OnGrid;
use crate::shape::Shape;
use crate::step_bounds::StepBounds;
use crate::step_limits::StepLimits;

/// The chooser of steps.
#[derive(Serialize, Deserialize)]
pub(super) struct Controller {
    limits: StepLimits,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// Steps since the last event, and of the run.
    since_event: usize,
    steps: u64,
    refusals: usize,
    /// `κ`, and the largest recent global error.
    share: f64,
    global_error: f64,
    /// The largest magnification by loops so far.
    magnification: f64,
}

/// What a step leaves in the states, in units of their ranges: the largest of each part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    pub interpolation: f64,
    pub ends: f64,
    /// Both together, with their signs.
    pub total: f64,
    /// Points that the memory extrapolates through.
    pub points: usize,
}

impl OnGrid for Controller {
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

impl Controller {
    /// Steps over the span of `grid`, within bounds.
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds) -> Self {
        Self {
            limits: StepLimits::new(grid, tolerance, bounds),
            size: None,
            since_event: 0,
            steps: 0,
            refusals: 0,
            share: 1.0,
            global_error: 0.0,
            magnification: 1.0,
        }
    }

    /// How much time is left.
    pub fn rest(&self, reached: f64) -> f64 {
        self.limits.rest(reached)
    }

    /// A time in which the interface moves.
    pub fn usual_size(&self) -> f64 {
        self.size.unwrap_or(USUAL_OF_RUN * self.limits.span())
    }

    /// What a step may leave in the states: `θ`.
    pub fn allowed(&self, shape: Shape) -> f64 {
        let order = if shape == Shape::Quintic { 5.0 } else { 4.0 };
        let without_loops = self.share * ALLOWED * self.limits.tolerance.powf(1.0 + 1.0 / order);
        without_loops / (self.magnification / MAGNIFYING).max(1.0)
    }

    /// The next step: of the chosen size, within `trust`, or to the next event or the end where
    /// that is near. `time_scale` is the time in which states move.
    pub fn step(
        &mut self,
        reached: f64,
        event: f64,
        trust: f64,
        time_scale: impl FnOnce() -> f64,
    ) -> MacroStep {
        let limits = &self.limits;
        let wanted = self
            .size
            .unwrap_or_else(|| limits.first_size(reached, event, time_scale()));
        let longest = limits.at_most_longest(wanted.min(trust));
        let size = longest.max(limits.shortest(reached));
        self.size = Some(size);

        limits.step_of(size, reached, event)
    }

    /// Whether a step may be refused once more.
    pub fn may_refuse(&self, step: MacroStep) -> bool {
        self.refusals < MOST_REFUSALS && step.size() > self.limits.shortest(step.start)
    }

    /// Whether a step, solved, promises to be accurate; if not the next one is shorter.
    pub fn admits(&mut self, step: MacroStep, shape: Shape, expected: Parts) -> bool {
        let allowed = self.allowed(shape);
        let parts = [expected.interpolation, expected.ends];
        let within = |(part, margin): (&f64, f64)| part / margin / allowed <= 1.0;
        if parts.iter().zip(MARGINS).all(within) || !self.may_refuse(step) {
            return true;
        }

        let factor = factor(shape, allowed, expected);
        self.refuse(step, factor.max(SHRINKAGE));
        false
    }

    /// The next step is so many times this one.
    pub fn refuse(&mut self, step: MacroStep, factor: f64) {
        self.refusals += 1;
        self.limits.rejected();
        self.size = Some(step.size() * factor.clamp(REFUSED_AT_MOST, REFUSED_AT_LEAST));
    }

    /// A step has been taken: the size of the next.
    pub fn accept(&mut self, step: MacroStep, shape: Shape, error: Parts) {
        let allowed = self.allowed(shape);
        let factor = factor(shape, allowed, error).clamp(SHRINKAGE, self.growth());
        self.size = Some(self.next_size(step, factor));
        self.limits.judged(error.total <= ACCURATE * allowed);
        self.limits.taken(step);
        self.since_event += 1;
        self.steps += 1;

        self.refusals = 0;
    }

    fn growth(&self) -> f64 {
        if self.since_event < FIRST_STEPS {
            FIRST_GROWTH
        } else {
            GROWTH
        }
    }

    /// The size after a step that could be longer by `factor`.
    fn next_size(&self, step: MacroStep, factor: f64) -> f64 {
        // A step that was cut for an event or the end says little about the size that would have
        // been allowed.
        let whole = self.size.is_none_or(|size| step.size() >= WHOLE * size);
        let size = if whole || factor < 1.0 {
            step.size() * factor
        } else {
            self.size.unwrap_or(step.size())
        };

        if step.size() <= self.limits.shortest(step.start) {
            size.max(OUT_OF_SHORTEST * step.size())
        } else {
            size
        }
    }

    /// Loops magnify errors of states by so much: what goes round in them is to keep to the
    /// tolerance too.
    pub fn allow_for_loops(&mut self, magnification: f64) {
        self.magnification = self.magnification.max(magnification.min(MOST_MAGNIFYING));
    }

    /// The global error as estimated at `time`, in units of the ranges, steers what steps may
    /// leave.
    pub fn steer(&mut self, time: f64, error: f64) {
        self.global_error = error.max(GLOBAL_ERROR_DECAY * self.global_error);
        if self.steps > STEERING_AFTER && self.global_error > 0.0 {
            let passed = self.limits.passed(time);
            let wanted = STEERED * self.limits.tolerance * passed.sqrt();
            let factor = (wanted / self.global_error).powf(STEERING);
            let [least, most] = SHARES;
            self.share = (self.share * factor).clamp(least, most);
        }
    }

    /// The interface has jumped: the stretch after it starts as the run did.
    pub fn restart(&mut self) {
        self.size = None;
        self.since_event = 0;
    }

    /// The shortest and the longest step taken.
    pub fn step_sizes(&self) -> Option<(f64, f64)> {
        self.limits.step_sizes()
    }
}

/// By how much a step of this error could be longer.
fn factor(shape: Shape, allowed: f64, error: Parts) -> f64 {
    let order = if error.interpolation >= error.ends {
        2 * shape.orders() + 1
    } else {
        error.points + 3
    };
    SAFETY * (allowed / error.total).powf(1.0 / order as f64)
}
