//! What the recorder promises.

use super::*;
use crate::sink::LastRow;
use crate::trajectory::Trajectory;
use crate::variables::Variables;
use dovetail_core::{Input, Interface, Knot, MacroStep, Output, Signal, Source};

/// A spring (input x, state heat, output F) and a mass (input F, states x and v, output x).
pub(crate) fn spring_and_mass() -> Connections {
    let input = |name: &str| Input {
        name: name.into(),
        ..Input::default()
    };
    let output = |name: &str| Output {
        name: name.into(),
        ..Output::default()
    };
    let system = |name: &str, u: &str, y: &str, states: &[&str]| Interface {
        name: name.into(),
        inputs: vec![input(u)].into(),
        outputs: vec![output(y)].into(),
        states: states.iter().map(|s| s.to_string()).collect(),
    };
    let systems = vec![
        system("spring", "x", "F", &["heat"]),
        system("mass", "F", "x", &["x", "v"]),
    ];
    Connections::new(systems, vec![Source::Output(1), Source::Output(0)])
}

/// An answer of `system` whose variables are all `value` (the input at the end of its step).
fn answer(connections: &Connections, system: usize, step: MacroStep, value: f64) -> Task {
    let mut task = Task::new(system, &connections.interfaces()[system], 0);
    task.step = step;
    task.inputs = vec![Signal::new(&[value - step.size(), 1.0])];
    task.response.reached = step.end;
    task.response.outputs.fill(Knot::value_only(value));
    task.response.states.fill(value);
    task
}

fn record(selected: &str, exchanges: &[&[Task]]) -> Trajectory {
    let connections = spring_and_mass();
    let selection = Variables::of(&connections)
        .select(&[selected.into()])
        .unwrap();
    let mut recorder = Recorder::new(
        &connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    for tasks in exchanges {
        recorder
            .accepted(Exchange {
                tasks,
                before: &[],
                iterations: 0,
                signals: &[],
            })
            .unwrap();
    }
    recorder.finished().unwrap();
    recorder.into_sink()
}

fn both(step: MacroStep, value: f64) -> Vec<Task> {
    let connections = spring_and_mass();
    vec![
        answer(&connections, 0, step, value),
        answer(&connections, 1, step, value),
    ]
}

#[test]
fn inputs_are_recorded_at_the_end_of_the_step() {
    let rows = record(
        "*",
        &[
            &both(MacroStep::instant(0.0), 3.0),
            &both(MacroStep::new(0.0, 0.5), 7.0),
        ],
    );
    assert_eq!(rows.times(), [0.0, 0.5]);
    assert!(rows.columns().all(|(_, column)| column == [3.0, 7.0]));
}

#[test]
fn an_instant_after_an_event_replaces_the_row() {
    let start = both(MacroStep::instant(0.0), 0.0);
    let (left, right) = (
        both(MacroStep::new(0.0, 1.0), 1.0),
        both(MacroStep::instant(1.0), 5.0),
    );
    let after = both(MacroStep::new(1.0, 2.0), 6.0);
    let rows = record("mass.v", &[&start, &left, &right, &after]);
    assert_eq!(rows.times(), [0.0, 1.0, 2.0]);
    assert_eq!(rows.column("mass.v").unwrap(), [0.0, 5.0, 6.0]);
}

#[test]
fn an_instant_at_the_start_replaces_the_first_row_and_one_at_the_end_the_last() {
    let (start, again) = (
        both(MacroStep::instant(0.0), 0.0),
        both(MacroStep::instant(0.0), 4.0),
    );
    let (left, right) = (
        both(MacroStep::new(0.0, 1.0), 1.0),
        both(MacroStep::instant(1.0), 5.0),
    );
    let rows = record("mass.v", &[&start, &again, &left, &right]);
    assert_eq!(rows.column("mass.v").unwrap(), [4.0, 5.0]);
}

#[test]
fn tasks_that_were_not_due_leave_no_trace() {
    let mut idle = both(MacroStep::new(0.0, 1.0), 9.0);
    idle[1].due = false;
    let rows = record("*", &[&both(MacroStep::instant(0.0), 0.0), &idle]);
    assert_eq!(rows.times(), [0.0]);
    assert_eq!(rows.column("spring.F").unwrap(), [0.0]);
}

#[test]
fn a_system_ahead_is_read_off_at_the_time_all_have_reached() {
    let connections = spring_and_mass();
    let spring = |from, to, value| vec![answer(&connections, 0, MacroStep::new(from, to), value)];
    let mass = |from, to, value| vec![answer(&connections, 1, MacroStep::new(from, to), value)];
    let start = both(MacroStep::instant(0.0), 0.0);
    let rows = record(
        "*.F",
        &[
            &start,
            &mass(0.0, 2.0, 8.0),
            &mass(2.0, 4.0, 10.0),
            &spring(0.0, 1.0, 5.0),
            &spring(1.0, 3.0, 6.0),
        ],
    );
    assert_eq!(rows.times(), [0.0, 1.0, 3.0]);
    assert_eq!(rows.column("spring.F").unwrap(), [0.0, 5.0, 6.0]);
    assert_eq!(
        rows.column("mass.F").unwrap(),
        [0.0, 7.0, 9.0],
        "an input is what it was given as"
    );
}

/// Answers along a polynomial, with or without derivatives, at irregular times, and the rows
/// between them.
fn dense(curve: &Signal, derivatives: usize, rows: Rows) -> Trajectory {
    let known = |order: usize, number: f64| {
        if derivatives >= order {
            number
        } else {
            f64::NAN
        }
    };
    let knot = |time: f64| {
        let Knot {
            value,
            slope,
            curvature,
        } = curve.at(time);
        Knot {
            value,
            slope: known(1, slope),
            curvature: known(2, curvature),
        }
    };
    between(&[0.0, 0.0, 0.3, 0.5, 1.1, 1.2, 2.0], knot, rows)
}

/// Answers at these times, and the rows between them.
fn between(times: &[f64], knot_at: impl Fn(f64) -> Knot, rows: Rows) -> Trajectory {
    let connections = spring_and_mass();
    let selection = Variables::of(&connections)
        .select(&["mass.v".into(), "spring.F".into()])
        .unwrap();
    let recorder = Recorder::new(
        &connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    let mut recorder = recorder.with_rows(rows).with_both_sides();
    for pair in times.windows(2) {
        let mut tasks = both(MacroStep::new(pair[0], pair[1]), 0.0);
        for task in &mut tasks {
            let knot = knot_at(pair[1]);
            task.response.outputs.fill(knot);
            task.response.states.fill(knot.value);
            task.response.motion.fill([knot.slope, knot.curvature]);
        }
        recorder
            .accepted(Exchange {
                tasks: &tasks,
                before: &[],
                iterations: 0,
                signals: &[],
            })
            .unwrap();
    }
    recorder.finished().unwrap();
    recorder.into_sink()
}

#[test]
fn rows_between_communications_lie_on_the_curves() {
    for (derivatives, degree) in [(0, 1), (1, 3), (2, 5)] {
        let coefficients = [1.0, -2.0, 0.5, 0.25, -0.125, 0.0625];
        let curve = Signal::new(&coefficients[..=degree]);
        for rows in [Rows::AtMost(0.07), Rows::Every(0.1)] {
            let rows = dense(&curve, derivatives, rows);
            assert!(
                rows.times().len() > 20 && rows.times().windows(2).all(|pair| pair[0] < pair[1])
            );
            for name in ["mass.v", "spring.F"] {
                let pairs = rows.times().iter().zip(rows.column(name).unwrap());
                pairs.for_each(|(time, value)| {
                    assert!(
                        (curve.value(*time) - value).abs() < 1e-12,
                        "{name} at {time}"
                    )
                });
            }
        }
    }
}

#[test]
fn without_derivatives_a_cubic_is_met_once_there_are_four_points() {
    let curve = Signal::new(&[1.0, -2.0, 0.5, 0.25]);
    let rows = dense(&curve, 0, Rows::Every(0.1));
    let late = rows
        .times()
        .iter()
        .zip(rows.column("mass.v").unwrap())
        .filter(|(time, _)| **time > 0.5);
    assert!(
        late.into_iter()
            .all(|(time, value)| (curve.value(*time) - value).abs() < 1e-12)
    );
}

#[test]
fn a_jump_without_derivatives_is_a_line_and_its_neighbors_know_nothing_of_it() {
    // A ball that falls, bounces between 0.45 and 0.46, and rises.
    let velocity = |time: f64| {
        let bounced = if time > 0.455 { 7.5 } else { 0.0 };
        bounced - 9.81 * time
    };
    let mut times = vec![0.0];
    times.extend((0..70).map(|step| f64::from(step) * 0.01));
    let rows = between(
        &times,
        |time| Knot::value_only(velocity(time)),
        Rows::Every(0.005),
    );

    let middle = 0.5 * (velocity(0.45) + velocity(0.46));
    for (time, value) in rows.times().iter().zip(rows.column("mass.v").unwrap()) {
        let over_the_jump = (0.4501..0.4599).contains(time);
        let expected = if over_the_jump {
            middle
        } else {
            velocity(*time)
        };
        assert!((value - expected).abs() < 1e-9, "{value} at {time}");
    }
}

#[test]
fn a_first_value_that_is_corrected_by_the_first_step_spoils_no_neighbor() {
    let level = |time: f64| if time == 0.0 { 0.0 } else { 5.0 + 0.1 * time };
    let times = [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
    let rows = between(
        &times,
        |time| Knot::value_only(level(time)),
        Rows::Every(0.125),
    );
    for (time, value) in rows.times().iter().zip(rows.column("mass.v").unwrap()) {
        assert!(
            *time < 0.5 || (value - level(*time)).abs() < 1e-12,
            "{value} at {time}"
        );
    }
}

#[test]
fn regular_times_are_those_of_the_grid_and_the_last() {
    let line = Signal::new(&[0.0, 1.0]);
    assert_eq!(
        dense(&line, 1, Rows::Every(0.8)).times(),
        [0.0, 0.8, 1.6, 2.0]
    );
    assert_eq!(
        dense(&line, 1, Rows::Every(0.5)).times(),
        [0.0, 0.5, 1.0, 1.5, 2.0]
    );
    assert_eq!(dense(&line, 1, Rows::Every(9.0)).times(), [0.0, 2.0]);
    assert_eq!(
        dense(&line, 1, Rows::AtMost(0.4)).times(),
        [0.0, 0.3, 0.5, 0.8, 1.1, 1.2, 1.6, 2.0]
    );
}

#[test]
fn an_event_has_two_rows_where_both_sides_are_asked_for() {
    let connections = spring_and_mass();
    let selection = Variables::of(&connections)
        .select(&["mass.v".into()])
        .unwrap();
    let recorder = Recorder::new(
        &connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    let mut recorder = recorder.with_both_sides();
    let instant = |time: f64, value: f64| both(MacroStep::instant(time), value);
    let steps = [
        instant(0.0, 0.0),
        both(MacroStep::new(0.0, 1.0), 1.0),
        instant(1.0, 5.0),
        both(MacroStep::new(1.0, 2.0), 6.0),
        instant(2.0, 6.0),
    ];
    for tasks in &steps {
        recorder
            .accepted(Exchange {
                tasks,
                before: &[],
                iterations: 0,
                signals: &[],
            })
            .unwrap();
    }
    recorder.finished().unwrap();
    let rows = recorder.into_sink();
    assert_eq!(rows.times(), [0.0, 1.0, 1.0, 2.0]);
    assert_eq!(rows.column("mass.v").unwrap(), [0.0, 1.0, 5.0, 6.0]);
}

#[test]
fn what_is_selected_does_not_change_the_values() {
    let exchanges: Vec<Vec<Task>> = (0..50)
        .map(|n| match n {
            0 => both(MacroStep::instant(0.0), 0.1),
            _ => both(
                MacroStep::new((n - 1) as f64 * 0.1, n as f64 * 0.1),
                (n as f64).sin(),
            ),
        })
        .collect();
    let exchanges: Vec<&[Task]> = exchanges.iter().map(Vec::as_slice).collect();
    let everything = record("*", &exchanges);
    for name in everything.names() {
        assert_eq!(
            record(name, &exchanges).column(name),
            everything.column(name)
        );
    }
}

#[test]
fn a_full_disk_ends_the_run_with_the_time_and_the_file() {
    struct Full;
    impl Sink for Full {
        fn row(&mut self, _: f64, _: &[f64]) -> io::Result<()> {
            Err(io::Error::other("no space left"))
        }
        fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let connections = spring_and_mass();
    let selection = Variables::of(&connections).everything();
    let sinks = (LastRow::default(), Full);
    let mut recorder = Recorder::new(&connections, &selection, sinks, "results.csv");
    let tasks = both(MacroStep::instant(0.25), 1.0);
    recorder
        .started(Exchange {
            tasks: &tasks,
            before: &[],
            iterations: 0,
            signals: &[],
        })
        .unwrap();
    let error = recorder.finished().unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not write results.csv at t = 0.25 s: no space left"
    );
    assert!(recorder.finished().is_ok());
    assert_eq!(recorder.sink().0.time, Some(0.25));
}

#[test]
fn rows_between_communications_follow_the_path_of_a_system() {
    let connections = spring_and_mass();
    let selection = Variables::of(&connections)
        .select(&["mass.x".into(), "mass.F".into()])
        .unwrap();
    let sink = Trajectory::of(&selection);
    let recorder = Recorder::new(&connections, &selection, sink, "memory");
    let mut recorder = recorder.with_rows(Rows::Every(0.25));
    let mut end = both(MacroStep::new(0.0, 1.0), 1.0);
    let path = &mut end[1].response.path;
    path.push(0.5);
    path.push_output(Knot::value_only(7.0));
    (0..2).for_each(|_| path.push_state(Knot::value_only(7.0)));

    for tasks in [both(MacroStep::instant(0.0), 0.0), end] {
        recorder
            .accepted(Exchange {
                tasks: &tasks,
                before: &[],
                iterations: 0,
                signals: &[],
            })
            .unwrap();
    }
    recorder.finished().unwrap();
    let rows = recorder.into_sink();
    // Without slopes: a line, then a parabola.
    assert_eq!(rows.column("mass.x").unwrap(), [0.0, 3.5, 7.0, 5.625, 1.0]);
    assert_eq!(rows.column("mass.F").unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
}
