//! What a person sees on a terminal: width, colors, help, and answers to what was probably meant.

mod support;

use support::{EXAMPLES, Folder, command, dovetail, example, pair};

fn fits(text: &str, command: &str) {
    for line in text.lines() {
        let width = line.chars().count();
        assert!(width <= 80, "{command}: {width} columns:\n{line}");
    }
}

#[test]
fn everything_printed_about_an_example_fits_80_columns() {
    for name in EXAMPLES {
        let model = example(name);
        let commands: [&[&str]; 5] = [
            &["check", &model],
            &["inspect", &model],
            &["run", &model],
            &["run", &model, "--verbose"],
            &["run", &model, "--method", "f3ornits", "-v"],
        ];
        for arguments in commands {
            fits(&dovetail(arguments).exits(0).out, &arguments.join(" "));
        }
    }
}

#[test]
fn comparisons_fit_80_columns() {
    for name in ["mechanical", "rooms"] {
        let model = example(name);
        let arguments = [
            "compare",
            &model,
            "-m",
            "jacobi",
            "missiles",
            "-s",
            "0.01,0.005",
        ];
        fits(&dovetail(&arguments).out, name);
    }
}

#[test]
fn a_summary_opens_with_model_method_steps_quality_and_time() {
    let done = dovetail(&["run", &example("lotka-volterra")]).exits(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(
        lines[0].starts_with("predator and prey   0 … 20 s   done in "),
        "{}",
        done.out
    );
    let labels = ["method    predictive", "steps     ", "quality   good: "];
    for (line, label) in lines[1..].iter().zip(labels) {
        assert!(line.starts_with(label), "{}", done.out);
    }
    for label in ["\ntime      coupling ", "\nresults   prey.population  "] {
        assert!(done.out.contains(label), "{}", done.out);
    }
    assert!(!done.out.contains("integrations"), "{}", done.out);
}

#[test]
fn colors_are_for_terminals_that_want_them() {
    let model = example("lotka-volterra");
    let colored = |wanted: &str, no_color: &str, arguments: &[&str]| {
        let output = command(arguments)
            .env("CLICOLOR_FORCE", wanted)
            .env("NO_COLOR", no_color)
            .output()
            .unwrap();
        [output.stdout, output.stderr].map(|bytes| bytes.contains(&0x1b))
    };
    let run = ["run", model.as_str()];
    let wrong = ["run", model.as_str(), "--step", "-1"];
    assert_eq!(colored("", "", &run), [false, false]);
    assert_eq!(colored("1", "", &run), [true, false]);
    assert_eq!(colored("1", "", &wrong), [false, true]);
    assert_eq!(colored("", "1", &wrong), [false, false]);
    let json = ["run", model.as_str(), "--json"];
    assert_eq!(colored("1", "", &json), [false, false]);
}

#[test]
fn help_has_groups_possible_values_and_examples() {
    let help = dovetail(&["run", "--help"]).exits(0).out;
    let parts = [
        "\nMethod:\n",
        "\nModel and inputs:\n",
        "\nResults:\n",
        "\nFMUs:\n",
        "\nWorkers:\n",
        "\nExamples:\n",
        "- gauss-seidel:",
        "- anderson:",
        "-v, --verbose",
    ];
    for part in parts {
        assert!(help.contains(part), "{part} is not in:\n{help}");
    }
    for name in [
        "compare",
        "sweep",
        "enclose",
        "linearize",
        "check",
        "inspect",
        "new",
    ] {
        let help = dovetail(&[name, "--help"]).exits(0).out;
        assert!(help.contains("\nExamples:\n"), "{name}:\n{help}");
    }
}

#[test]
fn a_command_that_does_not_exist_is_answered_with_one_that_does() {
    let answers = [
        ("rnu", "did you mean `dovetail run`?"),
        ("simulate", "did you mean `dovetail run`?"),
        (
            "plant/model.toml",
            "did you mean `dovetail run plant/model.toml`?",
        ),
        ("validate", "did you mean `dovetail check`?"),
    ];
    for (given, answer) in answers {
        dovetail(&[given]).exits(2).says(&[answer]);
    }
}

#[test]
fn messages_about_flags_point_at_flags_and_not_at_the_model() {
    let model = example("lotka-volterra");
    let cases = [
        (
            ["--step", "-1"],
            "error: --step -1: must be a number above zero",
        ),
        (["--method", "jacobbi"], "error: --method jacobbi: "),
        (["--option", "inputs=x"], "error: --option inputs=x: "),
    ];
    for (flags, words) in cases {
        let done = dovetail(&["run", &model, flags[0], flags[1]]).exits(2);
        assert!(!done.err.contains("-->"), "{}", done.err);
        done.says(&[words]);
    }
}

#[test]
fn steps_and_tolerances_that_leave_no_accuracy_are_warned_about() {
    let model = example("lotka-volterra");
    let run = |flag: &str, value: &str| dovetail(&["run", &model, flag, value]).line();
    let long = run("--step", "100");
    assert!(
        long.contains("the step of 100 s is longer than the run"),
        "{long}"
    );
    let loose = run("--tolerance", "10");
    assert!(loose.contains("a tolerance of 10 allows errors"), "{loose}");
    let usual = run("--tolerance", "1e-3");
    assert!(!usual.contains("warning"), "{usual}");
}

#[test]
fn a_model_is_inspected_with_its_systems_variables_and_connections() {
    let model = example("mechanical");
    let text = dovetail(&["inspect", &model]).exits(0).line();
    for words in [
        "left: equations",
        "force input",
        "right.force",
        "right: equations",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let json = dovetail(&["inspect", &model, "--json"]).exits(0).json();
    let left = &json["systems"]["left"];
    assert_eq!(left["source"], "equations");
    assert_eq!(left["states"], serde_json::json!(["x", "v"]));
    assert_eq!(left["inputs"][0]["name"], "force");
    let connections = json["connections"].as_array().unwrap();
    assert!(
        connections
            .iter()
            .any(|one| one["from"] == "right.force" && one["to"] == "left.force")
    );
    assert_eq!(json["auto"], "predictive");
}

#[test]
fn an_equation_without_a_finite_value_is_shown_with_the_values_in_it() {
    let folder = Folder::new();
    let text = pair(1.0, ["der(x) = u / x", "x"], ["der(x) = u - x", "x"]);
    let text = text.replacen("x = 1.0", "x = 0.0", 1);
    let model = folder.file("model.toml", text);
    let done = dovetail(&["check", &model]).exits(2);
    assert!(!done.err.contains("coupling"), "{}", done.err);
    done.says(&["at the start", "| equations", "x = 0"]);
}
