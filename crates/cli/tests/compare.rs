//! `dovetail compare`: published numbers, references in files, several methods and steps.

mod support;

use serde_json::Value;
use support::{Folder, Table, assert_near, compare_json, dovetail, example, number};

fn nrmse(run: &Value, variable: &str) -> f64 {
    number(&run["error"][variable]["nrmse"])
}

/// NRMSE in percent of `variable` under `method` with steps of 1e-3 and 1e-4.
fn errors(model: &str, method: &str, variable: &str) -> [f64; 2] {
    let runs = compare_json(
        &example(model),
        &["--method", method, "--step", "1e-3,1e-4"],
    );
    [nrmse(&runs[0], variable), nrmse(&runs[1], variable)]
}

fn assert_errors(found: [f64; 2], expected: [f64; 2]) {
    assert_near(found[0], expected[0], 0.01);
    assert_near(found[1], expected[1], 0.01);
}

#[test]
fn jacobi_on_the_mechanical_case_errs_as_published() {
    assert_errors(
        errors("mechanical", "jacobi", "left.position"),
        [5.80, 0.293],
    );
}

#[test]
fn gauss_seidel_on_the_mechanical_case_errs_as_measured() {
    assert_errors(
        errors("mechanical", "gauss-seidel", "left.position"),
        [1.13, 0.097],
    );
}

#[test]
fn jacobi_on_predator_and_prey_errs_as_published() {
    assert_errors(
        errors("lotka-volterra", "jacobi", "prey.population"),
        [0.1376, 0.01372],
    );
}

#[test]
fn the_order_is_measured_from_the_second_step_on() {
    let runs = compare_json(
        &example("lotka-volterra"),
        &["--method", "jacobi", "--step", "1e-2", "5e-3"],
    );
    assert!(runs[0]["order"].as_object().unwrap().is_empty());
    assert_near(number(&runs[1]["order"]["prey.population"]), 1.0, 0.05);
}

#[test]
fn every_method_runs_with_every_step() {
    let runs = compare_json(
        &example("spring"),
        &[
            "--method",
            "jacobi",
            "gauss-seidel",
            "--step",
            "0.1,0.05",
            "0.025",
        ],
    );
    let plan: Vec<_> = runs
        .iter()
        .map(|run| (run["method"].as_str().unwrap(), number(&run["step"])))
        .collect();
    let each = |method| [0.1, 0.05, 0.025].map(|step| (method, step));
    assert_eq!(plan, [each("jacobi"), each("gauss-seidel")].concat());
    assert!(
        runs[3]["order"].as_object().unwrap().is_empty(),
        "orders are not taken across methods"
    );
}

#[test]
fn every_run_has_three_measures_for_each_variable() {
    let runs = compare_json(
        &example("spring"),
        &["--method", "jacobi", "--record", "one.*"],
    );
    let error = runs[0]["error"].as_object().unwrap();
    assert!(error.contains_key("one.position") && !error.contains_key("two.position"));
    for (name, measures) in error {
        let keys: Vec<&String> = measures.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["nrmse", "l2", "max"], "{name}");
    }
}

#[test]
fn the_model_may_come_after_the_flags() {
    let model = example("spring");
    for flags in [
        ["--method", "jacobi", "--step", "0.1"],
        ["--step", "0.1", "--method", "jacobi"],
    ] {
        dovetail(&[&["compare", "--json"], &flags[..], &[&model]].concat()).exits(0);
        dovetail(&[&["compare", &model, "--json"], &flags[..]].concat()).exits(0);
    }
}

#[test]
fn a_model_that_is_not_there_is_named_even_after_the_flags() {
    dovetail(&["compare", "--method", "jacobi", "nowhere.toml"])
        .exits(2)
        .says(&["nowhere.toml"]);
}

fn fine_run(folder: &Folder, model: &str) -> String {
    let file = folder.name("fine.csv");
    let fine = [
        "run",
        model,
        "--method",
        "gauss-seidel",
        "--step",
        "1e-4",
        "--output-interval",
        "0.01",
    ];
    dovetail(&[&fine[..], &["--quiet", "--output", &file]].concat()).exits(0);
    file
}

#[test]
fn a_fine_run_in_a_file_is_nearly_as_good_a_reference_as_the_monolithic_one() {
    let (folder, model) = (Folder::new(), example("lotka-volterra"));
    let file = fine_run(&folder, &model);
    let options = ["--method", "jacobi", "--step", "0.05"];
    let monolithic = compare_json(&model, &options);
    let against = compare_json(&model, &[&options[..], &["--reference", &file]].concat());
    assert_near(
        nrmse(&against[0], "prey.population"),
        nrmse(&monolithic[0], "prey.population"),
        0.01,
    );
}

#[test]
fn a_run_has_no_error_against_itself() {
    let (folder, model) = (Folder::new(), example("mechanical"));
    let file = folder.name("same.csv");
    dovetail(&[
        "run", &model, "--method", "jacobi", "--step", "1e-3", "--output", &file,
    ])
    .exits(0);
    let runs = compare_json(
        &model,
        &["--method", "jacobi", "--step", "1e-3", "--reference", &file],
    );
    for (name, error) in runs[0]["error"].as_object().unwrap() {
        assert_eq!(number(&error["max"]), 0.0, "{name}");
    }
}

/// A valve that gets stuck, a sensor that is off for a while, and a stop: events on both sides of which rows are kept.
const FAULTS: &str = "
[model]
stop-time = 10.0
[systems.plant]
inputs = { u = 0.0 }
parameters = { k = 1.0 }
states = { x = 0.0 }
equations = \"der(x) = k*u - 0.5*x\"
outputs = { y = \"x\" }
[systems.controller]
inputs = { y = 0.0 }
outputs = { u = \"if time < 3 then 2 - y else 1 - y\" }
[[connections]]
from = \"plant.y\"
to = \"controller.y\"
[[connections]]
from = \"controller.u\"
to = \"plant.u\"
[[events]]
at = 2.0
set = { \"plant.y\" = { offset = 0.5, until = 4.0 } }
[[events]]
at = 5.0
set = { \"plant.k\" = 2.0, \"controller.u\" = { stuck = true, until = 6.0 } }
";

#[test]
fn a_model_with_events_is_within_rounding_of_its_own_results() {
    let folder = Folder::new();
    let faults = folder.file("faults.toml", FAULTS);
    for model in [example("car"), faults.clone()] {
        for name in ["own.csv", "own.parquet"] {
            if name.ends_with("parquet") && !cfg!(feature = "parquet") {
                continue;
            }
            let file = folder.name(name);
            dovetail(&["run", &model, "-q", "-o", &file]).exits(0);
            let within = ["--reference", &file, "--within", "1e-9"];
            let runs = compare_json(&model, &within);
            // What `run` would take, and nothing else.
            assert_eq!(runs.len(), 1, "{model}");
            for (name, error) in runs[0]["error"].as_object().unwrap() {
                assert!(number(&error["max"]) < 1e-9, "{model}: {name}: {error}");
            }
        }
    }
    let file = folder.name("own.csv");
    dovetail(&["run", &faults, "-q", "-o", &file]).exits(0);
    let text = folder.read("own.csv");
    let twice = text
        .lines()
        .filter(|line| line.starts_with("5.0,") || line.starts_with("5,"));
    assert_eq!(twice.count(), 2, "an event has two rows");
    // Another parameter shows.
    let other = [
        "--reference",
        &file,
        "--within",
        "1e-3",
        "--set",
        "plant.k=1.1",
        "-q",
    ];
    dovetail(&[&["compare", &faults], &other[..]].concat())
        .exits(1)
        .says(&["too far from the reference"]);
    // Other methods may still be asked for.
    let asked = ["--reference", &file, "--method", "predictive,missiles"];
    assert_eq!(compare_json(&faults, &asked).len(), 2);
}

#[test]
fn a_reference_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = Folder::new();
    let cases = [
        ("time,prey.p\n0,1\n1,abc\n", "line 3"),
        ("time,prey.p\n0,1\n1,2\n0.5,3\n", "earlier than 1"),
        ("t,prey.p\n0,1\n", "`time`"),
        ("time,prey.p\n", "no rows"),
        ("", "no rows"),
        ("time,other.x\n0,1\n", "none of the model's variables"),
        ("time,prey.p\n0,1\n1,2\n", "covers t = 0 s to 1 s"),
        ("time,prey.p\n0,1\n1\n", "cannot be read"),
        ("time,prey.p\n0,1\n1,nan\n", "not a finite number"),
    ];
    for (text, words) in cases {
        let file = folder.file("reference.csv", text);
        let arguments = [
            "compare",
            &example("lotka-volterra"),
            "--method",
            "jacobi",
            "--reference",
            &file,
        ];
        dovetail(&arguments).exits(2).says(&[words, "reference"]);
    }
}

#[test]
fn a_reference_without_a_range_has_no_relative_error() {
    let folder = Folder::new();
    let file = folder.file("constant.csv", "time,one.x\n0,1\n10,1\n");
    let runs = compare_json(
        &example("spring"),
        &["--method", "jacobi", "--reference", &file],
    );
    assert!(
        runs[0]["error"]["one.x"]["nrmse"].is_null(),
        "{}",
        runs[0]["error"]
    );
}

#[test]
fn one_run_that_fails_does_not_take_the_others_with_it() {
    let set = ["--set", "plate.D=0.64"];
    let plan = [
        "compare",
        &example("damping-reaction"),
        "--json",
        "--method",
        "jacobi,gauss-seidel",
        "--step",
        "0.1,0.02",
    ];
    let done = dovetail(&[&plan[..], &set].concat())
        .exits(1)
        .says(&["jacobi", "diverges"]);
    assert_eq!(done.json().as_array().unwrap().len(), 4);
}

#[test]
fn a_pole_of_the_reference_is_told_with_its_time_and_keeps_the_runs() {
    let folder = Folder::new();
    let model = folder.file("model.toml", support::lone(2.0, "x = 1.0", "der(x) = x^2"));
    let done = dovetail(&[
        "compare", &model, "--method", "jacobi", "--step", "0.1", "--json",
    ])
    .exits(1);
    let done = done.says(&["lone"]);
    assert_eq!(done.json()[0]["completed"], false);
    assert!(!done.err.contains("component 0"), "{}", done.err);
}

#[test]
fn a_reference_that_does_not_exist_is_named() {
    let arguments = [
        "compare",
        &example("spring"),
        "--method",
        "jacobi",
        "--reference",
        "nowhere.csv",
    ];
    dovetail(&arguments).exits(2).says(&["nowhere.csv"]);
}

#[test]
fn a_comparison_without_methods_takes_all_that_the_model_permits() {
    let runs = compare_json(&example("spring"), &[]);
    let mut methods: Vec<&str> = runs
        .iter()
        .map(|run| run["method"].as_str().unwrap())
        .collect();
    methods.dedup();
    assert_eq!(
        methods,
        [
            "jacobi",
            "gauss-seidel",
            "f3ornits",
            "ifosmondi",
            "missiles",
            "predictive"
        ]
    );
}

#[test]
fn tolerances_and_options_can_be_lists() {
    let lists = [
        "--method",
        "predictive",
        "--tolerance",
        "1e-3,1e-6",
        "--option",
        "inputs=cubic,quintic",
    ];
    let runs = compare_json(&example("spring"), &lists);
    let varied = |run: &Value| {
        ["tolerance", "inputs"].map(|key| run["options"][key].as_str().unwrap().to_owned())
    };
    let expected = [
        ["1e-3", "cubic"],
        ["1e-3", "quintic"],
        ["1e-6", "cubic"],
        ["1e-6", "quintic"],
    ];
    assert_eq!(runs.iter().map(varied).collect::<Vec<_>>(), expected);
    assert!(nrmse(&runs[2], "one.x") < 0.01 * nrmse(&runs[0], "one.x"));
}

#[test]
fn the_monolithic_solution_is_a_run_as_well() {
    let folder = Folder::new();
    let output = folder.name("truth.csv");
    let model = example("lotka-volterra");
    dovetail(&[
        "run",
        &model,
        "--method",
        "monolithic",
        "--output-interval",
        "0.1",
        "--output",
        &output,
    ])
    .exits(0);
    let truth = compare_json(
        &model,
        &[
            "--method",
            "monolithic",
            "--reference",
            &output,
            "--step",
            "0.1",
        ],
    );
    assert!(nrmse(&truth[0], "prey.p") < 1e-9);
    let measured = |reference: &str| {
        let runs = compare_json(
            &model,
            &[
                "--method",
                "jacobi",
                "--step",
                "0.1",
                "--reference",
                reference,
            ],
        );
        nrmse(&runs[0], "prey.p")
    };
    assert_near(measured(&output), measured("monolithic"), 1e-9);
}

#[test]
fn each_run_of_a_comparison_gets_a_result_file_of_its_own() {
    let folder = Folder::new();
    let output = folder.name("out.csv");
    let plan = [
        "--method",
        "jacobi",
        "gauss-seidel",
        "--step",
        "0.1,0.05",
        "--output",
        &output,
    ];
    compare_json(&example("spring"), &plan);
    for (name, rows) in [
        ("out-jacobi-0.1.csv", 101),
        ("out-gauss-seidel-0.05.csv", 201),
    ] {
        assert_eq!(Table::parse(&folder.read(name)).rows.len(), rows, "{name}");
    }
}

#[test]
fn the_report_of_a_comparison_is_written_or_refused() {
    let folder = Folder::new();
    let page = folder.name("page.html");
    let done = dovetail(&[
        "compare",
        &example("spring"),
        "--method",
        "jacobi",
        "--report",
        &page,
    ]);
    assert!(
        folder.path("page.html").exists() || done.code == Some(2),
        "--report was ignored"
    );
}

#[test]
fn the_page_of_a_comparison_has_every_run_and_its_difference_from_the_reference() {
    let folder = Folder::new();
    let page = folder.name("page.html");
    let methods = [
        "--method",
        "jacobi",
        "predictive",
        "--tolerance",
        "1e-4,1e-6",
    ];
    let plan = [
        &[
            "compare",
            &example("lotka-volterra"),
            "--report",
            &page,
            "--quiet",
        ],
        &methods[..],
    ];
    dovetail(&plan.concat()).exits(0);
    let page = folder.read("page.html");
    assert_eq!(page.matches("\"differences\":").count(), 4);
    for setting in [
        "tolerance 1e-4",
        "tolerance 1e-6",
        "\\begin{tabular}",
        "All runs are usable.",
    ] {
        assert!(page.contains(setting), "{setting}");
    }
}

#[test]
fn running_again_finds_the_error_of_any_method() {
    let model = example("mechanical");
    for choice in [
        &["jacobi", "--step", "1e-4"][..],
        &["f3ornits"],
        &["ifosmondi"],
        &["missiles"],
        &["predictive"],
    ] {
        let plan = [&["--method"], choice, &["--verify"]].concat();
        let run = &compare_json(&model, &plan)[0];
        let (found, truth) = (
            &run["quality"]["verified_error"]["left.x"]["max"],
            &run["error"]["left.x"]["max"],
        );
        let ratio = number(found) / number(truth);
        assert!((0.5..2.0).contains(&ratio), "{choice:?}: {ratio}");
        assert!(
            run["quality"]["verdict_reason"]
                .as_str()
                .unwrap()
                .starts_with("the verified error")
        );
    }
}

#[test]
fn a_run_that_runs_away_is_called_so() {
    let done = dovetail(&["run", &example("mechanical"), "--method", "jacobi"]).exits(1);
    assert!(done.out.contains("\nquality   unusable: "), "{}", done.out);
    let marked = dovetail(&[
        "compare",
        &example("mechanical"),
        "--method",
        "jacobi,predictive",
    ])
    .exits(0);
    assert!(
        marked.out.contains("diverged") && marked.out.contains("good"),
        "{}",
        marked.out
    );
}

#[test]
fn what_is_not_within_a_share_of_its_range_fails_by_name() {
    let model = example("mechanical");
    let compare = |share: &str| {
        let step = ["--step", "1e-3", "--within", share];
        dovetail(
            &[
                &["compare", &model, "--method", "missiles", "jacobi"],
                &step[..],
            ]
            .concat(),
        )
    };
    compare("0.1").exits(0);
    let failed = compare("0.01").exits(1);
    assert!(
        failed.out.contains("jacobi"),
        "the table is shown nevertheless"
    );
    let expected = "too far from the reference: jacobi with step 0.001: ";
    assert!(failed.err.contains(expected), "{}", failed.err);
    assert!(!failed.err.contains("missiles"), "{}", failed.err);

    for nonsense in ["0", "-1", "nan", "much"] {
        let refused = compare(nonsense).exits(2);
        assert!(refused.err.contains("a positive number"), "{}", refused.err);
    }
}

#[test]
fn the_table_is_printed_for_a_paper() {
    let model = example("spring");
    let printed = |format: &str| {
        let all = ["--method", "jacobi", "--step", "0.1", "--format", format];
        let done = dovetail(&[&["compare", model.as_str()], &all[..]].concat());
        done.exits(0).out
    };
    assert!(printed("markdown").contains("| --- | ---: |"));
    assert!(printed("latex").starts_with("\\begin{tabular}"));
    let csv = printed("csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2);
    let count = |line: &str| line.split(',').count();
    assert_eq!(count(lines[0]), count(lines[1]));
}

#[test]
fn without_methods_and_steps_every_method_runs_with_three_settings() {
    let runs = compare_json(&example("lotka-volterra"), &[]);
    let of = |method: &str| -> Vec<&Value> {
        runs.iter().filter(|run| run["method"] == method).collect()
    };

    let jacobi = of("jacobi");
    let steps: Vec<f64> = jacobi.iter().map(|run| number(&run["step"])).collect();
    assert_eq!(steps, [0.16, 0.04, 0.01]);
    assert_near(number(&jacobi[2]["order"]["prey.population"]), 1.0, 0.1);

    let predictive = of("predictive");
    let tolerance = |run: &&Value| run["options"]["tolerance"].clone();
    let tolerances: Vec<Value> = predictive.iter().map(tolerance).collect();
    assert_eq!(tolerances, ["1e-4", "1e-6", "1e-8"]);
    let errors = predictive.iter().map(|run| nrmse(run, "prey.population"));
    assert!(
        errors
            .collect::<Vec<_>>()
            .is_sorted_by(|one, other| one > other)
    );
}

#[test]
fn where_an_accuracy_is_demanded_no_run_is_made_coarser() {
    let model = example("lotka-volterra");
    let json = dovetail(&["compare", &model, "--within", "0.5", "--json"])
        .exits(0)
        .json();
    let methods = json
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["method"].clone());
    let methods: Vec<Value> = methods.collect();
    let mut once = methods.clone();
    once.dedup();
    assert_eq!(methods, once);
}

#[test]
fn a_coarser_run_that_nobody_asked_for_may_fail() {
    let folder = Folder::new();
    // Jacobi's own step of 0.02 s is stable, four times of it is not.
    let text = "[model]\nstop-time = 10.0\n[systems.a]\ninputs = { u = 0.0 }\nstates = { x = 1.0 }\n\
                equations = \"der(x) = -30*u\"\noutputs = { y = \"x\" }\n[systems.b]\ninputs = { u = 1.0 }\n\
                outputs = { y = \"u\" }\n[[connections]]\nfrom = \"a.y\"\nto = \"b.u\"\n\
                [[connections]]\nfrom = \"b.y\"\nto = \"a.u\"\n";
    let model = folder.file("model.toml", text);
    dovetail(&["compare", &model, "--json"]).exits(0);
}

#[test]
fn errors_can_be_shown_by_their_l2_norm() {
    let arguments = ["--method", "jacobi", "--record", "prey.population"];
    let model = example("lotka-volterra");
    let error = compare_json(&model, &arguments)[0]["error"]["prey.population"].clone();
    let csv = ["--format", "csv", "--measure", "l2"];
    let table = dovetail(&[&["compare", &model], &arguments[..], &csv].concat()).exits(0);
    let text = &table.out;
    assert!(text.contains("prey.population: L2 error in %"), "{text}");
    let last = text.trim_end().rsplit(',').next().expect("a number");
    assert_near(last.parse().expect("a number"), number(&error["l2"]), 1e-12);

    // A limit between both errors tells which of them is meant.
    let limit = 0.5 * (number(&error["l2"]) + number(&error["nrmse"])) / 100.0;
    let within = |measure: &str| {
        let limit = limit.to_string();
        let flags = ["--within", &limit, "--measure", measure];
        dovetail(&[&["compare", &model], &arguments[..], &flags].concat())
    };
    let (near, far) = if number(&error["l2"]) < number(&error["nrmse"]) {
        ("l2", "nrmse")
    } else {
        ("nrmse", "l2")
    };
    within(near).exits(0);
    within(far).exits(1);
}
