//! `dovetail run --checkpoint` and `dovetail resume`.

mod support;

use std::process::Child;
use std::time::Duration;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use serde_json::Value;
use support::{Done, Folder, Table, dovetail, example, run_json, start};

const VERSIONS: [Version; 2] = [Version::Two, Version::Three];

fn signal(name: &str, process: &Child) {
    let arguments = [format!("-{name}"), process.id().to_string()];
    let sent = std::process::Command::new("kill").args(arguments).status();
    assert!(sent.expect("it is sent").success());
}

/// Waits until a file is there.
fn wait_for(folder: &Folder, name: &str, run: &mut Child) {
    while !folder.path(name).exists() {
        let ended = run.try_wait().expect("it runs");
        assert!(
            ended.is_none(),
            "it ended before {name} was written: {ended:?}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All of a summary but times of the clock and what is said of checkpoints.
fn told(mut summary: Value) -> Value {
    let object = summary.as_object_mut().expect("an object");
    for field in ["wall_seconds", "systems", "seconds", "workers", "real_time"] {
        object.remove(field);
    }
    let quality = object["quality"].as_object_mut().expect("an object");
    quality.remove("remarks");
    quality.remove("warnings");
    summary
}

/// Starts a run that writes checkpoints, ends it by `how` once the first is there, and resumes it; what was resumed.
fn end_and_resume(folder: &Folder, model: &str, arguments: &[&str], how: &str) -> Done {
    let checkpoint = folder.name("run.checkpoint");
    let paced = ["run", model, "--checkpoint", &checkpoint, "--json"];
    let mut run = start(&[&paced[..], arguments].concat());
    wait_for(folder, "run.checkpoint", &mut run);
    signal(how, &run);
    let ended = run.wait_with_output().expect("it ends");
    assert_ne!(
        ended.status.code(),
        Some(0),
        "it came to its end: a slower pace is needed"
    );

    let rows = folder.name("rest.csv");
    dovetail(&["resume", &checkpoint, "--json", "-o", &rows])
}

/// Asserts that the rows of a resumed run are the last ones of a whole run.
#[track_caller]
fn are_the_last_rows(whole: &str, rest: &str) {
    let (whole, rest) = (Table::parse(whole), Table::parse(rest));
    assert_eq!(whole.header, rest.header);
    assert!(!rest.rows.is_empty() && rest.rows.len() < whole.rows.len());
    let first = whole.rows.len() - rest.rows.len();
    assert_eq!(whole.rows[first..], rest.rows);
}

#[test]
fn a_run_that_is_killed_or_interrupted_goes_on_to_the_same_rows_and_summary() {
    for (how, method) in [
        ("KILL", "predictive"),
        ("INT", "jacobi"),
        ("INT", "f3ornits"),
    ] {
        let folder = Folder::new();
        let model = example("lotka-volterra");
        let rows = folder.name("whole.csv");
        let whole = run_json(&model, &["--method", method, "-o", &rows]);
        // Twenty seconds within two.
        let paced = [
            "--method",
            method,
            "--real-time",
            "10",
            "--checkpoint-interval",
            "0.7",
        ];
        let resumed = end_and_resume(&folder, &model, &paced, how).exits(0);
        assert_eq!(told(resumed.json()), told(whole), "{how} {method}");
        are_the_last_rows(&folder.read("whole.csv"), &folder.read("rest.csv"));
        let remarks = resumed.json()["quality"]["remarks"].to_string();
        assert!(remarks.contains("the run was resumed at t ="), "{remarks}");
    }
}

/// Predators and prey as FMUs.
fn hunt(folder: &Folder, fixture: impl Fn(Model) -> Fixture, system: &str) -> String {
    let fmu = |model| fixture(model).build();
    let text = format!(
        "[model]\nstop-time = 10.0\n\n[systems.prey]\nfmu = {:?}\n{system}\n[systems.predator]\nfmu = {:?}\n{system}\n\
         [[connections]]\nfrom = \"prey.population\"\nto = \"predator.prey\"\n\n\
         [[connections]]\nfrom = \"predator.population\"\nto = \"prey.predators\"\n",
        fmu(Model::Prey),
        fmu(Model::Predator)
    );
    folder.file("model.toml", text)
}

/// Runs a model to its end and up to a checkpoint, from which it is resumed: by Ctrl-C, wherever that comes.
#[track_caller]
fn is_resumed(folder: &Folder, model: &str, arguments: &[&str]) {
    let rows = folder.name("whole.csv");
    let whole = run_json(model, &[arguments, &["-o", &rows]].concat());
    let paced = [
        arguments,
        &["--real-time", "12", "--checkpoint-interval", "1.3"],
    ]
    .concat();
    let resumed = end_and_resume(folder, model, &paced, "INT").exits(0);
    assert_eq!(told(resumed.json()), told(whole), "{arguments:?}");
    are_the_last_rows(&folder.read("whole.csv"), &folder.read("rest.csv"));
}

#[test]
fn fmus_are_resumed_to_the_last_bit() {
    for version in VERSIONS {
        for (kind, method) in [
            (Kind::CoSimulation, "jacobi"),
            (Kind::CoSimulation, "ifosmondi"),
            (Kind::CoSimulation, "predictive"),
            (Kind::ModelExchange, "f3ornits"),
            (Kind::ModelExchange, "predictive"),
        ] {
            let folder = Folder::new();
            let fixture = |model| Fixture::new(model, version).kind(kind);
            let model = hunt(&folder, fixture, "");
            is_resumed(&folder, &model, &["--method", method]);
        }
    }
}

#[test]
fn fmus_with_events_are_resumed_to_the_last_bit() {
    for version in VERSIONS {
        for model in [Model::BouncingBall, Model::Stairs] {
            let folder = Folder::new();
            let fmu = Fixture::new(model, version)
                .kind(Kind::ModelExchange)
                .build();
            let arguments = ["--stop-time", "10", "--step", "0.01"];
            is_resumed(&folder, &fmu.display().to_string(), &arguments);
        }
    }
}

#[test]
fn systems_in_threads_and_processes_are_resumed_wherever_they_lived() {
    for workers in [&["--worker-threads", "2"][..], &["--workers", "processes"]] {
        let folder = Folder::new();
        let fixture = |model| Fixture::new(model, Version::Two).kind(Kind::CoSimulation);
        let model = hunt(&folder, fixture, "");
        is_resumed(
            &folder,
            &model,
            &[workers, &["--method", "jacobi"]].concat(),
        );
    }
}

#[test]
fn an_fmu_that_cannot_be_saved_is_named_before_the_run() {
    for version in VERSIONS {
        let folder = Folder::new();
        let fixture = |model: Model| match model {
            Model::Prey => Fixture::new(model, version)
                .kind(Kind::CoSimulation)
                .serialization(false),
            _ => Fixture::new(model, version).kind(Kind::CoSimulation),
        };
        let model = hunt(&folder, fixture, "");
        let (checkpoint, rows) = (folder.name("c"), folder.name("rows.csv"));
        let refused = dovetail(&["run", &model, "--checkpoint", &checkpoint, "-o", &rows]);
        refused
            .exits(2)
            .says(&["--checkpoint", "`prey`", "neither saved nor restored"]);
        assert!(!folder.path("rows.csv").exists(), "nothing was run");
    }
}

/// A checkpoint of the end of a short run.
fn ended(folder: &Folder) -> (String, String) {
    let text = std::fs::read_to_string(example("mechanical")).expect("the example");
    let model = folder.file("model.toml", text);
    let checkpoint = folder.name("run.checkpoint");
    run_json(
        &model,
        &[
            "--method",
            "jacobi",
            "--step",
            "0.001",
            "--checkpoint",
            &checkpoint,
        ],
    );
    (model, checkpoint)
}

#[test]
fn what_is_no_checkpoint_of_this_program_is_refused_by_a_sentence() {
    let folder = Folder::new();
    let (model, checkpoint) = ended(&folder);
    let whole = std::fs::read(&checkpoint).expect("read");
    let refused = |name: &str, bytes: &[u8], words: &[&str]| {
        let file = folder.file(name, bytes);
        dovetail(&["resume", &file])
            .exits(2)
            .says(&[name])
            .says(words);
    };

    for length in [5, 25, 40, whole.len() / 2, whole.len() - 1] {
        refused("cut", &whole[..length], &["truncated"]);
    }
    for place in [60, whole.len() / 2, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        refused("changed", &changed, &["damaged"]);
    }
    let mut other = whole.clone();
    other["Dovetail checkpoint\n".len()] += 1;
    refused("newer", &other, &["format 2", "reads format 1"]);
    refused("else", b"time,a.x\n0,1\n", &["it is not a checkpoint"]);
    dovetail(&["resume", &folder.name("none")])
        .exits(2)
        .says(&["none"]);

    folder.file("model.toml", folder.read("model.toml") + "\n");
    let changed = dovetail(&["resume", &checkpoint]);
    changed
        .exits(2)
        .says(&[&model, "has changed since the checkpoint was written"]);
}

#[test]
fn a_run_that_ended_goes_on_to_a_later_stop_time() {
    let folder = Folder::new();
    let (model, checkpoint) = ended(&folder);
    let resumed = dovetail(&["resume", &checkpoint, "--stop-time", "3", "--json"]);
    let long = run_json(
        &model,
        &["--method", "jacobi", "--step", "0.001", "--stop-time", "3"],
    );
    // The grid is start + n * step: the run never noticed that it stopped.
    assert_eq!(told(resumed.exits(0).json())["final"], told(long)["final"]);

    let early = dovetail(&["resume", &checkpoint, "--stop-time", "1"]);
    early
        .exits(2)
        .says(&["it is of t = 2 s", "stop time of 1 s"]);
    let again = dovetail(&["resume", &checkpoint, "--json"]).exits(0);
    assert_eq!(again.json()["steps"], 2000);
}

#[test]
fn a_checkpoint_replaces_nothing_that_is_read_or_written() {
    let folder = Folder::new();
    let (model, _) = ended(&folder);
    let refused = |arguments: &[&str], words: &[&str]| {
        let all = [&["run", &model], arguments].concat();
        dovetail(&all).exits(2).says(words);
    };
    refused(&["--checkpoint", &model], &["is the model"]);
    let rows = folder.name("rows.csv");
    refused(
        &["-o", &rows, "--checkpoint", &rows],
        &["--checkpoint", "something else"],
    );
    let nowhere = folder.name("none/run.checkpoint");
    refused(&["--checkpoint", &nowhere], &["cannot be written"]);
    refused(&["--checkpoint-interval", "1"], &["--checkpoint"]);
    let file = folder.name("c");
    for interval in ["0", "-1", "nan"] {
        let arguments = ["--checkpoint", &file, "--checkpoint-interval", interval];
        refused(
            &arguments,
            &["--checkpoint-interval must be a number above zero"],
        );
    }
    refused(
        &["--method", "monolithic", "--checkpoint", &file],
        &["--checkpoint", "monolithic"],
    );
}

#[test]
fn a_resumed_run_may_record_something_else() {
    let folder = Folder::new();
    let model = example("lotka-volterra");
    let whole = folder.name("whole.csv");
    let asked = [
        "--record",
        "prey.*",
        "-o",
        &whole,
        "--output-interval",
        "0.25",
    ];
    run_json(
        &model,
        &[&["--method", "jacobi", "--step", "0.05"], &asked[..]].concat(),
    );

    let checkpoint = folder.name("run.checkpoint");
    let paced = ["--method", "jacobi", "--step", "0.05", "--real-time", "10"];
    let mut run = start(&[&["run", &model, "--checkpoint", &checkpoint], &paced[..]].concat());
    wait_for(&folder, "run.checkpoint", &mut run);
    signal("KILL", &run);
    run.wait().expect("it ends");
    let rest = folder.name("rest.csv");
    let asked = [
        "--record",
        "prey.*",
        "-o",
        &rest,
        "--output-interval",
        "0.25",
    ];
    dovetail(&[&["resume", &checkpoint, "-q"], &asked[..]].concat()).exits(0);
    are_the_last_rows(&folder.read("whole.csv"), &folder.read("rest.csv"));
}

#[test]
fn fmus_are_not_told_an_end_that_a_resumed_run_may_go_beyond() {
    for version in VERSIONS {
        let folder = Folder::new();
        let fixture = |model| Fixture::new(model, version).kind(Kind::CoSimulation);
        let model = hunt(&folder, fixture, "");
        let (log, checkpoint) = (folder.name("calls.log"), folder.name("run.checkpoint"));
        let run = [
            "run",
            &model,
            "-q",
            "--step",
            "0.1",
            "--log-fmi-calls",
            &log,
        ];
        let told = match version {
            Version::Two => ["0.0, 1, 10.0)", "0.0, 0, 0.0)"],
            _ => ["0.0, true, 10.0)", "0.0, false, 0.0)"],
        };
        dovetail(&run).exits(0);
        assert!(folder.read("calls.log").contains(told[0]), "{version:?}");
        let keeps = ["--checkpoint", &checkpoint, "--checkpoint-interval", "6"];
        dovetail(&[&run[..], &keeps].concat()).exits(0);
        assert!(folder.read("calls.log").contains(told[1]), "{version:?}");

        // On to a later end than that of the run.
        let rows = folder.name("rest.csv");
        let whole = folder.name("whole.csv");
        dovetail(&[
            "resume",
            &checkpoint,
            "-q",
            "--stop-time",
            "14",
            "-o",
            &rows,
        ])
        .exits(0);
        let longer = ["--stop-time", "14", "--step", "0.1", "-q", "-o", &whole];
        dovetail(&[&["run", &model], &longer[..]].concat()).exits(0);
        are_the_last_rows(&folder.read("whole.csv"), &folder.read("rest.csv"));
    }
}
