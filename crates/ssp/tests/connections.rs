//! Connections through systems of all levels, with what happens to values on the way.

mod support;

use dovetail_ssp::{EnumerationItem, Map, UnitDef};
use support::*;

/// A system as an element.
fn nested(name: &str, all: &[&str], content: &str) -> String {
    format!(
        "<ssd:System name=\"{name}\">{}{content}</ssd:System>",
        connectors(all)
    )
}

/// A source `a.y` and a sink `b.u`, connected with this inside.
fn pair(source: &str, sink: &str, attributes: &str, more: &str) -> String {
    let connection = connect("a/y", "b/u", more).replacen(
        "<ssd:Connection ",
        &format!("<ssd:Connection {attributes} "),
        1,
    );
    system(&(unit("a", &[source]) + &unit("b", &[sink])), &connection)
}

#[test]
fn values_pass_three_levels_in_both_directions() {
    let inner = system(
        &unit("gain", &["input u", "output y"]),
        &(connect("in", "gain/u", "<ssc:LinearTransformation factor=\"2\"/>")
            + &connect("gain/y", "out", "")),
    );
    let around = |name: &str, content: &str| {
        let connections = connect(
            "in",
            &format!("{name}/in"),
            "<ssc:LinearTransformation offset=\"1\"/>",
        ) + &connect(
            &format!("{name}/out"),
            "out",
            "<ssc:LinearTransformation factor=\"10\"/>",
        );
        system(
            &nested(name, &["input in", "output out"], content),
            &connections,
        )
    };
    let content = around("C", &inner);
    let content = around("B", &content);
    let elements = nested("A", &["input in", "output out"], &content)
        + &unit("source", &["output y"])
        + &unit("sink", &["input u"]);
    let found = structure(&system(
        &elements,
        &(connect("source/y", "A/in", "") + &connect("A/out", "sink/u", "")),
    ));
    // 2 ((y + 1) + 1) on the way in, 10 · 10 on the way out.
    assert_eq!(
        described(&found),
        [
            "source.y -> A.B.C.gain.u: 2 4",
            "A.B.C.gain.y -> sink.u: 100 0"
        ]
    );
}

#[test]
fn a_system_can_pass_values_through() {
    let through = nested(
        "wire",
        &["input in", "output out"],
        &system("", &connect("in", "out", "")),
    );
    let elements = unit("a", &["output y"]) + &through + &unit("b", &["input u"]);
    let found = structure(&system(
        &elements,
        &(connect("a/y", "wire/in", "") + &connect("wire/out", "b/u", "")),
    ));
    assert_eq!(described(&found), ["a.y -> b.u"]);
}

#[test]
fn one_output_feeds_many_and_calculated_parameters_feed_parameters() {
    let inside = system(
        &(unit("b", &["input u", "parameter p"]) + &unit("c", &["input u"])),
        &(connect("in", "b/u", "") + &connect("in", "c/u", "") + &connect("par", "b/p", "")),
    );
    let elements = unit("a", &["output y", "calculatedParameter q"])
        + &nested("S", &["input in", "parameter par"], &inside);
    let found = structure(&system(
        &elements,
        &(connect("a/y", "S/in", "") + &connect("a/q", "S/par", "")),
    ));
    assert_eq!(
        described(&found),
        ["a.y -> S.b.u", "a.q -> S.b.p", "a.y -> S.c.u"]
    );
}

#[test]
fn kinds_say_which_way_values_flow_and_start_and_end_do_not() {
    let elements = unit("a", &["output y"]) + &unit("b", &["input u"]);
    let found = structure(&system(
        &elements,
        &connect("b/u", "a/y", "<ssc:LinearTransformation factor=\"3\"/>"),
    ));
    assert_eq!(described(&found), ["a.y -> b.u: 3 0"]);
    assert!(found.warnings.is_empty());
}

#[test]
fn undeclared_connectors_of_components_are_understood_and_warned_of() {
    let found = structure(&system(
        &(unit("a", &["output y"]) + &unit("b", &["input u"])),
        &connect("b/v", "a/y", ""),
    ));
    assert_eq!(described(&found), ["a.y -> b.v"]);
    assert!(
        found.warnings[0].contains("`b` does not declare its connector `v`"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn two_inputs_cannot_feed_each_other() {
    let elements = unit("a", &["input y"]) + &unit("b", &["input u"]);
    let message = refused(&system(&elements, &connect("a/y", "b/u", "")));
    assert!(
        message.starts_with("SystemStructure.ssd:") && message.contains("both take values"),
        "{message}"
    );
}

#[test]
fn what_is_fed_twice_names_both_places_and_the_same_connection_twice_is_only_warned_of() {
    let elements = unit("a", &["output y", "output z"]) + &unit("b", &["input u"]);
    let message = refused(&system(
        &elements,
        &(connect("a/y", "b/u", "") + &connect("a/z", "b/u", "")),
    ));
    assert!(
        message.contains("`b.u` is fed here by `a.z`, and at SystemStructure.ssd:"),
        "{message}"
    );
    let found = structure(&system(
        &elements,
        &(connect("a/y", "b/u", "") + &connect("a/y", "b/u", "")),
    ));
    assert_eq!((found.connections.len(), found.warnings.len()), (1, 1));
}

#[test]
fn unknown_elements_and_connectors_are_named_with_what_there_is() {
    let elements = unit("motor", &["output y"]) + &nested("S", &["input speed"], "");
    let message = refused(&system(&elements, &connect("motr/y", "S/speed", "")));
    assert!(
        message.contains("no element `motr`") && message.contains("`S`, `motor`"),
        "{message}"
    );
    let message = refused(&system(&elements, &connect("motor/y", "S/sped", "")));
    assert!(
        message.contains("no connector `sped` in the system `S`; known are `speed`"),
        "{message}"
    );
}

#[test]
fn units_are_converted_before_a_transformation_and_not_at_all_when_suppressed() {
    let linear = "<ssc:LinearTransformation factor=\"2\" offset=\"1\"/>";
    let found = structure(&pair("output y degC", "input u K", "", linear));
    assert_eq!(described(&found), ["a.y -> b.u: 2 547.3"]);
    let found = structure(&pair(
        "output y degC",
        "input u K",
        "suppressUnitConversion=\"true\"",
        linear,
    ));
    assert_eq!(described(&found), ["a.y -> b.u: 2 1"]);
}

#[test]
fn different_quantities_are_refused_with_both_names() {
    let message = refused(&pair("output y degC", "input u m", "", ""));
    assert!(
        message.contains("`b.u` is in `m` and `a.y` in `degC`"),
        "{message}"
    );
    structure(&pair(
        "output y degC",
        "input u m",
        "suppressUnitConversion=\"1\"",
        "",
    ));
}

#[test]
fn units_that_only_the_variables_know_are_left_to_them() {
    let found = structure(&pair(
        "output y degC",
        "input u",
        "",
        "<ssc:LinearTransformation factor=\"2\"/>",
    ));
    let base = |name: &str, offset| {
        let base = dovetail_ssp::BaseUnit {
            exponents: [0, 0, 0, 0, 1, 0, 0, 0],
            factor: 1.0,
            offset,
        };
        UnitDef {
            name: name.into(),
            base: Some(base),
        }
    };
    let route = &found.connections[0].route;
    assert_eq!(
        route.resolve(None, Some(&base("K", 0.0))).unwrap().linear(),
        Some((2.0, 546.3))
    );
    assert_eq!(
        route.resolve(None, None).unwrap().linear(),
        Some((2.0, 0.0))
    );
    assert_eq!(
        found.connections[0].from_unit.as_ref().unwrap().name,
        "degC"
    );
}

#[test]
fn a_system_connector_without_unit_has_that_of_the_inside() {
    // The transformation outside sees kelvin, which the inside has, not degrees.
    let inside = system(&unit("b", &["input u K"]), &connect("in", "b/u", ""));
    let elements = unit("a", &["output y degC"]) + &nested("S", &["input in"], &inside);
    let found = structure(&system(
        &elements,
        &connect("a/y", "S/in", "<ssc:LinearTransformation factor=\"2\"/>"),
    ));
    assert_eq!(described(&found), ["a.y -> S.b.u: 2 546.3"]);
}

#[test]
fn a_unit_without_definition_is_warned_of_and_not_converted() {
    let found = structure(&pair("output y parsec", "input u m", "", ""));
    assert_eq!(described(&found), ["a.y -> b.u"]);
    assert!(
        found.warnings[0].contains("`parsec` is not defined"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn tables_map_booleans_integers_and_enumerations() {
    let entry = |source: &str, target: &str| {
        format!("<ssc:MapEntry source=\"{source}\" target=\"{target}\"/>")
    };
    let with = |kind: &str, entries: &str| {
        let table =
            format!("<ssc:{kind}MappingTransformation>{entries}</ssc:{kind}MappingTransformation>");
        structure(&pair("output y", "input u", "", &table)).connections[0]
            .route
            .resolve(None, None)
            .unwrap()
    };
    let booleans = with("Boolean", &(entry("true", "false") + &entry("0", "1")));
    assert_eq!([0.0, 1.0].map(|value| booleans.number(value)), [1.0, 0.0]);
    let integers = with("Integer", &(entry("1", "10") + &entry("-2", "7")));
    assert_eq!(
        [1.0, -2.0, 3.0].map(|value| integers.number(value)),
        [10.0, 7.0, 3.0]
    );
    let items = with("Enumeration", &entry("on", "running"));
    let item = |name: &str| EnumerationItem {
        name: name.into(),
        value: None,
    };
    assert_eq!(
        items.maps,
        [Map::Enumeration(vec![(item("on"), item("running"))])]
    );
}

#[test]
fn items_have_the_numbers_of_their_own_sides() {
    let connector = |name: &str, kind: &str, items: &str| {
        format!(
            "<ssd:Component name=\"{name}\" source=\"Unit.fmu\"><ssd:Connectors><ssd:Connector name=\"x\" kind=\"{kind}\"><ssc:Enumeration name=\"{items}\"/></ssd:Connector></ssd:Connectors></ssd:Component>"
        )
    };
    let table = "<ssc:EnumerationMappingTransformation><ssc:MapEntry source=\"on\" target=\"running\"/></ssc:EnumerationMappingTransformation>";
    let elements = connector("a", "output", "switch") + &connector("b", "input", "state");
    let enumerations = "<ssd:Enumerations><ssc:Enumeration name=\"switch\"><ssc:Item name=\"on\" value=\"1\"/></ssc:Enumeration><ssc:Enumeration name=\"state\"><ssc:Item name=\"running\" value=\"30\"/></ssc:Enumeration></ssd:Enumerations>";
    let found = Package::new(&ssd_with(
        &system(&elements, &connect("a/x", "b/x", table)),
        enumerations,
    ))
    .good();
    assert_eq!(
        found.connections[0]
            .route
            .resolve(None, None)
            .unwrap()
            .number(1.0),
        30.0
    );
    assert_eq!(
        found.components[0].connectors[0]
            .enumeration
            .as_ref()
            .unwrap()
            .number("on"),
        Some(1)
    );
}

#[test]
fn signals_go_through_dictionaries_of_outer_systems_and_of_files() {
    let reference = |name: &str, all: &[&str]| {
        format!(
            "<ssd:SignalDictionaryReference name=\"{name}\" dictionary=\"bus\">{}</ssd:SignalDictionaryReference>",
            connectors(all)
        )
    };
    let inside = system(
        &(reference("tap", &["inout T degC"]) + &unit("b", &["input u degC"])),
        &connect("b/u", "tap/T", ""),
    );
    let content = |dictionary: &str| {
        let elements = reference("plug", &["input T"])
            + &unit("a", &["output y K"])
            + &nested("S", &[], &inside);
        format!("<ssd:SignalDictionaries>{dictionary}</ssd:SignalDictionaries>")
            + &system(&elements, &connect("a/y", "plug/T", ""))
    };
    let entries = "<ssb:DictionaryEntry name=\"T\"><ssc:Real unit=\"K\"/></ssb:DictionaryEntry><ssb:Units><ssc:Unit name=\"K\"><ssc:BaseUnit K=\"1\"/></ssc:Unit></ssb:Units>";
    let inline = format!(
        "<ssd:SignalDictionary name=\"bus\"><ssb:SignalDictionary version=\"1.0\">{entries}</ssb:SignalDictionary></ssd:SignalDictionary>"
    );
    let found = structure(&content(&inline));
    assert_eq!(described(&found), ["a.y -> S.b.u: 1 -273.15"]);
    let external = ssd(&content(
        "<ssd:SignalDictionary name=\"bus\" source=\"bus.ssb\"/>",
    ));
    let package = Package::new(&external).with("bus.ssb", file("ssb:SignalDictionary", entries));
    assert_eq!(described(&package.good()), described(&found));
}

#[test]
fn an_entry_of_a_dictionary_has_one_source_and_the_dictionary_must_be_there() {
    let reference = |dictionary: &str| {
        format!("<ssd:SignalDictionaryReference name=\"r\" dictionary=\"{dictionary}\"/>")
    };
    let dictionary =
        "<ssd:SignalDictionaries><ssd:SignalDictionary name=\"bus\"/></ssd:SignalDictionaries>";
    let elements = reference("bus") + &unit("a", &["output y", "output z"]);
    let message = refused(
        &(dictionary.to_string()
            + &system(
                &elements,
                &(connect("a/y", "r/T", "") + &connect("a/z", "r/T", "")),
            )),
    );
    assert!(message.contains("`r.T` is fed here by `a.z`"), "{message}");
    let message = refused(&(dictionary.to_string() + &system(&reference("bos"), "")));
    assert!(
        message.contains("no signal dictionary `bos`") && message.contains("`bus`"),
        "{message}"
    );
}

#[test]
fn elements_of_arrays_keep_their_indices_through_systems() {
    let with = |from: &str, to: &str, attributes: &str| {
        connect(from, to, "").replacen(
            "<ssd:Connection ",
            &format!("<ssd:Connection {attributes} "),
            1,
        )
    };
    let inside = system(
        &unit("b", &["input u"]),
        &with("in", "b/u", "startIndices=\"2\""),
    );
    let elements = unit("a", &["output y"]) + &nested("S", &["input in"], &inside);
    let found = structure(&system(&elements, &connect("a/y", "S/in", "")));
    assert_eq!(described(&found), ["a.y[2] -> S.b.u"]);
    let inside = system(&unit("b", &["input u"]), &connect("in", "b/u", ""));
    let elements = unit("a", &["output y", "output z"]) + &nested("S", &["input in"], &inside);
    let connections =
        with("a/y", "S/in", "endIndices=\"1 1\"") + &with("a/z", "S/in", "endIndices=\"1 2\"");
    let found = structure(&system(&elements, &connections));
    assert_eq!(
        described(&found),
        ["a.y -> S.b.u[1, 1]", "a.z -> S.b.u[1, 2]"]
    );
}

#[test]
fn dimensions_and_types_of_fmi_3_are_kept() {
    let component = "<ssd:Component name=\"a\" source=\"Unit.fmu\" implementation=\"CoSimulation\"><ssd:Connectors><ssd:Connector name=\"y\" kind=\"output\"><ssc:UInt16/><ssc:Dimension size=\"3\"/><ssc:Dimension sizeConnector=\"n\"/></ssd:Connector></ssd:Connectors></ssd:Component>";
    let found = structure(&system(component, ""));
    let connector = &found.components[0].connectors[0];
    assert_eq!(connector.data_type, Some(dovetail_ssp::DataType::UInt16));
    assert_eq!(
        connector.dimensions,
        [
            dovetail_ssp::Dimension::Fixed(3),
            dovetail_ssp::Dimension::Connector("n".into())
        ]
    );
    assert_eq!(
        found.components[0].implementation,
        dovetail_ssp::Implementation::CoSimulation
    );
}

#[test]
fn clocks_may_be_there_but_not_be_connected() {
    let clock = |name: &str, kind: &str| {
        format!(
            "<ssd:Component name=\"{name}\" source=\"Unit.fmu\"><ssd:Connectors><ssd:Connector name=\"t\" kind=\"{kind}\"><ssc:Clock/></ssd:Connector></ssd:Connectors></ssd:Component>"
        )
    };
    let elements = clock("a", "output") + &clock("b", "input");
    assert_eq!(structure(&system(&elements, "")).components.len(), 2);
    let message = refused(&system(&elements, &connect("a/t", "b/t", "")));
    assert!(
        message.contains("`a.t`, a clock, cannot be used here"),
        "{message}"
    );
}

#[test]
fn connections_in_a_ring_of_systems_are_refused() {
    let wire = nested(
        "wire",
        &["input in", "output out"],
        &system("", &connect("in", "out", "")),
    );
    let elements = wire + &unit("b", &["input u"]);
    let message = refused(&system(
        &elements,
        &(connect("wire/out", "wire/in", "") + &connect("wire/out", "b/u", "")),
    ));
    assert!(message.contains("feeds itself"), "{message}");
}

#[test]
fn two_components_with_one_full_name_are_told_apart() {
    let elements = nested("B", &[], &system(&unit("C", &[]), "")) + &unit("B.C", &[]);
    let found = structure(&system(&elements, ""));
    assert_eq!(
        found
            .components
            .iter()
            .map(|unit| unit.name.as_str())
            .collect::<Vec<_>>(),
        ["B.C", "B.C_2"]
    );
    assert_eq!(found.warnings.len(), 1);
}

#[test]
fn geometry_annotations_and_foreign_elements_have_no_effect_and_unknown_ones_are_warned_of() {
    let more = "<ssd:ElementGeometry x1=\"0\"/><ssd:Annotations><ssc:Annotation type=\"x\"><other:Connectors/></ssc:Annotation></ssd:Annotations><other:Wild/><ssc:MetaData/><ssc:Signature/>";
    let found = structure(&system(&unit_with("a", &["output y"], more), ""));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let found = structure(&system(
        &unit_with("a", &["output y"], "<ssd:Surprise/>"),
        "",
    ));
    assert!(
        found.warnings[0].contains("`Surprise`"),
        "{:?}",
        found.warnings
    );
}
