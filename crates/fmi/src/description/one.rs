//! What FMI 1.0 writes otherwise than its successors: parameters are a variability, dependencies stand with the outputs,
//! states have no variables, and there is one interface for each file.

use std::collections::{BTreeMap, HashMap};

use super::findings::{DescriptionError, quoted};
use super::read::Interfaces;
use super::variables::Listed;
use super::xml::Element;
use super::{
    Causality, Initial, InterfaceDescription, Structure, Unknown, ValueType, Variability, Variable,
    Version, kind,
};

/// Attributes of a variable.
pub(super) const VARIABLE: &[&str] = &[
    "name",
    "valueReference",
    "description",
    "variability",
    "causality",
    "alias",
];

/// More continuous states than any FMU has.
const MOST_STATES: usize = 1_000_000;

/// Inputs by name on which a variable says to depend; nothing where it does not say.
type Dependencies<'a> = BTreeMap<usize, Vec<&'a str>>;

/// Whether a variable is the negative of another. Nobody is fed by it, and it is read under the name of the other one.
pub(super) fn is_negated_alias(element: Element<'_>) -> Result<bool, DescriptionError> {
    if element.text("alias")? != Some("negatedAlias") {
        return Ok(false);
    }
    if let Some(port @ ("input" | "output")) = element.text("causality")? {
        element.departure(format!(
            "{} is an {port} and the negative of another variable, which is not supported; it is left out",
            quoted(element.text("name")?.unwrap_or_default())
        ))?;
    }
    Ok(true)
}

/// What a variable is for.
pub(super) fn causality(element: Element<'_>) -> Result<Causality, DescriptionError> {
    let is_parameter = element.text("variability")? == Some("parameter");
    match element.text("causality")?.unwrap_or("internal") {
        "input" => Ok(Causality::Input),
        "output" => Ok(Causality::Output),
        "internal" | "none" if is_parameter => Ok(Causality::Parameter),
        "internal" | "none" => Ok(Causality::Local),
        other => {
            element.departure(format!(
                "`causality` is {}, where `input`, `output`, `internal` or `none` was expected; it is ignored",
                quoted(other)
            ))?;
            Ok(Causality::Local)
        }
    }
}

/// How a variable may change. What is no real number cannot be continuous, although that is what silence means.
pub(super) fn variability(
    element: Element<'_>,
    value_type: ValueType,
) -> Result<Variability, DescriptionError> {
    match element.text("variability")?.unwrap_or("continuous") {
        "constant" => Ok(Variability::Constant),
        "parameter" => Ok(Variability::Fixed),
        "discrete" => Ok(Variability::Discrete),
        "continuous" if value_type.is_float() => Ok(Variability::Continuous),
        "continuous" => Ok(Variability::Discrete),
        other => {
            element.departure(format!(
                "`variability` is {}, where `constant`, `parameter`, `discrete` or `continuous` was expected; it is \
                 ignored",
                quoted(other)
            ))?;
            Ok(Variability::Discrete)
        }
    }
}

/// How a start value is meant.
pub(super) fn initial(typed: Element<'_>) -> Result<Option<Initial>, DescriptionError> {
    if !typed.has("start") {
        return Ok(None);
    }
    let fixed = typed.boolean("fixed")?.unwrap_or(true);
    Ok(Some(if fixed {
        Initial::Exact
    } else {
        Initial::Approx
    }))
}

/// What outputs depend on.
pub(super) fn dependencies<'a>(listed: &Listed<'a>, version: Version) -> Dependencies<'a> {
    if version != Version::One {
        return Dependencies::new();
    }

    let declared = listed.iter().enumerate().filter_map(|(at, (element, ..))| {
        let names = element.child("DirectDependency")?.children();
        Some((at, names.map(Element::content).collect()))
    });
    declared.collect()
}

/// Outputs and the number of states. An output that says nothing depends on all inputs.
pub(super) fn structure(
    root: Element<'_>,
    variables: &[Variable],
    dependencies: &Dependencies<'_>,
) -> Result<Structure, DescriptionError> {
    let named = variables.iter().enumerate();
    let positions: HashMap<&str, usize> = named.map(|(at, v)| (v.name.as_str(), at)).collect();
    let found = |names: &Vec<&str>| {
        names
            .iter()
            .filter_map(|name| positions.get(name).copied())
            .collect()
    };
    let outputs = variables
        .iter()
        .enumerate()
        .filter(|(_, v)| v.causality == Causality::Output);
    let outputs = outputs.map(|(at, _)| Unknown {
        variable: at,
        dependencies: dependencies.get(&at).map(found),
    });

    Ok(Structure {
        outputs: outputs.collect(),
        nameless_states: states(root)?,
        ..Structure::default()
    })
}

fn states(root: Element<'_>) -> Result<usize, DescriptionError> {
    let count = root.integer("numberOfContinuousStates")?.unwrap_or(0);
    if count > MOST_STATES {
        return Err(root.invalid(format!(
            "`numberOfContinuousStates` is `{count}`, more than the {MOST_STATES} that are integrated"
        )));
    }
    // A slave integrates its states itself, and shows none.
    Ok(if root.child("Implementation").is_some() {
        0
    } else {
        count
    })
}

/// A file with an implementation is for Co-Simulation, one without it for Model Exchange.
pub(super) fn interfaces(
    root: Element<'_>,
    model_name: &str,
) -> Result<Interfaces, DescriptionError> {
    let identified = InterfaceDescription {
        model_identifier: kind::model_identifier(root, model_name)?,
        ..InterfaceDescription::default()
    };
    let Some(implementation) = root.child("Implementation") else {
        let model_exchange = InterfaceDescription {
            needs_completed_step: true,
            ..identified
        };
        return Ok(Interfaces {
            model_exchange: Some(model_exchange),
            ..Interfaces::default()
        });
    };

    let tool = implementation.child("CoSimulation_Tool");
    let kind = tool.or_else(|| implementation.child("CoSimulation_StandAlone"));
    let mut slave = InterfaceDescription {
        needs_execution_tool: tool.is_some(),
        ..identified
    };
    if let Some(able) = kind.and_then(|kind| kind.child("Capabilities")) {
        slave.variable_step = able.flag("canHandleVariableCommunicationStepSize")?;
        slave.interpolates_inputs = able.flag("canInterpolateInputs")?;
        slave.output_derivatives = able.integer("maxOutputDerivativeOrder")?.unwrap_or(0);
        slave.only_once_per_process = able.flag("canBeInstantiatedOnlyOncePerProcess")?;
    }
    Ok(Interfaces {
        co_simulation: Some(slave),
        ..Interfaces::default()
    })
}
