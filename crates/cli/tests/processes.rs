//! `--workers processes`: each system in a process of its own.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dovetail::core::{MacroStep, Response, Signal, System};
use dovetail::fmi::{number_to_text, text_to_number};
use dovetail::scenario::{Choices, Overrides, Placement, RunOptions, Scenario};
use dovetail_conformance::{Expectations, conformance};
use dovetail_fixtures::{Fault, Fixture, Kind, Model, Version};
use support::{Done, Folder, Table, dovetail, example, lone, run_json, start};

static NEVER: AtomicBool = AtomicBool::new(false);

fn processes() -> Placement {
    Placement::processes(
        PathBuf::from(env!("CARGO_BIN_EXE_dovetail")),
        &["worker"],
        None,
        &NEVER,
    )
}

fn options(scenario: &Scenario, choices: &[(&str, &str)]) -> RunOptions {
    let mut chosen = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| chosen.set(key, *value));
    RunOptions {
        placement: processes(),
        ..scenario.options(&chosen).unwrap()
    }
}

/// Prey and predator as FMUs, with the FMU of the prey as given.
fn pair_of_units(folder: &Folder, prey: &Fixture) -> String {
    let predator = Fixture::new(Model::Predator, Version::Two).build();
    let table = |name: &str, fmu: PathBuf| {
        format!(
            "[systems.{name}]\nfmu = {:?}\n\n",
            fmu.display().to_string()
        )
    };
    let connections = "[[connections]]\nfrom = \"prey.population\"\nto   = \"predator.prey\"\n\n\
                       [[connections]]\nfrom = \"predator.population\"\nto   = \"prey.predators\"\n";
    let systems = table("prey", prey.build()) + &table("predator", predator);
    folder.file(
        "model.toml",
        format!("[model]\nstop-time = 2.0\n\n{systems}{connections}"),
    )
}

fn prey(fault: Fault) -> Fixture {
    Fixture::new(Model::Prey, Version::Two)
        .kind(Kind::CoSimulation)
        .fault(fault)
}

/// Runs a model of FMUs in processes, with its results in `results.csv`.
fn run(folder: &Folder, model: &str, flags: &[&str]) -> Done {
    let output = folder.name("results.csv");
    let run = [
        "run",
        model,
        "--method",
        "jacobi",
        "--workers",
        "processes",
        "--step",
        "0.01",
        "--quiet",
    ];
    dovetail(&[&run[..], &["--output", &output], flags].concat())
}

/// The last time in `results.csv`.
fn reached(folder: &Folder) -> f64 {
    *Table::parse(&folder.read("results.csv"))
        .numbers("time")
        .last()
        .expect("a row")
}

#[test]
fn results_do_not_depend_on_processes() {
    let folder = Folder::new();
    for method in [
        "jacobi",
        "gauss-seidel",
        "f3ornits",
        "ifosmondi",
        "missiles",
        "predictive",
    ] {
        for name in [
            "behaviour-change",
            "damping-reaction",
            "lotka-volterra",
            "mechanical",
            "pump-and-tank",
            "rooms",
        ] {
            let results = |file: &str, flags: &[&str]| {
                let path = folder.name(file);
                let run = [
                    "run",
                    &example(name),
                    "--method",
                    method,
                    "--quiet",
                    "--output",
                    &path,
                ];
                let done = dovetail(&[&run, flags].concat());
                // Held inputs with the default step: the mechanical case runs away, and the program says so.
                done.exits(if (method, name) == ("jacobi", "mechanical") {
                    1
                } else {
                    0
                });
                folder.read(file)
            };
            let single = results("single.csv", &[]);
            assert!(
                results("processes.csv", &["--workers", "processes"]) == single,
                "{name} under {method}"
            );
        }
    }
}

#[test]
fn results_of_fmus_do_not_depend_on_processes() {
    let folder = Folder::new();
    for prey in [
        Fixture::new(Model::Prey, Version::Three),
        Fixture::poor(Model::Prey, Version::Three),
    ] {
        let model = pair_of_units(&folder, &prey);
        for flags in [
            ["--method", "auto"],
            ["--method", "jacobi"],
            ["--method", "ifosmondi"],
            ["--method", "f3ornits"],
        ] {
            let results = |file: &str, more: &[&str]| {
                let path = folder.name(file);
                let run = ["run", &model, "--quiet", "--output", &path];
                let done = dovetail(&[&run[..], &flags, more].concat());
                (
                    done.code,
                    done.err,
                    fs::read_to_string(path).unwrap_or_default(),
                )
            };
            assert_eq!(
                results("results.csv", &["--workers", "processes"]),
                results("results.csv", &[]),
                "{flags:?}"
            );
        }
    }
}

#[test]
fn work_warnings_and_costs_are_told_as_in_a_single_process() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Warning(1.0)));
    let told = |flags: &[&str]| {
        let run = run_json(&model, &[&["--method", "jacobi"], flags].concat());
        let system = &run["systems"]["prey"];
        assert!(system["seconds"].as_f64().unwrap() > 0.0);
        (
            run["quality"]["warnings"].clone(),
            system["integrations"].clone(),
            system["fmi"].is_object(),
        )
    };
    let single = told(&[]);
    assert!(single.0.to_string().contains("`prey` said"), "{single:?}");
    assert_eq!(told(&["--workers", "processes"]), single);
}

#[test]
fn a_comparison_takes_them_too() {
    let compare = [
        "compare",
        &example("lotka-volterra"),
        "--method",
        "jacobi,missiles",
        "--json",
    ];
    let errors = |flags: &[&str]| {
        let runs = dovetail(&[&compare, flags].concat()).exits(0).json();
        runs.as_array()
            .unwrap()
            .iter()
            .map(|run| run["error"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(errors(&["--workers", "processes"]), errors(&[]));
}

#[test]
fn systems_in_processes_conform() {
    for name in ["behaviour-change", "mechanical", "rooms"] {
        let scenario = Scenario::load(example(name).as_ref(), &Overrides::default()).unwrap();
        let options = options(&scenario, &[("integrator-tolerance", "1e-12")]);
        for system in 0..scenario.connections.systems() {
            let mut make =
                || -> Box<dyn System> { scenario.systems(&options).unwrap().swap_remove(system) };
            conformance(
                &mut make,
                Expectations {
                    start: 0.0,
                    step: 0.01,
                    tolerance: 1e-9,
                },
            )
            .unwrap();
        }
    }
}

#[test]
fn fmus_in_processes_conform() {
    for version in [Version::Two, Version::Three] {
        for fixture in [
            Fixture::new(Model::Prey, version),
            Fixture::poor(Model::Prey, version),
        ] {
            let changes = Overrides {
                stop_time: Some(10.0),
                ..Overrides::default()
            };
            let scenario = Scenario::load(&fixture.build(), &changes).unwrap();
            let options = options(&scenario, &[("step", "0.01")]);
            let mut make =
                || -> Box<dyn System> { scenario.systems(&options).unwrap().swap_remove(0) };
            conformance(
                &mut make,
                Expectations {
                    start: 0.0,
                    step: 0.01,
                    tolerance: 1e-9,
                },
            )
            .unwrap();
        }
    }
}

#[test]
fn texts_cross_processes_by_what_they_say() {
    let fmu = Fixture::new(Model::Types, Version::Two).build();
    let changes = Overrides {
        stop_time: Some(1.0),
        ..Overrides::default()
    };
    let scenario = Scenario::load(&fmu, &changes).unwrap();
    let mut system = scenario
        .systems(&options(&scenario, &[]))
        .unwrap()
        .swap_remove(0);
    let interface = system.interface().clone();
    let input = interface
        .inputs
        .iter()
        .position(|input| input.name == "string_in")
        .unwrap();
    let output = interface
        .outputs
        .iter()
        .position(|output| output.name == "string_out")
        .unwrap();
    let mut inputs: Vec<Signal> = interface
        .inputs
        .iter()
        .map(|input| Signal::constant(input.start))
        .collect();
    let mut response = Response::new(&interface, 0);
    // Texts that only this process knows: its numbers are not those of the other.
    for number in 0..100 {
        text_to_number(&format!("text {number}"));
    }
    for text in [
        "one and",
        "another",
        "",
        "one and",
        &*number_to_text(interface.inputs[input].start),
    ] {
        inputs[input] = Signal::constant(text_to_number(text));
        system
            .advance(MacroStep::instant(0.0), &inputs, &mut response)
            .unwrap();
        assert_eq!(&*number_to_text(response.outputs[output].value), text);
    }
}

#[test]
fn an_fmu_that_ends_its_process_ends_the_run_with_its_results_kept() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Exit(0.5)));
    run(&folder, &model, &[])
        .exits(1)
        .says(&["`prey` failed at t = 0.49 s", "exited with code 3"]);
    assert_eq!(reached(&folder), 0.49);
}

#[test]
fn an_fmu_that_crashes_ends_the_run_with_its_results_kept() {
    let folder = Folder::new();
    for fault in [
        Fault::Segfault(0.5),
        Fault::Abort(0.5),
        Fault::StackOverflow(0.5),
    ] {
        let model = pair_of_units(&folder, &prey(fault));
        run(&folder, &model, &[])
            .exits(1)
            .says(&["`prey` failed at t = 0."]);
        assert_eq!(reached(&folder), 0.49, "{fault:?}");
    }
}

#[test]
fn a_process_that_is_killed_is_named() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Slow(20.0)));
    let output = folder.name("results.csv");
    let dovetail = started(&model, &output);
    let workers = workers_of(&dovetail);
    assert_eq!(workers.len(), 2);
    signal("KILL", workers[0]);
    let done: Done = dovetail.wait_with_output().unwrap().into();
    done.exits(1).says(&["its process was killed by signal 9"]);
    assert!(reached(&folder) >= 0.0);
}

#[test]
fn an_fmu_that_hangs_is_ended_by_the_time_limit() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Hang(0.5)));
    let done = run(&folder, &model, &["--step-timeout", "0.5"]).exits(1);
    done.says(&[
        "`prey` failed at t = 0.49 s",
        "did not answer within 0.5 s",
        "--step-timeout",
        "--log-fmi-calls",
    ]);
    assert_eq!(reached(&folder), 0.49);
}

#[test]
fn an_interrupt_ends_a_run_whose_fmu_hangs() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Hang(0.5)));
    let output = folder.name("results.csv");
    let dovetail = started(&model, &output);
    std::thread::sleep(Duration::from_millis(300));
    signal("INT", dovetail.id());
    let done: Done = dovetail.wait_with_output().unwrap().into();
    done.exits(1).says(&["it was interrupted at t = 0.49 s"]);
    assert_eq!(reached(&folder), 0.49);
}

#[test]
fn no_process_outlives_the_program() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &prey(Fault::Hang(0.5)));
    let mut dovetail = started(&model, &folder.name("results.csv"));
    let workers = workers_of(&dovetail);
    assert_eq!(workers.len(), 2);
    dovetail.kill().unwrap();
    dovetail.wait().unwrap();
    let began = Instant::now();
    while workers.iter().any(|&worker| is_worker(worker)) {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "a worker outlives the program"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_fmu_that_fails_says_the_same_in_a_process() {
    let folder = Folder::new();
    for fault in [Fault::Error(0.5), Fault::Nan(0.5), Fault::Terminate(0.5)] {
        let model = pair_of_units(&folder, &prey(fault));
        let output = folder.name("single.csv");
        let single = [
            "run", &model, "--method", "jacobi", "--step", "0.01", "--quiet", "--output", &output,
        ];
        let single = dovetail(&single);
        let spread = run(&folder, &model, &[]);
        assert_eq!(
            (spread.code, spread.err),
            (single.code, single.err),
            "{fault:?}"
        );
        assert_eq!(folder.read("results.csv"), folder.read("single.csv"));
    }
}

#[test]
fn an_fmu_for_one_process_is_used_twice_in_two() {
    let folder = Folder::new();
    for version in [Version::Two, Version::Three] {
        let once = |once: bool| {
            let fmu = Fixture::new(Model::Sine, version)
                .once(once)
                .build()
                .display()
                .to_string();
            let systems = ["a", "b"].map(|name| format!("[systems.{name}]\nfmu = {fmu:?}\n"));
            folder.file(
                "model.toml",
                format!("[model]\nstop-time = 1.0\n\n{}", systems.concat()),
            )
        };
        let often = once(false);
        run(&folder, &often, &[]).exits(0);
        let expected = folder.read("results.csv");
        let model = once(true);
        let refused = dovetail(&["run", &model]).exits(2);
        refused.says(&[
            "`a` and `b`",
            "only once in a process",
            "--workers processes",
            "model.toml:6:",
        ]);
        run(&folder, &model, &[]).exits(0);
        assert_eq!(folder.read("results.csv"), expected);
        let checked = dovetail(&["check", &model]).exits(0);
        assert!(
            checked.line().contains("--workers processes"),
            "{}",
            checked.out
        );
    }
}

#[test]
fn calls_are_logged_from_every_process() {
    let folder = Folder::new();
    let model = pair_of_units(&folder, &Fixture::new(Model::Prey, Version::Two));
    run(
        &folder,
        &model,
        &["--log-fmi-calls", &folder.name("calls.log")],
    )
    .exits(0);
    let log = folder.read("calls.log");
    for name in ["prey: ", "predator: "] {
        let steps = log
            .lines()
            .filter(|line| line.starts_with(name) && line.contains("DoStep("))
            .count();
        assert_eq!(steps, 200, "{name}");
    }
}

/// Also those of instances that are made in other processes, before the run; and the file is not
/// started anew by each run of a comparison.
#[test]
fn calls_while_an_fmu_is_tried_out_are_logged_and_marked() {
    let folder = Folder::new();
    let log = folder.name("calls.log");
    let reference = folder.name("reference.csv");
    for (version, free) in [
        (Version::Two, "fmi2FreeInstance()"),
        (Version::Three, "fmi3FreeInstance()"),
    ] {
        let fmu = Fixture::new(Model::Prey, version).build();
        let fmu = fmu.display().to_string();
        let common = ["--stop-time", "1", "--log-fmi-calls", &log];
        let logged = |arguments: &[&str]| {
            dovetail(&[arguments, &common].concat()).exits(0);
            let lines = folder.read("calls.log");
            lines.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let count = |lines: &[String], start: &str, what: &str| {
            // A call is written before it is made, and its status after it.
            let of_these = |line: &&String| {
                let is_status = line.contains(" -> ");
                line.starts_with(start) && line.contains(what) && is_status == what.contains(" -> ")
            };
            lines.iter().filter(of_these).count()
        };
        let run = logged(&["run", &fmu, "--output", &reference]);
        let is_marked = |line: &String| line.starts_with("probe Prey: ");
        let first = run.iter().position(|line| !is_marked(line)).unwrap();
        assert!(run[first].starts_with("Prey: ") && run[first].contains("Instantiate"));
        assert!(!run[first..].iter().any(is_marked), "the probe comes first");
        for call in ["Instantiate", "DoStep", "Reset -> ok", free] {
            assert!(count(&run, "probe Prey: ", call) > 0, "{version:?}: {call}");
        }
        let (made, freed) = ("Instantiate", free);
        assert_eq!(count(&run, "probe ", made), count(&run, "probe ", freed));
        assert_eq!(count(&run, "Prey: ", made), 1);
        assert_eq!(count(&run, "Prey: ", freed), 1);
        let methods = ["--method", "jacobi,gauss-seidel", "--reference", &reference];
        let compared = logged(&[&["compare", &fmu], &methods[..]].concat());
        assert_eq!(count(&compared, "Prey: ", made), 2, "one for each run");
        assert_eq!(
            count(&compared, "probe ", made),
            count(&run, "probe ", made)
        );
    }
}

#[test]
fn a_log_of_calls_does_not_replace_the_model_or_its_fmus() {
    let folder = Folder::new();
    let fixture = Fixture::new(Model::Prey, Version::Two);
    let model = pair_of_units(&folder, &fixture);
    let fmu = folder.name("own.fmu");
    std::fs::copy(fixture.build(), &fmu).unwrap();
    let own = folder.file(
        "own.toml",
        format!("[model]\nstop-time = 1\n[systems.prey]\nfmu = {fmu:?}\n"),
    );
    for (model, log) in [(&model, &model), (&own, &fmu)] {
        let before = std::fs::read(log).unwrap();
        let done = dovetail(&["run", model, "--log-fmi-calls", log]).exits(2);
        done.says(&["would replace it"]);
        assert_eq!(std::fs::read(log).unwrap(), before);
    }
}

#[test]
fn a_run_that_ends_early_says_the_same_in_processes() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lone(2.0, "x = 1.0", "der(x) = x^2"));
    let said = |flags: &[&str]| {
        dovetail(&[&["run", &model, "--quiet"], flags].concat())
            .exits(1)
            .err
    };
    assert_eq!(said(&["--workers", "processes"]), said(&[]));
}

#[test]
fn choices_without_meaning_are_refused() {
    let run =
        |flags: &[&str]| dovetail(&[&["run", &example("mechanical")], flags].concat()).exits(2);
    run(&["--memory-limit", "1M"]).says(&["at least 32M"]);
    run(&["--workers", "processes", "--step-timeout", "0"]).says(&["above zero"]);
    run(&["--workers", "processes", "--worker-threads", "2"]).says(&["--worker-threads"]);
    dovetail(&["worker"])
        .exits(2)
        .says(&["for --workers processes to start"]);
}

/// A run in processes that has come to its first rows.
fn started(model: &str, output: &str) -> Child {
    let run = [
        "run",
        model,
        "--method",
        "jacobi",
        "--workers",
        "processes",
        "--step",
        "0.01",
        "--quiet",
    ];
    let child = start(&[&run[..], &["--output", output]].concat());
    let began = Instant::now();
    // The file is written in blocks: what tells that the run is under way is that it is there.
    while !fs::exists(output).unwrap() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "the run does not begin"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    child
}

fn signal(name: &str, process: u32) {
    let arguments = [format!("-{name}"), process.to_string()];
    assert!(
        std::process::Command::new("kill")
            .args(arguments)
            .status()
            .unwrap()
            .success()
    );
}

/// The processes that a program has started. It is a child of itself.
fn workers_of(program: &Child) -> Vec<u32> {
    children_of(program.id())
        .into_iter()
        .flat_map(children_of)
        .collect()
}

fn children_of(id: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    children
        .split_whitespace()
        .map(|child| child.parse().unwrap())
        .collect()
}

/// Whether a process still lives: not that its number is in use, but that it is ours and no mere entry of a table.
fn is_worker(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.contains("worker"))
}

#[test]
fn the_library_uses_the_program_as_its_worker() {
    let program = env!("CARGO_BIN_EXE_dovetail");
    let fmu = Fixture::new(Model::Prey, Version::Three).build();
    let model = dovetail::Model::builder(&fmu)
        .stop_time(1.0)
        .worker_executable(program, &["worker"])
        .load()
        .unwrap();
    let plain = model.run().unwrap();
    let processes = model.simulation().processes(program, &["worker"]).run();
    let last = |run: &dovetail::Run| run.last("Prey.population").unwrap().to_bits();
    assert_eq!(last(&plain), last(&processes.unwrap()));
}
