//! `modelDescription.xml` of an exported FMU: what both versions have in common.

use dovetail_scenario::{FaceRole, FaceType, FaceUnit};

use super::manifest::{ExportedVariable, Manifest};
use super::xml::{attribute, optional};
use super::{ExportedInterface, FmiVersion, fmi2, fmi3};

/// The description.
pub(super) fn text(manifest: &Manifest, version: FmiVersion) -> String {
    let body = match version {
        FmiVersion::Two => fmi2::text(manifest),
        FmiVersion::Three => fmi3::text(manifest),
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}")
}

/// What both opening tags have.
pub(super) fn about(manifest: &Manifest) -> String {
    let description = match (manifest.interface, &manifest.reason) {
        (ExportedInterface::ModelExchange, _) => "coupled equations".to_owned(),
        (_, Some(reason)) => format!("coupled by {}: {reason}", manifest.method),
        (_, None) => format!("coupled by {}", manifest.method),
    };
    [
        attribute("modelName", &manifest.name),
        attribute("description", description),
        attribute("generationTool", format!("Dovetail {}", manifest.version)),
        attribute("variableNamingConvention", "flat"),
    ]
    .concat()
}

/// The units of measure of the variables, each once.
pub(super) fn units(manifest: &Manifest) -> String {
    let mut units: Vec<&FaceUnit> = Vec::new();
    for unit in manifest
        .variables
        .iter()
        .filter_map(|own| own.face.unit.as_ref())
    {
        if !units.iter().any(|known| known.name == unit.name) {
            units.push(unit);
        }
    }
    if units.is_empty() {
        return String::new();
    }
    let each: String = units.into_iter().map(unit).collect();
    format!("  <UnitDefinitions>\n{each}  </UnitDefinitions>\n")
}

fn unit(unit: &FaceUnit) -> String {
    let name = attribute("name", &unit.name);
    let Some(exponents) = unit.exponents else {
        return format!("    <Unit{name}/>\n");
    };
    let names = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];
    let powers = names.iter().zip(exponents).filter(|(_, power)| *power != 0);
    let powers: String = powers.map(|(name, power)| attribute(name, power)).collect();
    let factor = optional("factor", Some(unit.factor).filter(|factor| *factor != 1.0));
    let offset = optional("offset", Some(unit.offset).filter(|offset| *offset != 0.0));
    format!("    <Unit{name}><BaseUnit{powers}{factor}{offset}/></Unit>\n")
}

/// The categories of log messages.
pub(super) fn log_categories() -> String {
    let names = ["logStatusError", "logStatusWarning", "logEvents"];
    let each = names.map(|name| format!("    <Category name=\"{name}\"/>\n"));
    format!("  <LogCategories>\n{}  </LogCategories>\n", each.concat())
}

pub(super) fn experiment(manifest: &Manifest) -> String {
    let attributes = [
        attribute("startTime", manifest.start_time),
        attribute("stopTime", manifest.stop_time),
        optional("stepSize", manifest.step),
    ];
    format!("  <DefaultExperiment{}/>\n", attributes.concat())
}

/// Something that follows from other variables.
pub(super) struct Unknown<'a> {
    /// The variable.
    pub variable: &'a ExportedVariable,
    /// The references of what it depends on; none where that is not known.
    pub dependencies: Option<Vec<u32>>,
}

impl Manifest {
    /// The outputs.
    pub(super) fn output_unknowns(&self) -> Vec<Unknown<'_>> {
        let all = self.variables.iter();
        let outputs = all.filter(|own| matches!(own.face.role, FaceRole::Output(_)));
        let known = |k: usize| self.dependencies.as_ref().map(|all| all[k].clone());
        let unknown = |(k, variable)| Unknown {
            variable,
            dependencies: known(k),
        };
        outputs.enumerate().map(unknown).collect()
    }

    /// The derivatives of the states.
    pub(super) fn derivative_unknowns(&self) -> Vec<Unknown<'_>> {
        let all = self.variables.iter();
        let derivatives = all.filter(|own| matches!(own.face.role, FaceRole::Derivative(_)));
        let unknown = |variable| Unknown {
            variable,
            dependencies: None,
        };
        derivatives.map(unknown).collect()
    }

    /// The states whose start values follow from others.
    pub(super) fn computed_states(&self) -> Vec<Unknown<'_>> {
        let all = self.variables.iter();
        let states = all
            .filter(|own| matches!(own.face.role, FaceRole::State(_)) && own.face.start.is_none());
        let unknown = |variable| Unknown {
            variable,
            dependencies: None,
        };
        states.map(unknown).collect()
    }

    /// The state that a variable is the derivative of.
    pub(super) fn state_of(&self, own: &ExportedVariable) -> Option<&ExportedVariable> {
        let FaceRole::Derivative(position) = own.face.role else {
            return None;
        };
        let mut all = self.variables.iter();
        all.find(|other| other.face.role == FaceRole::State(position))
    }

    /// The variables that are enumerations: each is a type of its own.
    pub(super) fn enumerations(&self) -> Vec<&ExportedVariable> {
        let all = self.variables.iter();
        all.filter(|own| own.face.value_type == FaceType::Enumeration)
            .collect()
    }
}

impl ExportedVariable {
    /// The name of the type of an enumeration.
    pub(super) fn type_name(&self) -> String {
        format!("{} (type)", self.face.name)
    }
}

/// The least and the largest value allowed, unless the start value is beyond them.
pub(super) fn range(own: &ExportedVariable) -> String {
    if !own.face.value_type.is_float() {
        return whole_range(own);
    }
    let start = own.face.start.as_deref().and_then(|text| text.parse().ok());
    let start: Option<f64> = start;
    let below = |min: &f64| start.is_some_and(|start| start < *min);
    let above = |max: &f64| start.is_some_and(|start| start > *max);
    let min = own.face.min.filter(|min| min.is_finite() && !below(min));
    let max = own.face.max.filter(|max| max.is_finite() && !above(max));
    optional("min", min) + &optional("max", max)
}

fn whole_range(own: &ExportedVariable) -> String {
    let Some((least, largest)) = own.face.value_type.range() else {
        return String::new();
    };
    let start = own.face.start.as_deref().and_then(|text| text.parse().ok());
    let within = |bound: &i128| (least..=largest).contains(bound);
    let min = own.face.min.map(|min| min as i128).filter(within);
    let max = own.face.max.map(|max| max as i128).filter(within);
    let min = min.filter(|min| start.is_none_or(|start: i128| start >= *min));
    let max = max.filter(|max| start.is_none_or(|start: i128| start <= *max));
    optional("min", min) + &optional("max", max)
}

/// Causality, variability and how the start value is meant.
pub(super) fn nature(own: &ExportedVariable, continuous: bool) -> String {
    let changes = if continuous && !own.face.discrete {
        "continuous"
    } else {
        "discrete"
    };
    let (causality, variability, initial) = match own.face.role {
        FaceRole::Input(_) => ("input", changes, None),
        FaceRole::Output(_) => ("output", changes, Some("calculated")),
        FaceRole::Parameter => ("parameter", "fixed", Some("exact")),
        FaceRole::State(_) if own.face.start.is_some() => ("local", "continuous", Some("exact")),
        FaceRole::State(_) | FaceRole::Derivative(_) | FaceRole::Indicator(_) => {
            ("local", "continuous", Some("calculated"))
        }
    };
    [
        attribute("causality", causality),
        attribute("variability", variability),
        optional("initial", initial),
    ]
    .concat()
}

/// A list of numbers.
pub(super) fn list(numbers: impl Iterator<Item = u32>) -> String {
    let texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
    texts.join(" ")
}
