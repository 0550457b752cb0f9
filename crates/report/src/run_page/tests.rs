use dovetail_core::{Connections, Input, Interface, Output, Source};

use super::*;
use crate::page::tests::data_of;
use crate::sink::Sink;
use crate::summary::tests::example;
use crate::variables::Variables;

/// A motor and a load. The speed is a state and an output of the motor, and an input of the load.
fn drive() -> Connections {
    let unit = |unit: &str| Some(unit.to_owned());
    let motor = Interface {
        name: "motor".into(),
        inputs: vec![Input {
            name: "torque".into(),
            unit: unit("N.m"),
            ..Input::default()
        }]
        .into(),
        outputs: vec![Output {
            name: "speed".into(),
            unit: unit("rad/s"),
            ..Output::default()
        }]
        .into(),
        states: vec!["w".to_owned()].into(),
    };
    let load = Interface {
        name: "load".into(),
        inputs: vec![Input {
            name: "speed".into(),
            unit: unit("rpm"),
            ..Input::default()
        }]
        .into(),
        outputs: vec![Output {
            name: "torque".into(),
            depends_on: vec![0],
            ..Output::default()
        }]
        .into(),
        states: Vec::new().into(),
    };
    Connections::new(
        vec![motor, load],
        vec![Source::Output(1), Source::Output(0)],
    )
}

/// The page of a run with these rows: time, torque in, w, speed, speed in, torque.
fn page_of(rows: &[[f64; 6]], shown: &[String]) -> Value {
    let connections = drive();
    let selection = Variables::of(&connections).everything();
    let mut trajectory = Trajectory::of(&selection);
    for row in rows {
        trajectory.row(row[0], &row[1..]).expect("a row in memory");
    }
    let summary = example();
    let page = RunPage {
        summary: &summary,
        connections: &connections,
        kinds: &["equations".into(), "FMU".into()],
        loops: &[vec![1]],
        tolerance: Some(1e-6),
        selection: &selection,
        trajectory: &trajectory,
        shown,
        origin: &Origin::default(),
    };
    data_of(&page.render())
}

fn names(data: &Value) -> Vec<&str> {
    let variables = data["variables"].as_array().expect("variables");
    let names = variables
        .iter()
        .map(|variable| variable["name"].as_str().expect("a name"));
    names.collect()
}

#[test]
fn a_signal_with_several_names_is_drawn_once_under_that_of_the_output() {
    let data = page_of(
        &[
            [0.0, 5.0, 1.0, 1.0, 1.0, 5.0],
            [1.0, 6.0, 2.0, 2.0, 2.0, 6.0],
        ],
        &[],
    );
    assert_eq!(names(&data), ["motor.speed", "load.torque"]);
    assert_eq!(
        data["variables"][0]["same"],
        json!(["motor.w", "load.speed"])
    );
    assert_eq!(data["variables"][0]["unit"], "rad/s");
}

#[test]
fn a_unit_is_known_under_any_of_the_names_of_a_signal() {
    let data = page_of(
        &[
            [0.0, 5.0, 1.0, 1.0, 1.0, 5.0],
            [1.0, 6.0, 2.0, 2.0, 2.0, 6.0],
        ],
        &[],
    );
    assert_eq!(
        data["variables"][1]["unit"], "N.m",
        "load.torque has none of its own"
    );
}

#[test]
fn an_input_that_differs_from_its_source_has_a_curve_of_its_own() {
    let data = page_of(
        &[
            [0.0, 5.0, 1.0, 1.0, 1.5, 5.0],
            [1.0, 6.0, 2.0, 2.0, 2.5, 6.0],
        ],
        &[],
    );
    assert_eq!(names(&data), ["motor.speed", "load.speed", "load.torque"]);
    assert_eq!(
        data["variables"][1]["unit"], "rad/s",
        "as its source gives it"
    );
}

#[test]
fn states_that_rest_are_not_taken_for_outputs_that_rest() {
    let data = page_of(
        &[
            [0.0, 5.0, 0.0, 0.0, 0.0, 5.0],
            [1.0, 6.0, 0.0, 0.0, 0.0, 6.0],
        ],
        &[],
    );
    assert!(names(&data).contains(&"motor.w"));
}

#[test]
fn rows_of_the_same_time_are_an_event_that_says_what_jumps() {
    let rows = [
        [0.0, 5.0, 1.0, 1.0, 1.0, 5.0],
        [1.0, 6.0, 2.0, 2.0, 2.0, 6.0],
        [1.0, -6.0, 2.0, 2.0, 2.0, -6.0],
        [2.0, -6.0, 3.0, 3.0, 3.0, -6.0],
    ];
    let data = page_of(&rows, &[]);
    assert_eq!(
        data["events"],
        json!([{ "time": 1.0, "text": "load.torque: 6 → -6" }])
    );
}

#[test]
fn feedthrough_connections_and_loops_are_named() {
    let data = page_of(&[], &[]);
    assert_eq!(
        data["systems"][1]["feedthrough"],
        json!([["speed", "torque"]])
    );
    assert_eq!(
        data["connections"],
        json!([
            ["load.torque", "motor.torque"],
            ["motor.speed", "load.speed"]
        ])
    );
    assert_eq!(data["loops"], json!([["load.torque"]]));
}

#[test]
fn the_variables_that_were_chosen_are_drawn_at_first() {
    let rows = [
        [0.0, 5.0, 1.0, 1.0, 1.0, 5.0],
        [1.0, 6.0, 2.0, 2.0, 2.0, 6.0],
    ];
    let data = page_of(&rows, &["load.speed".into()]);
    let shown = |index: usize| data["variables"][index]["shown"].clone();
    assert_eq!(
        (shown(0), shown(1)),
        (json!(true), json!(false)),
        "the motor's speed under another name"
    );
}

#[test]
fn a_run_that_diverged_or_ended_early_is_not_called_good() {
    let mut summary = example();
    let level = |summary: &RunSummary| banner::of(summary)["level"].clone();
    assert_eq!(level(&summary), "good");
    summary.completed = false;
    assert_eq!(level(&summary), "ended");
    summary.quality.diverged = true;
    assert_eq!(level(&summary), "bad");
}

#[test]
fn a_page_is_small_besides_its_data() {
    let connections = drive();
    let selection = Variables::of(&connections).everything();
    let summary = example();
    let page = RunPage {
        summary: &summary,
        connections: &connections,
        kinds: &[],
        loops: &[],
        tolerance: None,
        selection: &selection,
        trajectory: &Trajectory::of(&selection),
        shown: &[],
        origin: &Origin::default(),
    };
    let size = page.render().len();
    assert!(size < 200_000, "{size} bytes");
}
