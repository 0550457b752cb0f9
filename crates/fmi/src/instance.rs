//! One instance of an FMU, whatever the version of the standard: its functions by their roles.
//!
//! What every instance can be asked is a role that it implements; what only one version of the
//! standard has is a value that it returns or does not return.

use std::sync::Arc;
use std::time::Duration;

use dovetail_core::{MacroStep, Signal};

use crate::batch::Member;
use crate::call_error::CallError;
use crate::calls::Status;
use crate::description::{Value, ValueType};
use crate::journal::Journal;
use crate::layout::Layout;
use crate::prepared_step::PreparedStep;

/// How a communication step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepEnd {
    /// The FMU did not do the whole step, and stands where `last` says (2.0) or where it stood
    /// (3.0).
    pub discarded: bool,
    /// The time up to which it did.
    pub last: f64,
    /// An event must be handled before it goes on (3.0).
    pub event: bool,
    /// It wants to end the run.
    pub terminate: bool,
}

/// What an FMU asks for after a step of the integrator.
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

/// An instance with all the roles that both versions have.
pub(crate) trait Instance:
    Lifecycle
    + Timing
    + Values
    + StateSlot
    + Derivatives
    + Stepping
    + FastPath
    + Events
    + ContinuousTime
    + Send
{
    /// Capability: structural parameters are set in a mode of their own (3.0).
    fn configuration(&mut self) -> Option<&mut dyn Configuration> {
        None
    }

    /// Capability: inputs are polynomials, by their derivatives (2.0).
    fn input_derivatives(&mut self) -> Option<&mut dyn InputDerivatives> {
        None
    }

    /// Capability: inputs are functions of time that the FMU asks for during a step (3.0).
    fn intermediate_inputs(&mut self) -> Option<&mut dyn IntermediateInputs> {
        None
    }
}

/// A stop time that nobody knows is no number that an FMU should see: the start time stands in its place.
pub(crate) fn known_stop(start: f64, stop: f64) -> f64 {
    match stop.is_finite() {
        true => stop,
        false => start,
    }
}

/// From instantiation to the end of the run.
pub(crate) trait Lifecycle {
    /// What was recorded of the instance.
    fn journal(&self) -> &Journal;
    /// A stop time that is infinite is one that nobody knows.
    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError>;
    fn exit_initialization(&mut self) -> Result<(), CallError>;
    fn terminate(&mut self) -> Result<(), CallError>;
}

/// Calls are timed in samples.
pub(crate) trait Timing {
    /// A new step begins: whether its calls are timed.
    fn begin_sample(&mut self) -> bool;
    /// A step of Model Exchange whose calls were timed took so long in all.
    fn end_sample(&mut self, time: Duration);
}

/// Values of variables.
pub(crate) trait Values {
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
}

/// The state of the FMU, in the one slot that the instance has for it.
pub(crate) trait StateSlot {
    fn save(&mut self) -> Result<(), CallError>;
    fn restore(&mut self) -> Result<(), CallError>;
    /// The saved state as bytes, which outlive the instance.
    fn serialize(&mut self) -> Result<Vec<u8>, CallError>;
    /// Saves a state that an instance of the same FMU has serialized; nothing is restored yet.
    fn deserialize(&mut self, bytes: &[u8]) -> Result<(), CallError>;
}

/// Derivatives of variables by variables and by time.
pub(crate) trait Derivatives {
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
}

/// Communication steps (Co-Simulation).
pub(crate) trait Stepping {
    /// Sets inputs, steps, gets outputs.
    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError>;
    /// After a discarded step: the time up to which it was done (2.0), or where it began.
    fn discarded_at(&mut self, step: MacroStep) -> f64;
    /// After a discarded step: where the FMU stands, if it discarded the rest because it asks for
    /// the end of the run (2.0; in 3.0 the step itself reports that).
    fn end_of_run(&mut self) -> Option<f64>;
}

/// Communication steps that are prepared once and take nothing but set, step and get.
pub(crate) trait FastPath {
    fn prepare_step(&self, layout: &Arc<Layout>) -> PreparedStep;
    /// Whether a prepared step may be taken now: nobody logs calls or times them. Counts as the
    /// beginning of a step.
    fn allows_fast_step(&mut self) -> bool;
    /// Takes a prepared step: whether all of it was done.
    fn fast_step(&mut self, prepared: &mut PreparedStep, step: MacroStep) -> bool;
    /// What a batch needs; `saves` where the state may be asked for again. None where the FMU lacks something.
    fn member(&self, layout: &Arc<Layout>, saves: bool) -> Option<Member>;
    /// Why a batch could not save the state, if that is what it answers.
    fn save_failure(&mut self, answer: i32) -> Option<CallError>;
    /// What came of a prepared step that was not simply done.
    fn settle_fast_step(&mut self, prepared: &mut PreparedStep) -> Result<Status, CallError>;
}

/// Event mode.
pub(crate) trait Events {
    fn enter_event_mode(&mut self) -> Result<(), CallError>;
    /// Updates discrete states until nothing changes.
    fn update_discrete_states(&mut self) -> Result<Discrete, CallError>;
    /// Back from event mode: to step mode (Co-Simulation), to continuous time (Model Exchange).
    fn leave_event_mode(&mut self) -> Result<(), CallError>;
    /// The integrator has completed a step; what the FMU asks for (Model Exchange).
    fn completed_step(&mut self) -> Result<Completed, CallError>;
}

/// Continuous-time mode (Model Exchange).
pub(crate) trait ContinuousTime {
    fn set_time(&mut self, time: f64) -> Result<(), CallError>;
    fn set_states(&mut self, states: &[f64]) -> Result<(), CallError>;
    fn get_states(&mut self, states: &mut [f64]) -> Result<(), CallError>;
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Result<(), CallError>;
    fn get_indicators(&mut self, indicators: &mut [f64]) -> Result<(), CallError>;
}

/// Structural parameters may be set between these two (3.0).
pub(crate) trait Configuration {
    fn enter_configuration(&mut self) -> Result<(), CallError>;
    fn exit_configuration(&mut self) -> Result<(), CallError>;
}

/// Inputs as polynomials (2.0).
pub(crate) trait InputDerivatives {
    fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), CallError>;
}

/// Inputs that the FMU asks for during a step (3.0).
pub(crate) trait IntermediateInputs {
    /// Sets inputs to these signals, which begin at `start`, whenever the FMU asks for them during
    /// the next step.
    fn follow(&mut self, references: &[u32], signals: &[Signal], start: f64);
}
