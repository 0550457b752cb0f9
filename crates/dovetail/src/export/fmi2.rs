//! The model description of FMI 2.0.

use dovetail_scenario::FaceType;

use super::describe::{about, experiment, list, log_categories, nature, outputs, units};
use super::manifest::{ExportedVariable, Manifest};
use super::xml::{attribute, flag, optional};

/// Variables are numbered from one, in the order of the document, in which time comes first.
const FIRST: u32 = 1;

pub(super) fn text(manifest: &Manifest) -> String {
    let head = format!(
        "<fmiModelDescription fmiVersion=\"2.0\"{}{} numberOfEventIndicators=\"0\">\n",
        attribute("guid", &manifest.token),
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
        attribute("canInterpolateInputs", true),
        attribute("maxOutputDerivativeOrder", can.output_derivatives),
        flag("canGetAndSetFMUstate", can.state),
        flag("canSerializeFMUstate", can.state),
    ];
    format!("  <CoSimulation{}/>\n", attributes.concat())
}

fn variables(manifest: &Manifest) -> String {
    let time = "    <ScalarVariable name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"><Real/></ScalarVariable>\n";
    let each: String = manifest.variables.iter().map(variable).collect();
    format!("  <ModelVariables>\n{time}{each}  </ModelVariables>\n")
}

fn variable(own: &ExportedVariable) -> String {
    let face = &own.face;
    let float = face.value_type == FaceType::Float;
    let attributes = [
        attribute("name", own.label()),
        attribute("valueReference", own.reference),
        optional("description", face.description.as_ref()),
        nature(own, float),
    ];
    let unit = face.unit.as_ref().filter(|_| float);
    let own = [
        optional("start", face.start.as_ref()),
        optional("unit", unit.map(|unit| &unit.name)),
        optional("nominal", face.nominal.filter(|_| float)),
    ];
    let kind = match face.value_type {
        FaceType::Float => "Real",
        FaceType::Integer => "Integer",
        FaceType::Boolean => "Boolean",
        FaceType::Text => "String",
    };
    format!(
        "    <ScalarVariable{}><{kind}{}/></ScalarVariable>\n",
        attributes.concat(),
        own.concat()
    )
}

fn structure(manifest: &Manifest) -> String {
    let outputs = outputs(manifest);
    if outputs.is_empty() {
        return "  <ModelStructure/>\n".to_owned();
    }
    let unknown = |(own, dependencies): &(&ExportedVariable, Option<&[u32]>)| {
        let index = attribute("index", own.reference + FIRST);
        let known = dependencies.map(|all| list(all.iter().map(|reference| reference + FIRST)));
        format!(
            "      <Unknown{index}{}/>\n",
            optional("dependencies", known)
        )
    };
    let each: String = outputs.iter().map(unknown).collect();
    let initial = |(own, _): &(&ExportedVariable, Option<&[u32]>)| {
        let index = attribute("index", own.reference + FIRST);
        format!("      <Unknown{index}/>\n")
    };
    let initial: String = outputs.iter().map(initial).collect();
    format!(
        "  <ModelStructure>\n    <Outputs>\n{each}    </Outputs>\n    <InitialUnknowns>\n{initial}    </InitialUnknowns>\n  </ModelStructure>\n"
    )
}
