//! `dovetail schema` and `dovetail man`.

mod support;

use std::path::Path;

use support::{Folder, dovetail};

/// `DOVETAIL_BLESS=1` writes what the program prints now.
#[test]
fn the_schema_in_the_repository_is_the_one_that_is_printed() {
    let printed = dovetail(&["schema"]).exits(0).out;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/dovetail.schema.json");
    if std::env::var_os("DOVETAIL_BLESS").is_some() {
        std::fs::write(&file, &printed).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), printed);
}

#[test]
fn every_key_of_a_system_and_every_option_of_a_method_is_in_the_schema() {
    let schema = dovetail(&["schema"]).exits(0).json();
    let folder = Folder::new();
    let keys = |place: &serde_json::Value| -> Vec<String> {
        place.as_object().unwrap().keys().cloned().collect()
    };
    // What the program itself says it knows.
    let model = folder.file(
        "model.toml",
        "[model]\nstop-time = 1.0\n[systems.a]\nzzzzz = 1\n",
    );
    let said = dovetail(&["check", &model]).exits(2).err;
    let known = said
        .split("the keys here are ")
        .nth(1)
        .expect("a list of keys")
        .trim();
    let mut of_schema = keys(&schema["definitions"]["system"]["properties"]);
    let mut of_program: Vec<String> = known.split(", ").map(str::to_owned).collect();
    of_schema.sort();
    of_program.sort();
    assert_eq!(of_schema, of_program);
    let method = keys(&schema["properties"]["method"]["properties"]);
    for key in [
        "name",
        "step",
        "tolerance",
        "solver",
        "calibration",
        "relinearize",
    ] {
        assert!(method.iter().any(|known| known == key), "{key}");
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = Folder::new();
    let pages = folder.name("man");
    dovetail(&["man", &pages]).exits(0);
    for name in [
        "dovetail",
        "dovetail-run",
        "dovetail-compare",
        "dovetail-reproduce",
    ] {
        let page = std::fs::read_to_string(format!("{pages}/{name}.1")).unwrap();
        assert!(
            page.contains(".SH SYNOPSIS") || page.contains(".SH NAME"),
            "{name}"
        );
    }
    assert!(!Path::new(&format!("{pages}/dovetail-worker.1")).exists());
}
