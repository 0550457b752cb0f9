//! How answers are estimated.

use dovetail_core::{Interface, OperatorShape};
use dovetail_numerics::Laplace;

/// What can be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatorOptions {
    /// How the control part is continued.
    pub control: Control,
    /// What of the derivatives of the states is used.
    pub form: Form,
    /// How the transfer operators are evaluated.
    pub laplace: Laplace,
}

impl EstimatorOptions {
    /// What operators are needed for a system with this interface, under inputs of this degree.
    pub(crate) fn shape(
        &self,
        interface: &Interface,
        degree: usize,
        with_states: bool,
    ) -> OperatorShape {
        let inverted = self.laplace == Laplace::GaverStehfest;
        OperatorShape::of(interface, degree, with_states, inverted)
    }
}

/// What an estimate uses of the derivatives of the states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `f_C`, and its rate `∂f/∂t` where the system knows it.
    #[default]
    Full,
    /// `f_C`, held over the step, as the paper has it.
    Held,
    /// Nothing: `f_C = 0`, the paper's form for systems that do not tell the derivatives of their
    /// states.
    Degraded,
}

/// How the control part is continued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// The degree that would have met the newest value best.
    #[default]
    Flexible,
    /// Held.
    ZeroOrder,
    /// Continued along the line through the last two values.
    FirstOrder,
    /// Continued as the system itself says that it changes, `∂g/∂t`.
    Tangent,
}
