//! `dovetail sweep`: rows, designs, jobs, and sweeps that are killed.

mod support;

use std::time::{Duration, Instant};

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Folder, Table, dovetail, example, number, run_json, start};

const ISHIGAMI: &str = "
[model]
stop-time = 1.0
[systems.f]
parameters = { x1 = [-3.141592653589793, 3.141592653589793], x2 = [-3.141592653589793, 3.141592653589793], x3 = [-3.141592653589793, 3.141592653589793] }
states = { y = 0.0 }
equations = \"der(y) = sin(x1) + 7*sin(x2)^2 + 0.1*x3^4*sin(x1)\"
outputs = { value = \"y\" }
";

fn sweep(folder: &Folder, model: &str, arguments: &[&str]) -> (support::Done, String) {
    let file = folder.name("rows.csv");
    let all = [&["sweep", model, "-o", &file], arguments].concat();
    let done = dovetail(&all);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    (done, text)
}

#[test]
fn a_row_has_the_values_of_the_single_run() {
    let folder = Folder::new();
    let grid = [
        "--vary",
        "car.m=900:1100:3",
        "--vary",
        "controller.gain=300,500",
    ];
    let (done, text) = sweep(&folder, &example("car"), &[&grid[..], &["--json"]].concat());
    let json = done.exits(0).json();
    assert_eq!((&json["runs"], &json["failed"]), (&6.into(), &0.into()));
    assert!(number(&json["wall_seconds"]) > 0.0);
    let table = Table::parse(&text);
    assert_eq!(table.column("run"), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(table.column("status"), ["ok"; 6]);
    let set = ["--set", "car.m=1000", "--set", "controller.gain=300"];
    let single = run_json(&example("car"), &set);
    for name in ["car.x", "car.v", "controller.force"] {
        let kept = table.numbers(&format!("final({name})"))[2];
        assert_eq!(kept, number(&single["final"][name]), "{name}");
    }
}

#[test]
fn extremes_and_means_are_those_of_the_rows_of_a_run() {
    let folder = Folder::new();
    let keep = ["--keep", "min", "--keep", "max", "--keep", "mean"];
    let rest = ["--keep", "max(car.v) - 2*mean(car.v)", "--record", "car.v"];
    let arguments = [&["--vary", "car.m=1000"], &keep[..], &rest].concat();
    let (done, text) = sweep(&folder, &example("car"), &arguments);
    done.exits(0);
    let table = Table::parse(&text);
    let rows = folder.name("run.csv");
    dovetail(&["run", &example("car"), "-q", "-o", &rows]).exits(0);
    let rows = Table::parse(&folder.read("run.csv"));
    let (times, speeds) = (rows.numbers("time"), rows.numbers("car.v"));
    let extreme = |better: fn(f64, f64) -> f64| speeds.iter().copied().reduce(better).unwrap();
    assert_eq!(table.numbers("min(car.v)"), [extreme(f64::min)]);
    assert_eq!(table.numbers("max(car.v)"), [extreme(f64::max)]);
    let area: f64 = (1..times.len())
        .map(|i| (times[i] - times[i - 1]) * (speeds[i] + speeds[i - 1]) / 2.0)
        .sum();
    support::assert_near(table.numbers("mean(car.v)")[0], area / 40.0, 1e-12);
    let combined = table.numbers("max(car.v) - 2*mean(car.v)")[0];
    support::assert_near(combined, extreme(f64::max) - area / 20.0, 1e-12);
}

#[test]
fn rows_are_the_same_whatever_the_number_of_jobs() {
    for name in ["car", "lotka-volterra"] {
        let factor = match name {
            "car" => "car.m=900:1100",
            _ => "prey.p=0.5:1.5",
        };
        let rows = |jobs: &str| {
            let folder = Folder::new();
            let sample = [
                "--vary", factor, "--sample", "24", "--keep", "final", "--keep", "mean",
            ];
            let (done, text) = sweep(
                &folder,
                &example(name),
                &[&sample[..], &["--jobs", jobs]].concat(),
            );
            done.exits(0);
            text
        };
        let one = rows("1");
        assert_eq!(one.lines().count(), 25);
        assert_eq!(one, rows("2"));
        assert_eq!(one, rows("5"));
    }
}

#[test]
fn failed_runs_are_rows_with_their_reason() {
    let folder = Folder::new();
    let (done, text) = sweep(
        &folder,
        &example("car"),
        &["--vary", "car.m=1000,0", "--json"],
    );
    assert_eq!(done.exits(0).json()["failed"], 1);
    let table = Table::parse(&text);
    assert_eq!(table.column("status"), ["ok", "failed"]);
    assert!(table.column("final(car.x)")[1].is_empty());
    assert!(
        text.lines().nth(2).unwrap().contains("`car.der(v)` is inf"),
        "{text}"
    );

    let (done, _) = sweep(&folder, &example("car"), &["--vary", "car.m=0"]);
    done.exits(1)
        .says(&["no run worked", "run 1", "car.der(v)"]);
}

#[test]
fn a_sweep_that_is_killed_goes_on_without_a_lost_or_double_row() {
    let folder = Folder::new();
    let vary = ["--vary", "car.m=900:1100:300", "--jobs", "2"];
    let (done, whole) = sweep(&folder, &example("car"), &vary);
    done.exits(0);

    let (model, torn) = (example("car"), folder.name("torn.csv"));
    let all = [&["sweep", &model, "-o", &torn, "--resume"], &vary[..]].concat();
    for kill in 0..4 {
        let before = std::fs::metadata(&torn).map_or(0, |file| file.len());
        let mut child = start(&all);
        let began = Instant::now();
        // It has written something more.
        while std::fs::metadata(&torn).map_or(0, |file| file.len()) <= before + 2000 {
            assert!(began.elapsed() < Duration::from_secs(60), "kill {kill}");
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        let _ = child.kill();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let text = folder.read("torn.csv");
        assert!(whole.starts_with(&text), "kill {kill}: {text}");
    }
    let text = folder.read("torn.csv");
    assert!(text.len() < whole.len(), "it was never killed in the midst");
    // A torn line, as a full disk or a crash of the machine leaves it.
    std::fs::write(&torn, &text[..text.len() - 7]).unwrap();
    dovetail(&all).exits(0);
    assert_eq!(folder.read("torn.csv"), whole);
    let again = dovetail(&[&all[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(
        (&again["runs"], &again["resumed"]),
        (&300.into(), &300.into())
    );
    assert_eq!(folder.read("torn.csv"), whole);
}

#[test]
fn the_file_of_another_sweep_is_refused() {
    let folder = Folder::new();
    let vary = ["--vary", "car.m=900:1100", "--sample", "5"];
    sweep(&folder, &example("car"), &vary).0.exits(0);
    let resumed =
        |more: &[&str]| sweep(&folder, &example("car"), &[more, &["--resume"]].concat()).0;
    resumed(&[&vary[..], &["--seed", "1"]].concat())
        .exits(2)
        .says(&["--resume", "another study", "line 2 has other values"]);
    resumed(&["--vary", "car.x=0:1:2"])
        .exits(2)
        .says(&["varies or keeps something else"]);
    resumed(&vary).exits(0);
}

#[test]
fn a_sweep_goes_on_with_the_same_model_and_options_only() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("car")).expect("the model");
    let model = folder.file("car.toml", &text);
    let table = folder.file("t.csv", "time,controller.gain\n0,300\n40,400\n");
    let vary = ["--vary", "car.m=900:1100:3", "--input", &table];
    let run = |more: &[&str]| sweep(&folder, &model, &[&vary[..], more].concat());
    let (done, whole) = run(&["--set", "car.x=1"]);
    done.exits(0);
    // One row is missing.
    let lines: Vec<&str> = whole.lines().take(3).collect();
    let torn = lines.join("\n") + "\n";
    let rows = folder.name("rows.csv");
    let refused = |more: &[&str], words: &[&str]| {
        std::fs::write(&rows, &torn).expect("written");
        let (done, text) = run(&[more, &["--resume"]].concat());
        done.exits(2).says(words);
        assert_eq!(text, torn);
    };
    refused(
        &[],
        &["--resume", "made with --set car.x=1", "is without --set"],
    );
    let set = ["--set", "car.x=1"];
    refused(
        &[&set[..], &["--method", "jacobi"]].concat(),
        &["made without --method", "is with --method jacobi"],
    );
    folder.file("t.csv", "time,controller.gain\n0,300\n40,401\n");
    refused(&set, &["t.csv has changed"]);
    folder.file("t.csv", "time,controller.gain\n0,300\n40,400\n");
    folder.file("car.toml", text.replacen("stop-time", " stop-time", 1));
    refused(&set, &["car.toml has changed"]);
    folder.file("car.toml", &text);
    std::fs::write(&rows, &torn).expect("written");
    let (done, again) = run(&[&set[..], &["--resume", "--jobs", "1"]].concat());
    done.exits(0);
    assert_eq!(again, whole);

    std::fs::remove_file(format!("{rows}.made-with.json")).expect("it is there");
    let (done, _) = run(&[&set[..], &["--resume"]].concat());
    done.exits(0).says(&["note:", "is not known"]);
}

#[test]
fn a_time_limit_keeps_what_is_there() {
    let folder = Folder::new();
    let arguments = ["--vary", "car.m=900:1100:100000", "--time-limit", "0.5"];
    let (done, text) = sweep(&folder, &example("car"), &arguments);
    done.exits(1)
        .says(&["the time limit of 0.5 s", "of 100000 runs", "--resume"]);
    let rows = text.lines().count() - 1;
    assert!(rows > 0 && text.ends_with('\n'), "{rows} rows");
}

#[test]
fn sobol_indices_of_the_function_of_ishigami() {
    let folder = Folder::new();
    let model = folder.file("ishigami.toml", ISHIGAMI);
    let design = [
        "--sample",
        "2048",
        "--design",
        "saltelli",
        "--keep",
        "final(f.value)",
        "--json",
    ];
    let (done, _) = sweep(&folder, &model, &design);
    let json = done.exits(0).json();
    assert_eq!(json["runs"], 2048 * 5);
    let known = [
        ("f.x1", 0.3139, 0.5576),
        ("f.x2", 0.4424, 0.4424),
        ("f.x3", 0.0, 0.2437),
    ];
    for (name, first, total) in known {
        let found = &json["sensitivities"]["final(f.value)"][name];
        assert!(
            (number(&found["first"]) - first).abs() < 0.02,
            "{name}: {found}"
        );
        assert!(
            (number(&found["total"]) - total).abs() < 0.02,
            "{name}: {found}"
        );
    }
}

/// One job runs the FMU here, several run it in processes.
#[test]
fn rows_of_an_fmu_are_the_same_whatever_the_number_of_jobs() {
    let fmu = Fixture::new(Model::Prey, Version::Two).build();
    let fmu = fmu.display().to_string();
    let rows = |jobs: &[&str]| {
        let folder = Folder::new();
        let vary = ["--vary", "birth=0.5:0.7:6", "--stop-time", "1"];
        let (done, text) = sweep(&folder, &fmu, &[&vary[..], jobs].concat());
        done.exits(0);
        text
    };
    let one = rows(&[]);
    let table = Table::parse(&one);
    assert_eq!(table.column("status"), ["ok"; 6], "{one}");
    let single = run_json(&fmu, &["--stop-time", "1", "--set", "birth=0.7"]);
    let known = number(&single["final"]["Prey.population"]);
    assert_eq!(table.numbers("final(Prey.population)")[5], known);
    assert_eq!(one, rows(&["--jobs", "1"]));
    assert_eq!(one, rows(&["--jobs", "2"]));
    assert_eq!(one, rows(&["--jobs", "3"]));
}

#[test]
fn the_time_of_an_event_is_where_the_trajectory_crosses() {
    let folder = Folder::new();
    let keep = ["--keep", "when(v > 10)", "--keep", "when(car.x > 1e9)"];
    let (done, text) = sweep(
        &folder,
        &example("car"),
        &[&["--vary", "car.m=900,1100"], &keep[..]].concat(),
    );
    done.exits(0);
    let times = Table::parse(&text).numbers("when(v > 10)");
    for (mass, time) in ["900", "1100"].iter().zip(times) {
        let set = format!("car.m={mass}");
        let stop = time.to_string();
        let until = ["--set", &set, "--stop-time", &stop];
        let speed = number(&run_json(&example("car"), &until)["final"]["car.v"]);
        support::assert_near(speed, 10.0, 1e-3);
    }
    assert_eq!(Table::parse(&text).column("when(car.x > 1e9)"), ["NaN"; 2]);
}

#[test]
fn whole_trajectories_are_those_of_single_runs() {
    let folder = Folder::new();
    let keep = ["--keep", "trajectories", "--record", "car.?", "--jobs", "2"];
    let (done, text) = sweep(
        &folder,
        &example("car"),
        &[&["--vary", "car.m=900:1100:3"], &keep[..]].concat(),
    );
    done.exits(0);
    assert!(text.starts_with("run,car.m,final(car.x),"), "{text}");
    let single = folder.name("single.csv");
    let set = ["--set", "car.m=1000", "--record", "car.?", "-q"];
    dovetail(&[&["run", &example("car"), "-o", &single], &set[..]].concat()).exits(0);
    assert_eq!(
        folder.read("rows-trajectories/run-000002.csv"),
        folder.read("single.csv")
    );
    let names = std::fs::read_dir(folder.path("rows-trajectories")).unwrap();
    assert_eq!(names.count(), 3);
    // Another sweep does not leave them among its own.
    let (done, _) = sweep(
        &folder,
        &example("car"),
        &["--vary", "car.m=900", "--keep", "trajectories"],
    );
    done.exits(0);
    let names = std::fs::read_dir(folder.path("rows-trajectories")).unwrap();
    assert_eq!(names.count(), 1);
}

#[test]
fn a_page_shows_runs_sensitivities_and_a_fan() {
    let folder = Folder::new();
    let model = folder.file("ishigami.toml", ISHIGAMI);
    let page = folder.name("page.html");
    let design = ["--sample", "64", "--design", "saltelli", "--report", &page];
    let (done, _) = sweep(&folder, &model, &design);
    done.exits(0);
    let page = folder.read("page.html");
    // Two kept values over three varied ones, and a fan of each.
    let figures = page.matches("<figure>").count();
    assert!(figures >= 4, "{figures}");
    assert!(page.contains("Sobol indices") && page.contains("Trajectories"));
    assert!(page.matches("<circle").count() >= 3 * 300);
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_table_is_made_of_whole_lines_and_goes_on_from_them() {
    let folder = Folder::new();
    let file = folder.name("rows.parquet");
    let all = [
        "sweep",
        &example("car"),
        "--vary",
        "car.m=900:1100:5",
        "-o",
        &file,
    ];
    dovetail(&all).exits(0);
    let whole = std::fs::read(&file).unwrap();
    assert_eq!(
        (&whole[..4], &whole[whole.len() - 4..]),
        (&b"PAR1"[..], &b"PAR1"[..])
    );
    let lines = folder.path("rows.parquet.rows.csv");
    assert!(!lines.exists());
    let again = [&all[..], &["--resume"]].concat();
    dovetail(&again).exits(2).says(&["came to its end"]);

    // A killed sweep has left the first two lines.
    let (_, text) = sweep(&folder, &example("car"), &["--vary", "car.m=900:1100:5"]);
    let two: Vec<&str> = text.lines().take(3).collect();
    std::fs::write(&lines, two.join("\n") + "\n").unwrap();
    let json = dovetail(&[&again[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!((&json["runs"], &json["resumed"]), (&5.into(), &2.into()));
    assert_eq!(std::fs::read(&file).unwrap(), whole);
    assert!(!lines.exists());
}

#[test]
fn misuse_is_said_before_anything_is_run() {
    for (arguments, words) in [
        (
            &["--vary", "car.mm=1:2:3"][..],
            &["--vary car.mm", "did you mean `car.m`?"][..],
        ),
        (&["--vary", "car.m=1:2"], &["how many values of `car.m`"]),
        (&["--vary", "car.m=2:1:3"], &["the range is empty"]),
        (&[], &["nothing is varied"]),
        (
            &["--vary", "car.m=1:2", "--design", "sobol"],
            &["needs --sample"],
        ),
        (
            &["--vary", "car.m=1,2", "--keep", "max(car.q)"],
            &["no variable `car.q`"],
        ),
        (
            &["--vary", "car.m=1,2", "--record", "cat.*"],
            &["no variable matches"],
        ),
    ] {
        let folder = Folder::new();
        let (done, text) = sweep(&folder, &example("car"), arguments);
        done.exits(2).says(words);
        assert!(text.is_empty());
    }
    let other = [
        "sweep",
        &example("car"),
        "--vary",
        "car.m=1,2",
        "-o",
        "rows.mat",
    ];
    dovetail(&other)
        .exits(2)
        .says(&["a .csv or a .parquet file"]);
}
