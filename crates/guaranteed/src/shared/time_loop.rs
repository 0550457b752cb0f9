//! The time loop: from switching time to switching time, in steps that are proved one after the
//! other.

use dovetail_core::list_names;

use super::outputs::Outputs;
use super::stepper::{Spread, StepFailure, Stepper};
use super::usefulness::Usefulness;
use crate::api::{EnclosureObserver, EnclosureOutcome, Options, StopReason};
use crate::distribution::Distribution;
use crate::interval::{Interval, widest};
use crate::problem::{Problem, Threshold};

/// Steps below this part of the run are given up.
const LEAST_STEP: f64 = 1e-13;

/// How much longer than the last one a step may be: after one that was halved, and after others.
const GROWTH_AFTER_HALVING: f64 = 1.1;
const GROWTH: f64 = 2.0;

/// The part of the run that a step takes where series do not exist.
const SINGULAR_STEP: f64 = 1e-8;

/// So many steps must get on by at least this part of the run.
const STEPS_WITHOUT_PROGRESS: usize = 2000;
const LEAST_PROGRESS: f64 = 1e-4;

/// What remains of a step is left out below this part of it.
const CRUMB: f64 = 1e-9;

/// A step that is so near to its limit ends there.
const NEARLY_ALL: f64 = 1.0 - 1e-12;

/// Times at which switches are open are a matter of rounding below this part of the run; longer
/// ones are crossed in so many steps.
const ROUNDING: f64 = 1e-9;
const CROSSING_STEPS: usize = 200;

/// Moves `stepper` from the start to the stop time.
pub(super) fn run_time_loop(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    stepper: &mut dyn Stepper,
    watcher: &mut dyn EnclosureObserver,
) -> Enclosed {
    let mut time_loop = TimeLoop::new(problem, options, distribution);
    let mut outputs = Outputs::new(problem, options, watcher);
    let stopped = time_loop.run(stepper, &mut outputs).err();
    outputs.finish(time_loop.time, stepper);
    let (states, observed) = outputs.into_last();

    let last = stepper.spread();
    let early = matches!(stopped, Some(StopReason::BlownUp { .. }));
    let outcome = EnclosureOutcome {
        reached: time_loop.time,
        steps: time_loop.steps,
        rejected: time_loop.rejected,
        states,
        observed,
        stopped,
        useful_until: early.then_some(time_loop.usefulness.until),
        pieces: 1,
        remarks: Vec::new(),
    };
    Enclosed {
        outcome,
        useful: time_loop.usefulness.spread,
        last,
    }
}

/// An enclosure, with what is to be known to do it better.
pub(super) struct Enclosed {
    pub outcome: EnclosureOutcome,
    /// What the set was when it last said much, and at the end.
    pub useful: Option<Spread>,
    pub last: Option<Spread>,
}

struct TimeLoop<'a> {
    problem: &'a Problem,
    options: &'a Options,
    distribution: &'a Distribution,
    thresholds: Vec<Threshold>,
    time: f64,
    steps: usize,
    rejected: usize,
    /// The length of the last step that was proved.
    last: f64,
    /// Whether it was shorter than first tried.
    halved: bool,
    /// When progress was last looked at.
    checkpoint: f64,
    usefulness: Usefulness,
}

/// The loop.
impl<'a> TimeLoop<'a> {
    fn new(problem: &'a Problem, options: &'a Options, distribution: &'a Distribution) -> Self {
        Self {
            problem,
            options,
            distribution,
            thresholds: problem.thresholds(),
            time: problem.start_time,
            steps: 0,
            rejected: 0,
            last: f64::INFINITY,
            halved: false,
            checkpoint: problem.start_time,
            usefulness: Usefulness::new(problem),
        }
    }

    fn run(
        &mut self,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), StopReason> {
        let stop = self.problem.stop_time;
        while self.time < stop {
            match self.open_until() {
                Some(until) => self.cross(until.min(stop), stepper, outputs)?,
                None => self.run_between_switches(stepper, outputs)?,
            }
        }
        Ok(())
    }

    /// Steps until a switch may change, or to the stop time.
    fn run_between_switches(
        &mut self,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), StopReason> {
        let end = self.next_threshold().min(self.problem.stop_time);
        let end = end.min(self.problem.next_mark(self.time));
        let switches = self.switches(self.time, end);
        stepper
            .enter(self.time, &switches)
            .map_err(|failure| self.blown_up(failure))?;
        outputs.set_switches(&switches);
        outputs.begin(stepper, true);

        while self.time < end {
            self.step(end, stepper, outputs)?;
            if !outputs.proceed(self.time) {
                return Err(StopReason::Interrupted { time: self.time });
            }
        }
        Ok(())
    }

    /// Crosses a time at which switches are open: in one step where it is a matter of rounding,
    /// otherwise in several.
    fn cross(
        &mut self,
        until: f64,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), StopReason> {
        let from = self.time;
        let length = until - from;
        let rounding = length < ROUNDING * self.problem.duration();
        let count = if rounding { 1 } else { CROSSING_STEPS };
        outputs.begin(stepper, false);

        for step in 1..=count {
            let end = if step == count {
                until
            } else {
                from + length * step as f64 / count as f64
            };
            let switches = self.switches(self.time, end);
            let tube = stepper
                .cross(end, &switches)
                .map_err(|failure| self.blown_up(failure))?;
            outputs.set_switches(&switches);
            outputs.crossed(self.time, end, &tube, &stepper.boxes());
            self.time = end;
        }
        Ok(())
    }
}

/// Switches.
impl TimeLoop<'_> {
    fn switches(&self, from: f64, to: f64) -> Vec<Interval> {
        let thresholds = self.thresholds.iter();
        thresholds
            .map(|threshold| threshold.throughout(from, to))
            .collect()
    }

    /// The times at which switches change.
    fn changes(&self) -> impl Iterator<Item = Interval> {
        let changing = self.thresholds.iter().filter(|t| t.before != t.after);
        changing.map(|threshold| threshold.time)
    }

    /// If a switch may change from now on, until when.
    fn open_until(&self) -> Option<f64> {
        self.changes()
            .filter(|time| time.lo <= self.time && self.time < time.hi)
            .map(|time| time.hi)
            .reduce(f64::max)
    }

    /// When a switch may change next.
    fn next_threshold(&self) -> f64 {
        self.changes()
            .map(|time| time.lo)
            .filter(|&time| time > self.time)
            .fold(f64::INFINITY, f64::min)
    }
}

/// One step.
impl TimeLoop<'_> {
    fn step(
        &mut self,
        end: f64,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), StopReason> {
        let proposed = match stepper.propose(self.time, end) {
            Err(failure @ StepFailure::Unbounded { .. }) => {
                return self.leave_singularity(failure, end, stepper, outputs);
            }
            proposed => proposed.map_err(|failure| self.blown_up(failure))?,
        };
        let limit = self.limit(end);
        let mut length = self.first_length(proposed).min(limit - self.time);
        self.halved = false;

        loop {
            let until = self.until(length, limit);
            if until <= self.time {
                // Doubles are not that close together here.
                return Err(self.blown_up(StepFailure::NoInclusion { state: 0 }));
            }
            match stepper.prove(until) {
                Ok(()) => {
                    self.last = if until < limit {
                        length
                    } else {
                        length.max(self.last)
                    };
                    self.complete_step(until, stepper, outputs);
                    return self.check_progress(stepper);
                }
                Err(failure) => length = self.halve(length, failure)?,
            }
        }
    }

    /// Where derivatives have no series, as that of a root at zero, but are bounded: a very short step on a box leads
    /// away from there.
    fn leave_singularity(
        &mut self,
        failure: StepFailure,
        end: f64,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), StopReason> {
        let until = self.time + SINGULAR_STEP * self.problem.duration();
        let until = until.min(self.limit(end));
        let switches = self.switches(self.time, until);
        let tube = stepper
            .cross(until, &switches)
            .map_err(|_| self.blown_up(failure))?;
        outputs.crossed(self.time, until, &tube, &stepper.boxes());
        self.time = until;
        self.steps += 1;
        self.check_progress(stepper)
    }

    /// What is proposed, unless the last step was much shorter.
    fn first_length(&self, proposed: f64) -> f64 {
        let growth = if self.halved {
            GROWTH_AFTER_HALVING
        } else {
            GROWTH
        };
        proposed.min(growth * self.last)
    }

    /// The length to try after one that could not be proved.
    fn halve(&mut self, length: f64, failure: StepFailure) -> Result<f64, StopReason> {
        self.rejected += 1;
        self.halved = true;
        let half = 0.5 * length;
        if half <= LEAST_STEP * self.problem.duration()
            || failure == StepFailure::Disordered
            || self.distribution.lost().is_some()
        {
            return Err(self.blown_up(failure));
        }

        Ok(half)
    }

    /// Reports the proved step and moves to its end.
    fn complete_step(&mut self, until: f64, stepper: &mut dyn Stepper, outputs: &mut Outputs<'_>) {
        outputs.step(self.time, until, stepper);
        stepper.advance();
        self.time = until;
        self.steps += 1;
    }

    /// Gives up where bounds have no meaning any more: they are infinite, or time hardly moves.
    fn check_progress(&mut self, stepper: &mut dyn Stepper) -> Result<(), StopReason> {
        let boxes = stepper.boxes();
        if let Some(state) = boxes.iter().position(|range| !range.is_finite()) {
            return Err(self.blown_up(StepFailure::NoInclusion { state }));
        }
        let spread = stepper.spread();
        if let Some(state) = self.usefulness.lost(self.time, &boxes, spread) {
            return Err(self.blown_up(StepFailure::NoInclusion { state }));
        }
        if !self.steps.is_multiple_of(STEPS_WITHOUT_PROGRESS) {
            return Ok(());
        }

        let before = std::mem::replace(&mut self.checkpoint, self.time);
        if self.time - before < self.least_progress() {
            let state = widest(&boxes);
            return Err(self.blown_up(StepFailure::NoInclusion { state }));
        }
        Ok(())
    }

    /// How far so many steps have to get.
    fn least_progress(&self) -> f64 {
        let steps = STEPS_WITHOUT_PROGRESS as f64;
        let asked = self
            .options
            .step
            .map_or(f64::INFINITY, |step| 0.5 * steps * step);
        asked.min(LEAST_PROGRESS * self.problem.duration())
    }

    /// Where the present macro-step has to end at the latest.
    fn limit(&self, end: f64) -> f64 {
        let Some(step) = self.options.step else {
            return end;
        };
        let start = self.problem.start_time;
        let mut next = start + ((self.time - start) / step).floor().mul_add(step, step);

        while next <= self.time {
            let further = next + step;
            if further <= next {
                return end; // doubles are not that close together here
            }
            next = further;
        }
        if next < end - CRUMB * step { next } else { end }
    }

    /// The end of a step of this length: exactly the limit, where it is near; two equal steps
    /// rather than a crumb.
    fn until(&self, length: f64, limit: f64) -> f64 {
        let rest = limit - self.time;
        if length >= rest * NEARLY_ALL {
            limit
        } else if length > 0.5 * rest {
            self.time + 0.5 * rest
        } else {
            self.time + length
        }
    }
}

/// Messages.
impl TimeLoop<'_> {
    fn blown_up(&self, failure: StepFailure) -> StopReason {
        StopReason::BlownUp {
            time: self.time,
            reason: self.reason(failure),
        }
    }

    fn reason(&self, failure: StepFailure) -> String {
        let name = |state: usize| self.problem.name(state);
        let is_unknown = |state: usize| state >= self.problem.names.len();
        match failure {
            StepFailure::NoInclusion { state }
            | StepFailure::Coarse { state }
            | StepFailure::LongOverKink { state }
                if is_unknown(state) =>
            {
                self.reason(StepFailure::OpenLoop)
            }
            StepFailure::Unbounded { state } => format!(
                "the derivative of `{}` is not bounded on the set reached (something is divided by \
                 zero, or a root or a logarithm of something negative); where it is not a point, a \
                 smaller box at the start may help",
                name(state)
            ),
            StepFailure::NoInclusion { state }
            | StepFailure::Coarse { state }
            | StepFailure::LongOverKink { state } => format!(
                "`{}` grows too fast, or its box has become too wide; smaller steps, more pieces, or a \
                 smaller box at the start may help",
                name(state)
            ),
            StepFailure::OpenLoop => format!(
                "the loop of {} may have no solution, or several, there",
                self.loop_variables()
            ),
            StepFailure::SwitchedLoop => format!(
                "a switch of the loop of {} changes at a time that no double equals, or that \
                 depends on an uncertain parameter; write the time as a number",
                self.loop_variables()
            ),
            StepFailure::Disordered => "solutions may not keep their order there".to_owned(),
            StepFailure::Undecided { system } => format!(
                "a condition on states, or a jump, is met near `{}`, and when it changes is not \
                 known; write it with min, max or abs, or with a comparison of time and a number",
                name(self.problem.systems[system].states.start)
            ),
        }
    }

    fn loop_variables(&self) -> String {
        list_names(self.problem.unknowns())
    }
}
