//! What an FMU can really do: what it declares, less what did not stand the probe.

use dovetail_core::{MAX_DEGREE, Precision, StepRule};
use serde::{Deserialize, Serialize};

use crate::description::{Description, InterfaceDescription, Version};
use crate::layout::Layout;

/// How inputs reach an FMU during a communication step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputMode {
    /// Held.
    Held,
    /// As polynomials of this degree, through their derivatives (1.0 and 2.0).
    Derivatives(usize),
    /// Whenever the FMU asks for them (3.0).
    Intermediate,
}

/// How the derivatives of outputs are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputSlopes {
    /// They are not.
    Unknown,
    /// The FMU reports so many.
    Reported(usize),
    /// From directional derivatives and the derivatives of the states.
    Chained,
}

/// What an FMU can do.
#[derive(Clone, Debug, PartialEq)]
pub struct FmuCapabilities {
    /// Its state can be saved and restored.
    pub rollback: bool,
    /// A saved state can be written down as bytes.
    pub serializes: bool,
    /// It can be linearized.
    pub linearizes: bool,
    /// How it takes inputs.
    pub inputs: InputMode,
    /// How the derivatives of its outputs are known.
    pub slopes: OutputSlopes,
    /// Whether they are also before the first step.
    pub slopes_at_start: bool,
    /// The communication steps it takes.
    pub step: StepRule,
    /// Events are handled in a mode of their own (3.0).
    pub event_mode: bool,
    /// A step may end before its end (3.0).
    pub returns_early: bool,
    /// A communication step is made in so many parts, each under the mean of its inputs.
    pub sub_steps: u64,
    /// Directional derivatives can be asked for.
    pub directional: bool,
    /// They leave the FMU other than it was: its state is restored after them.
    pub derivatives_leave_traces: bool,
    /// Inputs may be set before initialization mode, and not only in it.
    pub early_inputs: bool,
    /// It matters there: what the FMU starts from depends on the inputs that it knows before it
    /// enters.
    pub enters_with_inputs: bool,
    /// Outputs have their values only once initialization mode is left.
    pub late_outputs: bool,
    /// Only one instance of it may be made in a process.
    pub single: bool,
    /// What its answers can be relied on (Co-Simulation).
    pub precision: Precision,
    /// States and inputs, for directional derivatives.
    pub(crate) knowns: Vec<u32>,
    /// Derivatives and outputs, for directional derivatives.
    pub(crate) unknowns: Vec<u32>,
}

impl FmuCapabilities {
    /// Whether a Co-Simulation FMU can be restored in another process.
    pub(crate) fn outlives_process(&self) -> bool {
        self.rollback && self.serializes
    }

    /// The degree of the input polynomials that a system of the FMU follows.
    pub(crate) fn input_degree(&self) -> usize {
        match self.inputs {
            _ if self.sub_steps > 1 => MAX_DEGREE,
            InputMode::Held => 0,
            InputMode::Derivatives(degree) => degree.min(MAX_DEGREE),
            InputMode::Intermediate => MAX_DEGREE,
        }
    }

    /// How many derivatives of its outputs it knows.
    pub(crate) fn output_derivatives(&self) -> usize {
        match self.slopes {
            OutputSlopes::Unknown => 0,
            OutputSlopes::Reported(orders) => orders.min(2),
            OutputSlopes::Chained => 1,
        }
    }

    /// What a Co-Simulation FMU declares.
    pub(crate) fn declared(
        description: &Description,
        kind: &InterfaceDescription,
        layout: &Layout,
        default_step: f64,
    ) -> Self {
        let three = description.version == Version::Three;
        let has_states = !layout.state_references.is_empty();
        // An FMU without states has nothing hidden: its outputs alone are linearized.
        let stateless = description.structure.derivatives.is_empty();
        let directional = kind.directional_derivatives && !layout.smooth_outputs.is_empty();
        let orders = kind.output_derivatives.min(2);
        let fixed = kind.fixed_internal_step.filter(|size| *size > 0.0);
        let imposed = fixed.or_else(|| (!kind.variable_step).then_some(default_step));

        Self {
            rollback: kind.state,
            linearizes: directional && (has_states || stateless && orders > 0),
            inputs: declared_inputs(description.version, kind, layout),
            slopes: match orders {
                0 if directional && (has_states || stateless) => OutputSlopes::Chained,
                0 => OutputSlopes::Unknown,
                orders => OutputSlopes::Reported(orders),
            },
            step: imposed.map_or(StepRule::Free, StepRule::Imposed),
            event_mode: three && kind.event_mode,
            returns_early: three && (kind.event_mode || kind.might_return_early),
            directional,
            // The rest is the same for both interfaces until it is tried.
            ..Self::of_model_exchange(kind, layout)
        }
    }

    /// The step over which it is tried where others are free to take `step`.
    pub(crate) fn probe_step(&self, step: f64) -> f64 {
        match self.step {
            StepRule::Imposed(size) => size,
            StepRule::Free => step,
        }
    }

    /// What is left of an FMU that is used without event mode.
    pub(crate) fn without_event_mode(self, kind: &InterfaceDescription) -> Self {
        Self {
            event_mode: false,
            returns_early: kind.might_return_early,
            ..self
        }
    }

    /// What is left of an FMU that nobody could try. Of one for Model Exchange we hold the state
    /// ourselves.
    pub(crate) fn without_promises(mut self, co_simulation: bool) -> Self {
        self.directional = false;
        if co_simulation {
            self.rollback = false;
            self.linearizes = false;
            self.inputs = InputMode::Held;
            self.slopes = OutputSlopes::Unknown;
        }
        self
    }

    /// What a Model Exchange FMU offers through our integrator.
    pub(crate) fn of_model_exchange(kind: &InterfaceDescription, layout: &Layout) -> Self {
        Self {
            rollback: true,
            serializes: kind.state && kind.serialization,
            linearizes: true,
            inputs: InputMode::Intermediate,
            slopes: OutputSlopes::Chained,
            step: StepRule::Free,
            event_mode: true,
            returns_early: false,
            sub_steps: 1,
            directional: kind.directional_derivatives,
            slopes_at_start: true,
            derivatives_leave_traces: false,
            early_inputs: true,
            enters_with_inputs: false,
            late_outputs: false,
            single: kind.only_once_per_process,
            precision: Precision::default(),
            knowns: [layout.state_references.as_slice(), &layout.smooth_inputs].concat(),
            unknowns: [
                layout.derivative_references.as_slice(),
                &layout.asked_outputs,
            ]
            .concat(),
        }
    }
}

/// How a Co-Simulation FMU declares to take inputs.
fn declared_inputs(version: Version, kind: &InterfaceDescription, layout: &Layout) -> InputMode {
    match version {
        Version::One | Version::Two
            if kind.interpolates_inputs && !layout.smooth_inputs.is_empty() =>
        {
            InputMode::Derivatives(MAX_DEGREE)
        }
        Version::Three if kind.intermediate_update && !layout.followed_inputs.is_empty() => {
            InputMode::Intermediate
        }
        _ => InputMode::Held,
    }
}
