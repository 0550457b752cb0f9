//! Work orders for systems, and their answers.

use crate::interface::Interface;
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::path::Path;
use crate::signal::{Knot, Signal};

/// What one system is asked to do, with room for its answer.
///
/// A method makes its tasks once and reuses them: nothing is allocated while a run is under way.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// Position of the system.
    pub system: usize,
    /// Whether it takes part in this call.
    pub due: bool,
    /// The step to take or to try.
    pub step: MacroStep,
    /// One signal for each input.
    pub inputs: Vec<Signal>,
    /// The answer.
    pub response: Response,
}

impl Task {
    /// A task for `system`, its inputs held at their start values, asking for so many output derivatives.
    pub fn new(system: usize, interface: &Interface, derivatives: usize) -> Self {
        Self {
            system,
            due: true,
            step: MacroStep::instant(0.0),
            inputs: interface
                .inputs
                .iter()
                .map(|input| Signal::constant(input.start))
                .collect(),
            response: Response::new(interface, derivatives),
        }
    }

    /// Becomes another task of the same system, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        (self.system, self.due, self.step) = (other.system, other.due, other.step);
        self.inputs.copy_from_slice(&other.inputs);
        let (to, from) = (&mut self.response, &other.response);
        to.outputs.copy_from_slice(&from.outputs);
        to.states.copy_from_slice(&from.states);
        to.motion.copy_from_slice(&from.motion);
        (to.derivatives, to.reached, to.next_event) =
            (from.derivatives, from.reached, from.next_event);
        to.averages = from.averages;

        (to.located, to.crossed) = (from.located, from.crossed);
        to.path.copy_from(&from.path);
        (to.reused, to.estimated, to.linearized, to.ends) =
            (from.reused, from.estimated, from.linearized, from.ends);
    }
}

/// A question for a system's linearization where it stands, with room for the answer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct LinearizeTask {
    /// Position of the system.
    pub system: usize,
    /// Whether it takes part in this call.
    pub due: bool,
    /// The answer.
    pub linearization: Linearization,
}

impl LinearizeTask {
    /// A question for `system`.
    pub fn new(system: usize, interface: &Interface) -> Self {
        Self {
            system,
            due: true,
            linearization: Linearization::of(interface),
        }
    }
}

/// A question for `f` and `g` of a system elsewhere than where it stands, with room for the answer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EvaluateTask {
    /// Position of the system.
    pub system: usize,
    /// Whether it takes part in this call.
    pub due: bool,
    /// At which time.
    pub time: f64,
    /// In which state and under which inputs; the answer.
    pub evaluation: Evaluation,
}

impl EvaluateTask {
    /// A question for `system`.
    pub fn new(system: usize, interface: &Interface) -> Self {
        Self {
            system,
            due: true,
            time: f64::NAN,
            evaluation: Evaluation::of(interface),
        }
    }
}

/// A system's answer at the end of a step, taken or tried.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Response {
    derivatives: usize,
    /// Whether the asker finds the mixture of both sides with which something stays where it
    /// switches, and all who depend on it are affine in it.
    pub averages: bool,
    /// The time reached: the end of the step, or earlier where the system stopped by itself.
    pub reached: f64,
    /// The outputs there. Derivatives that were not asked for or are not known are NaN.
    pub outputs: Vec<Knot>,
    /// The observable states there.
    pub states: Vec<f64>,
    /// Slope and curvature of each of them; what was not asked for, as derivatives of the outputs, or is not known is NaN.
    pub motion: Vec<[f64; 2]>,
    /// The next time at which the system is known to switch; infinite if there is none.
    pub next_event: f64,
    /// That time was found, and depends on the inputs.
    pub located: bool,
    /// Events of its own were crossed within the step; or, at an instant, one that has set states anew, and the system does not know
    /// how these depend on what they were.
    pub crossed: bool,
    /// The answer of the last trial could be kept: no integration was needed.
    pub reused: bool,
    /// A trial was answered by estimation, without an integration; its states are not known (NaN).
    pub estimated: bool,
    /// The system had to linearize itself for this answer.
    pub linearized: bool,
    /// What the system went through within a step that it took, where its ends do not say enough.
    pub path: Path,
    /// The system asks for the end of the run. It stands at `reached`, which may be before the end of the step.
    pub ends: bool,
}

impl Response {
    /// Room for the answers of a system with this interface, asking for so many derivatives of the outputs.
    pub fn new(interface: &Interface, derivatives: usize) -> Self {
        Self {
            derivatives,
            averages: false,
            reached: f64::NAN,
            outputs: vec![Knot::value_only(f64::NAN); interface.outputs.len()],
            states: vec![f64::NAN; interface.states.len()],
            motion: vec![[f64::NAN; 2]; interface.states.len()],
            next_event: f64::INFINITY,
            located: false,
            crossed: false,
            reused: false,
            estimated: false,
            linearized: false,
            path: Path::default(),
            ends: false,
        }
    }

    /// Becomes room for the same question that `other` is room for.
    pub(crate) fn ask_as(&mut self, other: &Self) {
        (self.derivatives, self.averages) = (other.derivatives, other.averages);
    }

    /// Forgets how the last answer came about; workers call this before every question.
    #[inline]
    pub fn begin(&mut self) {
        (self.reused, self.estimated, self.linearized, self.ends) = (false, false, false, false);
        (self.located, self.crossed) = (false, false);
        self.path.clear();
    }

    /// How many derivatives of the outputs the asker wants; a system need not work out more.
    #[inline]
    pub fn derivatives(&self) -> usize {
        self.derivatives
    }
}
