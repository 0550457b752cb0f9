//! FMUs are tried out in child processes: what one of them does there harms nobody.
//!
//! An instance is kept between experiments and reset, where that was seen to work: after steps
//! under other inputs it starts, once it is reset, exactly as a fresh one did. Whatever speaks
//! against it later (an experiment that fails on an instance that was reset and not on a fresh one,
//! an instance that in the end does not start as a fresh one did) has the FMU tried once more from
//! the beginning, with a fresh instance for each experiment.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dovetail_fmi::{
    Attempted, Baseline, CallLog, Experiment, ExperimentFailure, ExperimentRunner, InputCourse,
    InstanceChoice, Observation, TestBench,
};
use dovetail_workers::{ProcessError, ProcessLoss, ProcessPool, TaskProcess};
use serde::{Deserialize, Serialize};

use super::source::FmuOrigin;
use crate::process::child_task::{self, ChildTask};

/// So long an experiment may take, where the user has not set a limit.
const LIMIT: Duration = Duration::from_secs(60);

/// So long it may take to see whether an FMU can be reset, beside so many times what its first
/// experiment took. One that hangs there is not worth waiting for: it can do without.
const RESET_LIMIT: Duration = Duration::from_secs(5);
const RESET_FACTOR: u32 = 10;

/// What the inputs do in the steps after which an FMU is reset: some FMUs do not take others than
/// their own.
const DIRTY_COURSES: [InputCourse; 2] = [InputCourse::Moved(0.5), InputCourse::Held];

/// An FMU and the log of its calls, as other processes know them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbedFmu {
    origin: FmuOrigin,
    /// The file in which calls are written down, and the name of the system.
    log: Option<(PathBuf, String)>,
}

impl ProbedFmu {
    /// Does something on the test bench of the FMU; a process that tries one thing after the other
    /// has one.
    fn on_bench<T>(
        &self,
        act: impl FnOnce(&mut TestBench, &FmuOrigin) -> T,
    ) -> Result<T, ExperimentFailure> {
        static BENCH: Mutex<Option<TestBench>> = Mutex::new(None);
        let mut bench = BENCH.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_this = |bench: &TestBench| bench.fmu().path() == self.origin.path;

        if !bench.as_ref().is_some_and(is_of_this) {
            *bench = Some(self.bench()?);
        }

        let bench = bench.as_mut().expect("BUG: there is a bench now");
        Ok(act(bench, &self.origin))
    }

    fn bench(&self) -> Result<TestBench, ExperimentFailure> {
        let log = match &self.log {
            Some((path, system)) => Some(CallLog::of_probe(path, system).map_err(|error| {
                let text = format!("{} cannot be written: {error}", path.display());
                ExperimentFailure::Refused(text)
            })?),
            None => None,
        };
        Ok(TestBench::new(self.origin.open()?, log))
    }
}

/// One experiment with an FMU, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeTask {
    fmu: ProbedFmu,
    experiment: Experiment,
    choice: InstanceChoice,
}

impl ChildTask for ProbeTask {
    const NAME: &'static str = "probe";
    type Answer = Result<Attempted, ExperimentFailure>;

    fn carry_out(self) -> Self::Answer {
        self.fmu.on_bench(|bench, origin| {
            bench.carry_out(&origin.settings, origin.step, &self.experiment, self.choice)
        })
    }
}

/// Whether an FMU can be reset, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ResetTask {
    fmu: ProbedFmu,
    baseline: Baseline,
    course: Option<InputCourse>,
}

impl ChildTask for ResetTask {
    const NAME: &'static str = "reset";
    type Answer = Result<bool, ExperimentFailure>;

    fn carry_out(self) -> Self::Answer {
        let verified = self.fmu.on_bench(|bench, origin| {
            bench.verify_reset(&origin.settings, origin.step, &self.baseline, self.course)
        });
        verified?
    }
}

/// The instance that was kept is freed, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FreeTask {
    fmu: ProbedFmu,
}

impl ChildTask for FreeTask {
    const NAME: &'static str = "free";
    type Answer = Result<(), ExperimentFailure>;

    fn carry_out(self) -> Self::Answer {
        self.fmu.on_bench(|bench, _| bench.free_instance())
    }
}

/// Whether instances can be reset in a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reset {
    Untried,
    Works,
}

/// A child process, and what is known of its instances.
struct Child {
    helper: TaskProcess,
    reset: Reset,
    /// It has an instance that may be reset.
    keeps: bool,
}

/// Child processes in which one FMU is tried.
pub(crate) struct ChildExperiments<'a> {
    pool: &'a ProcessPool,
    fmu: ProbedFmu,
    /// The process of the last experiment, where it is fit for another.
    child: Option<Child>,
    /// Only one instance may be made in a process: the FMU says so.
    single: bool,
    /// The same, found out.
    found_single: bool,
    /// A second instance was made in a process, and worked.
    second_instance_works: bool,
    /// How a fresh instance starts, and how long that took.
    baseline: Option<(Baseline, Duration)>,
    /// Instances are not reset: every experiment has a fresh one.
    fresh_only: bool,
    /// Experiments were carried out on instances that were not as good as fresh, or may have been.
    doubtful: bool,
    /// It did not answer in time.
    silent: Option<String>,
}

impl<'a> ChildExperiments<'a> {
    /// For an FMU; `single` where only one instance of it may be made in a process. Its calls are
    /// written down as those of a system, where there is a log.
    pub fn new(
        pool: &'a ProcessPool,
        origin: &FmuOrigin,
        single: bool,
        log: Option<(PathBuf, String)>,
    ) -> Self {
        let origin = origin.clone();
        Self {
            pool,
            fmu: ProbedFmu { origin, log },
            child: None,
            single,
            found_single: false,
            second_instance_works: false,
            baseline: None,
            fresh_only: false,
            doubtful: false,
            silent: None,
        }
    }

    fn limit(&self) -> Duration {
        self.pool.limit().unwrap_or(LIMIT)
    }

    fn take_child(&mut self) -> Result<Child, ExperimentFailure> {
        match self.child.take() {
            Some(child) => Ok(child),
            None => self.start_child(),
        }
    }

    fn start_child(&self) -> Result<Child, ExperimentFailure> {
        let helper = self.pool.helper().map_err(|error| {
            let text = format!("no process could be started to try it out in: {error}");
            ExperimentFailure::Refused(text)
        })?;
        Ok(Child {
            helper,
            reset: Reset::Untried,
            keeps: false,
        })
    }

    fn is_single(&self) -> bool {
        self.single || self.found_single
    }

    fn attempt(
        &mut self,
        experiment: &Experiment,
        choice: InstanceChoice,
    ) -> Result<Observation, ExperimentFailure> {
        let limit = self.limit();
        let mut child = self.take_child()?;
        let task = ProbeTask {
            fmu: self.fmu.clone(),
            experiment: experiment.clone(),
            choice,
        };
        let Attempted { seen, kept } =
            child_task::run(&mut child.helper, &task, limit).map_err(failure)??;
        child.keeps = kept;
        let spoiled = matches!(
            seen,
            Err(ExperimentFailure::Crashed(_) | ExperimentFailure::NoInstance(_))
        );
        let is_fit = !spoiled && (kept || !self.is_single());
        self.child = Some(child).filter(|_| is_fit);

        seen
    }
}

/// Experiments on fresh instances.
impl ChildExperiments<'_> {
    fn carry_out_fresh(
        &mut self,
        experiment: &Experiment,
    ) -> Result<Observation, ExperimentFailure> {
        self.free_kept();
        let choice = if self.fresh_only {
            InstanceChoice::Fresh
        } else {
            InstanceChoice::FreshToKeep
        };
        let again_in_one_process = self.child.is_some();
        let began = Instant::now();
        let seen = match self.attempt(experiment, choice) {
            Err(ExperimentFailure::Silent(why)) => {
                self.silent = Some(why.clone());
                Err(ExperimentFailure::Silent(why))
            }
            // Perhaps only because it was not the first instance of that process.
            Err(ExperimentFailure::Crashed(why) | ExperimentFailure::NoInstance(why))
                if again_in_one_process =>
            {
                self.carry_out_alone(experiment, choice, why)
            }
            done => {
                self.second_instance_works |= again_in_one_process && done.is_ok();
                done
            }
        };
        self.note_baseline(experiment, &seen, began.elapsed());

        seen
    }

    fn carry_out_alone(
        &mut self,
        experiment: &Experiment,
        choice: InstanceChoice,
        why: String,
    ) -> Result<Observation, ExperimentFailure> {
        let alone = self.attempt(experiment, choice);
        if alone.is_ok() {
            self.found_single = true;
        }

        alone.map_err(|failure| match failure {
            ExperimentFailure::Refused(_) | ExperimentFailure::NoInstance(_) => failure,
            _ => ExperimentFailure::Crashed(why),
        })
    }

    /// A start under the start values of the inputs is what others are compared with.
    fn note_baseline(
        &mut self,
        experiment: &Experiment,
        seen: &Result<Observation, ExperimentFailure>,
        took: Duration,
    ) {
        let Experiment::Start { early, offset } = *experiment else {
            return;
        };
        if let Ok(seen) = seen
            && offset == 0.0
            && !seen.refused_early
        {
            let seen = seen.clone();
            self.baseline = Some((Baseline { early, seen }, took));
        }
    }

    /// Frees the instance that was kept, if there is one, in a step of its own: an FMU that fails
    /// there has not failed in an experiment. A process that can have no other instance ends.
    fn free_kept(&mut self) {
        let Some(child) = self.child.as_mut().filter(|child| child.keeps) else {
            return;
        };
        child.keeps = false;
        let task = FreeTask {
            fmu: self.fmu.clone(),
        };
        let limit = self.pool.limit().unwrap_or(LIMIT);

        if child_task::run(&mut child.helper, &task, limit).is_err() {
            self.doubtful = true;
            self.child = None;
        }
        if self.is_single() {
            self.child = None;
        }
    }
}

/// Experiments on an instance that is reset between them.
impl ChildExperiments<'_> {
    /// Whether this experiment may have the instance that was kept.
    fn may_reset(&mut self, experiment: &Experiment) -> bool {
        let Some((baseline, _)) = &self.baseline else {
            return false;
        };
        // Inputs that are not set before initialization mode have values there that a baseline with
        // such inputs says nothing about.
        if experiment.sets_inputs_early() != baseline.early {
            return false;
        }

        // A run may need two instances in one process: whether they work must have been seen.
        let is_start = matches!(experiment, Experiment::Start { .. });
        let seen_second = self.second_instance_works || self.is_single();
        (is_start || seen_second) && self.reset_works()
    }

    /// Whether the process has an instance that can be reset; where that is not known it is tried.
    fn reset_works(&mut self) -> bool {
        if self.fresh_only {
            return false;
        }

        let Some(child) = self.child.as_ref().filter(|child| child.keeps) else {
            return false;
        };
        if child.reset == Reset::Works {
            return true;
        }

        DIRTY_COURSES.into_iter().any(|course| {
            let is_there = self.child.is_some() && !self.fresh_only;
            is_there && self.verify(Some(course)) == Some(true)
        })
    }

    /// Whether an instance starts as a fresh one did once it is reset, after steps under this
    /// course of the inputs; none where it could not be tried.
    fn verify(&mut self, course: Option<InputCourse>) -> Option<bool> {
        let (baseline, took) = self.baseline.clone()?;
        let limit = self.limit().min(RESET_LIMIT + RESET_FACTOR * took);
        let mut child = self.child.take()?;
        let task = ResetTask {
            fmu: self.fmu.clone(),
            baseline,
            course,
        };
        let verified = match child_task::run(&mut child.helper, &task, limit) {
            Ok(Ok(verified)) => Some(verified),
            // The steps failed, not the reset; the instance is gone.
            Ok(Err(ExperimentFailure::Refused(_))) if !self.is_single() => None,
            Err(ProcessError::Lost(lost @ ProcessLoss::Interrupted { .. })) => {
                self.silent = Some(silence(&lost));
                Some(false)
            }
            _ => Some(false),
        };
        self.fresh_only |= verified == Some(false);
        child.keeps = verified == Some(true);

        if child.keeps {
            child.reset = Reset::Works;
        }

        // After a failure the process is of unknown health.
        self.child = Some(child).filter(|_| verified != Some(false));
        verified
    }
}

/// What was kept is freed, also where the probe has come to no end.
impl Drop for ChildExperiments<'_> {
    fn drop(&mut self) {
        self.free_kept();
    }
}

fn silence(lost: &ProcessLoss) -> String {
    format!("{} while it was tried out, and was ended", lost.briefly())
}

/// What a process that did not come back says of the FMU.
fn failure(refusal: ProcessError) -> ExperimentFailure {
    match refusal {
        ProcessError::Said(why) => ExperimentFailure::Refused(why),
        ProcessError::Lost(
            lost @ (ProcessLoss::Silent { .. } | ProcessLoss::Interrupted { .. }),
        ) => ExperimentFailure::Silent(silence(&lost)),
        ProcessError::Lost(lost) => {
            ExperimentFailure::Crashed(format!("{} while it was tried out", lost.briefly()))
        }
    }
}

impl ExperimentRunner for ChildExperiments<'_> {
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, ExperimentFailure> {
        let resets = self.silent.is_none() && self.may_reset(experiment);
        if let Some(why) = &self.silent {
            return Err(ExperimentFailure::Silent(why.clone())); // what hangs once is not waited for again
        }
        if !resets {
            return self.carry_out_fresh(experiment);
        }
        if let Ok(seen) = self.attempt(experiment, InstanceChoice::Kept) {
            return Ok(seen);
        }

        // What fails must fail on a fresh instance too.
        let seen = self.carry_out_fresh(experiment);
        self.doubtful |= seen.is_ok();
        seen
    }

    fn avoid_event_mode(&mut self) {
        self.fmu.origin.settings.without_event_mode = true;
    }

    fn confirm(&mut self) -> bool {
        let has_reset = |child: &Child| child.keeps && child.reset == Reset::Works;
        if self.silent.is_none() && self.child.as_ref().is_some_and(has_reset) {
            self.doubtful |= self.verify(None) != Some(true);
        }

        self.free_kept();
        if !self.doubtful || self.silent.is_some() {
            return true;
        }

        self.child = None;
        self.fmu.origin.settings.without_event_mode = false;
        self.found_single = false;
        self.baseline = None;
        self.fresh_only = true;
        self.doubtful = false;

        false
    }

    fn found_single(&self) -> bool {
        self.found_single
    }

    fn remark(&self) -> Option<String> {
        let text = "it fails when it is instantiated a second time in a process, although it does not say so: one instance is made";
        self.found_single.then(|| text.to_owned())
    }
}
