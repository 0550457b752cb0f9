//! The model description of FMI 3.0.

use dovetail_scenario::FaceType;

use super::describe::{about, experiment, list, log_categories, nature, outputs, units};
use super::manifest::{ExportedVariable, Manifest};
use super::xml::{attribute, flag, optional};

pub(super) fn text(manifest: &Manifest) -> String {
    let head = format!(
        "<fmiModelDescription fmiVersion=\"3.0\"{}{}>\n",
        attribute("instantiationToken", &manifest.token),
        about(manifest)
    );
    let parts = [
        head,
        co_simulation(manifest),
        units(manifest),
        log_categories(),
        experiment(manifest),
        variables(manifest),
        structure(manifest),
        "</fmiModelDescription>\n".to_owned(),
    ];
    parts.concat()
}

fn co_simulation(manifest: &Manifest) -> String {
    let can = manifest.capabilities;
    let attributes = [
        attribute("modelIdentifier", &manifest.identifier),
        attribute("canHandleVariableCommunicationStepSize", true),
        attribute("maxOutputDerivativeOrder", can.output_derivatives),
        flag("canGetAndSetFMUState", can.state),
        flag("canSerializeFMUState", can.state),
    ];
    format!("  <CoSimulation{}/>\n", attributes.concat())
}

fn variables(manifest: &Manifest) -> String {
    let time = "    <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n";
    let each: String = manifest.variables.iter().map(variable).collect();
    format!("  <ModelVariables>\n{time}{each}  </ModelVariables>\n")
}

fn variable(own: &ExportedVariable) -> String {
    let face = &own.face;
    let float = face.value_type == FaceType::Float;
    let common = [
        attribute("name", own.label()),
        attribute("valueReference", own.reference),
        optional("description", face.description.as_ref()),
        nature(own, float),
    ];
    let common = common.concat();
    let start = optional("start", face.start.as_ref());
    match face.value_type {
        FaceType::Float => {
            let unit = optional("unit", face.unit.as_ref().map(|unit| &unit.name));
            let nominal = optional("nominal", face.nominal);
            format!("    <Float64{common}{start}{unit}{nominal}/>\n")
        }
        FaceType::Integer => format!("    <Int64{common}{start}/>\n"),
        FaceType::Boolean => format!("    <Boolean{common}{start}/>\n"),
        FaceType::Text => {
            let value = attribute("value", face.start.as_deref().unwrap_or_default());
            format!("    <String{common}><Start{value}/></String>\n")
        }
    }
}

fn structure(manifest: &Manifest) -> String {
    let outputs = outputs(manifest);
    let output = |(own, dependencies): &(&ExportedVariable, Option<&[u32]>)| {
        let reference = attribute("valueReference", own.reference);
        let known = dependencies.map(|all| list(all.iter().copied()));
        format!(
            "    <Output{reference}{}/>\n",
            optional("dependencies", known)
        )
    };
    let each: String = outputs.iter().map(output).collect();
    let initial = |(own, _): &(&ExportedVariable, Option<&[u32]>)| {
        format!(
            "    <InitialUnknown{}/>\n",
            attribute("valueReference", own.reference)
        )
    };
    let initial: String = outputs.iter().map(initial).collect();
    format!("  <ModelStructure>\n{each}{initial}  </ModelStructure>\n")
}
