//! The model description of FMI 3.0.

use dovetail_scenario::{FaceRole, FaceType};

use super::ExportedInterface;
use super::describe::{Unknown, about, experiment, list, log_categories, nature, range, units};
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
        interface(manifest),
        units(manifest),
        types(manifest),
        log_categories(),
        experiment(manifest),
        variables(manifest),
        structure(manifest),
        "</fmiModelDescription>\n".to_owned(),
    ];
    parts.concat()
}

fn interface(manifest: &Manifest) -> String {
    let can = manifest.capabilities;
    let common = [
        flag("canGetAndSetFMUState", can.state),
        flag("canSerializeFMUState", can.state),
        flag(
            "providesDirectionalDerivatives",
            can.directional_derivatives,
        ),
    ];
    let name = attribute("modelIdentifier", &manifest.identifier);
    match manifest.interface {
        ExportedInterface::ModelExchange => {
            format!("  <ModelExchange{name}{}/>\n", common.concat())
        }
        ExportedInterface::CoSimulation => {
            let own = [
                attribute("canHandleVariableCommunicationStepSize", true),
                attribute("maxOutputDerivativeOrder", can.output_derivatives),
                attribute("providesIntermediateUpdate", true),
            ];
            format!(
                "  <CoSimulation{name}{}{}/>\n",
                own.concat(),
                common.concat()
            )
        }
    }
}

/// The enumerations.
fn types(manifest: &Manifest) -> String {
    let enumerations = manifest.enumerations();
    if enumerations.is_empty() {
        return String::new();
    }
    let one = |own: &&ExportedVariable| {
        let items = own.face.items.iter().map(|(name, value)| {
            let name = attribute("name", name);
            format!("<Item{name}{}/>", attribute("value", value))
        });
        let name = attribute("name", own.type_name());
        let items: String = items.collect();
        format!("    <EnumerationType{name}>{items}</EnumerationType>\n")
    };
    let each: String = enumerations.iter().map(one).collect();
    format!("  <TypeDefinitions>\n{each}  </TypeDefinitions>\n")
}

fn variables(manifest: &Manifest) -> String {
    let time = "    <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n";
    let all = manifest.variables.iter();
    let each: String = all.map(|own| variable(manifest, own)).collect();
    format!("  <ModelVariables>\n{time}{each}  </ModelVariables>\n")
}

fn variable(manifest: &Manifest, own: &ExportedVariable) -> String {
    let face = &own.face;
    let float = face.value_type.is_float();
    let common = [
        attribute("name", own.label()),
        attribute("valueReference", own.reference),
        optional("description", face.description.as_ref()),
        nature(own, float),
        flag("intermediateUpdate", is_asked_for(manifest, own)),
    ];
    let common = common.concat();
    if face.value_type == FaceType::Text {
        let value = attribute("value", face.start.as_deref().unwrap_or_default());
        return format!("    <String{common}><Start{value}/></String>\n");
    }

    let kind = type_name(face.value_type);
    let is_enumeration = face.value_type == FaceType::Enumeration;
    let unit = face.unit.as_ref().filter(|_| float);
    let derivative = manifest.state_of(own).map(|state| state.reference);
    let values = [
        optional("declaredType", is_enumeration.then(|| own.type_name())),
        optional("start", face.start.as_ref()),
        range(own),
        optional("unit", unit.map(|unit| &unit.name)),
        optional("nominal", face.nominal.filter(|_| float)),
        optional("derivative", derivative),
    ];
    format!("    <{kind}{common}{}/>\n", values.concat())
}

/// Whether importers are asked for its values within steps.
fn is_asked_for(manifest: &Manifest, own: &ExportedVariable) -> bool {
    manifest.interface == ExportedInterface::CoSimulation && own.is_continuous_input()
}

/// The name of a type.
fn type_name(value_type: FaceType) -> &'static str {
    match value_type {
        FaceType::Float => "Float64",
        FaceType::Float32 => "Float32",
        FaceType::Int8 => "Int8",
        FaceType::UInt8 => "UInt8",
        FaceType::Int16 => "Int16",
        FaceType::UInt16 => "UInt16",
        FaceType::Int32 => "Int32",
        FaceType::UInt32 => "UInt32",
        FaceType::Int64 => "Int64",
        FaceType::UInt64 => "UInt64",
        FaceType::Enumeration => "Enumeration",
        FaceType::Boolean => "Boolean",
        FaceType::Text => "String",
    }
}

fn structure(manifest: &Manifest) -> String {
    let outputs = manifest.output_unknowns();
    let derivatives = manifest.derivative_unknowns();
    let each = |name: &str, all: &[Unknown<'_>]| -> String {
        let all = all.iter();
        all.map(|unknown| element(name, unknown)).collect()
    };
    let without = |name: &str, all: &[Unknown<'_>]| -> String {
        let all = all.iter().map(|unknown| unknown.variable.reference);
        all.map(|reference| format!("    <{name}{}/>\n", attribute("valueReference", reference)))
            .collect()
    };
    let indicators = manifest.variables.iter();
    let indicators = indicators.filter(|own| matches!(own.face.role, FaceRole::Indicator(_)));
    let indicators: String = indicators
        .map(|own| {
            let reference = attribute("valueReference", own.reference);
            format!("    <EventIndicator{reference}/>\n")
        })
        .collect();

    let parts = [
        each("Output", &outputs),
        each("ContinuousStateDerivative", &derivatives),
        without("InitialUnknown", &outputs),
        without("InitialUnknown", &derivatives),
        without("InitialUnknown", &manifest.computed_states()),
        indicators,
    ];
    format!(
        "  <ModelStructure>\n{}  </ModelStructure>\n",
        parts.concat()
    )
}

fn element(name: &str, unknown: &Unknown<'_>) -> String {
    let reference = attribute("valueReference", unknown.variable.reference);
    let all = unknown.dependencies.as_ref();
    let known = all.map(|all| list(all.iter().copied()));
    format!(
        "    <{name}{reference}{}/>\n",
        optional("dependencies", known)
    )
}
