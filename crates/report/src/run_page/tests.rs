use dovetail_core::{Connections, Input, Interface, Output, SignalKind, Source};

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

/// The page of one system with so many inputs and a truth value as output.
fn page_of_one(inputs: usize, rows: &[f64]) -> Value {
    let input = |n: usize| Input {
        name: format!("u{n}"),
        ..Input::default()
    };
    let output = |name: &str, kind: SignalKind| Output {
        name: name.into(),
        kind,
        ..Output::default()
    };
    let lone = Interface {
        name: "lone".into(),
        inputs: (0..inputs).map(input).collect::<Vec<_>>().into(),
        outputs: vec![
            output("on", SignalKind::Discrete),
            output("level", SignalKind::Continuous),
        ]
        .into(),
        states: Vec::new().into(),
    };
    let sources = vec![Source::Constant(0.0); inputs];
    let connections = Connections::new(vec![lone], sources);
    let selection = Variables::of(&connections).everything();
    let mut trajectory = Trajectory::of(&selection);
    for (time, &value) in rows.iter().enumerate() {
        let inputs = (0..inputs).map(|n| value + n as f64 / 3.0);
        let row: Vec<f64> = inputs.chain([value, value / 7.0]).collect();
        trajectory.row(time as f64, &row).expect("a row in memory");
    }
    let page = RunPage {
        summary: &example(),
        connections: &connections,
        kinds: &[],
        loops: &[],
        tolerance: None,
        selection: &selection,
        trajectory: &trajectory,
        shown: &[],
        origin: &Origin::default(),
    };
    data_of(&page.render())
}

#[test]
fn outputs_are_drawn_first_where_not_everything_fits() {
    let data = page_of_one(20, &[0.0, 1.0, 0.0]);
    let variables = data["variables"].as_array().expect("variables");
    let shown = variables
        .iter()
        .filter(|variable| variable["shown"] == true);
    let shown: Vec<&Value> = shown.map(|variable| &variable["name"]).collect();
    assert_eq!(shown.len(), 12);
    assert!(shown.contains(&&json!("lone.on")) && shown.contains(&&json!("lone.level")));
}

#[test]
fn the_error_of_an_output_is_a_band_and_is_told_once() {
    let connections = drive();
    let signals: Vec<String> = ["motor.w", "motor.speed", "load.torque"]
        .map(|name| format!("{name}.$error"))
        .to_vec();
    let variables = Variables::of(&connections).with_signals(&signals);
    let selection = variables.everything();
    let mut trajectory = Trajectory::of(&selection);
    for time in [0.0, 1.0, 2.0] {
        let row = [5.0 + time, time, time, time, 5.0 + time, 1e-3, 1e-3, 2e-3];
        trajectory.row(time, &row).expect("a row in memory");
    }
    let page = RunPage {
        summary: &example(),
        connections: &connections,
        kinds: &[],
        loops: &[],
        tolerance: None,
        selection: &selection,
        trajectory: &trajectory,
        shown: &[],
        origin: &Origin::default(),
    };
    let data = data_of(&page.render());

    assert_eq!(names(&data), ["motor.speed", "load.torque"]);
    for variable in data["variables"].as_array().expect("variables") {
        assert!(variable["error"].is_object(), "{}", variable["name"]);
    }
    let solver = data["solver"].as_array().expect("signals");
    let told: Vec<&Value> = solver.iter().map(|signal| &signal["name"]).collect();
    assert_eq!(
        told,
        ["motor.speed", "load.torque"],
        "the state is that output"
    );
}

#[test]
fn held_variables_of_whole_numbers_say_so() {
    let data = page_of_one(0, &[0.0, 1.0, 0.0]);
    assert_eq!(data["variables"][0]["whole"], true);
    assert_eq!(data["variables"][1]["whole"], Value::Null, "continuous");
    assert_eq!(page_of_one(0, &[0.0, 0.5])["variables"][0]["whole"], false);
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
