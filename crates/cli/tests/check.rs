//! `dovetail check`. The words about bad models are in `bad/`.

mod support;

use support::{EXAMPLES, Folder, dovetail, example, lone, pair};

#[test]
fn every_example_is_sound() {
    for name in EXAMPLES {
        let done = dovetail(&["check", &example(name)]).exits(0);
        assert!(
            done.line().contains("No problems found."),
            "{name}: {}",
            done.out
        );
        assert_eq!(done.err, "", "{name}");
    }
}

#[test]
fn algebraic_loops_are_named_by_variable() {
    let done = dovetail(&["check", &example("damping-reaction")]).exits(0);
    assert!(
        done.line()
            .contains("Algebraic loop through `body.force` and `plate.velocity`"),
        "{}",
        done.out
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    dovetail(&["check", "no-such-model.toml"])
        .exits(2)
        .says(&["no-such-model.toml", "No such file"]);
}

#[test]
fn a_folder_is_not_a_model() {
    let folder = Folder::new();
    dovetail(&["check", &folder.name("")])
        .exits(2)
        .says(&["cannot be read", "directory"]);
}

#[test]
fn a_sound_model_with_windows_line_ends_and_a_byte_order_mark_is_sound() {
    let folder = Folder::new();
    let text = pair(1.0, ["der(x) = u - x", "x"], ["der(x) = u - x", "x"]).replace('\n', "\r\n");
    let model = folder.file("model.toml", format!("\u{feff}{text}"));
    dovetail(&["check", &model]).exits(0);
}

#[test]
fn a_start_value_that_is_not_finite_is_found_without_running() {
    let folder = Folder::new();
    for output in ["log(-x)", "1 / time", "sqrt(-x)"] {
        let text = pair(1.0, ["der(x) = u - x", output], ["der(x) = u - x", "x"]);
        let model = folder.file("model.toml", text);
        dovetail(&["check", &model])
            .exits(2)
            .says(&["a.y", "t = 0 s"]);
    }
}

#[test]
fn a_loop_without_a_solution_is_not_called_a_gain_of_one() {
    let folder = Folder::new();
    let half = ["der(x) = u - x", "u^2 + x"];
    let done = dovetail(&["check", &folder.file("model.toml", pair(1.0, half, half))])
        .exits(2)
        .says(&["a.y", "b.y"]);
    assert!(!done.err.contains("exactly 1"), "{}", done.err);
}

#[test]
fn a_nonlinear_loop_with_a_solution_is_solved() {
    let folder = Folder::new();
    let half = ["der(x) = u - x", "0.5 * cos(u) + 0.1 * x"];
    dovetail(&["check", &folder.file("model.toml", pair(1.0, half, half))]).exits(0);
}

#[test]
fn one_mistake_in_a_connection_is_one_complaint() {
    let folder = Folder::new();
    let text =
        pair(1.0, ["der(x) = u - x", "x"], ["der(x) = u - x", "x"]).replace("\"b.u\"", "\"b.uu\"");
    let done = dovetail(&["check", &folder.file("model.toml", text)])
        .exits(2)
        .says(&["`b` has no input `uu`"]);
    assert_eq!(done.err.matches("error:").count(), 1, "{}", done.err);
}

#[test]
fn a_wrong_type_is_told_in_words_of_the_model() {
    let folder = Folder::new();
    let text =
        lone(1.0, "x = 1.0", "der(x) = -x").replace("stop-time = 1.0", "stop-time = \"1 s\"");
    let done = dovetail(&["check", &folder.file("model.toml", text)])
        .exits(2)
        .says(&["model.toml:2:13"]);
    assert!(!done.err.contains("f64"), "{}", done.err);
}

#[test]
fn a_file_without_a_model_table_is_told_what_to_add() {
    let folder = Folder::new();
    dovetail(&["check", &folder.file("empty.toml", "")])
        .exits(2)
        .says(&["[model]"]);
}

#[test]
fn systems_without_inputs_outputs_or_states_are_sound() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n[systems.nothing]\n[systems.source]\noutputs = { y = \"sin(time)\" }\n\
                [systems.sink]\ninputs = { u = 0.0 }\n[[connections]]\nfrom = \"source.y\"\nto = \"sink.u\"\n";
    let model = folder.file("model.toml", text);
    dovetail(&["check", &model]).exits(0);
    dovetail(&["run", &model]).exits(0);
}

#[test]
fn a_method_that_does_not_exist_is_met_with_the_nearest() {
    dovetail(&["check", &example("car"), "--method", "jacobo"])
        .exits(2)
        .says(&["did you mean `jacobi`?"]);
}

#[test]
fn a_name_cannot_give_orders_to_the_terminal() {
    let folder = Folder::new();
    let text = lone(1.0, "x = 1.0", "der(x) = -x")
        .replace("[model]", "[model]\nname = \"\\u001b[31mred\"");
    let done = dovetail(&["check", &folder.file("model.toml", text)]).exits(0);
    assert!(!done.line().contains('\u{1b}'), "{:?}", done.out);
}

#[test]
fn a_line_without_end_is_shown_in_part() {
    let folder = Folder::new();
    let text = lone(
        1.0,
        "x = 1.0",
        &format!("der(x) = {}y", "x + ".repeat(20_000)),
    );
    let done = dovetail(&["check", &folder.file("model.toml", text)])
        .exits(2)
        .says(&["unknown name `y`"]);
    assert!(done.err.len() < 5_000, "{} bytes", done.err.len());
}

#[test]
fn mistakes_can_be_had_as_json_with_their_places() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n[systems.a]\nstates = { x = 1.0 }\n\
                equations = \"der(x) = -y\"\n";
    let model = folder.file("model.toml", text);
    let done = dovetail(&["check", &model, "--json"]).exits(2);
    let found: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(found["mistakes"][0]["line"], 5);
    assert!(
        found["mistakes"][0]["message"]
            .as_str()
            .unwrap()
            .contains("`y`"),
        "{found}"
    );
}

#[test]
fn a_quiet_check_says_nothing_of_a_model_without_mistakes() {
    let done = dovetail(&["check", &example("damping-reaction"), "--quiet"]).exits(0);
    assert_eq!(done.out, "");
}

#[test]
fn what_a_check_finds_can_be_had_as_json() {
    let done = dovetail(&["check", &example("damping-reaction"), "--json"]).exits(0);
    let found: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(found["systems"]["body"]["states"], 2);
    assert_eq!(found["systems"]["plate"]["rollback"], true);
    assert_eq!(found["method"], "predictive");
    assert_eq!(found["stop_time"], 10.0);
    assert_eq!(found["algebraic_loops"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["warnings"], serde_json::json!([]));
}
