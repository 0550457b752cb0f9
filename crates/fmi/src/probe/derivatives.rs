//! Whether the derivatives of outputs are slopes.

use dovetail_core::StepRule;

use super::{MOVING, Probe};
use crate::abilities::OutputSlopes;
use crate::experiment::{Experiment, ExperimentFailure, Observation};
use crate::finding::{Capability, Finding};
use crate::measures::relative_distance;

/// Slopes that differ by more, relative to the largest, before and after next to nothing are none.
const CONTINUOUS: f64 = 0.1;
/// Slopes agree if they differ by less, relative to the largest.
const SLOPES: f64 = 1e-2;

/// Under which circumstances slopes are asked for.
#[derive(Clone, Copy)]
struct Circumstances {
    at_start: bool,
    offset: f64,
}

impl Circumstances {
    const fn new(at_start: bool, offset: f64) -> Self {
        Self { at_start, offset }
    }
}

/// From before the first step if the FMU can, under inputs that move it if it takes them.
const ATTEMPTS: [Circumstances; 5] = [
    Circumstances::new(true, MOVING),
    Circumstances::new(true, 0.1 * MOVING),
    Circumstances::new(true, 0.0),
    Circumstances::new(false, MOVING),
    Circumstances::new(false, 0.0),
];

impl Probe<'_> {
    /// Are the derivatives of outputs numbers, and not always zero while the outputs move? Where
    /// directional derivatives give the slopes too, both must agree: some FMUs only take the
    /// difference of their last two answers.
    pub(super) fn try_output_derivatives(&mut self, orders: usize) {
        let finding = match self.reported_slopes(orders) {
            Ok(seen) => self.judge_output_derivatives(&seen),
            Err(why) => Capability::OutputDerivatives.fails(why.to_string()),
        };
        if !finding.holds() {
            let able = &mut self.abilities;
            let chained = able.linearizes && !able.derivatives_leave_traces;
            able.slopes = if chained {
                OutputSlopes::Chained
            } else {
                OutputSlopes::Unknown
            };
        }
        self.findings.push(finding);
    }

    fn judge_output_derivatives(&mut self, seen: &Observation) -> Finding {
        let capability = Capability::OutputDerivatives;
        // Not in the first step, where outputs may have moved because the inputs jumped.
        let moved = seen.outputs_move_after_first_step();

        if let Some(fault) = self.fault_of_slopes(seen, moved) {
            capability.fails(fault)
        } else if moved {
            capability.holds("they are finite and move")
        } else {
            capability.believed("nothing moves by itself where it was tried")
        }
    }

    fn fault_of_slopes(&mut self, seen: &Observation, moved: bool) -> Option<&'static str> {
        let after_steps = &seen.slopes[1.min(seen.slopes.len())..];
        if after_steps.iter().flatten().any(|slope| !slope.is_finite()) {
            return Some("they are not finite numbers");
        }
        if moved && after_steps.iter().flatten().all(|slope| *slope == 0.0) {
            return Some("they are always 0, while the outputs move");
        }

        if let [.., last, hardly] = after_steps
            && self.abilities.step == StepRule::Free
            && relative_distance(last, hardly) > CONTINUOUS
        {
            return Some("they are differences of its last answers, not slopes");
        }

        if self.abilities.linearizes && self.chained_are_better(seen) {
            return Some(
                "they are further from the slopes of its outputs than what its directional \
                 derivatives give",
            );
        }
        None
    }

    fn slopes(
        &mut self,
        by: OutputSlopes,
        at: Circumstances,
    ) -> Result<Observation, ExperimentFailure> {
        self.try_out(Experiment::OutputSlopes {
            early: self.early(),
            by,
            at_start: at.at_start,
            offset: at.offset,
        })
    }

    /// The slopes that the FMU reports, where it moves by itself if it does somewhere.
    fn reported_slopes(&mut self, orders: usize) -> Result<Observation, ExperimentFailure> {
        let by = OutputSlopes::Reported(orders);
        let Some((seen, circumstances)) = self.best_attempt(by) else {
            return self.slopes(by, Circumstances::new(false, 0.0));
        };
        self.abilities.slopes_at_start = circumstances.at_start;
        self.moving = circumstances.offset;

        Ok(seen)
    }

    /// The first attempt in which outputs move, and not only because inputs have jumped; else the
    /// first that succeeds.
    fn best_attempt(&mut self, by: OutputSlopes) -> Option<(Observation, Circumstances)> {
        let mut first = None;
        for circumstances in ATTEMPTS {
            let Ok(seen) = self.slopes(by, circumstances) else {
                continue;
            };
            if seen.outputs_move_after_first_step() {
                return Some((seen, circumstances));
            }
            first.get_or_insert((seen, circumstances));
        }
        first
    }

    /// Whether directional derivatives give slopes that are clearly nearer to a central difference
    /// of the outputs. They know nothing of outputs that move with time by themselves.
    fn chained_are_better(&mut self, reported: &Observation) -> bool {
        let circumstances = Circumstances::new(false, self.moving);
        let Ok(chained) = self.slopes(OutputSlopes::Chained, circumstances) else {
            return false;
        };
        // The input has jumped in the first step; the difference is that around the second.
        let Some(difference) = self.central_difference(reported) else {
            return false;
        };
        let error = |seen: &Observation| {
            let slopes = seen.slopes.get(2)?;
            Some(relative_distance(slopes, &difference))
        };
        let (Some(reported), Some(chained)) = (error(reported), error(&chained)) else {
            return false;
        };

        // Where asking for derivatives moves the FMU, what they give after a step is spoilt by
        // that.
        reported > SLOPES && (self.abilities.derivatives_leave_traces || chained < 0.5 * reported)
    }

    /// Slopes of the outputs around the second step, by differences.
    fn central_difference(&self, seen: &Observation) -> Option<Vec<f64>> {
        let [_, before, _, after, ..] = &seen.readings[..] else {
            return None;
        };
        let slope = |&at: &usize| (after[at] - before[at]) / (2.0 * self.size);
        Some(self.subject.smooth.iter().map(slope).collect())
    }
}
