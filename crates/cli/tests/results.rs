//! Result files, and that nothing about them changes the run.

mod support;

use support::{Folder, Table, assert_near, dovetail, example, number, run_json};

fn results(model: &str, more: &[&str]) -> Table {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    dovetail(&[&["run", model, "--quiet", "--output", &file], more].concat()).exits(0);
    Table::parse(&folder.read("out.csv"))
}

#[test]
fn time_is_first_and_every_variable_follows() {
    let table = results(
        &example("lotka-volterra"),
        &["--step", "0.1", "--method", "jacobi"],
    );
    let expected =
        "time prey.predators prey.p prey.population predator.prey predator.p predator.population";
    assert_eq!(table.header, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(table.rows.len(), 201);
}

#[test]
fn times_are_multiples_of_the_step_and_not_sums() {
    let times = results(&example("lotka-volterra"), &["--step", "0.1"]).numbers("time");
    let expected: Vec<f64> = (0..=200).map(|n| f64::from(n) * 0.1).collect();
    assert_eq!(times, expected);
}

#[test]
fn the_last_row_holds_the_final_values() {
    let folder = Folder::new();
    let run = run_json(
        &example("mechanical"),
        &["--output", &folder.name("out.csv")],
    );
    let table = Table::parse(&folder.read("out.csv"));
    for (name, value) in run["final"].as_object().unwrap() {
        assert_eq!(
            *table.numbers(name).last().unwrap(),
            number(value),
            "{name}"
        );
    }
}

#[test]
fn patterns_choose_what_is_recorded() {
    let model = example("mechanical");
    let header = |patterns: &[&str]| results(&model, patterns).header;
    assert_eq!(
        header(&["--record", "left.position"]),
        ["time", "left.position"]
    );
    assert_eq!(header(&["--record", "*.x"]), ["time", "left.x", "right.x"]);
    assert_eq!(
        header(&["--record", "left.?", "--record", "right.force"]),
        ["time", "left.x", "left.v", "right.force"]
    );
    assert_eq!(
        header(&["--record", "left.x", "--record", "left.*"])
            .iter()
            .filter(|n| *n == "left.x")
            .count(),
        1
    );
}

#[test]
fn a_pattern_that_matches_nothing_is_refused() {
    dovetail(&["run", &example("mechanical"), "--record", "lef.position"])
        .exits(2)
        .says(&["`lef.position`", "did you mean `left.position`?"]);
}

#[test]
fn rows_can_be_spaced_out() {
    let table = results(
        &example("lotka-volterra"),
        &["--step", "1e-3", "--output-interval", "0.5"],
    );
    let expected: Vec<f64> = (0..=40).map(|n| f64::from(n) * 0.5).collect();
    assert_eq!(table.numbers("time"), expected);
    let full = results(&example("lotka-volterra"), &["--step", "1e-3"]);
    let same: Vec<f64> = full.numbers("prey.p").into_iter().step_by(500).collect();
    for (spaced, whole) in table.numbers("prey.p").iter().zip(same) {
        assert_near(*spaced, whole, 1e-9);
    }
}

#[test]
fn an_interval_that_no_file_can_hold_is_refused() {
    let folder = Folder::new();
    let (model, file) = (example("lotka-volterra"), folder.name("out.csv"));
    for interval in ["0", "nan", "inf"] {
        dovetail(&[
            "run",
            &model,
            "--output",
            &file,
            "--output-interval",
            interval,
        ])
        .exits(2)
        .says(&["output-interval"]);
    }
    dovetail(&["run", &model, "--output-interval", "1"])
        .exits(2)
        .says(&["--output"]);
}

/// Stopped after a few seconds: where this fails it would fill the disk.
#[test]
fn an_interval_below_the_spacing_of_times_is_refused() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let arguments = [
        "run",
        &example("lotka-volterra"),
        "--output",
        &file,
        "--output-interval",
        "1e-300",
    ];
    let mut child = support::start(&arguments);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let ended = child.try_wait().unwrap();
    child.kill().unwrap();
    assert_eq!(ended.expect("it still runs").code(), Some(2));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    for model in ["mechanical", "rooms", "car", "behaviour-change"] {
        let (first, second) = (results(&example(model), &[]), results(&example(model), &[]));
        assert!(
            first.rows == second.rows && first.header == second.header,
            "{model}"
        );
    }
}

#[test]
fn what_is_recorded_does_not_change_what_is_computed() {
    let model = example("lotka-volterra");
    let all = results(&model, &[]);
    for more in [
        &["--record", "prey.p"][..],
        &["--record", "*.p", "--json"],
        &["--record", "prey.*", "--record", "$*"],
    ] {
        assert_eq!(
            results(&model, more).column("prey.p"),
            all.column("prey.p"),
            "{more:?}"
        );
    }
}

#[test]
fn a_file_is_what_its_name_says() {
    let folder = Folder::new();
    let model = example("spring");
    dovetail(&["run", &model, "--output", &folder.name("out.xlsx")])
        .exits(2)
        .says(&[".xlsx", ".csv and .parquet"]);
    dovetail(&["run", &model, "--report", &folder.name("page.pdf")])
        .exits(2)
        .says(&[".pdf", ".html"]);
    dovetail(&["run", &model, "--output", "-", "--json"])
        .exits(2)
        .says(&["standard output"]);
    assert!(!std::path::Path::new(&folder.name("out.xlsx")).exists());
}

#[test]
fn results_go_to_standard_output_where_that_is_asked_for() {
    let folder = Folder::new();
    let (model, file) = (example("spring"), folder.name("out.csv"));
    dovetail(&["run", &model, "--step", "0.1", "--output", &file]).exits(0);
    let piped = dovetail(&["run", &model, "--step", "0.1", "-o", "-"]).exits(0);
    assert_eq!(piped.out, std::fs::read_to_string(&file).unwrap());
    assert!(
        piped.err.contains("steps"),
        "the summary is there too: {}",
        piped.err
    );
}

#[test]
fn no_output_changes_the_final_values() {
    let folder = Folder::new();
    let (file, page) = (folder.name("out.csv"), folder.name("page.html"));
    let plain = run_json(&example("damping-reaction"), &[]);
    let outputs = [
        &["--output", &file][..],
        &["--output", &file, "--output-interval", "0.0173"],
        &["--report", &page],
    ];
    for more in outputs {
        assert_eq!(
            run_json(&example("damping-reaction"), more)["final"],
            plain["final"],
            "{more:?}"
        );
    }

    let recorded = run_json(
        &example("damping-reaction"),
        &["--record", "plate.x", "--quiet"],
    );
    let alone = serde_json::json!({ "plate.x": plain["final"]["plate.x"] });
    assert_eq!(recorded["final"], alone, "those of what is recorded");
}

#[test]
fn an_output_in_a_folder_that_does_not_exist_is_refused_before_the_run() {
    let folder = Folder::new();
    let file = folder.name("nowhere/out.csv");
    dovetail(&["run", &example("spring"), "--output", &file])
        .exits(2)
        .says(&["out.csv", "cannot be written"]);
}

#[test]
fn a_model_that_is_refused_leaves_an_older_result_alone() {
    let folder = Folder::new();
    let file = folder.file("out.csv", "precious");
    dovetail(&[
        "run",
        &example("spring"),
        "--output",
        &file,
        "--step",
        "1e-300",
    ])
    .exits(2);
    dovetail(&[
        "run",
        &example("spring"),
        "--output",
        &file,
        "--set",
        "one.q=1",
    ])
    .exits(2);
    assert_eq!(folder.read("out.csv"), "precious");
}

#[test]
fn a_result_does_not_replace_the_model_it_comes_from() {
    let folder = Folder::new();
    let model = folder.file("model.toml", support::lone(1.0, "x = 1.0", "der(x) = -x"));
    dovetail(&["run", &model, "--output", &model]).exits(2);
    assert!(folder.read("model.toml").starts_with("[model]"));
}
