//! What a step of a light FMU costs, in instructions: they depend neither on the machine nor on its mood. Counted by Valgrind as
//! the difference of two runs of different length, so that all that happens once drops out.

mod support;

use std::path::Path;
use std::process::Command;

use dovetail_fixtures::{Fixture, Model, Version};
use support::Folder;

const FMUS: usize = 10;
const SHORT: usize = 2_000;
const LONG: usize = 22_000;

/// A cost may grow by this factor.
const SLACK: f64 = 1.1;

fn ring(folder: &Folder, fmu: &Path) -> String {
    let mut text = String::from("[model]\nstop-time = 1.0\n");
    for i in 0..FMUS {
        let from = (i + FMUS - 1) % FMUS;
        text += &format!("[systems.s{i}]\nfmu = {fmu:?}\n");
        text += &format!("[[connections]]\nfrom = \"s{from}.x\"\nto = \"s{i}.u\"\n");
    }
    folder.file("ring.toml", text)
}

/// Instructions of the program alone, without the processes in which FMUs are tried out.
fn instructions(folder: &Folder, model: &str, steps: usize) -> f64 {
    let step = format!("{:e}", 1.0 / steps as f64);
    let counts = folder.name(&format!("counts-{steps}."));
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--trace-children=no"])
        .arg(format!("--callgrind-out-file={counts}%p"))
        .arg(env!("CARGO_BIN_EXE_dovetail"))
        .args([
            "run", model, "--method", "jacobi", "--step", &step, "--quiet",
        ])
        .output()
        .expect("valgrind is installed: apt-get install valgrind");
    assert!(valgrind.status.success(), "{valgrind:?}");
    let files = std::fs::read_dir(folder.path("")).expect("the folder is there");
    let paths = files.map(|file| file.expect("a file").path());
    let counted = paths.filter(|path| path.display().to_string().starts_with(&counts));
    let count = |path: std::path::PathBuf| -> f64 {
        let text = std::fs::read_to_string(path).expect("text");
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("summary: "));
        let numbers = lines.filter_map(|number| number.trim().parse::<f64>().ok());
        numbers.sum()
    };
    counted.map(count).sum()
}

fn per_step(fixture: &Fixture) -> f64 {
    let folder = Folder::new();
    let model = ring(&folder, &fixture.build());
    let [long, short] = [LONG, SHORT].map(|steps| instructions(&folder, &model, steps));
    (long - short) / ((LONG - SHORT) * FMUS) as f64
}

#[test]
fn a_step_of_a_light_fmu_costs_no_more_instructions_than_it_did() {
    let pinned = [
        ("FMI 2.0", Fixture::poor(Model::Ring, Version::Two), 222.0),
        ("FMI 3.0", Fixture::poor(Model::Ring, Version::Three), 288.0),
        (
            "FMI 2.0, rich",
            Fixture::new(Model::Ring, Version::Two),
            223.0,
        ),
        (
            "FMI 3.0, rich",
            Fixture::new(Model::Ring, Version::Three),
            288.0,
        ),
    ];
    let found = pinned.map(|(name, fixture, pinned)| (name, per_step(&fixture), pinned));
    println!("{found:?}");
    for (name, found, pinned) in found {
        assert!(
            found <= SLACK * pinned,
            "{name}: {found} instead of {pinned}"
        );
    }
}
