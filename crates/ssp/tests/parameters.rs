//! Values of parameter sets: where they go, which of them counts, and in what unit.

mod support;

use dovetail_ssp::{BaseUnit, EnumerationItem, ParameterValue, UnitDef};
use support::*;

/// Bindings of an element.
fn bound(bindings: &str) -> String {
    format!("<ssd:ParameterBindings>{bindings}</ssd:ParameterBindings>")
}

/// A system as an element.
fn nested(name: &str, content: &str) -> String {
    format!("<ssd:System name=\"{name}\">{content}</ssd:System>")
}

/// The values of one component, bound to it in one set with this content.
fn values(parameters: &str) -> Vec<(String, ParameterValue)> {
    let set = format!(
        "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version=\"2.0\" name=\"p\"><ssv:Parameters>{parameters}</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>"
    );
    let found = structure(&system(&unit_with("a", &[], &bound(&set)), ""));
    found.components[0]
        .parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), parameter.value.clone()))
        .collect()
}

#[test]
fn a_component_is_addressed_by_its_variables_and_a_system_by_the_names_of_its_elements() {
    let inner = bound(&inline(&[("c.x", 3.0), ("c.sub.y[2]", 4.0)])) + &system(&unit("c", &[]), "");
    let elements = nested("B", &inner) + &unit_with("a", &[], &bound(&inline(&[("x", 1.0)])));
    let found = structure(
        &(bound(&inline(&[("B.c.z", 5.0), ("a.y", 2.0), ("nobody.x", 0.0)]))
            + &system(&elements, "")),
    );
    assert_eq!(
        [float(&found, "a", "x"), float(&found, "a", "y")],
        [Some(1.0), Some(2.0)]
    );
    assert_eq!(
        [float(&found, "B.c", "x"), float(&found, "B.c", "z")],
        [Some(3.0), Some(5.0)]
    );
    assert_eq!(float(&found, "B.c", "sub.y[2]"), Some(4.0));
    assert!(
        found.warnings[0]
            .contains("1 of 3 parameter values match nothing and were ignored: `nobody.x`")
    );
}

#[test]
fn outer_bindings_come_before_inner_ones_and_later_before_earlier() {
    let own = bound(&(inline(&[("p", 1.0), ("q", 1.0), ("r", 1.0)]) + &inline(&[("p", 2.0)])));
    let middle =
        bound(&inline(&[("c.q", 3.0), ("c.r", 3.0)])) + &system(&unit_with("c", &[], &own), "");
    let outer = bound(&inline(&[("B.c.r", 4.0)])) + &system(&nested("B", &middle), "");
    let found = structure(&outer);
    assert_eq!(
        ["p", "q", "r"].map(|name| float(&found, "B.c", name)),
        [Some(2.0), Some(3.0), Some(4.0)]
    );
    assert_eq!(found.components[0].parameters.len(), 3);
}

#[test]
fn all_that_a_name_can_mean_is_given_the_value() {
    let elements = nested("B", &system(&unit("C", &[]), "")) + &unit("B.C", &[]);
    let found = structure(&(bound(&inline(&[("B.C.D", 7.0)])) + &system(&elements, "")));
    assert_eq!(
        [float(&found, "B.C", "D"), float(&found, "B.C_2", "D")],
        [Some(7.0), Some(7.0)]
    );
}

#[test]
fn values_of_system_connectors_go_where_the_connectors_lead() {
    let inner = connectors(&["parameter P degC", "input in"])
        + &system(
            &(unit("c", &["parameter p K", "input u"]) + &unit("d", &["parameter p"])),
            &(connect("P", "c/p", "<ssc:LinearTransformation factor=\"2\"/>")
                + &connect("P", "d/p", "")
                + &connect("in", "c/u", "")),
        );
    let outer = connectors(&["parameter Q"])
        + &bound(&inline(&[("Q", 10.0), ("B.in", 5.0)]))
        + &system(&nested("B", &inner), &connect("Q", "B/P", ""));
    let found = structure(&outer);
    assert_eq!(float(&found, "B.c", "p"), Some(2.0 * 283.15));
    assert_eq!(float(&found, "B.c", "u"), Some(5.0));
    assert_eq!(float(&found, "B.d", "p"), Some(10.0));
    assert_eq!(
        component(&found, "B.c").parameters[0]
            .unit
            .as_ref()
            .unwrap()
            .name,
        "K"
    );
}

#[test]
fn a_prefix_comes_before_the_names_and_before_the_mapping() {
    let set = Package::new(&ssd(
        &(bound("<ssd:ParameterBinding source=\"set.ssv\" prefix=\"a.\"/><ssd:ParameterBinding source=\"set.ssv\" prefix=\"b.\"><ssd:ParameterMapping source=\"map.ssm\"/></ssd:ParameterBinding>")
            + &system(&(unit("a", &[]) + &unit("b", &[])), "")),
    ))
    .with("set.ssv", file("ssv:ParameterSet", &numbers(&[("x", 1.0), ("y", 2.0)])))
    .with("map.ssm", file("ssm:ParameterMapping", "<ssm:MappingEntry source=\"b.x\" target=\"b.first\"/><ssm:MappingEntry source=\"y\" target=\"b.second\"/>"));
    let found = set.good();
    assert_eq!(
        [float(&found, "a", "x"), float(&found, "a", "y")],
        [Some(1.0), Some(2.0)]
    );
    assert_eq!(
        [float(&found, "b", "first"), float(&found, "b", "second")],
        [Some(1.0), Some(2.0)]
    );
    assert_eq!(found.components[1].parameters.len(), 2);
    assert_eq!(
        (
            &*found.components[0].parameters[1].place.file,
            found.components[0].parameters[1].place.line
        ),
        ("set.ssv", 4)
    );
}

#[test]
fn a_mapping_renames_transforms_and_leaves_out() {
    let mapping = "<ssd:ParameterMapping><ssm:ParameterMapping version=\"1.0\"><ssm:MappingEntry source=\"x\" target=\"p\"><ssc:LinearTransformation factor=\"3\" offset=\"1\"/></ssm:MappingEntry><ssm:MappingEntry source=\"x\" target=\"q\"/><ssm:MappingEntry source=\"none\" target=\"r\"/></ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding>";
    let binding = inline(&[("x", 2.0), ("y", 9.0)]).replace("</ssd:ParameterBinding>", mapping);
    let found = structure(&system(&unit_with("a", &[], &bound(&binding)), ""));
    assert_eq!(
        ["p", "q", "y"].map(|name| float(&found, "a", name)),
        [Some(7.0), Some(2.0), None]
    );
    assert!(
        found.warnings[0].contains("no `none` to map to `r`"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn values_have_units_that_connectors_or_variables_turn_into_theirs() {
    let set = |entry: &str| {
        let parameters = "<ssv:Parameters><ssv:Parameter name=\"T\"><ssv:Real value=\"20\" unit=\"C\"/></ssv:Parameter></ssv:Parameters><ssv:Units><ssc:Unit name=\"C\"><ssc:BaseUnit K=\"1\" offset=\"273.15\"/></ssc:Unit></ssv:Units>";
        let binding = format!(
            "<ssd:ParameterBinding source=\"set.ssv\"><ssd:ParameterMapping><ssm:ParameterMapping version=\"1.0\">{entry}</ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding>"
        );
        let elements = unit_with("a", &["parameter T K", "parameter L m"], &bound(&binding));
        Package::new(&ssd(&system(&elements, "")))
            .with("set.ssv", file("ssv:ParameterSet", parameters))
    };
    let twice = "<ssc:LinearTransformation factor=\"2\"/></ssm:MappingEntry>";
    let found = set(&format!(
        "<ssm:MappingEntry source=\"T\" target=\"T\">{twice}"
    ))
    .good();
    assert_eq!(float(&found, "a", "T"), Some(586.3));
    let found = set(&format!(
        "<ssm:MappingEntry source=\"T\" target=\"T\" suppressUnitConversion=\"true\">{twice}"
    ))
    .good();
    assert_eq!(float(&found, "a", "T"), Some(40.0));
    let found = set(&format!(
        "<ssm:MappingEntry source=\"T\" target=\"undeclared\">{twice}"
    ))
    .good();
    let base = BaseUnit {
        exponents: [0, 0, 0, 0, 1, 0, 0, 0],
        factor: 1.0,
        offset: 0.0,
    };
    let kelvin = UnitDef {
        name: "K".into(),
        base: Some(base),
    };
    let value = found.components[0].parameters[0]
        .value_in(Some(&kelvin))
        .unwrap();
    assert_eq!(value, ParameterValue::Float(vec![586.3]));
    let message = set("<ssm:MappingEntry source=\"T\" target=\"L\"/>").bad();
    assert!(
        message.starts_with("set.ssv:2: `a.L` is in `m` and `T` in `C`"),
        "{message}"
    );
}

#[test]
fn values_are_of_every_type() {
    let found = values(
        "<ssv:Parameter name=\"f\"><ssv:Float32 value=\" -1.5e3 \"/></ssv:Parameter>\
         <ssv:Parameter name=\"i\"><ssv:UInt64 value=\"18446744073709551615\"/></ssv:Parameter>\
         <ssv:Parameter name=\"b\"><ssv:Boolean value=\"true\"/></ssv:Parameter>\
         <ssv:Parameter name=\"s\"><ssv:String value=\"two words\"/></ssv:Parameter>\
         <ssv:Parameter name=\"e\"><ssv:Enumeration value=\"on\"/></ssv:Parameter>\
         <ssv:Parameter name=\"h\"><ssv:Binary value=\"0aFF\"/></ssv:Parameter>\
         <ssv:Parameter name=\"n\"><ssv:Nothing value=\"1\"/></ssv:Parameter>",
    );
    let expected = [
        ("f", ParameterValue::Float(vec![-1500.0])),
        ("i", ParameterValue::Integer(vec![u64::MAX.into()])),
        ("b", ParameterValue::Boolean(vec![true])),
        ("s", ParameterValue::String(vec!["two words".into()])),
        (
            "e",
            ParameterValue::Enumeration(vec![EnumerationItem {
                name: "on".into(),
                value: None,
            }]),
        ),
        ("h", ParameterValue::Binary(vec![vec![10, 255]])),
    ];
    assert_eq!(
        found,
        expected.map(|(name, value)| (name.to_string(), value))
    );
}

#[test]
fn arrays_are_lists_in_row_major_order() {
    let found = values(
        "<ssv:Parameter name=\"f\"><ssv:Float64 value=\"1 2 3 4 5 6\"/><ssc:Dimension size=\"2\"/><ssc:Dimension size=\"3\"/></ssv:Parameter>\
         <ssv:Parameter name=\"s\"><ssv:String><ssv:Value value=\"a b\"/><ssv:Value value=\"c\"/></ssv:String><ssc:Dimension size=\"2\"/></ssv:Parameter>",
    );
    assert_eq!(
        found[0].1,
        ParameterValue::Float(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(
        found[1].1,
        ParameterValue::String(vec!["a b".into(), "c".into()])
    );
    let wrong = "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet name=\"p\"><ssv:Parameters><ssv:Parameter name=\"f\"><ssv:Real value=\"1 2\"/><ssc:Dimension size=\"3\"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>";
    let message = refused(&system(&unit_with("a", &[], &bound(wrong)), ""));
    assert!(
        message.contains("`Parameter f`: its dimensions do not multiply to the 2 values"),
        "{message}"
    );
}

#[test]
fn items_have_the_number_of_the_connector_and_tables_map_them() {
    let component = "<ssd:Component name=\"a\" source=\"Unit.fmu\"><ssd:Connectors><ssd:Connector name=\"state\" kind=\"parameter\"><ssc:Enumeration name=\"states\"/></ssd:Connector></ssd:Connectors>";
    let binding = "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet name=\"p\"><ssv:Parameters><ssv:Parameter name=\"state\"><ssv:Enumeration value=\"on\"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues><ssd:ParameterMapping><ssm:ParameterMapping><ssm:MappingEntry source=\"state\" target=\"state\"><ssc:EnumerationMappingTransformation><ssc:MapEntry source=\"on\" target=\"running\"/></ssc:EnumerationMappingTransformation></ssm:MappingEntry></ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding>";
    let enumerations = "<ssd:Enumerations><ssc:Enumeration name=\"states\"><ssc:Item name=\"running\" value=\"3\"/></ssc:Enumeration></ssd:Enumerations>";
    let elements = format!("{component}{}</ssd:Component>", bound(binding));
    let found = Package::new(&ssd_with(&system(&elements, ""), enumerations)).good();
    let item = EnumerationItem {
        name: "running".into(),
        value: Some(3),
    };
    assert_eq!(
        found.components[0].parameters[0].value,
        ParameterValue::Enumeration(vec![item])
    );
}

#[test]
fn files_of_a_component_are_beside_it_or_inside() {
    let binding = |source: &str| {
        format!("<ssd:ParameterBinding source=\"{source}\" sourceBase=\"component\"/>")
    };
    let elements = |source: &str| {
        format!(
            "<ssd:Component name=\"a\" source=\"res/A.fmu\">{}</ssd:Component>",
            bound(&binding(source))
        )
    };
    let set = file("ssv:ParameterSet", &numbers(&[("x", 1.0)]));
    let package =
        |source: &str| Package::new(&ssd(&system(&elements(source), ""))).with("res/A.fmu", "");
    let beside = package("x.ssv").with("res/x.ssv", &set).good();
    let inside = package("extra/x.ssv")
        .with("res/A.fmu.d/extra/x.ssv", &set)
        .good();
    assert_eq!(
        [float(&beside, "a", "x"), float(&inside, "a", "x")],
        [Some(1.0), Some(1.0)]
    );
    let message = package("../../x.ssv").with("res/A.fmu.d/a", "").bad();
    assert!(message.contains("leaves the folder"), "{message}");
}

#[test]
fn values_in_other_formats_are_not_left_out_in_silence() {
    let message = refused(&system(
        &unit_with(
            "a",
            &[],
            &bound("<ssd:ParameterBinding type=\"text/csv\" source=\"x.csv\"/>"),
        ),
        "",
    ));
    assert!(
        message.contains("the type `text/csv` cannot be used here; give the parameters as .ssv"),
        "{message}"
    );
}
