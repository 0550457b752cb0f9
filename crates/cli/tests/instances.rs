//! How often an FMU is instantiated, in whatever process.

mod support;

use std::path::Path;

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Folder, command};

/// Instances made by the program with these arguments.
fn instances(folder: &Folder, arguments: &[&str]) -> usize {
    let count = folder.path("count");
    let _ = std::fs::remove_file(&count);
    let mut program = command(arguments);
    let done = program.env("DOVETAIL_COUNT_INSTANCES", &count).output();
    let done = done.expect("the program starts");
    assert!(done.status.success(), "{done:?}");
    let lines = std::fs::read_to_string(Path::new(&count)).unwrap_or_default();
    lines.lines().count()
}

/// Every experiment of the probe has an instance of its own, so that none sees what another has done.
#[test]
fn a_run_adds_one_instance_to_those_of_the_probe() {
    for version in [Version::Two, Version::Three] {
        let folder = Folder::new();
        let fmu = Fixture::new(Model::Prey, version).build();
        let fmu = fmu.display().to_string();
        let steps = ["--step", "0.1", "--stop-time", "1"];
        let run = instances(&folder, &[&["run", &fmu][..], &steps].concat());
        let check = instances(&folder, &["check", &fmu]);
        let probe = instances(&folder, &["inspect", &fmu]);
        assert_eq!((run, check), (probe + 1, probe + 1), "{version:?}");
        assert!(probe <= 16, "{version:?}: {probe} for the probe");
    }
}

#[test]
fn an_fmu_that_is_not_tried_out_is_instantiated_once_a_run() {
    let folder = Folder::new();
    let fmu = Fixture::new(Model::Prey, Version::Two).build();
    let text = format!(
        "[model]\nstop-time = 1\n[systems.prey]\nfmu = {:?}\nprobe = false\n",
        fmu.display().to_string()
    );
    let model = folder.file("model.toml", text);
    assert_eq!(instances(&folder, &["check", &model]), 1);
    let run = ["run", &model, "--method", "jacobi"];
    assert_eq!(instances(&folder, &run), 1);
}
