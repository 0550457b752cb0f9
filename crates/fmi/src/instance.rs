//! One instance of a unit, whatever the version of the standard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dovetail_core::{MacroStep, Signal};

use crate::description::{Value, ValueType};
use crate::environments::{Environment, Registered};
use crate::glider::Glider;
use crate::guard::Crash;
use crate::journal::{Journal, Sampler};
use crate::library::MissingSymbol;

/// Why a call of a unit's function did not do what it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// It said so.
    #[error("{function} returned {status}{}", said(.message))]
    Refused {
        /// The function.
        function: &'static str,
        /// The name of the status.
        status: &'static str,
        /// What the unit said last.
        message: Option<String>,
    },
    /// It crashed.
    #[error("{function} crashed the unit by {crash}{}; nothing more can be asked of it", said(.message))]
    Crashed {
        /// The function.
        function: &'static str,
        /// How.
        crash: Crash,
        /// What the unit said last.
        message: Option<String>,
    },
    /// It is not there.
    #[error("{0}")]
    Missing(#[from] MissingSymbol),
    /// An earlier call left the unit unusable.
    #[error("{cause}")]
    Dead {
        /// What happened then.
        cause: String,
    },
    /// A value was set and is not there.
    #[error("a value that was set is not there")]
    NotTaken,
    /// `instantiate` gave nothing.
    #[error("{function} gave no instance{}", said(.message))]
    NotInstantiated {
        /// The function.
        function: &'static str,
        /// What the unit said last.
        message: Option<String>,
    },
    /// A value that the type of a variable cannot hold.
    #[error("the value {value} does not fit a variable of type {value_type:?}")]
    DoesNotFit {
        /// The value.
        value: f64,
        /// The type.
        value_type: ValueType,
    },
}

fn said(message: &Option<String>) -> String {
    message
        .as_ref()
        .map_or_else(String::new, |text| format!("; it said: {text}"))
}

/// What a successful call came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    Discard,
    Pending,
}

/// What a call is for, when its time is counted.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Step,
    Values,
    State,
    /// Before the run.
    Setup,
}

/// How a communication step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepEnd {
    /// The unit did not do the whole step, and stands where `last` says (2.0) or where it stood (3.0).
    pub discarded: bool,
    /// The time up to which it did.
    pub last: f64,
    /// An event must be handled before it goes on (3.0).
    pub event: bool,
    /// It wants to end the run.
    pub terminate: bool,
}

/// What a unit asks for after a step of the integrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    /// An event is to be handled.
    pub event: bool,
    /// It asks for the end of the run.
    pub terminate: bool,
}

/// What an event changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Discrete {
    pub terminate: bool,
    /// The continuous states have new values.
    pub states_changed: bool,
    /// Infinite if none is known.
    pub next_event: f64,
}

/// What a communication step is given and asked for, in one go.
pub(crate) struct StepRequest<'a> {
    pub step: MacroStep,
    /// The state before the step will not be asked for again.
    pub final_step: bool,
    pub input_references: &'a [u32],
    pub input_values: &'a [f64],
    pub output_references: &'a [u32],
}

/// The functions of a unit, the same for both versions.
pub(crate) trait Instance: Send {
    /// The environment of its callbacks.
    fn journal(&self) -> &Journal;

    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError>;
    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError>;
    /// Numbers of any type as floating-point numbers; texts by their numbers.
    fn get_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError>;
    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError>;
    /// A start value or parameter, all elements of it.
    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError>;

    /// Structural parameters may be set between these two (3.0).
    fn enter_configuration(&mut self) -> Result<(), CallError>;
    fn exit_configuration(&mut self) -> Result<(), CallError>;
    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError>;
    fn exit_initialization(&mut self) -> Result<(), CallError>;
    fn terminate(&mut self) -> Result<(), CallError>;
    /// A new step begins: whether its calls are timed.
    fn sample(&mut self) -> bool;
    /// A step of Model Exchange whose calls were timed took so long in all.
    fn took(&mut self, time: Duration);

    /// Saves the state into the one room that the instance has for it, and goes back to it.
    fn save(&mut self) -> Result<(), CallError>;
    fn restore(&mut self) -> Result<(), CallError>;

    /// `sensitivity = ∂unknowns/∂knowns · seed`.
    fn directional(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<(), CallError>;
    /// Derivatives of these outputs, all of one order.
    fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), CallError>;
    /// Derivatives of these inputs (2.0).
    fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), CallError>;
    /// Inputs that are to be set whenever the unit asks for them during the next step (3.0).
    fn follow(&mut self, references: &[u32], signals: &[Signal], start: f64);

    /// The component and what its callbacks are given, for whoever prepares steps.
    fn component(&self) -> *mut std::ffi::c_void;
    fn environment(&self) -> Environment;
    /// Whether a prepared step may be taken now: nobody writes calls down or takes their time.
    fn is_quick(&mut self) -> bool;
    /// After a discarded step: where the unit stands, if it discarded the rest because it asks for the end of the run (2.0).
    fn end_of_run(&mut self) -> Option<f64> {
        None
    }
    /// A prepared step: whether all of it was done.
    fn glide(&mut self, glider: &mut Glider, step: MacroStep) -> bool;
    /// What came of a prepared step that was not simply done.
    fn not_glided(&mut self, glider: &mut Glider, step: MacroStep) -> Result<Status, CallError>;

    /// Sets inputs, steps, gets outputs.
    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError>;

    /// Handles an event: into event mode, discrete states until nothing changes. Inputs may be set in between by `inputs`.
    fn enter_event_mode(&mut self) -> Result<(), CallError>;
    fn update_discrete_states(&mut self) -> Result<Discrete, CallError>;
    /// Back from event mode: to step mode (Co-Simulation), to continuous time (Model Exchange).
    fn leave_event_mode(&mut self) -> Result<(), CallError>;

    fn set_time(&mut self, time: f64) -> Result<(), CallError>;
    fn set_states(&mut self, states: &[f64]) -> Result<(), CallError>;
    fn get_states(&mut self, states: &mut [f64]) -> Result<(), CallError>;
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Result<(), CallError>;
    fn get_indicators(&mut self, indicators: &mut [f64]) -> Result<(), CallError>;
    /// The integrator has completed a step; what the unit asks for.
    fn completed_step(&mut self) -> Result<Completed, CallError>;
}

/// What both versions do around every call.
pub(crate) struct Shell {
    pub journal: Arc<Journal>,
    registered: Registered,
    pub sampler: Sampler,
    /// A unit that crashed or said "fatal" must not be called again, not even to free it.
    pub dead: bool,
    /// It said "error": all that is left is to free it.
    pub failed: bool,
    /// Why it is dead.
    cause: String,
    /// This call's time stands for so many.
    pub weight: Option<f64>,
}

impl Shell {
    pub fn new(journal: Arc<Journal>, registered: Registered) -> Self {
        let (sampler, cause) = (Sampler::new(), String::new());
        Self {
            journal,
            registered,
            sampler,
            dead: false,
            failed: false,
            cause,
            weight: None,
        }
    }

    /// What callbacks of this instance are given.
    pub fn environment(&self) -> Environment {
        self.registered.environment()
    }

    /// Whether calls may go the short way: nobody writes them down or takes their time.
    #[inline]
    pub fn is_quick(&mut self) -> bool {
        self.weight = self.sampler.due();
        self.weight.is_none() && self.journal.log.is_none()
    }

    /// Calls a function that returns a status.
    pub fn call(
        &mut self,
        function: &'static str,
        purpose: Purpose,
        arguments: impl Fn() -> String,
        body: impl FnOnce() -> i32,
    ) -> Result<Status, CallError> {
        if self.dead {
            return Err(self.is_dead());
        }
        let timed = self
            .weight
            .filter(|_| !matches!(purpose, Purpose::Setup))
            .map(|weight| (weight, Instant::now()));
        let ended = crate::guard::guarded(self.environment(), body);
        if let Some((weight, before)) = timed {
            let time = before.elapsed();
            let seconds = weight * time.as_secs_f64();
            self.journal.monitor.spend(|costs| match purpose {
                Purpose::Step => costs.step += seconds,
                Purpose::Values => costs.values += seconds,
                _ => costs.state += seconds,
            });
            if function.ends_with("DoStep") {
                self.sampler.took(time);
            }
        }
        if let Some(log) = &self.journal.log {
            let status = ended.map_or_else(
                |crash| format!("crash by {crash}"),
                |status| name(status).to_owned(),
            );
            log.write(
                &self.journal.instance,
                format_args!("{function}({}) -> {status}", arguments()),
            );
        }
        self.judge(function, ended)
    }

    /// What a status means.
    #[inline]
    pub fn judge(
        &mut self,
        function: &'static str,
        ended: Result<i32, Crash>,
    ) -> Result<Status, CallError> {
        match ended {
            Ok(0 | 1) => Ok(Status::Fine),
            Ok(2) => Ok(Status::Discard),
            Ok(5) => Ok(Status::Pending),
            ended => Err(self.failure(function, ended)),
        }
    }

    #[cold]
    fn failure(&mut self, function: &'static str, ended: Result<i32, Crash>) -> CallError {
        let message = self.journal.explanation();
        self.failed = true;
        let error = match ended {
            Ok(status) => {
                self.dead |= status != 3;
                CallError::Refused {
                    function,
                    status: name(status),
                    message,
                }
            }
            Err(crash) => {
                self.dead = true;
                CallError::Crashed {
                    function,
                    crash,
                    message,
                }
            }
        };
        if self.dead && self.cause.is_empty() {
            self.cause = error.to_string();
        }
        error
    }

    /// Why nothing can be asked of the unit any more.
    #[cold]
    pub fn is_dead(&self) -> CallError {
        CallError::Dead {
            cause: self.cause.clone(),
        }
    }

    /// A call that may not be discarded.
    pub fn demand(
        &mut self,
        function: &'static str,
        purpose: Purpose,
        arguments: impl Fn() -> String,
        body: impl FnOnce() -> i32,
    ) -> Result<(), CallError> {
        match self.call(function, purpose, arguments, body)? {
            Status::Fine => Ok(()),
            Status::Discard => Err(self.refused(function, "discard")),
            Status::Pending => Err(self.refused(function, "pending")),
        }
    }

    /// A call that did not do what it must.
    #[cold]
    pub fn not_done(&mut self, function: &'static str, status: i32) -> CallError {
        match self.judge(function, Ok(status)) {
            Ok(_) => self.refused(function, name(status)),
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

/// The name of a status.
fn name(status: i32) -> &'static str {
    ["ok", "warning", "discard", "error", "fatal", "pending"]
        .get(usize::try_from(status).unwrap_or(usize::MAX))
        .copied()
        .unwrap_or("a status that does not exist")
}
