//! Files that are broken, huge or meant to hurt: a sentence with a line, and never a panic.

mod support;

use proptest::prelude::*;
use support::*;

fn bad(text: &str) -> String {
    Package::new(text).bad()
}

#[test]
fn broken_xml_is_found_at_its_line() {
    let text = ssd(&system(&unit("a", &["output y"]), ""));
    let broken = text.replace("</ssd:Connectors>", "</ssd:Connektors>");
    let line = broken[..broken.find("</ssd:Connektors>").unwrap()]
        .matches('\n')
        .count()
        + 1;
    assert!(
        bad(&broken).starts_with(&format!(
            "SystemStructure.ssd:{line}: this is not well-formed XML"
        )),
        "{}",
        bad(&broken)
    );
    assert!(bad("").starts_with("SystemStructure.ssd:1: "));
    assert!(bad("<a/>").contains("does not begin with `SystemStructureDescription`"));
    assert!(bad("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>").contains("not well-formed"));
}

#[test]
fn what_is_missing_is_named_with_its_line() {
    let message = bad("<SystemStructureDescription version=\"1.0\"/>");
    assert!(message.contains("it has no `System`"), "{message}");
    let message = refused("<ssd:Elements>\n<ssd:Component source=\"Unit.fmu\"/></ssd:Elements>");
    assert_eq!(
        message,
        "SystemStructure.ssd:4: `Component`: the attribute `name` is missing; add it"
    );
    let message = refused(&system("", "<ssd:Connection startConnector=\"x\"/>"));
    assert!(message.contains("`endConnector` is missing"), "{message}");
    let message = bad(&ssd_with(
        "",
        "<ssd:Units><ssc:Unit name=\"u\"><ssc:BaseUnit m=\"1.5\"/></ssc:Unit></ssd:Units>",
    ));
    assert!(
        message.contains("m=\"1.5\" is not an integer that fits"),
        "{message}"
    );
    let message = bad(&ssd_with(
        "",
        "<ssd:Units><ssc:Unit name=\"u\"><ssc:BaseUnit factor=\"0\"/></ssc:Unit></ssd:Units>",
    ));
    assert!(
        message.contains("the factor of the unit `u` is 0"),
        "{message}"
    );
    let message = refused(&system(&(unit("a", &[]) + &unit("a", &[])), ""));
    assert!(
        message.contains("another element of this system has the same name"),
        "{message}"
    );
}

#[test]
fn files_that_are_no_text_are_refused() {
    let package = Package::new("").with("SystemStructure.ssd", [0xff, 0xfe, 0x00]);
    assert!(package.bad().contains("it is not UTF-8"));
    assert!(
        package
            .read_file("None.ssd")
            .unwrap_err()
            .to_string()
            .contains("cannot be read")
    );
    let marked = format!("\u{feff}{}", ssd(""));
    assert_eq!(Package::new(&marked).good().components.len(), 0);
}

#[test]
fn a_set_that_is_something_else_is_refused() {
    let binding =
        "<ssd:ParameterBindings><ssd:ParameterBinding source=\"set.ssv\"/></ssd:ParameterBindings>";
    let package = Package::new(&ssd(binding));
    assert!(package.bad().contains("there is no file `set.ssv`"));
    let package = package.with("set.ssv", file("ssm:ParameterMapping", ""));
    let message = package.bad();
    assert!(
        message.starts_with("set.ssv:1: ")
            && message.contains("begins with `ParameterSet` was expected"),
        "{message}"
    );
}

#[test]
fn huge_nesting_is_refused() {
    let deep = |levels: usize| {
        "<ssd:Elements><ssd:System name=\"s\">".repeat(levels)
            + &"</ssd:System></ssd:Elements>".repeat(levels)
    };
    assert_eq!(structure(&deep(60)).components.len(), 0);
    assert!(refused(&deep(64)).contains("more than 64 levels deep"));
    // Foreign elements may nest as they like, as long as the parser can take it.
    let foreign = "<other:x>".repeat(5_000) + &"</other:x>".repeat(5_000);
    let _ = Package::new(&ssd(&foreign)).read();
    let _ = Package::new(&ssd(&deep(50_000))).read();
}

#[test]
fn warnings_of_one_kind_are_counted() {
    let elements: String = (0..1000)
        .map(|index| unit_with(&format!("u{index}"), &[], "<ssd:Odd/>"))
        .collect();
    let found = structure(&system(&elements, ""));
    assert!(found.warnings.len() <= 201 && found.warnings.last().unwrap().contains("and 800 more"));
}

#[test]
fn ten_thousand_components_are_read() {
    let count = 10_000;
    let elements: String = (0..count)
        .map(|index| {
            unit(
                &format!("u{index}"),
                &["input u K", "output y degC", "parameter p"],
            )
        })
        .collect();
    let connections: String = (1..count)
        .map(|index| connect(&format!("u{}/y", index - 1), &format!("u{index}/u"), ""))
        .collect();
    let names: Vec<String> = (0..count).map(|index| format!("u{index}.p")).collect();
    let values: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let bindings = format!(
        "<ssd:ParameterBindings>{}</ssd:ParameterBindings>",
        inline(&values)
    );
    let package = Package::new(&ssd(&(bindings + &system(&elements, &connections))));
    // Work that grew with the square of their number would not come to an end.
    let found = package.good();
    assert_eq!(
        (found.components.len(), found.connections.len()),
        (count, count - 1)
    );
    assert!(
        found
            .components
            .iter()
            .all(|unit| unit.parameters.len() == 1)
    );
}

/// A file with a little of everything.
fn rich() -> String {
    let inside = connectors(&["input in degC", "output out", "parameter P m"])
        + "<ssd:SignalDictionaries><ssd:SignalDictionary name=\"bus\"><ssb:SignalDictionary version=\"1.0\"><ssb:DictionaryEntry name=\"T\"><ssc:Real unit=\"K\"/></ssb:DictionaryEntry></ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>"
        + &system(
            &(unit("b", &["input u K", "output y", "parameter p mm"])
                + "<ssd:SignalDictionaryReference name=\"tap\" dictionary=\"bus\"/>"
                + "<ssd:Component name=\"again\" source=\"#id1\"/>"),
            &(connect(
                "in",
                "b/u",
                "<ssc:LinearTransformation factor=\"2\" offset=\"-1e3\"/>",
            ) + &connect(
                "b/y",
                "tap/T",
                "<ssc:IntegerMappingTransformation><ssc:MapEntry source=\"1\" target=\"2\"/></ssc:IntegerMappingTransformation>",
            ) + &connect("tap/T", "out", "")
                + &connect("P", "b/p", "")),
        );
    let leaf = format!(
        "<ssd:System name=\"leaf\" id=\"id1\">{}</ssd:System>",
        system(&unit("z", &[]), "")
    );
    let elements = format!("<ssd:System name=\"S\" id=\"id0\">{inside}</ssd:System>{leaf}")
        + &unit("a", &["output y K", "input u"]);
    let connections = connect("a/y", "S/in", "") + &connect("S/out", "a/u", "");
    let bindings = format!(
        "<ssd:ParameterBindings>{}</ssd:ParameterBindings>",
        inline(&[("S.P", 1.0), ("S.b.x[1]", 2.0)])
    );
    ssd(&(bindings + &system(&elements, &connections)))
}

#[test]
fn the_rich_file_is_good() {
    assert_eq!(Package::new(&rich()).good().connections.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Characters lost, doubled or replaced, and pieces of the file put elsewhere.
    #[test]
    fn a_mangled_file_is_never_a_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..60, 0u8..6), 1..6),
    ) {
        let mut text: Vec<char> = rich().chars().collect();
        for (at, other, length, kind) in edits {
            let (at, other) = (at.index(text.len()), other.index(text.len()));
            let piece: Vec<char> = text[other..(other + length).min(text.len())].to_vec();
            let end = (at + length).min(text.len());
            match kind {
                0 => { text.drain(at..end); }
                1 => { text.splice(at..at, piece); }
                2 => { text.splice(at..end, piece); }
                3 => text[at] = text[other],
                4 => { text.splice(at..at, "\" ".chars()); }
                _ => { text.truncate(at.max(1)); }
            }
            if text.is_empty() { text.push(' '); }
        }
        let _ = Package::new(&text.into_iter().collect::<String>()).read();
    }

    /// Names and numbers exchanged within the file: always XML, seldom sense.
    #[test]
    fn exchanged_values_are_never_a_panic(
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
    ) {
        let text = rich();
        let mut parts: Vec<&str> = text.split('"').collect();
        for (a, b) in swaps {
            let values = parts.len() / 2;
            parts.swap(a.index(values) * 2 + 1, b.index(values) * 2 + 1);
        }
        let _ = Package::new(&parts.join("\"")).read();
    }
}
