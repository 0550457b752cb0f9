//! `dovetail run`: what it prints and how it is told what to do.

mod support;

use serde_json::Value;
use support::{
    EXAMPLES, Folder, Table, assert_near, dovetail, example, lone, number, pair, run_json,
};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_summary_for_machines_has_the_documented_keys() {
    let run = run_json(&example("lotka-volterra"), &["--method", "jacobi"]);
    let documented = [
        "method",
        "reason",
        "steps",
        "rejected",
        "iterations",
        "integrations",
        "linearizations",
        "wall_seconds",
        "systems",
        "final",
        "quality",
        "version",
        "model",
        "start_time",
        "stop_time",
    ];
    for key in documented {
        assert!(run.get(key).is_some(), "{key} is missing");
    }
    for key in ["residual", "estimated_error", "warnings"] {
        assert!(
            run["quality"].get(key).is_some(),
            "quality.{key} is missing"
        );
    }
    assert_eq!(keys(&run["systems"]), ["prey", "predator"]);
    assert!(
        number(&run["systems"]["prey"]["integrations"]) == 500.0
            && run["systems"]["prey"]["seconds"].is_number()
    );
    assert_eq!(run["integrations"], 1000);
}

#[test]
fn every_example_runs() {
    for name in EXAMPLES {
        let run = run_json(&example(name), &[]);
        assert_eq!(run["completed"], true, "{name}");
        assert!(
            run["final"]
                .as_object()
                .unwrap()
                .values()
                .all(Value::is_f64),
            "{name}"
        );
    }
}

#[test]
fn inputs_states_and_outputs_have_final_values() {
    let run = run_json(&example("mechanical"), &[]);
    let names = "left.force left.x left.v left.position left.velocity right.position right.velocity right.x right.v right.force";
    let mut expected: Vec<&str> = names.split(' ').collect();
    let mut found = keys(&run["final"]);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(run["final"]["left.x"], run["final"]["left.position"]);
}

#[test]
fn recorded_variables_alone_have_final_values() {
    let run = run_json(
        &example("mechanical"),
        &["--record", "left.x", "--record", "right.*y"],
    );
    assert_eq!(keys(&run["final"]), ["left.x", "right.velocity"]);
}

#[test]
fn the_final_values_of_a_known_solution_are_right() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lone(2.0, "x = 1.0", "der(x) = -x"));
    assert_near(
        number(&run_json(&model, &[])["final"]["lone.x"]),
        (-2.0f64).exp(),
        1e-9,
    );
}

#[test]
fn jacobi_drives_the_car_beyond_200_meters_per_second() {
    let run = run_json(&example("car"), &["--method", "jacobi"]);
    assert!(number(&run["final"]["car.v"]) > 200.0);
}

#[test]
fn parameters_states_and_inputs_can_be_set() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n[systems.a]\ninputs = { u = 1.0 }\nparameters = { p = 1.0 }\n\
                states = { x = 1.0 }\nequations = \"der(x) = p\"\n[[connections]]\nvalue = 3.0\nto = \"a.u\"\n";
    let model = folder.file("model.toml", text);
    let end = |set: &[&str]| number(&run_json(&model, set)["final"]["a.x"]);
    assert_near(end(&[]), 2.0, 1e-12);
    assert_near(end(&["--set", "a.p=4"]), 5.0, 1e-12);
    assert_near(
        end(&["--set", "a.x=-7", "--set", "a.p=0.5", "--set", "a.u=9"]),
        -6.5,
        1e-12,
    );
    assert_near(end(&["--set", "a.p=4", "--set", "a.p=5"]), 6.0, 1e-12);
}

#[test]
fn a_switching_time_can_be_set() {
    let folder = Folder::new();
    let text = lone(2.0, "x = 0.0", "der(x) = if time < t0 then 1 else 0")
        .replace("states", "parameters = { t0 = 1.0 }\nstates");
    let model = folder.file("model.toml", text);
    for (t0, end) in [
        ("0.37", 0.37),
        ("1", 1.0),
        ("2", 2.0),
        ("5", 2.0),
        ("1e-9", 1e-9),
    ] {
        let run = run_json(
            &model,
            &["--set", &format!("lone.t0={t0}"), "--step", "0.5"],
        );
        assert_near(number(&run["final"]["lone.x"]), end, 1e-9);
    }
    for t0 in ["0", "-3"] {
        let run = run_json(
            &model,
            &["--set", &format!("lone.t0={t0}"), "--step", "0.5"],
        );
        assert_eq!(number(&run["final"]["lone.x"]), 0.0);
    }
}

#[test]
fn setting_what_does_not_exist_is_met_with_the_nearest_name() {
    let model = example("lotka-volterra");
    dovetail(&["run", &model, "--set", "prey.brith=1"])
        .exits(2)
        .says(&["did you mean `prey.birth`?"]);
    dovetail(&["run", &model, "--set", "pray.p=1"])
        .exits(2)
        .says(&["did you mean `prey.p`?"]);
}

#[test]
fn setting_an_output_says_that_it_is_one() {
    let done = dovetail(&[
        "run",
        &example("lotka-volterra"),
        "--set",
        "prey.population=1",
    ])
    .exits(2);
    done.says(&["`prey.population`", "output"]);
}

#[test]
fn values_that_are_not_finite_numbers_are_refused() {
    let model = example("lotka-volterra");
    for value in ["abc", "", "nan", "inf", "1e400", "1,5"] {
        dovetail(&["run", &model, "--set", &format!("prey.p={value}")])
            .exits(2)
            .says(&["number"]);
    }
    dovetail(&["run", &model, "--set", "prey.p"])
        .exits(2)
        .says(&["SYSTEM.NAME=VALUE"]);
}

#[test]
fn a_step_that_no_run_can_take_is_refused() {
    let model = example("lotka-volterra");
    for step in ["0", "nan", "inf", "abc", "1e-300", "1e-17"] {
        dovetail(&["run", &model, "--step", step])
            .exits(2)
            .says(&["step"]);
    }
    dovetail(&["run", &model, "--step", "-1"])
        .exits(2)
        .says(&["above zero"]);
}

#[test]
fn times_that_no_run_can_have_are_refused() {
    let model = example("lotka-volterra");
    for times in [
        ["--stop-time", "-1"],
        ["--stop-time", "nan"],
        ["--stop-time", "inf"],
        ["--start-time", "20"],
    ] {
        dovetail(&["run", &model, times[0], times[1]])
            .exits(2)
            .says(&["is not possible"]);
    }
}

#[test]
fn a_step_larger_than_the_run_is_one_step() {
    let run = run_json(
        &example("lotka-volterra"),
        &["--step", "50", "--method", "jacobi"],
    );
    assert_eq!(run["steps"], 1);
    assert_eq!(number(&run["reached"]), 20.0);
}

#[test]
fn a_last_step_that_does_not_fit_is_shortened() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    run_json(&example("spring"), &["--step", "3", "--output", &file]);
    assert_eq!(
        Table::parse(&folder.read("out.csv")).numbers("time"),
        [0.0, 3.0, 6.0, 9.0, 10.0]
    );
}

#[test]
fn start_and_stop_time_move_the_run() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lone(1.0, "x = 0.0", "der(x) = time"));
    let file = folder.name("out.csv");
    let run = run_json(
        &model,
        &[
            "--start-time",
            "-3",
            "--stop-time",
            "5",
            "--step",
            "1",
            "--output",
            &file,
        ],
    );
    assert_near(number(&run["final"]["lone.x"]), (25.0 - 9.0) / 2.0, 1e-9);
    let times: Vec<f64> = (-3..=5).map(f64::from).collect();
    assert_eq!(Table::parse(&folder.read("out.csv")).numbers("time"), times);
}

#[test]
fn quiet_prints_nothing() {
    let done = dovetail(&["run", &example("spring"), "--quiet"]).exits(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
}

#[test]
fn json_is_all_there_is_on_standard_output() {
    for more in [&[][..], &["--quiet"], &["--tolerance", "1e-3"]] {
        let run = run_json(&example("spring"), more);
        assert_eq!(run["completed"], true);
    }
}

#[test]
fn a_report_is_a_page() {
    let folder = Folder::new();
    dovetail(&[
        "run",
        &example("spring"),
        "--report",
        &folder.name("page.html"),
    ])
    .exits(0);
    let page = folder.read("page.html");
    assert!(
        page.trim_start()
            .to_lowercase()
            .starts_with("<!doctype html>")
            && page.contains("</html>")
    );
    assert!(page.contains("one.position") && page.contains("<svg"));
}

#[test]
fn names_in_a_report_are_escaped() {
    let folder = Folder::new();
    let text = lone(1.0, "x = 1.0", "der(x) = -x").replace(
        "[model]\n",
        "[model]\nname = \"<script>alert(1)</script>\"\n",
    );
    let model = folder.file("<script>.toml", text);
    dovetail(&["run", &model, "--report", &folder.name("page.html")]).exits(0);
    assert!(!folder.read("page.html").contains("<script>alert"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_run() {
    let folder = Folder::new();
    let page = folder.name("nowhere/page.html");
    dovetail(&["run", &example("spring"), "--report", &page])
        .exits(2)
        .says(&["page.html", "cannot be written"]);
}

#[test]
fn an_option_of_the_method_is_the_flag_of_its_name() {
    let model = example("mechanical");
    let flag = run_json(&model, &["--step", "1e-3"]);
    let option = run_json(&model, &["--option", "step=1e-3"]);
    assert_eq!(
        (&flag["final"], &flag["steps"]),
        (&option["final"], &option["steps"])
    );
}

#[test]
fn the_method_table_of_the_model_counts_and_the_command_line_counts_more() {
    let folder = Folder::new();
    let half = ["der(x) = u - x", "x"];
    let text = pair(1.0, half, half)
        + "\n[method]\nname = \"jacobi\"\nstep = 0.25\nintegrator-tolerance = 1e-6\n";
    let model = folder.file("model.toml", text);
    let told = |more: &[&str]| {
        let run = run_json(&model, more);
        (
            run["method"].as_str().unwrap().to_owned(),
            number(&run["step"]),
        )
    };
    assert_eq!(told(&[]), ("jacobi".into(), 0.25));
    assert_eq!(told(&["--step", "0.5"]), ("jacobi".into(), 0.5));
    assert_eq!(
        told(&["--method", "gauss-seidel", "--option", "step=0.1"]),
        ("gauss-seidel".into(), 0.1)
    );
}

#[test]
fn a_tighter_integrator_is_more_accurate() {
    let folder = Folder::new();
    let model = folder.file("model.toml", lone(2.0, "x = 1.0", "der(x) = -x * x"));
    let error = |tolerance: &str| {
        let run = run_json(
            &model,
            &["--step", "1", "--integrator-tolerance", tolerance],
        );
        (number(&run["final"]["lone.x"]) - 1.0 / 3.0).abs()
    };
    assert!(error("1e-12") < 1e-11);
    assert!(error("1e-2") < 1e-2 && error("1e-2") > error("1e-12"));
}

#[test]
fn tolerances_that_make_no_sense_are_refused() {
    let model = example("spring");
    for tolerance in ["0", "1e-20", "1", "nan", "x"] {
        dovetail(&["run", &model, "--integrator-tolerance", tolerance])
            .exits(2)
            .says(&["integrator-tolerance"]);
    }
}

#[cfg(not(feature = "petsc"))]
#[test]
fn a_program_without_petsc_says_how_to_get_it() {
    let arguments = [
        "run",
        &example("spring"),
        "--method",
        "ifosmondi",
        "--solver",
        "petsc",
    ];
    dovetail(&arguments)
        .exits(2)
        .says(&["--features petsc", "libpetsc-real-dev"]);
}

#[test]
fn an_option_that_is_not_used_is_told() {
    let run = run_json(
        &example("spring"),
        &["--tolerance", "1e-3", "--method", "jacobi"],
    );
    assert!(
        run["quality"]["warnings"][0]
            .as_str()
            .unwrap()
            .contains("jacobi has no tolerance: the option tolerance was not used")
    );
}

#[test]
fn unknown_options_and_methods_are_met_with_the_nearest() {
    let model = example("spring");
    dovetail(&["run", &model, "--option", "stepp=1"])
        .exits(2)
        .says(&["did you mean `step`?"]);
    for command in ["run", "compare", "check"] {
        dovetail(&[command, &model, "--method", "dovetail"])
            .exits(2)
            .says(&["`dovetail` is called predictive"]);
    }
    dovetail(&["run", &model, "--method", "JACOBI"])
        .exits(2)
        .says(&["did you mean `jacobi`?"]);
    dovetail(&["run", &model, "--option", "step"])
        .exits(2)
        .says(&["KEY=VALUE"]);
}
