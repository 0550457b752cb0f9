//! References between files: what they mean, and which are refused.

mod support;

use support::*;

fn refers(name: &str, source: &str, more: &str) -> String {
    format!("<ssd:Component name=\"{name}\" source=\"{source}\" {more}/>")
}

/// A structure with an input, an output, a unit between them and a value for it.
fn part() -> String {
    ssd(&(connectors(&["input in", "output out", "parameter p"])
        + &format!(
            "<ssd:ParameterBindings>{}</ssd:ParameterBindings>",
            inline(&[("p", 1.0), ("gain.q", 1.0)])
        )
        + &system(
            &unit("gain", &["input u", "output y", "parameter p"]),
            &(connect("in", "gain/u", "")
                + &connect("gain/y", "out", "")
                + &connect("p", "gain/p", "")),
        )))
}

#[test]
fn other_structures_are_part_of_this_one() {
    let component = |name: &str, source: &str, kind: &str| {
        let bindings = format!(
            "<ssd:ParameterBindings>{}</ssd:ParameterBindings>",
            inline(&[("gain.q", 2.0)])
        );
        format!(
            "<ssd:Component name=\"{name}\" source=\"{source}\" {kind}>{}{bindings}</ssd:Component>",
            connectors(&["input in", "output out"])
        )
    };
    let elements = component("A", "parts/Part.ssd", "")
        + &component("B", "parts/Part.ssp", "type=\"application/x-ssp-package\"")
        + &component("C", "parts/Part.ssp#Variant.ssd", "");
    let connections = connect("A/out", "B/in", "") + &connect("C/in", "B/out", "");
    let package = Package::new(&ssd(&system(&elements, &connections)))
        .with("parts/Part.ssd", part())
        .with("parts/Unit.fmu", "")
        .with("parts/Part.ssp", "")
        .with("parts/Part.ssp.d/SystemStructure.ssd", part())
        .with("parts/Part.ssp.d/Variant.ssd", part())
        .with("parts/Part.ssp.d/Unit.fmu", "");
    let found = package.good();
    assert_eq!(
        described(&found),
        ["A.gain.y -> B.gain.u", "B.gain.y -> C.gain.u"]
    );
    assert!(found.components[0].source.ends_with("parts/Unit.fmu"));
    assert!(
        found.components[2]
            .source
            .ends_with("parts/Part.ssp.d/Unit.fmu")
    );
    // The component's own bindings come after those of the structure behind it.
    assert_eq!(
        [float(&found, "A.gain", "q"), float(&found, "A.gain", "p")],
        [Some(2.0), Some(1.0)]
    );
}

#[test]
fn a_system_of_the_file_can_be_used_again() {
    let motor = format!(
        "<ssd:System name=\"M1\" id=\"motor\">{}</ssd:System>",
        system(&unit("rotor", &["output y"]), "")
    );
    let found = structure(&system(&(motor.clone() + &refers("M2", "#motor", "")), ""));
    assert_eq!(
        found
            .components
            .iter()
            .map(|unit| unit.name.as_str())
            .collect::<Vec<_>>(),
        ["M1.rotor", "M2.rotor"]
    );
    let message = refused(&system(&(motor + &refers("M2", "#moter", "")), ""));
    assert!(
        message.contains("no system with the id `moter`") && message.contains("known are `motor`"),
        "{message}"
    );
}

#[test]
fn structures_that_contain_themselves_are_refused() {
    let ring = |next: &str| ssd(&system(&refers("next", next, ""), ""));
    let message = Package::new(&ring("B.ssd"))
        .with("B.ssd", ring("SystemStructure.ssd"))
        .bad();
    assert!(
        message.starts_with("B.ssd:3: ") && message.contains("contains itself"),
        "{message}"
    );
    let own = format!(
        "<ssd:System name=\"S\" id=\"s\">{}</ssd:System>",
        system(&refers("again", "#s", ""), "")
    );
    assert!(refused(&system(&own, "")).contains("contains itself"));
}

#[test]
fn packages_that_double_each_other_are_stopped() {
    let twice = |next: &str| {
        ssd(&system(
            &(refers("a", next, "") + &refers("b", next, "")),
            "",
        ))
    };
    let mut package = Package::new(&twice("P1.ssd"));
    for level in 1..40 {
        package = package.with(
            &format!("P{level}.ssd"),
            twice(&format!("P{}.ssd", level + 1)),
        );
    }
    let package = package.with("P40.ssd", ssd(&system(&unit("u", &[]), "")));
    assert!(package.bad().contains("more than 100000 elements"));
}

#[test]
fn sources_are_decoded_and_may_not_leave_the_package() {
    let found = Package::new(&ssd(&system(
        &refers("a", "res/My%20Unit%5B1%5D.fmu", ""),
        "",
    )))
    .with("res/My Unit[1].fmu", "")
    .good();
    assert!(found.components[0].source.ends_with("res/My Unit[1].fmu"));
    for (source, reason) in [
        ("../Unit.fmu", "leaves the folder"),
        ("res/../../Unit.fmu", "leaves the folder"),
        (
            "http://example.org/Unit.fmu",
            "nothing is fetched from the network",
        ),
        (
            "https://example.org/Unit.fmu",
            "nothing is fetched from the network",
        ),
        ("file:///Unit.fmu", "`file:` are not followed"),
        ("/Unit.fmu", "absolute paths are not followed"),
        ("", "the source is empty"),
        ("res/None.fmu", "there is no file `res/None.fmu`"),
    ] {
        let message = refused(&system(&refers("a", source, ""), ""));
        assert!(
            message.starts_with("SystemStructure.ssd:3: ") && message.contains(reason),
            "{source}: {message}"
        );
    }
}

#[test]
fn components_that_are_no_fmus_are_refused_and_those_without_source_are_empty() {
    let message = refused(&system(
        &refers("a", "x.mo", "type=\"text/x-modelica; path=A.B\""),
        "",
    ));
    assert!(
        message.contains("a Modelica model cannot be used here; export it as an FMU"),
        "{message}"
    );
    let message = refused(&system(
        &refers("a", "Unit.fmu", "type=\"application/zip\""),
        "",
    ));
    assert!(
        message.contains("of the type `application/zip`"),
        "{message}"
    );
    let hollow = format!(
        "<ssd:Component name=\"a\">{}</ssd:Component>",
        connectors(&["output y"])
    );
    let found = structure(&system(
        &(hollow + &unit("b", &["input u"])),
        &connect("a/y", "b/u", ""),
    ));
    assert_eq!((found.components.len(), found.connections.len()), (1, 0));
    assert!(found.warnings[0].contains("`a` has no source"));
}

#[test]
fn archives_that_cannot_be_unpacked_say_why() {
    let message = Package::new(&ssd(&system(&refers("a", "Part.ssp", ""), "")))
        .with("Part.ssp", "")
        .bad();
    assert!(
        message.contains("cannot be unpacked: no such folder"),
        "{message}"
    );
    let package = Package::new(&ssd(&system(&refers("a", "Part.ssp", ""), "")))
        .with("Part.ssp", "")
        .with("Part.ssp.d/x", "");
    assert!(
        package
            .bad()
            .contains("there is no file `SystemStructure.ssd`")
    );
}

#[test]
fn an_ssd_in_a_folder_of_the_root_is_found_by_any_path() {
    let package = Package::new("").with(
        "variants/B.ssd",
        ssd(&system(&refers("a", "../Unit.fmu", ""), "")),
    );
    assert_eq!(
        package
            .read_file("variants/B.ssd")
            .unwrap()
            .components
            .len(),
        1
    );
    let twisted = package.path().join("variants/../variants/B.ssd");
    assert!(dovetail_ssp::read(&twisted, package.path(), &mut |_| Err(String::new())).is_ok());
}
