//! What limits the steps that a controller chooses: the span of the run, events, bounds, and what
//! cannot be resolved.

use dovetail_core::{Grid, MacroStep};
use serde::{Deserialize, Serialize};

use crate::plan::towards;
use crate::saved_steps::OnGrid;
use crate::step_bounds::StepBounds;

/// A tolerance tighter than this asks for less than rounding.
const TIGHTEST: f64 = 1e-13;
/// No step is shorter than this part of the run.
const SHORTEST: f64 = 1e-12;
/// Nor than this part, once [`MOST_STRUGGLE`] is exceeded: what jumps to and fro all the time (a
/// friction that sticks and slips, a relay that slides) cannot be followed to any tolerance, and
/// the run must end some day.
const SHORTEST_IN_VAIN: f64 = 1e-5;
/// So many more steps may have been rejected or have missed than were accurate.
const MOST_STRUGGLE: u32 = 100;
/// The first step of a model in which nothing moves, as a part of the run.
const FROM_REST: f64 = 1e-6;
/// The first step of one that moves, as a part of its time scale, for a tolerance of 1; at order 4
/// it goes with the fourth root.
const FIRST_OF_TIME_SCALE: f64 = 0.3;
/// And it is no longer than this part of the run.
const FIRST_OF_RUN: f64 = 0.1;
/// So many first steps fit before the next event at least.
const FIRST_STEPS_TO_EVENT: f64 = 3.0;
/// A step below so many spacings of the clock is not worth the name.
const CLOCK_SPACINGS: f64 = 16.0;

/// The limits of a run's steps, and what has been met with so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepLimits {
    grid: Grid,
    bounds: StepBounds,
    /// No tighter than rounding.
    pub tolerance: f64,
    /// The shortest step, as a part of the run, once [`MOST_STRUGGLE`] is exceeded.
    shortest_in_vain: f64,
    /// Steps that were rejected or missed, less those that were accurate.
    struggle: u32,
    /// The shortest and the longest step taken.
    taken_shortest: f64,
    taken_longest: f64,
}

impl OnGrid for StepLimits {
    fn grid(&self) -> Grid {
        self.grid
    }

    fn set_grid(&mut self, grid: Grid) {
        self.grid = grid;
    }

    fn keeps_to_grid(&self) -> bool {
        false
    }
}

impl StepLimits {
    /// Steps over the span of `grid`, within bounds.
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds) -> Self {
        Self {
            grid,
            bounds,
            tolerance: tolerance.max(TIGHTEST),
            shortest_in_vain: SHORTEST_IN_VAIN,
            struggle: 0,
            taken_shortest: f64::INFINITY,
            taken_longest: 0.0,
        }
    }

    /// With another shortest step, as a part of the run, where shorter ones have been in vain.
    pub fn with_shortest_in_vain(self, shortest_in_vain: f64) -> Self {
        Self {
            shortest_in_vain,
            ..self
        }
    }

    fn begin(&self) -> f64 {
        self.grid.time(0)
    }

    fn stop(&self) -> f64 {
        self.grid.time(self.grid.count())
    }

    /// The length of the run, as far as sizes are parts of it.
    pub fn span(&self) -> f64 {
        (self.stop() - self.begin()).min(self.bounds.span)
    }

    /// How much time is left.
    pub fn rest(&self, reached: f64) -> f64 {
        (self.stop() - reached).min(self.span())
    }

    /// Which part of the run is over.
    pub fn passed(&self, time: f64) -> f64 {
        ((time - self.begin()) / self.span()).clamp(0.0, 1.0)
    }

    /// Where a step ends at the latest: at an event that is ahead, or at the end of the run.
    fn latest_end(&self, reached: f64, event: f64) -> f64 {
        let stop = self.stop();
        if event > reached {
            event.min(stop)
        } else {
            stop
        }
    }

    /// The first size of a stretch without events, by the time in which states move.
    pub fn first_size(&self, reached: f64, event: f64, time_scale: f64) -> f64 {
        let span = self.span();
        let rest = self.latest_end(reached, event) - reached;
        let wanted = if time_scale.is_finite() {
            let scaled = FIRST_OF_TIME_SCALE * self.tolerance.powf(0.25) * time_scale;
            scaled.min(FIRST_OF_RUN * span)
        } else {
            FROM_REST * span // everything rests: nothing tells what is to come
        };

        wanted.min(rest / FIRST_STEPS_TO_EVENT)
    }

    /// A size no longer than the bounds permit.
    pub fn at_most_longest(&self, size: f64) -> f64 {
        size.min(self.bounds.longest)
    }

    /// A step of this size, or to the next event or the end where that is near.
    pub fn step_of(&self, size: f64, reached: f64, event: f64) -> MacroStep {
        towards(reached, self.latest_end(reached, event), size)
    }

    /// The shortest step that the clock and the bounds permit.
    pub fn shortest_possible(&self, time: f64) -> f64 {
        (SHORTEST * self.span())
            .max(CLOCK_SPACINGS * f64::EPSILON * time.abs())
            .max(self.bounds.shortest)
    }

    /// The shortest step that still makes sense: longer where shorter ones have been in vain.
    pub fn shortest(&self, time: f64) -> f64 {
        let in_vain = if self.struggle > MOST_STRUGGLE {
            self.shortest_in_vain * self.span()
        } else {
            0.0
        };
        self.shortest_possible(time).max(in_vain)
    }

    /// A step was rejected.
    pub fn rejected(&mut self) {
        self.struggle += 1;
    }

    /// A step was taken, accurate or not.
    pub fn judged(&mut self, accurate: bool) {
        self.struggle = if accurate {
            self.struggle.saturating_sub(1)
        } else {
            self.struggle + 1
        };
    }

    /// A step was taken.
    pub fn taken(&mut self, step: MacroStep) {
        self.taken_shortest = self.taken_shortest.min(step.size());
        self.taken_longest = self.taken_longest.max(step.size());
    }

    /// Whether some step was taken.
    pub fn any_taken(&self) -> bool {
        self.taken_longest > 0.0
    }

    /// The shortest and the longest step taken.
    pub fn step_sizes(&self) -> Option<(f64, f64)> {
        self.any_taken()
            .then_some((self.taken_shortest, self.taken_longest))
    }
}
