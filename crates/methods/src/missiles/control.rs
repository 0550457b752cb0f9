//! Steps of the method's own choice, by what the step just solved will miss and what the step just
//! integrated has missed.

use dovetail_core::{Grid, MacroStep, Notice, Remedy, readable};
use serde::{Deserialize, Serialize};

use super::step_error::StepError;
use crate::coupling::Coupling;
use crate::interface_system::InterfaceSystem;
use crate::ranges::Ranges;
use crate::rates::Rates;
use crate::saved_steps::OnGrid;
use crate::state_counts::total_states;
use crate::step_bounds::StepBounds;
use crate::step_limits::StepLimits;
use crate::time_scale::time_scale;

/// A step may miss its target by this factor.
const MARGIN: f64 = 2.0;
/// Rejections of one step before it is taken nevertheless.
const MOST_REJECTIONS: usize = 20;
/// A step that could grow by less than this stays: operators and factors stay with it.
const WORTHWHILE: f64 = 1.2;
/// A step shrinks to this part of the last one and grows by this factor at most.
const SHRINKAGE: f64 = 0.3;
const GROWTH: f64 = 2.0;
/// A step that was rejected is followed by one of this part at most.
const SHRINKAGE_AT_LEAST: f64 = 0.8;
/// The next step aims at this part of the size that would just be allowed.
const SAFETY: f64 = 0.9;
/// A step counts as whole from this part of the chosen size on: else it was cut for an event or the
/// end.
const WHOLE: f64 = 0.9;

/// The chooser of steps.
#[derive(Serialize, Deserialize)]
pub(super) struct SignalErrorController {
    limits: StepLimits,
    error: StepError,
    rates: Rates,
    /// Where states have been.
    states: Ranges,
    /// The next step; none at the start of a stretch without events.
    size: Option<f64>,
    /// The error that the solved step promises, in units of what is allowed.
    promised: f64,
    rejections: usize,
    /// The step that was integrated and rejected last.
    rejected: Option<Rejected>,
    misses: Misses,
}

/// A step that was integrated and rejected: its size, what it missed, and the size that was planned
/// before.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Rejected {
    size: f64,
    missed: f64,
    planned: f64,
}

/// Steps that missed and were taken nevertheless.
#[derive(Default, Serialize, Deserialize)]
struct Misses {
    count: u64,
    /// By how much the worst of them did, and when.
    worst: f64,
    time: f64,
}

impl Misses {
    fn record(&mut self, time: f64, error: f64) {
        self.count += 1;
        if error > self.worst {
            self.worst = error;
            self.time = time;
        }
    }
}

impl OnGrid for SignalErrorController {
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

impl SignalErrorController {
    /// Steps over the span of `grid`, within bounds, for these coupling variables.
    pub fn new(grid: Grid, tolerance: f64, bounds: StepBounds, coupling: &Coupling<'_>) -> Self {
        let limits = StepLimits::new(grid, tolerance, bounds);
        Self {
            error: StepError::new(limits.tolerance, coupling),
            limits,
            rates: Rates::new(coupling.connections),
            states: Ranges::new(total_states(coupling.connections)),
            size: None,
            promised: 0.0,
            rejections: 0,
            rejected: None,
            misses: Misses::default(),
        }
    }

    /// The next step: of the chosen size, or to the next event or the end where that is near.
    pub fn step(
        &mut self,
        reached: f64,
        event: f64,
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
    ) -> MacroStep {
        self.states.include(interface_system.states());
        let wanted = match self.size {
            Some(size) => size,
            None => {
                self.rates.locate(interface_system);
                let moved = |state: usize| self.states.moved(state);
                let scale = time_scale(coupling, interface_system, &self.rates, moved);
                self.limits.first_size(reached, event, scale)
            }
        };
        let shortest = self.limits.shortest_possible(reached);
        let size = self.limits.at_most_longest(wanted).max(shortest);
        self.size = Some(size);
        self.error.include(coupling, interface_system);

        self.limits.step_of(size, reached, event)
    }

    /// Whether the step, solved, promises to be accurate; if not the next one is shorter.
    pub fn admits(
        &mut self,
        step: MacroStep,
        coupling: &Coupling<'_>,
        solution: &[f64],
        interface_system: &mut InterfaceSystem,
    ) -> bool {
        self.promised = self
            .error
            .of_solved(step, coupling, solution, interface_system);
        let admitted = self.promised <= MARGIN || self.cannot_shrink(step);

        if !admitted {
            let factor = factor_after_promise(self.promised);
            self.reject(step, factor.clamp(SHRINKAGE, SHRINKAGE_AT_LEAST));
        }
        admitted
    }

    /// Whether the step, integrated, was accurate, by what the integrated outputs miss the solved
    /// ones by. Chooses the next size.
    pub fn judge(
        &mut self,
        step: MacroStep,
        discrepancy: &[f64],
        revocable: bool,
        interface_system: &mut InterfaceSystem,
    ) -> bool {
        let missed = self
            .error
            .of_integrated(step, discrepancy, interface_system);
        let factor = factor_after_promise(self.promised)
            .min(SAFETY * missed.powf(-0.25))
            .clamp(SHRINKAGE, GROWTH);
        let error = self.promised + missed;
        let accurate = error <= MARGIN;
        let planned = self.planned(step);
        let in_vain = self.is_in_vain(step, missed);

        if !accurate && revocable && !in_vain && !self.cannot_shrink(step) {
            self.rejected = Some(Rejected {
                size: step.size(),
                missed,
                planned,
            });
            self.reject(step, factor.min(SHRINKAGE_AT_LEAST));
            return false;
        }

        self.limits.judged(accurate);
        self.note_miss(step, error);
        self.rejections = 0;
        self.rejected = None;
        let next = if in_vain {
            planned
        } else {
            self.next_size(step, factor)
        };
        self.size = Some(self.out_of_the_shortest(step, next));

        true
    }

    /// The size that was planned before this step was rejected, if it was.
    fn planned(&self, step: MacroStep) -> f64 {
        let now = self.size.unwrap_or(step.size());
        self.rejected.map_or(now, |rejected| rejected.planned)
    }

    /// Where a shorter step misses as much, something jumps, or rounding speaks: shorter still
    /// would not help.
    fn is_in_vain(&self, step: MacroStep, missed: f64) -> bool {
        self.rejected.is_some_and(|rejected| {
            missed > 0.5 * rejected.missed && step.size() < 0.7 * rejected.size
        })
    }

    /// The next step is so many times this one.
    fn reject(&mut self, step: MacroStep, factor: f64) {
        self.rejections += 1;
        self.limits.rejected();
        self.size = Some(step.size() * factor);
    }

    fn note_miss(&mut self, step: MacroStep, error: f64) {
        // Before anything has moved there is nothing to measure by.
        if error > 2.0 * MARGIN && self.limits.any_taken() {
            self.misses.record(step.start, error);
        }
    }

    /// The size after a step that could be longer by `factor`.
    fn next_size(&self, step: MacroStep, factor: f64) -> f64 {
        // A step that was cut for an event or the end says little about the size that would have
        // been allowed.
        let whole = self.size.is_some_and(|size| step.size() >= WHOLE * size);
        if factor < 1.0 || (whole && factor >= WORTHWHILE) {
            step.size() * factor
        } else {
            self.size.unwrap_or(step.size())
        }
    }

    /// Out of what cannot be resolved, but not at one bound: predictions reach no further than what
    /// they stand on.
    fn out_of_the_shortest(&self, step: MacroStep, size: f64) -> f64 {
        if step.size() < self.limits.shortest(step.start) {
            size.max(GROWTH * step.size())
        } else {
            size
        }
    }

    fn cannot_shrink(&self, step: MacroStep) -> bool {
        self.rejections >= MOST_REJECTIONS || step.size() <= self.limits.shortest(step.start)
    }

    /// The step has been taken.
    pub fn learn(&mut self, step: MacroStep, coupling: &Coupling<'_>) {
        self.error.learn(step, coupling);
        self.limits.taken(step);
    }

    /// The interface has jumped: the stretch after it starts as the run did.
    pub fn restart(&mut self) {
        self.size = None;
        self.error.forget();
    }

    /// Half the step that could not be solved, if that is still allowed.
    pub fn halve(&mut self, step: MacroStep) -> bool {
        self.size = Some(step.size() / 2.0);
        self.rejections += 1;
        !self.cannot_shrink(step)
    }

    /// The shortest and the longest step taken.
    pub fn step_sizes(&self) -> Option<(f64, f64)> {
        self.limits.step_sizes()
    }

    /// What the user should know.
    pub fn warning(&self) -> Option<Notice> {
        let Misses { count, worst, time } = self.misses;
        let steps = if count == 1 {
            "1 step was".to_owned()
        } else {
            format!("{count} steps were")
        };

        (count > 0).then(|| {
            let text = format!(
                "{steps} less accurate than asked, the worst by a factor of {worst:.1e} \
                 at t = {} s, where shorter steps did not help or a step could not be taken back",
                readable(time)
            );
            Notice::from(text).with([Remedy::SmallerTolerance, Remedy::FixedStep])
        })
    }
}

/// By how much a step of this error, which goes with its fifth power, could be longer.
fn factor_after_promise(promised: f64) -> f64 {
    SAFETY * promised.powf(-0.2)
}
