//! The way through time: from switching time to switching time, in steps that are proved one after the other.

use dovetail_core::list_names;

use super::outputs::Outputs;
use super::run::Failure;
use crate::api::{Options, Outcome, Stopped, Watcher};
use crate::interval::Interval;
use crate::problem::{Problem, Threshold};

/// A set that can be moved through time.
pub(super) trait Stepper {
    /// Begins a time between switching times, at `time`.
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), Failure>;
    /// Prepares a step from `time` and tells how long it may be. Functions of time may be taken as constant until `freeze_until`.
    fn propose(&mut self, time: f64, freeze_until: f64) -> Result<f64, Failure>;
    /// Proves the prepared step up to `until`.
    fn prove(&mut self, until: f64) -> Result<(), Failure>;
    /// All states now.
    fn boxes(&mut self) -> Vec<Interval>;
    /// All states at an instant of the proved step.
    fn boxes_at(&mut self, time: f64) -> Vec<Interval>;
    /// All states throughout a part of the proved step.
    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval>;
    /// Moves to the end of the proved step.
    fn advance(&mut self);
    /// Moves to `until` while switches are open, and tells the tube.
    fn cross(&mut self, until: f64, switches: &[Interval]) -> Result<Vec<Interval>, Failure>;
}

/// Steps below this part of the run are given up.
const LEAST_STEP: f64 = 1e-13;

/// Moves `stepper` from the start to the stop time.
pub(super) fn walk(
    problem: &Problem,
    options: &Options,
    stepper: &mut dyn Stepper,
    watcher: &mut dyn Watcher,
) -> Outcome {
    let visible = problem.names.len();
    let mut walk = Walk {
        problem,
        options,
        thresholds: problem.thresholds(),
        time: problem.start_time,
        steps: 0,
        rejected: 0,
        last: f64::INFINITY,
        halved: false,
        checkpoint: problem.start_time,
    };
    let mut outputs = Outputs::new(problem, options, watcher);
    outputs.begin(&stepper.boxes()[..visible]);
    let stopped = walk.through(stepper, &mut outputs).err();
    outputs.finish(walk.time, &stepper.boxes());
    Outcome {
        reached: walk.time,
        steps: walk.steps,
        rejected: walk.rejected,
        states: stepper.boxes()[..visible].to_vec(),
        stopped,
        remarks: Vec::new(),
    }
}

struct Walk<'a> {
    problem: &'a Problem,
    options: &'a Options,
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
}

impl Walk<'_> {
    fn through(
        &mut self,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Stopped> {
        let stop = self.problem.stop_time;
        while self.time < stop {
            if let Some(until) = self.open_until() {
                self.cross(until.min(stop), stepper, outputs)?;
                continue;
            }
            let end = self.next_threshold().min(stop);
            let switches = self.switches(self.time, end);
            stepper
                .enter(self.time, &switches)
                .map_err(|failure| self.blown_up(failure))?;
            while self.time < end {
                self.step(end, stepper, outputs)?;
                if !outputs.proceed(self.time) {
                    return Err(Stopped::Interrupted { time: self.time });
                }
            }
        }
        Ok(())
    }

    fn switches(&self, from: f64, to: f64) -> Vec<Interval> {
        self.thresholds
            .iter()
            .map(|threshold| threshold.throughout(from, to))
            .collect()
    }

    /// If a switch may change from now on, until when.
    fn open_until(&self) -> Option<f64> {
        let open =
            |t: &&Threshold| t.time.lo <= self.time && self.time < t.time.hi && t.before != t.after;
        self.thresholds
            .iter()
            .filter(open)
            .map(|t| t.time.hi)
            .reduce(f64::max)
    }

    /// When a switch may change next.
    fn next_threshold(&self) -> f64 {
        let changing = self.thresholds.iter().filter(|t| t.before != t.after);
        changing
            .map(|t| t.time.lo)
            .filter(|&t| t > self.time)
            .fold(f64::INFINITY, f64::min)
    }

    fn step(
        &mut self,
        end: f64,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Stopped> {
        let proposed = stepper
            .propose(self.time, end)
            .map_err(|failure| self.blown_up(failure))?;
        let limit = self.limit(end);
        let growth = if self.halved { 1.1 } else { 2.0 };
        let mut length = proposed.min(growth * self.last).min(limit - self.time);
        self.halved = false;
        let least = LEAST_STEP * (self.problem.stop_time - self.problem.start_time);
        loop {
            let until = self.until(length, limit);
            if until <= self.time {
                // Doubles are not that close together here.
                return Err(self.blown_up(Failure::NoInclusion { state: 0 }));
            }
            match stepper.prove(until) {
                Ok(()) => {
                    self.last = if until < limit {
                        length
                    } else {
                        length.max(self.last)
                    };
                    outputs.step(self.time, until, stepper);
                    stepper.advance();
                    self.time = until;
                    self.steps += 1;
                    return self.look_back(stepper);
                }
                Err(failure) => {
                    self.rejected += 1;
                    self.halved = true;
                    length *= 0.5;
                    if length <= least || failure == Failure::Disordered {
                        return Err(self.blown_up(failure));
                    }
                }
            }
        }
    }

    /// Gives up where bounds have no meaning any more: they are infinite, or time hardly moves.
    fn look_back(&mut self, stepper: &mut dyn Stepper) -> Result<(), Stopped> {
        const STEPS: usize = 2000;
        if let Some(state) = stepper.boxes().iter().position(|range| !range.is_finite()) {
            return Err(self.blown_up(Failure::NoInclusion { state }));
        }
        if self.steps.is_multiple_of(STEPS) {
            let duration = self.problem.stop_time - self.problem.start_time;
            let asked = self
                .options
                .step
                .map_or(f64::INFINITY, |step| 0.5 * STEPS as f64 * step);
            let before = std::mem::replace(&mut self.checkpoint, self.time);
            if self.time - before < asked.min(1e-4 * duration) {
                let widths: Vec<f64> = stepper.boxes().iter().map(|range| range.width()).collect();
                let widest = (0..widths.len())
                    .max_by(|&a, &b| widths[a].total_cmp(&widths[b]))
                    .unwrap_or(0);
                return Err(self.blown_up(Failure::NoInclusion { state: widest }));
            }
        }
        Ok(())
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
        if next < end - 1e-9 * step { next } else { end }
    }

    /// The end of a step of this length: exactly the limit, where it is near; two equal steps rather than a crumb.
    fn until(&self, length: f64, limit: f64) -> f64 {
        let rest = limit - self.time;
        if length >= rest * (1.0 - 1e-12) {
            limit
        } else if length > 0.5 * rest {
            self.time + 0.5 * rest
        } else {
            self.time + length
        }
    }

    /// Crosses a time at which switches are open: in one step where it is a matter of rounding, otherwise in several.
    fn cross(
        &mut self,
        until: f64,
        stepper: &mut dyn Stepper,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Stopped> {
        const PIECES: usize = 200;
        let (from, length) = (self.time, until - self.time);
        let rounding = length < 1e-9 * (self.problem.stop_time - self.problem.start_time);
        let pieces = if rounding { 1 } else { PIECES };
        for piece in 1..=pieces {
            let end = if piece == pieces {
                until
            } else {
                from + length * piece as f64 / pieces as f64
            };
            let switches = self.switches(self.time, end);
            let tube = stepper
                .cross(end, &switches)
                .map_err(|failure| self.blown_up(failure))?;
            outputs.crossed(self.time, end, &tube, &stepper.boxes());
            self.time = end;
        }
        Ok(())
    }

    fn blown_up(&self, failure: Failure) -> Stopped {
        let name = |state: usize| self.problem.name(state);
        let reason = match failure {
            Failure::Unbounded { state } => format!(
                "the derivative of `{}` is not bounded on the set reached (something is divided by zero, or a root or a logarithm of \
                 something negative); where it is not a point, a smaller box at the start may help",
                name(state)
            ),
            Failure::NoInclusion { state } | Failure::Coarse { state } => format!(
                "`{}` grows too fast, or its box has become too wide; a smaller box at the start may help",
                name(state)
            ),
            Failure::OpenLoop => {
                let variables = self
                    .problem
                    .loops
                    .as_ref()
                    .map_or_else(String::new, |l| list_names(&l.unknowns));
                format!("the loop of {variables} may have no solution, or several, there")
            }
            Failure::SwitchedLoop => {
                let variables = self
                    .problem
                    .loops
                    .as_ref()
                    .map_or_else(String::new, |l| list_names(&l.unknowns));
                format!(
                    "a switch of the loop of {variables} changes at a time that no double equals, or that depends on an \
                     uncertain parameter; write the time as a number"
                )
            }
            Failure::Disordered => "solutions may not keep their order there".to_owned(),
            Failure::Undecided { system } => format!(
                "a condition on states, or a jump, is met near `{}`, and when it changes is not known; write it with min, max \
                 or abs, or with a comparison of time and a number",
                name(self.problem.systems[system].start)
            ),
        };
        Stopped::BlownUp {
            time: self.time,
            reason,
        }
    }
}
