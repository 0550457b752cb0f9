//! Steps of the method's own choice: equal local errors, and a total that keeps to the tolerance.
//!
//! A step may leave `θ = κ · 0.15 · tol^(1+1/p)` in the states, relative to their ranges: at order p the number of steps grows as
//! `tol^(−1/p)`, so that the sum stays near tol. The factor κ follows from the global error as it is estimated on the way.

use dovetail_core::{Grid, MacroStep};

use crate::plan::towards;
use crate::shape::Shape;
use crate::step_bounds::StepBounds;

/// Tighter than this the error is rounding.
const TIGHTEST: f64 = 1e-13;
/// No step is shorter than this part of the run.
const SHORTEST: f64 = 1e-12;
/// Nor than this one, once so many more steps were refused or missed than were accurate: what jumps to and fro all the time (a
/// friction that sticks and slips, a relay that slides) cannot be followed to any tolerance, and the run must end some day.
const SHORTEST_IN_VAIN: f64 = 1e-5;
const MOST_STRUGGLE: u32 = 100;
/// The first step of a model in which nothing moves, as a part of the run.
const FROM_REST: f64 = 1e-6;
/// Refusals of one step before it is taken all the same.
const MOST_REFUSALS: usize = 8;
/// By how much what is known before integrating may exceed its share: the interpolation error, and that of the ends as expected.
const MARGINS: [f64; 2] = [1.5, 3.0];
/// By how much the error may, where a step can be corrected or taken back.
pub(super) const PATIENCE: f64 = 5.0;
/// Loops that magnify by more than this ask for shorter steps, and beyond the second number for no shorter ones.
const MAGNIFYING: f64 = 5.0;
const MOST_MAGNIFYING: f64 = 1e3;
const SAFETY: f64 = 0.9;
const GROWTH: f64 = 1.5;
/// After an event the first size is a guess.
const FIRST_GROWTH: f64 = 2.5;
const FIRST_STEPS: usize = 6;

/// The chooser of steps.
pub(super) struct Controller {
    grid: Grid,
    bounds: StepBounds,
    tolerance: f64,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// Steps since the last event, and of the run.
    since_event: usize,
    steps: u64,
    refusals: usize,
    struggle: u32,
    /// `κ`, and the largest recent global error.
    share: f64,
    global_error: f64,
    /// The largest magnification by loops so far.
    magnification: f64,
    /// The shortest and the longest step taken.
    pub extent: (f64, f64),
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

impl Controller {
    /// Steps over the span of `grid`, within bounds.
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds) -> Self {
        Self {
            grid,
            bounds,
            tolerance: tolerance.max(TIGHTEST),
            size: None,
            since_event: 0,
            steps: 0,
            refusals: 0,
            struggle: 0,
            share: 1.0,
            global_error: 0.0,
            magnification: 1.0,
            extent: (f64::INFINITY, 0.0),
        }
    }

    fn span(&self) -> f64 {
        self.grid.time(self.grid.count()) - self.grid.time(0)
    }

    /// How much time is left.
    pub fn rest(&self, reached: f64) -> f64 {
        self.grid.time(self.grid.count()) - reached
    }

    /// A time in which the interface moves.
    pub fn usual_size(&self) -> f64 {
        self.size.unwrap_or(1e-3 * self.span())
    }

    /// What a step may leave in the states: `θ`.
    pub fn allowed(&self, shape: Shape) -> f64 {
        let order = if shape == Shape::Quintic { 5.0 } else { 4.0 };
        self.share * 0.15 * self.tolerance.powf(1.0 + 1.0 / order)
            / (self.magnification / MAGNIFYING).max(1.0)
    }

    /// The next step: of the chosen size, within `trust`, or to the next event or the end where that is near. `scale` is the time in
    /// which states move.
    pub fn step(
        &mut self,
        reached: f64,
        event: f64,
        trust: f64,
        scale: impl FnOnce() -> f64,
    ) -> MacroStep {
        let stop = self.grid.time(self.grid.count());
        let limit = if event > reached {
            event.min(stop)
        } else {
            stop
        };
        let (span, rest) = (self.span(), limit - reached);
        let size = self.size.unwrap_or_else(|| match scale() {
            known if known.is_finite() => (0.3 * self.tolerance.powf(0.25) * known)
                .min(0.1 * span)
                .min(rest / 3.0),
            _ => (FROM_REST * span).min(rest / 3.0), // everything rests: nothing tells what is to come
        });
        let size = size
            .min(trust)
            .min(self.bounds.longest)
            .max(self.shortest(reached));
        self.size = Some(size);
        towards(reached, limit, size)
    }

    fn shortest(&self, time: f64) -> f64 {
        let in_vain = if self.struggle > MOST_STRUGGLE {
            SHORTEST_IN_VAIN * self.span()
        } else {
            0.0
        };
        (SHORTEST * self.span())
            .max(16.0 * f64::EPSILON * time.abs())
            .max(in_vain)
            .max(self.bounds.shortest)
    }

    /// Whether a step may be refused once more.
    pub fn may_refuse(&self, step: MacroStep) -> bool {
        self.refusals < MOST_REFUSALS && step.size() > self.shortest(step.start)
    }

    /// Whether a step, solved, promises to be accurate; if not the next one is shorter.
    pub fn admits(&mut self, step: MacroStep, shape: Shape, expected: Parts) -> bool {
        let allowed = self.allowed(shape);
        let excess = [
            expected.interpolation / MARGINS[0],
            expected.ends / MARGINS[1],
        ]
        .map(|part| part / allowed);
        if excess.iter().all(|excess| *excess <= 1.0) || !self.may_refuse(step) {
            return true;
        }
        let factor = factor(shape, allowed, expected);
        self.refuse(step, factor.max(0.3));
        false
    }

    /// The next step is so many times this one.
    pub fn refuse(&mut self, step: MacroStep, factor: f64) {
        self.refusals += 1;
        self.struggle += 1;
        self.size = Some(step.size() * factor.clamp(0.1, 0.9));
    }

    /// A step has been taken: the size of the next.
    pub fn accept(&mut self, step: MacroStep, shape: Shape, error: Parts) {
        let allowed = self.allowed(shape);
        let growth = if self.since_event < FIRST_STEPS {
            FIRST_GROWTH
        } else {
            GROWTH
        };
        let factor = factor(shape, allowed, error).clamp(0.3, growth);
        // A step that was cut for an event or the end says little about the size that would have been allowed.
        let whole = self.size.is_none_or(|size| step.size() >= 0.9 * size);
        self.size = Some(if whole || factor < 1.0 {
            step.size() * factor
        } else {
            self.size.unwrap_or(step.size())
        });
        if step.size() <= self.shortest(step.start) {
            self.size = self.size.map(|size| size.max(2.0 * step.size()));
        }
        let accurate = error.total <= 10.0 * allowed;
        self.struggle = if accurate {
            self.struggle.saturating_sub(1)
        } else {
            self.struggle + 1
        };
        self.since_event += 1;
        self.steps += 1;
        self.refusals = 0;
        self.extent = (
            self.extent.0.min(step.size()),
            self.extent.1.max(step.size()),
        );
    }

    /// Loops magnify errors of states by so much: what goes round in them is to keep to the tolerance too.
    pub fn allow_for_loops(&mut self, magnification: f64) {
        self.magnification = self.magnification.max(magnification.min(MOST_MAGNIFYING));
    }

    /// The global error as estimated at `time`, in units of the ranges, steers what steps may leave.
    pub fn steer(&mut self, time: f64, error: f64) {
        self.global_error = error.max(0.97 * self.global_error);
        if self.steps > 8 && self.global_error > 0.0 {
            let passed = ((time - self.grid.time(0)) / self.span()).clamp(0.0, 1.0);
            let factor = (0.3 * self.tolerance * passed.sqrt() / self.global_error).powf(0.01);
            self.share = (self.share * factor).clamp(0.05, 2.0);
        }
    }

    /// The interface has jumped: the stretch after it starts as the run did.
    pub fn restart(&mut self) {
        (self.size, self.since_event) = (None, 0);
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
