//! A method and a kind of source that the engine does not have are one file and one line each.

#[path = "added/copy_of_jacobi.rs"]
mod copy_of_jacobi;
#[path = "added/ramp.rs"]
mod ramp;

use std::path::PathBuf;

use dovetail::Model;
use dovetail::scenario::Catalog;

fn example(name: &str) -> PathBuf {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name).join("model.toml")
}

#[test]
fn a_new_method_is_one_file_and_one_line() {
    let catalog = Catalog::default().with_method(&copy_of_jacobi::CopyOfJacobi);
    let model = Model::builder(example("lotka-volterra"))
        .catalog(catalog)
        .load()
        .unwrap();
    let run = |method: &str| {
        let simulation = model.simulation().method(method).option("step", 0.05);
        simulation.run().unwrap()
    };
    let ours = run("jacobi");
    let copy = run("copy-of-jacobi");
    assert_eq!(copy.summary().method, "copy-of-jacobi");
    assert_eq!(copy.times(), ours.times());
    assert_eq!(
        copy.column("prey.p").unwrap(),
        ours.column("prey.p").unwrap()
    );
    let permitted = model
        .scenario()
        .permitted_methods(&model.scenario().options(&Default::default()).unwrap());
    assert!(permitted.contains(&"copy-of-jacobi"));
}

#[test]
fn a_method_that_nobody_added_is_refused() {
    let model = Model::load(example("lotka-volterra")).unwrap();
    let refused = model.simulation().method("copy-of-jacobi").run();
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("unknown method `copy-of-jacobi`"),
        "{message}"
    );
}

const WITH_RAMP: &str = "[model]\nstop-time = 2\n[systems.signal]\nramp = 3\n\
                         [systems.follower]\ninputs = { u = 0 }\nstates = { x = 0 }\nequations = \"der(x) = u\"\n\
                         outputs = { x = \"x\" }\n[[connections]]\nfrom = \"signal.y\"\nto = \"follower.u\"\n";

#[test]
fn a_new_kind_of_source_is_one_file_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    std::fs::write(&path, WITH_RAMP).unwrap();
    let catalog = Catalog::default().with_source(&ramp::RampKind);
    let model = Model::builder(&path).catalog(catalog).load().unwrap();
    let run = model.run().unwrap();
    // The integral of 3 t from 0 to 2.
    assert!((run.last("follower.x").unwrap() - 6.0).abs() < 1e-3);
    let unknown = Model::load(&path).unwrap_err().to_string();
    assert!(unknown.contains("unknown key `ramp`"), "{unknown}");
}
