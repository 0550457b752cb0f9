//! The options of `dovetail`.

use dovetail_methods::{DovetailOptions, Inputs, Relinearize, StepBounds};

use crate::diagnostic::Problem;
use crate::options::Choices;

const INPUTS: &[(&str, &str)] = &[("auto", ""), ("quintic", ""), ("cubic", "")];
const CORRECTION: &[(&str, &str)] = &[("auto", ""), ("false", ""), ("true", "")];
const RELINEARIZE: &[(&str, &str)] = &[("auto", ""), ("always", ""), ("never", "")];
const CORRECTED: &[(&str, &str)] = &[("false", ""), ("true", "")];

/// Reads them; the tolerance is not among them.
pub(crate) fn options(choices: &Choices) -> Result<DovetailOptions, Problem> {
    let inputs = match choices.chosen("inputs", INPUTS)?.as_deref() {
        Some("quintic") => Inputs::Quintic,
        Some("cubic") => Inputs::Cubic,
        _ => Inputs::Auto,
    };
    let relinearize = match choices.chosen("relinearize", RELINEARIZE)?.as_deref() {
        Some("always") => Relinearize::Always,
        Some("never") => Relinearize::Never,
        _ => Relinearize::Auto,
    };
    Ok(DovetailOptions {
        inputs,
        correction: choices
            .chosen("correction", CORRECTION)?
            .and_then(|text| text.parse().ok()),
        relinearize,
        corrected: choices
            .chosen("corrected", CORRECTED)?
            .is_some_and(|text| text == "true"),
        tolerance: None,
        bounds: StepBounds::default(),
    })
}
