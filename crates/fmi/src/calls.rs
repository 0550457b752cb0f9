//! What both versions do around every call of an FMU: guard it, time it, log it, judge its status.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::abandonment::is_abandoned;
use crate::call_error::CallError;
use crate::environment::Environment;
use crate::ffi::{Component, Symbol};
use crate::guard::{Crash, Ended, guarded};
use crate::journal::{Costs, Journal, Sampler};

/// The statuses of both standards, as they number them.
const STATUSES: [&str; 6] = ["ok", "warning", "discard", "error", "fatal", "pending"];
const ERROR: i32 = 3;

/// What a successful call came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    Discard,
    Pending,
}

/// What a call is for, when its time is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A communication step; its time decides how often steps are timed.
    DoStep,
    /// Whatever else belongs to a step.
    Step,
    Values,
    State,
    /// Before the run.
    Setup,
}

/// The names of the functions that a prepared step calls.
pub(crate) struct StepFunctions {
    pub set: &'static str,
    pub step: &'static str,
    pub get: &'static str,
}

impl StepFunctions {
    /// The names of these functions, which must be there.
    pub fn find<S: Copy, D: Copy, G: Copy>(
        set: Symbol<S>,
        step: Symbol<D>,
        get: Symbol<G>,
    ) -> Result<Self, CallError> {
        Ok(Self {
            set: set.find()?.name,
            step: step.find()?.name,
            get: get.find()?.name,
        })
    }
}

/// The calls of one instance.
pub(crate) struct Calls {
    pub journal: Arc<Journal>,
    environment: Environment,
    component: Component,
    sampler: Sampler,
    /// Whether the FMU can still be called.
    health: Health,
    /// Whether every call so far did what it was asked for.
    flawless: bool,
    /// Why it is dead.
    cause: String,
    /// This call's time stands for so many.
    weight: Option<f64>,
}

/// What an instance may still be asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Health {
    Fine,
    /// It returned "error": all that is left is to free it.
    Failed,
    /// It crashed or returned "fatal": it must not be called again, not even to free it.
    Dead,
}

impl Calls {
    pub fn new(journal: Arc<Journal>, environment: Environment, component: Component) -> Self {
        Self {
            journal,
            environment,
            component,
            sampler: Sampler::new(),
            health: Health::Fine,
            flawless: true,
            cause: String::new(),
            weight: None,
        }
    }

    pub fn component(&self) -> Component {
        self.component
    }

    /// What callbacks of this instance are given.
    pub fn environment(&self) -> Environment {
        self.environment
    }

    #[inline]
    pub fn is_dead(&self) -> bool {
        self.health == Health::Dead
    }

    pub fn has_failed(&self) -> bool {
        self.health >= Health::Failed
    }

    /// Whether every call so far did what it was asked for: nothing was discarded, refused or
    /// crashed.
    pub fn is_flawless(&self) -> bool {
        self.flawless
    }

    /// Calls a function that returns a status.
    pub fn call<F: Copy>(
        &mut self,
        function: Symbol<F>,
        purpose: Purpose,
        arguments: impl Fn() -> String,
        body: impl FnOnce(F, Component) -> i32,
    ) -> Result<Status, CallError> {
        let function = function.find()?;
        self.check_alive()?;
        if is_abandoned() {
            let function = function.name;
            return Err(CallError::Abandoned { function });
        }

        let logs = self.journal.log.is_some();
        if logs {
            let arguments = arguments();
            self.journal
                .log_call(function.name, format_args!("{arguments}"));
        }

        let timed = self.start_timing(purpose);
        let component = self.component;
        let ended = guarded(self.environment(), function.name, || {
            body(function.pointer, component)
        });

        if let Some((weight, before)) = timed {
            self.count_time(purpose, weight, before.elapsed());
        }

        if logs {
            self.journal.log_status(function.name, ending(ended));
        }
        self.judge(function.name, ended)
    }

    /// A call that may not be discarded.
    pub fn demand<F: Copy>(
        &mut self,
        function: Symbol<F>,
        purpose: Purpose,
        arguments: impl Fn() -> String,
        body: impl FnOnce(F, Component) -> i32,
    ) -> Result<(), CallError> {
        match self.call(function, purpose, arguments, body)? {
            Status::Fine => Ok(()),
            Status::Discard => Err(self.refused(function.name, "discard")),
            Status::Pending => Err(self.refused(function.name, "pending")),
        }
    }

    /// Reads values of these variables.
    pub fn get_values<F: Copy>(
        &mut self,
        function: Symbol<F>,
        references: &[u32],
        body: impl FnOnce(F, Component) -> i32,
    ) -> Result<(), CallError> {
        let arguments = || format!("{references:?}");
        self.demand(function, Purpose::Values, arguments, body)
    }

    /// Sets values of these variables, which the log shows in this way.
    pub fn set_values<F: Copy>(
        &mut self,
        function: Symbol<F>,
        references: &[u32],
        shown: impl Debug,
        body: impl FnOnce(F, Component) -> i32,
    ) -> Result<(), CallError> {
        let arguments = || format!("{references:?}, {shown:?}");
        self.demand(function, Purpose::Values, arguments, body)
    }

    /// A call of which the log shows no arguments.
    pub fn demand_plain<F: Copy>(
        &mut self,
        function: Symbol<F>,
        purpose: Purpose,
        body: impl FnOnce(F, Component) -> i32,
    ) -> Result<(), CallError> {
        self.demand(function, purpose, String::new, body)
    }
}

/// Timing.
impl Calls {
    /// A new step begins: whether its calls are timed.
    pub fn begin_sample(&mut self) -> bool {
        self.weight = self.sampler.due();
        self.weight.is_some()
    }

    /// A step whose calls were timed took so long.
    pub fn end_sample(&mut self, time: Duration) {
        self.sampler.took(time);
    }

    /// Whether the next step may take the fast path: nobody logs its calls or times them, and what
    /// each of them leaves behind need not be looked at.
    #[inline]
    pub fn allows_fast_step(&mut self) -> bool {
        let journal = &self.journal;
        let plain = journal.log.is_none() && !journal.disturbs.load(Ordering::Relaxed);
        !self.begin_sample() && plain
    }

    fn start_timing(&self, purpose: Purpose) -> Option<(f64, Instant)> {
        let weight = self.weight.filter(|_| purpose != Purpose::Setup)?;
        Some((weight, Instant::now()))
    }

    fn count_time(&mut self, purpose: Purpose, weight: f64, time: Duration) {
        let seconds = weight * time.as_secs_f64();
        let count = |costs: &mut Costs| match purpose {
            Purpose::DoStep | Purpose::Step => costs.step += seconds,
            Purpose::Values => costs.values += seconds,
            Purpose::State | Purpose::Setup => costs.state += seconds,
        };
        self.journal.monitor.spend(count);

        if purpose == Purpose::DoStep {
            self.end_sample(time);
        }
    }
}

/// What a status means.
impl Calls {
    #[inline]
    pub fn judge(
        &mut self,
        function: &'static str,
        ended: Result<i32, Crash>,
    ) -> Result<Status, CallError> {
        match ended {
            Ok(0 | 1) => Ok(Status::Fine),
            Ok(2) => Ok(self.flawed(Status::Discard)),
            Ok(5) => Ok(self.flawed(Status::Pending)),
            ended => Err(self.failure(function, ended)),
        }
    }

    /// What came of a prepared step whose last call ended so.
    pub fn judge_prepared(
        &mut self,
        ended: Ended,
        functions: &StepFunctions,
    ) -> Result<Status, CallError> {
        match ended {
            Ended::Step(status) => self.judge(functions.step, Ok(status)),
            Ended::CrashedInSet(crash) => self.judge(functions.set, Err(crash)),
            Ended::CrashedInStep(crash) => self.judge(functions.step, Err(crash)),
            Ended::CrashedInGet(crash) => self.judge(functions.get, Err(crash)),
            Ended::Set(status) => Err(self.not_done(functions.set, status)),
            Ended::Get(0 | 1) => Ok(Status::Fine),
            Ended::Get(status) => Err(self.not_done(functions.get, status)),
        }
    }

    #[cold]
    fn flawed(&mut self, status: Status) -> Status {
        self.flawless = false;
        status
    }

    #[cold]
    fn failure(&mut self, function: &'static str, ended: Result<i32, Crash>) -> CallError {
        self.flawless = false;
        let message = self.journal.explanation();
        let health = match ended {
            Ok(ERROR) => Health::Failed,
            _ => Health::Dead,
        };
        self.health = self.health.max(health);
        let error = match ended {
            Ok(status) => CallError::Refused {
                function,
                status: status_name(status),
                message,
            },
            Err(crash) => CallError::Crashed {
                function,
                crash,
                message,
            },
        };

        if self.is_dead() && self.cause.is_empty() {
            self.cause = error.to_string();
        }
        error
    }

    /// An error where nothing can be asked of the FMU any more.
    #[inline]
    pub fn check_alive(&self) -> Result<(), CallError> {
        if self.is_dead() {
            Err(self.death())
        } else {
            Ok(())
        }
    }

    #[cold]
    fn death(&self) -> CallError {
        CallError::Dead {
            cause: self.cause.clone(),
        }
    }

    /// A call that did not do what it must.
    #[cold]
    pub fn not_done(&mut self, function: &'static str, status: i32) -> CallError {
        match self.judge(function, Ok(status)) {
            Ok(_) => self.refused(function, status_name(status)),
            Err(error) => error,
        }
    }

    pub fn refused(&self, function: &'static str, status: &'static str) -> CallError {
        CallError::Refused {
            function,
            status,
            message: self.journal.explanation(),
        }
    }
}

/// The component that `instantiate` has made, if it has made one.
pub(crate) fn made_component(
    function: &'static str,
    made: Result<Component, Crash>,
    journal: &Journal,
) -> Result<Component, CallError> {
    match made {
        Ok(component) if component.is_null() => journal.log_status(function, "no instance"),
        Ok(_) => journal.log_status(function, "an instance"),
        Err(crash) => journal.log_status(function, format_args!("crash by {crash}")),
    }
    match made {
        Ok(component) if !component.is_null() => Ok(component),
        Ok(_) => Err(CallError::NotInstantiated {
            function,
            message: journal.explanation(),
        }),
        Err(crash) => Err(CallError::Crashed {
            function,
            crash,
            message: journal.explanation(),
        }),
    }
}

/// How a call ended, for the log.
fn ending(ended: Result<i32, Crash>) -> String {
    match ended {
        Ok(status) => status_name(status).to_owned(),
        Err(crash) => format!("crash by {crash}"),
    }
}

fn status_name(status: i32) -> &'static str {
    let place = usize::try_from(status).unwrap_or(usize::MAX);
    let name = STATUSES.get(place).copied();
    name.unwrap_or("a status that does not exist")
}
