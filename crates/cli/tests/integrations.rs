//! What the summary says of the work of FMUs is what they have done.

mod support;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use support::{Folder, command};

/// A wheel and a chassis, which methods that iterate roll back.
fn quarter_car(folder: &Folder) -> String {
    let fmu = |model| {
        let fixture = Fixture::new(model, Version::Two).kind(Kind::CoSimulation);
        format!("fmu = {:?}\n", fixture.build().display().to_string())
    };
    let connection = |from, to| format!("[[connections]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let parts = [
        "[model]\nstop-time = 0.2\n[systems.wheel]\n".to_owned(),
        fmu(Model::Wheel),
        "[systems.chassis]\n".to_owned(),
        fmu(Model::Chassis),
        connection("wheel.position", "chassis.position"),
        connection("wheel.velocity", "chassis.velocity"),
        connection("chassis.force", "wheel.force"),
    ];
    folder.file("model.toml", parts.concat())
}

/// Integrations that the FMUs of a run have counted themselves, without those of the probe.
fn counted_by_the_fmus(lines: &str) -> u64 {
    let counts = lines.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[1], fields[2].parse::<u64>().unwrap())
    });
    let of_the_run = counts.filter(|(name, _)| *name != "probe");
    of_the_run.map(|(_, count)| count).sum()
}

#[test]
fn fmus_count_as_many_integrations_as_the_summary_says() {
    let folder = Folder::new();
    let model = quarter_car(&folder);
    for method in ["jacobi", "f3ornits", "ifosmondi", "missiles", "predictive"] {
        let count = folder.path(method);
        let mut program = command(&["run", &model, "--method", method, "--json"]);
        let done = program.env("DOVETAIL_COUNT_INTEGRATIONS", &count).output();
        let done = done.expect("the program starts");
        assert!(done.status.success(), "{method}: {done:?}");

        let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let lines = std::fs::read_to_string(&count).unwrap();
        let said = summary["integrations"].as_u64().unwrap();
        assert!(said > 0, "{method}");
        assert_eq!(counted_by_the_fmus(&lines), said, "{method}");
    }
}
