//! The model description of FMI 2.0.

use dovetail_scenario::FaceRole;

use super::describe::{Unknown, about, experiment, list, log_categories, nature, range, units};
use super::manifest::{ExportedVariable, Manifest};
use super::xml::{attribute, flag, optional};
use super::{ExportedInterface, value_type::Fmi2Type};

/// Variables are numbered from one, in the order of the document, in which time comes first.
const FIRST: u32 = 1;

pub(super) fn text(manifest: &Manifest) -> String {
    let head = format!(
        "<fmiModelDescription fmiVersion=\"2.0\"{}{}{}>\n",
        attribute("guid", &manifest.token),
        about(manifest),
        attribute("numberOfEventIndicators", manifest.indicators)
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
        flag("canGetAndSetFMUstate", can.state),
        flag("canSerializeFMUstate", can.state),
        flag("providesDirectionalDerivative", can.directional_derivatives),
    ];
    let name = attribute("modelIdentifier", &manifest.identifier);
    match manifest.interface {
        ExportedInterface::ModelExchange => {
            let common = common.concat();
            format!("  <ModelExchange{name} completedIntegratorStepNotNeeded=\"true\"{common}/>\n")
        }
        ExportedInterface::CoSimulation => {
            let own = [
                attribute("canHandleVariableCommunicationStepSize", true),
                attribute("canInterpolateInputs", true),
                attribute("maxOutputDerivativeOrder", can.output_derivatives),
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
        format!("    <SimpleType{name}><Enumeration>{items}</Enumeration></SimpleType>\n")
    };
    let each: String = enumerations.iter().map(one).collect();
    format!("  <TypeDefinitions>\n{each}  </TypeDefinitions>\n")
}

fn variables(manifest: &Manifest) -> String {
    let time = "    <ScalarVariable name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"><Real/></ScalarVariable>\n";
    let described = manifest.variables.iter().filter(is_described);
    let each: String = described.map(|own| variable(manifest, own)).collect();
    format!("  <ModelVariables>\n{time}{each}  </ModelVariables>\n")
}

/// Indicators have no variables in this version.
fn is_described(own: &&ExportedVariable) -> bool {
    !matches!(own.face.role, FaceRole::Indicator(_))
}

fn variable(manifest: &Manifest, own: &ExportedVariable) -> String {
    let face = &own.face;
    let float = face.value_type.is_float();
    let attributes = [
        attribute("name", own.label()),
        attribute("valueReference", own.reference),
        optional("description", face.description.as_ref()),
        nature(own, float),
    ];
    let unit = face.unit.as_ref().filter(|_| float);
    let kind = Fmi2Type::of(face.value_type);
    let is_enumeration = kind == Fmi2Type::Enumeration;
    let derivative = manifest.state_of(own).map(|state| state.reference + FIRST);
    let start = face.start.clone().map(|start| match kind {
        Fmi2Type::String => start,
        _ => start.trim().to_owned(),
    });
    let values = [
        optional("declaredType", is_enumeration.then(|| own.type_name())),
        optional("start", start),
        range(own),
        optional("unit", unit.map(|unit| &unit.name)),
        optional("nominal", face.nominal.filter(|_| float)),
        optional("derivative", derivative),
    ];
    format!(
        "    <ScalarVariable{}><{kind}{}/></ScalarVariable>\n",
        attributes.concat(),
        values.concat()
    )
}

fn structure(manifest: &Manifest) -> String {
    let outputs = manifest.output_unknowns();
    let derivatives = manifest.derivative_unknowns();
    if outputs.is_empty() && derivatives.is_empty() {
        return "  <ModelStructure/>\n".to_owned();
    }
    let parts = [
        group("Outputs", outputs.iter().map(unknown).collect::<String>()),
        group(
            "Derivatives",
            derivatives.iter().map(unknown).collect::<String>(),
        ),
        group(
            "InitialUnknowns",
            [outputs, derivatives, manifest.computed_states()]
                .iter()
                .flatten()
                .map(initial)
                .collect(),
        ),
    ];
    format!(
        "  <ModelStructure>\n{}  </ModelStructure>\n",
        parts.concat()
    )
}

fn group(name: &str, each: String) -> String {
    match each.is_empty() {
        true => String::new(),
        false => format!("    <{name}>\n{each}    </{name}>\n"),
    }
}

fn unknown(unknown: &Unknown<'_>) -> String {
    let index = attribute("index", unknown.variable.reference + FIRST);
    let all = unknown.dependencies.as_ref();
    let known = all.map(|all| list(all.iter().map(|reference| reference + FIRST)));
    format!(
        "      <Unknown{index}{}/>\n",
        optional("dependencies", known)
    )
}

fn initial(unknown: &Unknown<'_>) -> String {
    let index = attribute("index", unknown.variable.reference + FIRST);
    format!("      <Unknown{index}/>\n")
}

impl std::fmt::Display for Fmi2Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Real => "Real",
            Self::Integer => "Integer",
            Self::Enumeration => "Enumeration",
            Self::Boolean => "Boolean",
            Self::String => "String",
        })
    }
}

#[cfg(test)]
mod tests {
    use dovetail_scenario::FaceType;

    use super::*;

    #[test]
    fn whole_numbers_of_more_than_32_bits_are_real_in_this_version() {
        assert_eq!(Fmi2Type::of(FaceType::Int32), Fmi2Type::Integer);
        assert_eq!(Fmi2Type::of(FaceType::UInt32), Fmi2Type::Real);
        assert_eq!(Fmi2Type::of(FaceType::UInt64), Fmi2Type::Real);
        assert_eq!(Fmi2Type::of(FaceType::Enumeration), Fmi2Type::Enumeration);
    }
}
