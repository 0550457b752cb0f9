//! Words for what an FMU is and can do.

use dovetail_core::SignalKind;
use dovetail_fmi::description::{Causality, Variable};
use dovetail_fmi::{FmuCapabilities, InputMode, OutputSlopes};

/// How inputs are taken.
pub fn inputs(abilities: &FmuCapabilities) -> String {
    match abilities.inputs {
        _ if abilities.sub_steps > 1 => format!("means over {} sub-steps", abilities.sub_steps),
        InputMode::Held => "held".to_owned(),
        InputMode::Derivatives(degree) => format!("polynomials of degree {degree}"),
        InputMode::Intermediate => "polynomials".to_owned(),
    }
}

/// How slopes of outputs are known.
pub fn slopes(abilities: &FmuCapabilities) -> String {
    match abilities.slopes {
        OutputSlopes::Unknown => "no".to_owned(),
        OutputSlopes::Reported(orders) => format!("order {orders}"),
        OutputSlopes::Chained if abilities.directional => {
            "order 1, from directional derivatives".to_owned()
        }
        OutputSlopes::Chained => "order 1, by differences".to_owned(),
    }
}

/// Of what kind a variable is.
pub fn nature(nature: SignalKind) -> &'static str {
    match nature {
        SignalKind::Continuous => "continuous",
        SignalKind::Discrete => "discrete",
        SignalKind::Text => "text",
    }
}

/// Whether a variable is a parameter.
pub fn is_parameter(variable: &Variable) -> bool {
    matches!(
        variable.causality,
        Causality::Parameter | Causality::StructuralParameter
    )
}

/// What a variable is to an FMU.
pub fn causality(causality: Causality) -> &'static str {
    match causality {
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::StructuralParameter => "structural parameter",
        Causality::Parameter => "parameter",
        Causality::CalculatedParameter => "calculated parameter",
        Causality::Local => "local",
        Causality::Independent => "independent",
        Causality::Dependent => "dependent",
    }
}
