//! System structure descriptions.

use crate::structure::{Implementation, Kind};
use crate::transform::Map;

use super::declared::Declared;
use super::xml::{attribute, double, optional, reference};
use super::{
    SspVersion, WrittenComponent, WrittenConnection, WrittenConnector, WrittenEnd,
    WrittenStructure, declared, types, values_file,
};

/// The type of the annotation in which a method and its options are kept.
pub(crate) const METHOD_ANNOTATION: &str = "dovetail.method";

/// The description.
pub(super) fn text(structure: &WrittenStructure, version: SspVersion) -> String {
    let all = structure.components.iter();
    let connectors = all.flat_map(|component| &component.connectors);
    let declared = declared(connectors.map(|connector| &connector.typing));
    let components = structure.components.iter().enumerate();
    let components = components.map(|(position, own)| component(position, own, &declared, version));
    let components: String = components.collect();
    let about = [
        attribute("version", version.number()),
        attribute("name", &structure.name),
        attribute("generationTool", &structure.generation_tool),
    ];
    let connections = connections(structure);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ssd:SystemStructureDescription{}\n    \
         xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\"\n    \
         xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\">\n  \
         <ssd:System{}>\n    <ssd:Elements>\n{components}    </ssd:Elements>\n{connections}  \
         </ssd:System>\n{}{}</ssd:SystemStructureDescription>\n",
        about.concat(),
        attribute("name", &structure.name),
        declared.text("ssd"),
        experiment(structure)
    )
}

fn component(
    position: usize,
    own: &WrittenComponent,
    declared: &Declared,
    version: SspVersion,
) -> String {
    let implementation = match own.implementation {
        Implementation::Any => None,
        Implementation::CoSimulation => Some("CoSimulation"),
        Implementation::ModelExchange => Some("ModelExchange"),
        Implementation::ScheduledExecution => Some("ScheduledExecution"),
    };
    let about = [
        attribute("name", &own.name),
        attribute("type", "application/x-fmu-sharedlibrary"),
        attribute("source", reference(&own.source)),
        optional("implementation", implementation),
    ];
    let connectors = own.connectors.iter();
    let connectors: String = connectors
        .map(|own| connector(own, declared, version))
        .collect();
    let mut inside = String::new();
    if !connectors.is_empty() {
        inside += &format!("        <ssd:Connectors>\n{connectors}        </ssd:Connectors>\n");
    }
    if !own.parameters.is_empty() {
        let source = attribute("source", reference(&values_file(position, own)));
        inside += &format!(
            "        <ssd:ParameterBindings>\n          <ssd:ParameterBinding{source}/>\n        \
             </ssd:ParameterBindings>\n"
        );
    }
    format!(
        "      <ssd:Component{}>\n{inside}      </ssd:Component>\n",
        about.concat()
    )
}

fn connector(own: &WrittenConnector, declared: &Declared, version: SspVersion) -> String {
    let kind = match own.kind {
        Kind::Input => "input",
        _ => "output",
    };
    let element = types::element(own.typing.data_type, version);
    format!(
        "          <ssd:Connector{}{}><ssc:{element}{}/>{}</ssd:Connector>\n",
        attribute("name", &own.name),
        attribute("kind", kind),
        types::attributes(&own.typing, declared),
        types::dimensions(&own.dimensions)
    )
}

fn connections(structure: &WrittenStructure) -> String {
    if structure.connections.is_empty() {
        return String::new();
    }
    let each = structure.connections.iter();
    let each: String = each.map(|own| connection(structure, own)).collect();
    format!("    <ssd:Connections>\n{each}    </ssd:Connections>\n")
}

fn connection(structure: &WrittenStructure, own: &WrittenConnection) -> String {
    let end = |end: &WrittenEnd, which: &str| {
        let indices: Vec<String> = end.indices.iter().map(u64::to_string).collect();
        let indices = Some(indices.join(" ")).filter(|list| !list.is_empty());
        [
            attribute(
                &format!("{which}Element"),
                &structure.components[end.component].name,
            ),
            attribute(&format!("{which}Connector"), &end.connector),
            optional(&format!("{which}Indices"), indices),
        ]
        .concat()
    };
    let ends = end(&own.from, "start") + &end(&own.to, "end");
    match &own.map {
        None => format!("      <ssd:Connection{ends}/>\n"),
        Some(map) => {
            // In place of a conversion of units.
            let alone = attribute("suppressUnitConversion", true);
            let map = transformation(map);
            format!("      <ssd:Connection{ends}{alone}>\n{map}      </ssd:Connection>\n")
        }
    }
}

fn transformation(map: &Map) -> String {
    let table = |kind: &str, entries: Vec<(String, String)>| {
        let entries = entries.into_iter().map(|(source, target)| {
            let (source, target) = (attribute("source", source), attribute("target", target));
            format!("          <ssc:MapEntry{source}{target}/>\n")
        });
        let entries: String = entries.collect();
        format!(
            "        <ssc:{kind}MappingTransformation>\n{entries}        \
             </ssc:{kind}MappingTransformation>\n"
        )
    };
    match map {
        Map::Linear { factor, offset } => format!(
            "        <ssc:LinearTransformation{}{}/>\n",
            attribute("factor", double(*factor)),
            attribute("offset", double(*offset))
        ),
        Map::Boolean(targets) => {
            let entries = [false, true].into_iter().zip(targets);
            let entries = entries.map(|(from, to)| (from.to_string(), to.to_string()));
            table("Boolean", entries.collect())
        }
        Map::Integer(pairs) => {
            let entries = pairs.iter();
            let entries = entries.map(|(from, to)| (from.to_string(), to.to_string()));
            table("Integer", entries.collect())
        }
        Map::Enumeration(pairs) => {
            let entries = pairs.iter();
            let entries = entries.map(|(from, to)| (from.name.clone(), to.name.clone()));
            table("Enumeration", entries.collect())
        }
    }
}

/// The default experiment, with the method in an annotation of ours.
fn experiment(structure: &WrittenStructure) -> String {
    let times = [
        attribute("startTime", double(structure.start_time)),
        attribute("stopTime", double(structure.stop_time)),
    ];
    let times = times.concat();
    if structure.run_options.is_empty() {
        return format!("  <ssd:DefaultExperiment{times}/>\n");
    }
    let options = structure.run_options.iter().map(|(key, value)| {
        let (key, value) = (attribute("key", key), attribute("value", value));
        format!("          <Option{key}{value}/>\n")
    });
    let options: String = options.collect();
    let kind = attribute("type", METHOD_ANNOTATION);
    format!(
        "  <ssd:DefaultExperiment{times}>\n    <ssd:Annotations>\n      \
         <ssc:Annotation{kind}>\n        <Method xmlns=\"{METHOD_ANNOTATION}\">\n{options}        \
         </Method>\n      </ssc:Annotation>\n    </ssd:Annotations>\n  </ssd:DefaultExperiment>\n"
    )
}
