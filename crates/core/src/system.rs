//! Simulators, as the engine sees them.

use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::flat::HeldSteps;
use crate::interface::Interface;
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::signal::{MAX_DEGREE, Signal};
use crate::task::Response;

/// One simulator `(S_k)`: inputs in, outputs out, states hidden.
///
/// Two methods are required. Everything else is a capability: override its accessor to say that the system has it.
/// A step of size zero ([`MacroStep::instant`]) is a question about the present: the system takes the inputs' values
/// and answers its outputs without moving. Initialization consists of such questions, and [`System::begin`] ends it.
///
/// At a known event the two kinds of answer differ: a step that *ends* there answers the limit from the left and
/// reports that very time as `next_event`; an instant there crosses the event and answers the limit from the right.
pub trait System: Send {
    /// Names, start values and which outputs depend on which inputs at once.
    fn interface(&self) -> &Interface;

    /// Integrates over `step` under `inputs` and stays at its end.
    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error>;

    /// The start values of all systems agree: the system leaves its initialization, where that is a mode of its own, and
    /// answers what it then is, at the time of `step`, an instant.
    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.advance(step, inputs, response)
    }

    /// Capability: answer "what if", any number of times, without moving.
    fn trial(&mut self) -> Option<&mut dyn Trial> {
        None
    }

    /// Capability: A, B, C, D, states and derivatives at the time reached.
    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        None
    }

    /// Capability: derivatives and outputs elsewhere than where the system stands.
    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        None
    }

    /// Capability: what it is can be written down, once it has begun, and read back.
    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        None
    }

    /// How its initialization and questions about the present work.
    fn presence(&self) -> Presence {
        Presence::default()
    }

    /// How far its answers can be relied on.
    fn precision(&self) -> Precision {
        Precision::default()
    }

    /// Capability: steps under held inputs, as plain numbers.
    fn held_steps(&mut self) -> Option<&mut dyn HeldSteps> {
        None
    }

    /// Capability: the highest degree of input polynomials that are followed within a step.
    fn input_degree(&self) -> usize {
        0
    }

    /// Capability: how many derivatives of its outputs the system knows, up to two.
    fn output_derivatives(&self) -> usize {
        0
    }

    /// The macro-steps this system can take.
    fn step_rule(&self) -> StepRule {
        StepRule::Free
    }

    /// Systems of one lane are never asked at the same time: they may share what they need only
    /// while they are asked.
    fn join_lane(&mut self, _lane: usize) {}
}

/// A system behind a pointer is a system.
impl<S: System + ?Sized> System for Box<S> {
    fn interface(&self) -> &Interface {
        (**self).interface()
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        (**self).advance(step, inputs, response)
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        (**self).begin(step, inputs, response)
    }

    fn presence(&self) -> Presence {
        (**self).presence()
    }

    fn precision(&self) -> Precision {
        (**self).precision()
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        (**self).trial()
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        (**self).linearize()
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        (**self).evaluate()
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        (**self).checkpoint()
    }

    fn held_steps(&mut self) -> Option<&mut dyn HeldSteps> {
        (**self).held_steps()
    }

    fn input_degree(&self) -> usize {
        (**self).input_degree()
    }

    fn output_derivatives(&self) -> usize {
        (**self).output_derivatives()
    }

    fn step_rule(&self) -> StepRule {
        (**self).step_rule()
    }

    fn join_lane(&mut self, lane: usize) {
        (**self).join_lane(lane);
    }
}

/// A system that answers "what if".
pub trait Trial {
    /// What `advance` would answer, from where the system stands; the system stays there.
    ///
    /// A system that meets an event of its own on the way, one that it could not announce because its time depends on the inputs,
    /// may stop there: it then answers the limit from the left, with the time of the event as both `reached` and `next_event`. A
    /// step that *is taken* goes to its end nevertheless, across such events; one that ends on the event announces it as usual.
    /// So a method that tries its steps can have all systems meet at the event: it tries a step that ends there. Since the
    /// inputs of that step differ a little, so may the time of the event.
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error>;
}

/// A system that can be linearized where it stands.
pub trait Linearize {
    /// Fills `into`, whose sizes fit the system.
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error>;
}

/// A system whose derivatives and outputs can be asked for elsewhere than where it stands.
pub trait Evaluate {
    /// Fills `f` and `g` in: at `time`, in the state and under the inputs that are given. The system stays where it is.
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error>;
}

/// How a system answers questions about the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Presence {
    /// Initialization is a mode of its own, which [`System::begin`] leaves for good; until then the system can be asked for the
    /// values of its outputs and for nothing else.
    pub initialization_mode: bool,
    /// Once it has begun, its answer to an instant depends on the inputs. A Co-Simulation FMU must not be read after it was set
    /// without a step in between, and answers what it said last.
    pub responds: bool,
    /// It sets itself anew as it begins, by a clock that ticks at the start, and until then it answers what it was before.
    pub ticks: bool,
}

impl Default for Presence {
    fn default() -> Self {
        Self {
            initialization_mode: false,
            responds: true,
            ticks: false,
        }
    }
}

/// How far the answers of a system can be relied on: those of a Co-Simulation FMU come from a solver of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Precision {
    /// Relative noise of its answers: what one step and two halves of it differ by. Zero where none is known.
    pub noise: f64,
    /// Steps shorter than this do not move it as they should. Zero where none is known.
    pub resolution: f64,
}

/// Which macro-steps a system can take.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum StepRule {
    /// Any.
    Free,
    /// Only whole multiples of this size, counted from the start of the run.
    Imposed(f64),
}

/// What a system offers, as found by asking its accessors once.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Capabilities {
    /// It can be asked "what if".
    pub trial: bool,
    /// It can be linearized.
    pub linearize: bool,
    /// Its derivatives and outputs can be asked for elsewhere.
    pub evaluate: bool,
    /// What it is can be written down and read back.
    pub checkpoint: bool,
    /// Degree of the input polynomials it follows.
    pub input_degree: usize,
    /// Derivatives of its outputs that it knows.
    pub output_derivatives: usize,
    /// The macro-steps it takes.
    pub step_rule: StepRule,
    /// How it answers questions about the present.
    pub presence: Presence,
    /// How far its answers can be relied on.
    pub precision: Precision,
}

impl Capabilities {
    /// Asks `system`.
    pub fn of(system: &mut dyn System) -> Self {
        Self {
            trial: system.trial().is_some(),
            linearize: system.linearize().is_some(),
            evaluate: system.evaluate().is_some(),
            checkpoint: system.checkpoint().is_some(),
            input_degree: system.input_degree().min(MAX_DEGREE),
            output_derivatives: system.output_derivatives().min(2),
            step_rule: system.step_rule(),
            presence: system.presence(),
            precision: system.precision(),
        }
    }
}
