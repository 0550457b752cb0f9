//! `dovetail ssp`: models written as system structures, read back, and run.

mod support;

use std::path::{Path, PathBuf};

use dovetail::fmi::archive::Archive;
use dovetail_fixtures::{Fixture, Model, Version};
use serde_json::Value;
use support::{Folder, dovetail, example, run_json};

/// Writes a model and unpacks nothing: the texts of the files in the package.
fn written(folder: &Folder, model: &str, arguments: &[&str]) -> (String, String) {
    let out = folder.name("out.ssp");
    let all = [&["ssp", model, "-o", &out], arguments].concat();
    let done = dovetail(&all).exits(0);
    let words: Vec<&str> = done.out.split_whitespace().collect();
    (out, words.join(" "))
}

/// A file of a package.
fn file(package: &str, name: &str) -> String {
    let archive = Archive::open(Path::new(package)).expect("a package");
    let text = std::fs::read_to_string(archive.folder().join(name));
    text.unwrap_or_else(|error| panic!("{name} in {package}: {error}"))
}

/// Prey and predators: two FMUs, a parameter and a start value.
fn land(folder: &Folder) -> String {
    let fmu = |model, version, name: &str| {
        let built: PathBuf = Fixture::new(model, version).build();
        std::fs::copy(built, folder.path(name)).expect("a copy");
    };
    fmu(Model::Prey, Version::Three, "Prey.fmu");
    fmu(Model::Predator, Version::Two, "Predator.fmu");
    let text = r#"
        [model]
        name = "a land"
        stop-time = 5.0

        [method]
        name = "gauss-seidel"
        step = 0.01

        [systems.prey]
        fmu = "Prey.fmu"
        parameters = { birth = 0.5 }
        states = { p = 1.5 }

        [systems.predator]
        fmu = "Predator.fmu"
        interface = "model-exchange"

        [[connections]]
        from = "prey.population"
        to = "predator.prey"

        [[connections]]
        from = "predator.population"
        to = "prey.predators"
    "#;
    folder.file("land.toml", text)
}

/// The results at the end, which two runs have alike to the last bit.
fn finals(model: &str, arguments: &[&str]) -> Value {
    run_json(model, arguments)["final"].clone()
}

#[test]
fn a_model_of_fmus_is_the_same_run_when_it_is_read_back() {
    let folder = Folder::new();
    let model = land(&folder);
    for version in ["1", "2"] {
        let (package, summary) = written(&folder, &model, &["--ssp", version]);
        assert!(
            summary.contains("components: 2, connections: 2"),
            "{summary}"
        );
        assert!(summary.contains("kept in an annotation"), "{summary}");
        assert_eq!(finals(&package, &[]), finals(&model, &[]), "SSP {version}");

        let text = file(&package, "SystemStructure.ssd");
        assert!(text.contains(&format!("version=\"{version}.0\"")), "{text}");
        assert!(text.contains("implementation=\"ModelExchange\""), "{text}");
        let values = file(&package, "resources/1-prey.ssv");
        let element = if version == "1" { "Real" } else { "Float64" };
        let birth = format!("<ssv:Parameter name=\"birth\"><ssv:{element} value=\"0.5\"/>");
        assert!(values.contains(&birth), "{values}");
    }
}

#[test]
fn what_is_set_and_chosen_beside_the_model_is_in_the_package() {
    let folder = Folder::new();
    let model = land(&folder);
    let given = [
        "--set",
        "prey.birth=0.7",
        "-m",
        "jacobi",
        "--step",
        "0.02",
        "--stop-time",
        "2",
    ];
    let (package, _) = written(&folder, &model, &given);
    assert_eq!(finals(&package, &[]), finals(&model, &given));
}

#[test]
fn a_structure_that_is_written_again_is_the_same() {
    let folder = Folder::new();
    let (package, _) = written(&folder, &land(&folder), &[]);
    let text = file(&package, "SystemStructure.ssd");
    let again = folder.name("again.ssp");
    dovetail(&["ssp", &package, "-o", &again]).exits(0);
    assert_eq!(file(&again, "SystemStructure.ssd"), text);
}

#[test]
fn units_are_declared_and_other_conversions_are_transformations() {
    let folder = Folder::new();
    let built = Fixture::new(Model::Units, Version::Two).build();
    std::fs::copy(built, folder.path("Units.fmu")).expect("a copy");
    let text = r#"
        [model]
        stop-time = 1.0
        [method]
        name = "jacobi"
        step = 0.1
        [systems.a]
        fmu = "Units.fmu"
        [systems.b]
        fmu = "Units.fmu"
        parameters = { kelvin = 300.0 }
        [[connections]]
        from = "a.celsius"
        to = "b.kelvin"
    "#;
    let model = folder.file("m.toml", text);
    let (package, _) = written(&folder, &model, &[]);
    let text = file(&package, "SystemStructure.ssd");
    assert!(
        text.contains("<ssc:Unit name=\"degC\"><ssc:BaseUnit K=\"1\" offset=\"273.15\"/>"),
        "{text}"
    );
    assert!(text.contains("<ssc:Real unit=\"K\"/>"), "{text}");
    // The units say how it is converted.
    assert!(!text.contains("LinearTransformation"), "{text}");
    assert_eq!(finals(&package, &[]), finals(&model, &[]));
}

#[test]
fn arrays_are_written_in_ssp_2_and_refused_in_ssp_1() {
    let folder = Folder::new();
    let built = Fixture::new(Model::Types, Version::Three).build();
    std::fs::copy(built, folder.path("Types.fmu")).expect("a copy");
    let text = r#"
        [model]
        stop-time = 1.0
        [method]
        name = "jacobi"
        step = 0.1
        [systems.a]
        fmu = "Types.fmu"
        parameters = { vector_in = [4.0, 5.0, 6.0], colour_in = 4, string_in = "<a & b>" }
        [systems.b]
        fmu = "Types.fmu"
        [[connections]]
        from = "a.vector_out"
        to = "b.vector_in"
        [[connections]]
        from = "a.matrix_out[2,1]"
        to = "b.sized_in[1]"
        [[connections]]
        from = "a.string_out"
        to = "b.string_in"
    "#;
    let model = folder.file("m.toml", text);
    let (package, _) = written(&folder, &model, &["--ssp", "2"]);
    let text = file(&package, "SystemStructure.ssd");
    let whole = "startElement=\"a\" startConnector=\"vector_out\" endElement=\"b\" endConnector=\"vector_in\"/>";
    assert!(text.contains(whole), "{text}");
    let element = "startConnector=\"matrix_out\" startIndices=\"2 1\" endElement=\"b\" endConnector=\"sized_in\" endIndices=\"1\"/>";
    assert!(text.contains(element), "{text}");
    let of_all = ["--record", "*"];
    assert_eq!(finals(&package, &of_all), finals(&model, &of_all));

    let out = folder.name("one.ssp");
    dovetail(&["ssp", &model, "-o", &out]).exits(2).says(&[
        "`a.vector_in` is an array",
        "SSP 1.0",
        "--ssp 2",
    ]);
    assert!(!Path::new(&out).exists());
}

#[test]
fn what_ssp_cannot_say_is_refused_by_name() {
    let folder = Folder::new();
    let model = land(&folder);
    let text = std::fs::read_to_string(&model).expect("text");
    let out = folder.name("out.ssp");

    let events = folder.file(
        "events.toml",
        format!("{text}\n[[events]]\nat = 1.0\nset = {{ \"prey.birth\" = 0.6 }}\n"),
    );
    dovetail(&["ssp", &events, "-o", &out])
        .exits(2)
        .says(&["[[events]]", "dovetail export"]);

    let single = text.replace("from = \"predator.population\"", "value = \"sin(time)\"");
    let driven = folder.file("driven.toml", single);
    dovetail(&["ssp", &driven, "-o", &out]).exits(2).says(&[
        "`prey.predators`",
        "expressions of time",
        "dovetail export",
    ]);

    let imposed = text.replace("interface = \"model-exchange\"", "imposed-step = 0.01");
    let imposed = folder.file("imposed.toml", imposed);
    let done = dovetail(&["ssp", &imposed, "-o", &out]).exits(0);
    assert!(
        done.line()
            .contains("`predator`: SSP has no place for its own step"),
        "{}",
        done.out
    );
}

#[test]
fn equations_need_the_engine_as_a_library() {
    let folder = Folder::new();
    let out = folder.name("out.ssp");
    let done = support::command(&["ssp", &example("mechanical"), "-o", &out])
        .env("DOVETAIL_FMU_LIBRARY", folder.name("missing.so"))
        .output()
        .expect("the program starts");
    support::Done::from(done)
        .exits(2)
        .says(&["missing.so", "cargo build --release"]);
    assert!(!Path::new(&out).exists());
    let left = std::fs::read_dir(folder.path(""))
        .expect("a folder")
        .count();
    assert_eq!(left, 0, "unfinished files are removed");
}
