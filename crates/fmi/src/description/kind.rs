//! `<CoSimulation>` and `<ModelExchange>`: what an FMU can do.

use super::findings::{DescriptionError, quoted};
use super::xml::Element;
use super::{Kind, Version};

const COMMON: &[&str] = &[
    "modelIdentifier",
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canGetAndSetFMUState",
    "canSerializeFMUState",
    // Both spellings: the one of the other version has a warning of its own.
    "providesDirectionalDerivative",
    "providesDirectionalDerivatives",
];
const TWO: &[&str] = &["canNotUseMemoryManagementFunctions"];
const THREE: &[&str] = &[
    "providesAdjointDerivatives",
    "providesPerElementDependencies",
    "providesEvaluateDiscreteStates",
];
const CO_SIMULATION: &[&str] = &[
    "canHandleVariableCommunicationStepSize",
    "maxOutputDerivativeOrder",
];
const CO_SIMULATION_TWO: &[&str] = &["canInterpolateInputs", "canRunAsynchronuously"];
const CO_SIMULATION_THREE: &[&str] = &[
    "fixedInternalStepSize",
    "recommendedIntermediateInputSmoothness",
    "providesIntermediateUpdate",
    "mightReturnEarlyFromDoStep",
    "canReturnEarlyAfterIntermediateUpdate",
    "hasEventMode",
];

/// Reads `<CoSimulation>`.
pub(super) fn co_simulation(
    element: Element<'_>,
    version: Version,
    model_name: &str,
) -> Result<Kind, DescriptionError> {
    let (all, own) = match version {
        Version::Two => (TWO, CO_SIMULATION_TWO),
        Version::Three => (THREE, CO_SIMULATION_THREE),
    };
    element.only(&[COMMON, all, CO_SIMULATION, own])?;
    let flag = |name| Ok::<_, DescriptionError>(element.boolean(name)?.unwrap_or(false));
    let mut kind = common(element, version, model_name)?;
    kind.variable_step = flag("canHandleVariableCommunicationStepSize")?;
    kind.output_derivatives = element.integer("maxOutputDerivativeOrder")?.unwrap_or(0);
    if version == Version::Two {
        kind.interpolates_inputs = flag("canInterpolateInputs")?;
        return Ok(kind);
    }
    kind.fixed_internal_step = step(element)?;
    kind.intermediate_update = flag("providesIntermediateUpdate")?;
    kind.might_return_early = flag("mightReturnEarlyFromDoStep")?;
    kind.can_return_early = flag("canReturnEarlyAfterIntermediateUpdate")?;
    kind.event_mode = flag("hasEventMode")?;
    Ok(kind)
}

/// Reads `<ModelExchange>`.
pub(super) fn model_exchange(
    element: Element<'_>,
    version: Version,
    model_name: &str,
) -> Result<Kind, DescriptionError> {
    let mut kind = common(element, version, model_name)?;
    if version == Version::Two {
        element.only(&[COMMON, TWO, &["completedIntegratorStepNotNeeded"]])?;
        kind.needs_completed_step = !element
            .boolean("completedIntegratorStepNotNeeded")?
            .unwrap_or(false);
    } else {
        element.only(&[COMMON, THREE, &["needsCompletedIntegratorStep"]])?;
        kind.needs_completed_step = element
            .boolean("needsCompletedIntegratorStep")?
            .unwrap_or(false);
    }
    Ok(kind)
}

fn common(
    element: Element<'_>,
    version: Version,
    model_name: &str,
) -> Result<Kind, DescriptionError> {
    let flag = |name| Ok::<_, DescriptionError>(element.boolean(name)?.unwrap_or(false));
    let (state, serialization) = match version {
        Version::Two => ("canGetAndSetFMUstate", "canSerializeFMUstate"),
        Version::Three => ("canGetAndSetFMUState", "canSerializeFMUState"),
    };
    let three = version == Version::Three;
    Ok(Kind {
        model_identifier: model_identifier(element, model_name)?,
        needs_execution_tool: flag("needsExecutionTool")?,
        only_once_per_process: flag("canBeInstantiatedOnlyOncePerProcess")?,
        state: flag(state)?,
        serialization: flag(serialization)?,
        directional_derivatives: directional_derivatives(element, version)?,
        adjoint_derivatives: three && flag("providesAdjointDerivatives")?,
        evaluates_discrete_states: three && flag("providesEvaluateDiscreteStates")?,
        ..Kind::default()
    })
}

/// The attribute is in the singular in 2.0 and in the plural in 3.0, which tools confuse.
fn directional_derivatives(
    element: Element<'_>,
    version: Version,
) -> Result<bool, DescriptionError> {
    let (right, wrong) = match version {
        Version::Two => (
            "providesDirectionalDerivative",
            "providesDirectionalDerivatives",
        ),
        Version::Three => (
            "providesDirectionalDerivatives",
            "providesDirectionalDerivative",
        ),
    };
    if let Some(value) = element.boolean(right)? {
        return Ok(value);
    }
    let Some(value) = element.boolean(wrong)? else {
        return Ok(false);
    };
    element.departure(format!(
        "the attribute `{wrong}` should be spelled `{right}`; it is taken for it"
    ))?;
    Ok(value)
}

/// The name of the library. It becomes part of a path, so it must not lead anywhere else.
fn model_identifier(element: Element<'_>, model_name: &str) -> Result<String, DescriptionError> {
    let given = element
        .expected("modelIdentifier")?
        .unwrap_or(model_name)
        .trim();
    if given.is_empty() || given.contains(['/', '\\', '\0']) || given == "." || given == ".." {
        let message = format!(
            "`modelIdentifier` is {}, where the name of a library was expected",
            quoted(given)
        );
        return Err(element.invalid(message));
    }
    let mut characters = given.chars();
    let starts_well = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !starts_well || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        element.departure(format!(
            "`modelIdentifier` is {}, which is no identifier of C, as the standard asks",
            quoted(given)
        ))?;
    }
    Ok(given.to_owned())
}

fn step(element: Element<'_>) -> Result<Option<f64>, DescriptionError> {
    let Some(step) = element.float("fixedInternalStepSize")? else {
        return Ok(None);
    };
    if step > 0.0 && step.is_finite() {
        return Ok(Some(step));
    }
    element.departure(format!(
        "`fixedInternalStepSize` is `{step}`, where a positive number was expected; it is left out"
    ))?;
    Ok(None)
}
