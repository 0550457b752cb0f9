//! `dovetail enclose`: what it prints and writes, and how it is told what to do.

mod support;

use std::thread::sleep;
use std::time::Duration;

use dovetail_fixtures::{Fixture, Model, Version};
use serde_json::Value;
use support::{Done, Folder, Table, command, dovetail, example, lone, number, pair, start};

/// The JSON of an enclosure that succeeds.
#[track_caller]
fn enclose_json(model: &str, arguments: &[&str]) -> Value {
    dovetail(&[&["enclose", model, "--json"], arguments].concat())
        .exits(0)
        .json()
}

/// Two decays, the first from a box.
fn decays(folder: &Folder) -> String {
    folder.file(
        "model.toml",
        lone(1.0, "x = [0.9, 1.1], y = 2.0", "der(x) = -x; der(y) = -y").replace("; ", "\\n"),
    )
}

fn exploding(folder: &Folder) -> String {
    folder.file("model.toml", lone(2.0, "x = 1.0", "der(x) = x^2"))
}

#[test]
fn the_summary_for_machines_has_the_documented_keys() {
    let folder = Folder::new();
    let json = enclose_json(&decays(&folder), &[]);
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let all = "method reached steps rejected pieces useful_until volume max_width width wall_seconds final requirements completed message remarks warnings";
    assert_eq!(keys, all.split(' ').collect::<Vec<_>>());
    assert_eq!(
        (&json["method"], &json["completed"]),
        (&"shared-symbols".into(), &true.into())
    );
    assert_eq!(json["reached"], 1.0);
    let widths: Vec<f64> = ["lone.x", "lone.y"]
        .map(|name| number(&json["width"][name]))
        .into();
    assert_eq!(number(&json["volume"]), widths[0] * widths[1]);
    assert_eq!(number(&json["max_width"]), widths[0]);
    assert!(
        widths[0] >= 0.2 * (-1.0_f64).exp() && widths[0] < 0.074 && widths[1] < 1e-12,
        "{widths:?}"
    );
}

#[test]
fn both_methods_hold_the_exact_solution() {
    let folder = Folder::new();
    let model = decays(&folder);
    for arguments in [
        &[][..],
        &["--method", "boxes"],
        &[
            "--method",
            "boxes",
            "--integrator",
            "heun",
            "--step",
            "0.01",
        ],
        &[
            "--method",
            "boxes",
            "--extrapolation",
            "1",
            "--worker-threads",
            "2",
        ],
    ] {
        let last = &enclose_json(&model, arguments)["final"];
        for (name, low, high) in [("lone.x", 0.9, 1.1), ("lone.y", 2.0, 2.0)] {
            let decay = (-1.0_f64).exp();
            let (lo, hi) = (number(&last[name][0]), number(&last[name][1]));
            assert!(
                lo <= low * decay * (1.0 + 1e-15) && high * decay * (1.0 - 1e-15) <= hi,
                "{arguments:?}: {last}"
            );
        }
    }
}

#[test]
fn the_summary_for_people_tells_bounds_and_cost() {
    let folder = Folder::new();
    let done = dovetail(&["enclose", &decays(&folder)]).exits(0);
    for word in [
        "shared-symbols",
        "0 … 1 s done in",
        "steps",
        "lone.x",
        "bounds proved for all trajectories; the widest at the end is that of `lone.x`",
    ] {
        assert!(
            done.line().contains(word),
            "`{word}` is not in:\n{}",
            done.out
        );
    }
    assert!(!done.out.contains("volume"), "{}", done.out);
    let boxes = ["--method", "boxes", "--extrapolation", "2", "--verbose"];
    let done = dovetail(&[&["enclose", &decays(&folder)], &boxes[..]].concat()).exits(0);
    let method = "method    boxes (rk4, inputs extrapolated with degree 2)\n";
    assert!(done.out.contains(method), "{}", done.out);
    assert!(done.out.contains("volume: "), "{}", done.out);
    let quiet = dovetail(&["enclose", &decays(&folder), "--quiet"]).exits(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn rows_are_instants_and_tubes_from_start_to_end() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let json = enclose_json(
        &decays(&folder),
        &["--output", &file, "--start-time", "-0.5"],
    );
    let table = Table::parse(&folder.read("out.csv"));
    assert_eq!(
        table.header,
        [
            "t0",
            "t1",
            "lone.x.lo",
            "lone.x.hi",
            "lone.y.lo",
            "lone.y.hi"
        ]
    );
    let (from, to) = (table.numbers("t0"), table.numbers("t1"));
    assert_eq!(
        (from[0], to[0]),
        (-0.5, -0.5),
        "the first row is the instant of the start"
    );
    let (lo, hi) = (table.numbers("lone.x.lo")[0], table.numbers("lone.x.hi")[0]);
    assert!(
        (0.9 - 1e-12..=0.9).contains(&lo) && (1.1..1.1 + 1e-12).contains(&hi),
        "the box of the start: [{lo}, {hi}]"
    );
    assert_eq!(
        (from[from.len() - 1], to[to.len() - 1]),
        (1.0, 1.0),
        "the last row is the instant of the end"
    );
    assert!(
        from.iter().zip(&to).any(|(from, to)| from < to),
        "there are tubes"
    );
    let mut covered = -0.5;
    for (from, to) in from.iter().zip(&to).filter(|(from, to)| from < to) {
        assert!(*from <= covered, "nothing is said from {covered} to {from}");
        covered = f64::max(covered, *to);
    }
    assert_eq!(covered, 1.0);
    let last = table.rows.last().unwrap();
    assert_eq!(
        last[2].parse::<f64>().unwrap(),
        number(&json["final"]["lone.x"][0])
    );
    assert_eq!(
        last[5].parse::<f64>().unwrap(),
        number(&json["final"]["lone.y"][1])
    );
}

#[test]
fn every_number_of_the_file_has_17_digits() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    dovetail(&["enclose", &example("spring"), "--output", &file, "--quiet"]).exits(0);
    let table = Table::parse(&folder.read("out.csv"));
    assert_eq!(table.header.len(), 2 + 2 * 4);
    for row in &table.rows {
        assert_eq!(row.len(), table.header.len());
        for field in row {
            let (mantissa, _) = field.split_once('e').expect("an exponent");
            assert_eq!(
                mantissa.chars().filter(char::is_ascii_digit).count(),
                17,
                "{field}"
            );
            let value: f64 = field.parse().unwrap();
            assert_eq!(format!("{value:.16e}"), *field);
        }
        assert!(
            row[2..]
                .chunks(2)
                .all(|bounds| number_of(&bounds[0]) <= number_of(&bounds[1]))
        );
    }
}

fn number_of(text: &str) -> f64 {
    text.parse().unwrap()
}

#[test]
fn an_output_interval_adds_instants() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let model = decays(&folder);
    dovetail(&[
        "enclose",
        &model,
        "--output",
        &file,
        "--output-interval",
        "0.125",
        "--quiet",
    ])
    .exits(0);
    let table = Table::parse(&folder.read("out.csv"));
    let instants: Vec<f64> = table
        .rows
        .iter()
        .filter(|row| row[0] == row[1])
        .map(|row| number_of(&row[0]))
        .collect();
    for k in 0..=8 {
        assert!(
            instants.contains(&(0.125 * f64::from(k))),
            "{k}: {instants:?}"
        );
    }
    dovetail(&["enclose", &model, "--output-interval", "0.1"])
        .exits(2)
        .says(&["--output-interval needs --output"]);
    for wrong in ["0", "-1", "nan", "1e-30"] {
        dovetail(&[
            "enclose",
            &model,
            "--output",
            &file,
            "--output-interval",
            wrong,
        ])
        .exits(2);
    }
}

#[test]
fn a_value_may_be_set_to_a_box() {
    let folder = Folder::new();
    let model = decays(&folder);
    let wide = enclose_json(&model, &["--set", "lone.y=[1.5,2.5]", "--set", "lone.x=1"]);
    assert!(
        number(&wide["width"]["lone.y"]) > 0.36 && number(&wide["width"]["lone.x"]) < 1e-12,
        "{wide}"
    );
    dovetail(&["enclose", &model, "--set", "lone.y=[2,1]"])
        .exits(2)
        .says(&["the box is empty: 2 is above 1"]);
    dovetail(&["enclose", &model, "--set", "lone.y=[1,2,3]"])
        .exits(2)
        .says(&["[lower, upper]"]);
    dovetail(&["enclose", &model, "--set", "lone.z=[1,2]"])
        .exits(2)
        .says(&["no such parameter"]);
    let coupled = folder.file(
        "pair.toml",
        pair(1.0, ["der(x) = u - x", "x"], ["der(x) = u - x", "x"]),
    );
    dovetail(&["enclose", &coupled, "--set", "a.u=[0,1]"])
        .exits(2)
        .says(&["`a.u` is an input"]);
    dovetail(&["enclose", &coupled, "--set", "a.x=[0,1]", "--quiet"]).exits(0);
}

#[test]
fn an_uncertain_parameter_widens_the_bounds() {
    let folder = Folder::new();
    let text = lone(1.0, "x = 1.0", "der(x) = -k * x")
        .replace("states", "parameters = { k = [1.0, 2.0] }\nstates");
    let last = &enclose_json(&folder.file("model.toml", text), &[])["final"]["lone.x"];
    assert!(
        number(&last[0]) <= (-2.0_f64).exp() && number(&last[1]) >= (-1.0_f64).exp(),
        "{last}"
    );
}

#[test]
fn a_model_that_blows_up_ends_with_the_time_reached_and_its_rows() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    for method in ["shared-symbols", "boxes"] {
        let model = exploding(&folder);
        let arguments = [
            "enclose", &model, "--json", "--method", method, "--output", &file,
        ];
        let done = dovetail(&arguments).exits(1).says(&[
            "the run ended early: ",
            "no bounds could be proved beyond t = ",
        ]);
        let json = done.json();
        assert_eq!(json["completed"], false);
        let reached = number(&json["reached"]);
        assert!(reached > 0.8 && reached < 1.0, "{method}: {reached}");
        let table = Table::parse(&folder.read("out.csv"));
        assert!(table.rows.len() > 4 && table.rows.iter().all(|row| row.len() == 4));
        assert_eq!(table.numbers("t1").into_iter().fold(0.0, f64::max), reached);
        // On a grid too, the boxes so far reach as far as the bounds.
        let json = dovetail(&[&arguments[..], &["--output-interval", "0.3"]].concat())
            .exits(1)
            .json();
        let table = Table::parse(&folder.read("out.csv"));
        assert_eq!(
            table.numbers("t0").last().copied(),
            json["reached"].as_f64(),
            "{method}"
        );
    }
}

#[test]
fn an_fmu_cannot_be_enclosed() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Prey, Version::Two).build();
    let text = format!(
        "[model]\nstop-time = 1.0\n[systems.prey]\nfmu = {:?}\n[[connections]]\nvalue = 1.0\nto = \"prey.predators\"\n",
        unit.display().to_string()
    );
    let model = folder.file("model.toml", text);
    let done = dovetail(&["enclose", &model]).exits(2).says(&[
        "`prey` is an FMU",
        "equations",
        "dovetail run",
    ]);
    assert!(done.err.contains("model.toml:3"), "{}", done.err);
    let alone = unit.display().to_string();
    dovetail(&["enclose", &alone, "--stop-time", "1"])
        .exits(2)
        .says(&["is an FMU"]);
    let done = dovetail(&["check", &model]).exits(0);
    assert!(
        done.line()
            .contains("It cannot be enclosed: `prey` is an FMU"),
        "{}",
        done.out
    );
}

#[test]
fn check_tells_what_can_be_enclosed() {
    let folder = Folder::new();
    let done = dovetail(&["check", &decays(&folder)]).exits(0);
    assert!(
        done.line().contains(
            "It can be enclosed; boxes are given for 1 of 2 states and 0 of 0 parameters."
        ),
        "{}",
        done.out
    );
}

#[test]
fn misuse_is_answered_in_a_sentence() {
    let folder = Folder::new();
    let model = decays(&folder);
    let before = folder.read("model.toml");
    let refused = |arguments: &[&str], words: &[&str]| {
        dovetail(&[&["enclose", &model], arguments].concat())
            .exits(2)
            .says(words);
    };
    refused(
        &["--integrator", "rk4"],
        &["--integrator is for --method boxes"],
    );
    refused(
        &["--method", "shared-symbols", "--extrapolation", "1"],
        &["--extrapolation is for --method boxes"],
    );
    refused(
        &["--method", "jacobi"],
        &[
            "`jacobi` is a method of `dovetail run`",
            "shared-symbols and boxes",
        ],
    );
    refused(
        &["--method", "shared-symbol"],
        &["did you mean `shared-symbols`?"],
    );
    refused(
        &["--method", "boxes", "--integrator", "rk5"],
        &["unknown integrator `rk5`", "did you mean `rk4`?"],
    );
    refused(
        &["--method", "boxes", "--extrapolation", "-1"],
        &["--extrapolation must be a whole number"],
    );
    refused(
        &["--method", "boxes", "--extrapolation", "two"],
        &["--extrapolation must be a whole number"],
    );
    refused(&["--step", "0"], &["--step must be a number above zero"]);
    refused(&["--step", "inf"], &["--step must be a number above zero"]);
    refused(
        &["--stop-time", "-1"],
        &["stop time must come after the start time"],
    );
    refused(&["--worker-threads", "0"], &["at least one thread"]);
    refused(&["--pieces", "0"], &["at least one piece"]);
    refused(
        &["--pieces", "2", "--method", "boxes"],
        &["--pieces is for shared-symbols"],
    );
    refused(&["--output", &folder.name("out.parquet")], &["as CSV only"]);
    refused(&["--output", &model], &["is the model"]);
    refused(
        &["--output", &folder.name("a"), "--report", &folder.name("a")],
        &["name the same file"],
    );
    refused(
        &["--output", &folder.name("no/such/folder.csv")],
        &["cannot be written"],
    );
    assert_eq!(folder.read("model.toml"), before, "the model is untouched");
}

#[test]
fn run_leads_to_enclose_by_the_names_of_its_methods() {
    for name in ["shared-symbols", "boxes"] {
        let done = dovetail(&["run", &example("spring"), "--method", name]).exits(2);
        done.says(&[
            "`dovetail enclose`",
            &format!("dovetail enclose MODEL --method {name}"),
        ]);
    }
}

#[test]
fn what_belongs_to_runs_is_not_heeded() {
    let folder = Folder::new();
    let text = lone(1.0, "x = 1.0", "der(x) = -x").replace("states", "imposed-step = 0.1\nstates");
    let model = folder.file(
        "model.toml",
        format!("{text}[method]\nname = \"jacobi\"\nstep = 0.1\n"),
    );
    let warnings = enclose_json(&model, &[])["warnings"].clone();
    let warnings = warnings.as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].as_str().unwrap().contains("imposed-step"),
        "{warnings:?}"
    );
}

#[test]
fn the_page_draws_every_state() {
    let folder = Folder::new();
    let file = folder.name("page.html");
    dovetail(&["enclose", &example("spring"), "--report", &file, "--quiet"]).exits(0);
    let page = folder.read("page.html");
    for state in ["one.x", "one.v", "two.x", "two.v"] {
        assert!(page.contains(&format!("\"name\":\"{state}\"")), "{state}");
    }
    assert!(
        page.contains("Proved: no trajectory leaves these bounds.") && page.ends_with("</html>\n")
    );
}

#[test]
fn sampled_trajectories_are_drawn_on_the_page_on_request() {
    let folder = Folder::new();
    let file = folder.name("page.html");
    let model = example("spring");
    dovetail(&[
        "enclose",
        &model,
        "--report",
        &file,
        "--samples",
        "3",
        "--quiet",
    ])
    .exits(0);
    let page = folder.read("page.html");
    let (_, samples) = page.split_once("\"samples\":[").expect("samples");
    let (samples, _) = samples.split_once("],\"requirements\"").expect("their end");
    assert_eq!(samples.matches("\"one.x\"").count(), 3);
    dovetail(&["enclose", &model, "--samples", "3"])
        .exits(2)
        .says(&["--report"]);
}

#[test]
fn a_full_disk_ends_an_enclosure_and_is_told() {
    let done = dovetail(&["enclose", &example("spring"), "--output", "/dev/full"]).exits(1);
    done.says(&["/dev/full could not be written", "No space left on device"]);
}

#[test]
fn ctrl_c_ends_an_enclosure_and_keeps_its_rows() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let child = start(&[
        "enclose",
        &example("spring"),
        "--step",
        "1e-7",
        "--output",
        &file,
    ]);
    sleep(Duration::from_millis(700));
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let done: Done = child.wait_with_output().unwrap().into();
    done.exits(1).says(&["interrupted at t = "]);
    let table = Table::parse(&folder.read("out.csv"));
    assert!(table.rows.len() > 1 && table.rows.iter().all(|row| row.len() == table.header.len()));
}

#[test]
fn results_do_not_depend_on_threads() {
    let folder = Folder::new();
    let rows = |threads: &str| {
        let file = folder.name("out.csv");
        let flags = [
            "--method",
            "boxes",
            "--stop-time",
            "1",
            "--worker-threads",
            threads,
            "--quiet",
        ];
        dovetail(
            &[
                &["enclose", &example("spring"), "--output", &file][..],
                &flags,
            ]
            .concat(),
        )
        .exits(0);
        folder.read("out.csv")
    };
    assert!(rows("1") == rows("2"));
}

#[test]
fn help_and_completions_know_it() {
    let help: Done = command(&["enclose", "--help"]).output().unwrap().into();
    for flag in [
        "--method",
        "--integrator",
        "--extrapolation",
        "--output-interval",
        "--report",
        "--worker-threads",
    ] {
        assert!(help.out.contains(flag), "{flag}");
    }
    assert!(dovetail(&["completions", "bash"]).out.contains("enclose"));
}

/// A model whose bounds end early in one piece.
const VAN_DER_POL: &str = "[model]\nstop-time = 7.0\n[systems.a]\nstates = { x = [1.25, 1.55], y = [2.35, 2.45] }\n\
    equations = \"\"\"\nder(x) = y\nder(y) = (1 - x^2) * y - x\n\"\"\"\n";

#[test]
fn boxes_are_cut_where_bounds_would_end_early() {
    let folder = Folder::new();
    let model = folder.file("model.toml", VAN_DER_POL);
    let done = dovetail(&["enclose", &model, "--worker-threads", "2"]).exits(0);
    assert!(done.out.contains("boxes cut into "), "{}", done.out);
    assert!(!done.out.contains("--worker-threads"), "{}", done.out);

    let json = enclose_json(&model, &[]);
    assert!(
        number(&json["pieces"]) > 1.0 && json["useful_until"].is_null(),
        "{json}"
    );
    assert!(number(&json["max_width"]) < 1.0, "{json}");
}

#[test]
fn an_early_end_says_until_when_bounds_were_useful_and_what_to_try() {
    let folder = Folder::new();
    let model = folder.file("model.toml", VAN_DER_POL);
    let done = dovetail(&["enclose", &model, "--pieces", "1", "--worker-threads", "2"]);
    let done = done.exits(1);
    assert!(done.out.contains(", useful until "), "{}", done.out);
    assert!(
        done.out.contains("--worker-threads brings nothing here"),
        "{}",
        done.out
    );
    done.says(&["smaller steps, more pieces"]);
}

/// A monotone model: the same bounds, whatever is asked beside.
#[test]
fn questions_do_not_widen_the_bounds_of_monotone_models() {
    let folder = Folder::new();
    let system = |name: &str| {
        format!(
            "[systems.{name}]\ninputs = {{ u = 0.0 }}\nstates = {{ x = [0.5, 3] }}\n\
             equations = \"der(x) = -x^3 + u\"\noutputs = {{ y = \"x\" }}\n"
        )
    };
    let wires = "[[connections]]\nfrom = \"a.y\"\nto = \"b.u\"\n[[connections]]\nfrom = \"b.y\"\nto = \"a.u\"\n";
    let text = format!(
        "[model]\nstop-time = 20.0\n{}{}{wires}",
        system("a"),
        system("b")
    );
    let model = folder.file("model.toml", &text);
    let asked = enclose_json(
        &model,
        &[
            "--record",
            "a.y",
            "--record",
            "a.x - b.x",
            "--require",
            "a.x < 3.01",
        ],
    );
    assert!(number(&asked["max_width"]) < 1e-13, "{asked}");
    assert!(number(&asked["width"]["a.y"]) < 1e-13, "{asked}");
    assert_eq!(asked["requirements"][0]["answer"], "proved", "{asked}");
}
