//! `<CoSimulation>` and `<ModelExchange>`: what an FMU can do.

use super::findings::{DescriptionError, quoted};
use super::xml::Element;
use super::{InterfaceDescription, Version};

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
) -> Result<InterfaceDescription, DescriptionError> {
    let (all, own) = match version {
        Version::One | Version::Two => (TWO, CO_SIMULATION_TWO),
        Version::Three => (THREE, CO_SIMULATION_THREE),
    };
    element.only(&[COMMON, all, CO_SIMULATION, own])?;
    let mut kind = common(element, version, model_name)?;
    kind.variable_step = element.flag("canHandleVariableCommunicationStepSize")?;
    kind.output_derivatives = element.integer("maxOutputDerivativeOrder")?.unwrap_or(0);

    match version {
        Version::One | Version::Two => {
            kind.interpolates_inputs = element.flag("canInterpolateInputs")?
        }
        Version::Three => co_simulation_of_three(element, &mut kind)?,
    }
    Ok(kind)
}

/// What only 3.0 has.
fn co_simulation_of_three(
    element: Element<'_>,
    kind: &mut InterfaceDescription,
) -> Result<(), DescriptionError> {
    kind.fixed_internal_step = step(element)?;
    kind.intermediate_update = element.flag("providesIntermediateUpdate")?;
    kind.might_return_early = element.flag("mightReturnEarlyFromDoStep")?;
    kind.can_return_early = element.flag("canReturnEarlyAfterIntermediateUpdate")?;
    kind.event_mode = element.flag("hasEventMode")?;
    Ok(())
}

/// Reads `<ModelExchange>`.
pub(super) fn model_exchange(
    element: Element<'_>,
    version: Version,
    model_name: &str,
) -> Result<InterfaceDescription, DescriptionError> {
    let mut kind = common(element, version, model_name)?;
    if version == Version::Two {
        element.only(&[COMMON, TWO, &["completedIntegratorStepNotNeeded"]])?;
        kind.needs_completed_step = !element.flag("completedIntegratorStepNotNeeded")?;
    } else {
        element.only(&[COMMON, THREE, &["needsCompletedIntegratorStep"]])?;
        kind.needs_completed_step = element.flag("needsCompletedIntegratorStep")?;
    }
    Ok(kind)
}

fn common(
    element: Element<'_>,
    version: Version,
    model_name: &str,
) -> Result<InterfaceDescription, DescriptionError> {
    let (state, serialization) = match version {
        Version::One | Version::Two => ("canGetAndSetFMUstate", "canSerializeFMUstate"),
        Version::Three => ("canGetAndSetFMUState", "canSerializeFMUState"),
    };
    let three = version == Version::Three;

    Ok(InterfaceDescription {
        model_identifier: model_identifier(element, model_name)?,
        needs_execution_tool: element.flag("needsExecutionTool")?,
        only_once_per_process: element.flag("canBeInstantiatedOnlyOncePerProcess")?,
        state: element.flag(state)?,
        serialization: element.flag(serialization)?,
        directional_derivatives: directional_derivatives(element, version)?,
        adjoint_derivatives: three && element.flag("providesAdjointDerivatives")?,
        evaluates_discrete_states: three && element.flag("providesEvaluateDiscreteStates")?,
        ..InterfaceDescription::default()
    })
}

/// The attribute is in the singular in 2.0 and in the plural in 3.0, which tools confuse.
fn directional_derivatives(
    element: Element<'_>,
    version: Version,
) -> Result<bool, DescriptionError> {
    let (right, wrong) = match version {
        Version::One | Version::Two => (
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
pub(super) fn model_identifier(
    element: Element<'_>,
    model_name: &str,
) -> Result<String, DescriptionError> {
    let given = element
        .expected("modelIdentifier")?
        .unwrap_or(model_name)
        .trim();
    let shown = quoted(given);

    if given.is_empty() || given.contains(['/', '\\', '\0']) || given == "." || given == ".." {
        return Err(element.invalid(format!(
            "`modelIdentifier` is {shown}, where the name of a library was expected"
        )));
    }

    if !is_identifier(given) {
        element.departure(format!(
            "`modelIdentifier` is {shown}, which is no identifier of C, as the standard asks"
        ))?;
    }
    Ok(given.to_owned())
}

/// Whether C would take a name as an identifier.
fn is_identifier(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut characters = name.chars();
    let starts_well = characters.next().is_some_and(is_letter);
    starts_well && characters.all(|c| is_letter(c) || c.is_ascii_digit())
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
