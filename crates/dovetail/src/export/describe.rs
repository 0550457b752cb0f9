//! `modelDescription.xml` of an exported FMU: what both versions have in common.

use dovetail_scenario::{FaceRole, FaceUnit};

use super::manifest::{ExportedVariable, Manifest};
use super::xml::{attribute, optional};
use super::{FmiVersion, fmi2, fmi3};

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
    let description = match &manifest.reason {
        Some(reason) => format!("coupled by {}: {reason}", manifest.method),
        None => format!("coupled by {}", manifest.method),
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

/// The outputs, each with the references that it depends on at once.
pub(super) fn outputs(manifest: &Manifest) -> Vec<(&ExportedVariable, Option<&[u32]>)> {
    let all = manifest.variables.iter();
    let outputs = all.filter(|own| matches!(own.face.role, FaceRole::Output(_)));
    let known = |k: usize| manifest.dependencies.as_ref().map(|all| all[k].as_slice());
    outputs
        .enumerate()
        .map(|(k, own)| (own, known(k)))
        .collect()
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
