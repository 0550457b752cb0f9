//! Runs that are resumed from checkpoints have the rows, the final values and the summary of runs that never stopped.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail::report::{RunSummary, Selection, Trajectory, Variables};
use dovetail::scenario::{Choices, RunOptions, Scenario};
use dovetail::{CheckpointPlan, Executed, Execution, Keep, Model, RunCheckpoint};

const EXAMPLES: [&str; 9] = [
    "behaviour-change",
    "car",
    "damping-reaction",
    "laub-loomis",
    "lotka-volterra",
    "mechanical",
    "pump-and-tank",
    "rooms",
    "spring",
];

const METHODS: [&str; 6] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
];

/// So many checkpoints of each run.
const COUNT: usize = 20;

static NEVER: AtomicBool = AtomicBool::new(false);

fn example(name: &str) -> Model {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    Model::load(root.join(name).join("model.toml")).expect("an example")
}

/// A run of a model by some options.
struct Case<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    selection: Selection,
    output_interval: Option<f64>,
}

impl<'a> Case<'a> {
    /// None where the model does not permit the method.
    fn of(model: &'a Model, choices: &[(&str, &str)]) -> Option<Self> {
        let scenario = model.scenario();
        let mut given = Choices::default();
        for (key, value) in choices {
            given.set(key, *value);
        }
        let options = scenario.options(&given).expect("options that are known");
        let session = scenario.session(&options).ok()?;
        let variables = Variables::of(&scenario.connections).with_signals(&session.signals());

        Some(Self {
            scenario,
            options,
            selection: variables.everything(),
            output_interval: None,
        })
    }

    fn execution<'e>(&self, checkpoints: Option<CheckpointPlan<'e>>) -> Execution<'e> {
        Execution {
            keep: Keep::Shown,
            output_interval: self.output_interval,
            checkpoints,
            ..Execution::default()
        }
    }

    fn run(&self, checkpoints: Option<CheckpointPlan<'_>>) -> Executed {
        let session = self.scenario.session(&self.options).expect("a session");
        let execution = self.execution(checkpoints);
        execution.run(
            self.scenario,
            session,
            &self.options,
            &self.selection,
            &NEVER,
        )
    }

    /// The run, and checkpoints that it has written on its way.
    fn run_with_checkpoints(&self, interval: f64) -> (Executed, Vec<RunCheckpoint>) {
        let mut all = Vec::new();
        let plan = CheckpointPlan {
            interval,
            about: Vec::new(),
            keep: Box::new(|checkpoint| {
                let bytes = checkpoint.to_bytes()?;
                all.push(RunCheckpoint::from_bytes(&bytes).expect("it was just written"));
                Ok(())
            }),
        };
        let done = self.run(Some(plan));
        (done, all)
    }

    fn resume(&self, from: &RunCheckpoint) -> Executed {
        let mut session = self.scenario.session(&self.options).expect("a session");
        from.restore(&mut session)
            .expect("a checkpoint of this run");
        let execution = self.execution(None);
        let (scenario, options) = (self.scenario, &self.options);
        let done = execution.resume(scenario, session, options, &self.selection, &NEVER, from);
        done.expect("a checkpoint of this run")
    }
}

/// All that does not depend on a clock.
fn told(summary: &RunSummary) -> String {
    let mut json = summary.to_json();
    for field in ["wall_seconds", "systems", "seconds", "workers"] {
        json.as_object_mut().expect("an object").remove(field);
    }
    // A factorization that was kept before is computed anew.
    let quality = json["quality"].as_object_mut().expect("an object");
    quality.remove("kept");
    json.to_string()
}

/// The bits of the rows from a time on.
fn rows_from(done: &Executed, time: f64) -> Vec<Vec<u64>> {
    let rows: &Trajectory = done.trajectory.as_ref().expect("rows");
    let from = rows.times().partition_point(|&row| row < time);
    let columns = std::iter::once(rows.times()).chain(rows.columns().map(|(_, column)| column));
    columns
        .map(|column| column[from..].iter().map(|value| value.to_bits()).collect())
        .collect()
}

/// A pseudo-random part of one, from one name to the next.
fn chance(name: &str) -> f64 {
    let mixed = name
        .bytes()
        .fold(14_695_981_039_346_656_037_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
        });
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Compares a run that never stops with one that writes checkpoints, and with those resumed from each of them.
fn is_resumed_to_the_bit(name: &str, case: &Case<'_>) {
    let span = case.scenario.stop_time - case.scenario.start_time;
    let plain = case.run(None);
    let interval = span / (COUNT as f64 + chance(name));
    let (written, checkpoints) = case.run_with_checkpoints(interval);
    assert_eq!(told(&plain.summary), told(&written.summary), "{name}");
    assert!(
        rows_from(&plain, -1e300) == rows_from(&written, -1e300),
        "{name}"
    );
    assert_eq!(written.checkpoint, checkpoints.last().map(|last| last.time));

    let mut last = f64::NEG_INFINITY;
    for checkpoint in &checkpoints {
        let time = checkpoint.time;
        assert!(time > last, "{name}: two checkpoints of t = {time}");
        last = time;
        let resumed = case.resume(checkpoint);
        assert_eq!(
            told(&plain.summary),
            told(&resumed.summary),
            "{name}, t = {time}"
        );
        let rows = resumed.trajectory.as_ref().expect("rows");
        let first = rows.times().first().copied().unwrap_or(time);
        assert!(
            first >= time,
            "{name}: a row of t = {first} before t = {time}"
        );
        // At an event there are two rows of one time, and the first of them may have been written before.
        let from = first.next_up();
        assert!(
            rows_from(&plain, from) == rows_from(&resumed, from),
            "{name}, t = {time}"
        );
    }
    assert!(!checkpoints.is_empty(), "{name}");
}

#[test]
fn runs_of_all_examples_by_all_methods_are_resumed_to_the_bit() {
    for name in EXAMPLES {
        let model = example(name);
        for method in METHODS {
            if let Some(case) = Case::of(&model, &[("method", method)]) {
                is_resumed_to_the_bit(&format!("{name} {method}"), &case);
            }
        }
    }
}

#[test]
fn so_are_those_with_steps_of_their_own_and_rows_at_times_that_were_asked_for() {
    for name in ["lotka-volterra", "car", "pump-and-tank"] {
        let model = example(name);
        for method in METHODS {
            let span = model.scenario().stop_time - model.scenario().start_time;
            let step = (span / 311.0).to_string();
            let step = step.as_str();
            for choices in [
                &[("method", method)][..],
                &[("method", method), ("step", step)],
            ] {
                if let Some(case) = Case::of(&model, choices) {
                    let output_interval = Some(span / 173.3);
                    let case = Case {
                        output_interval,
                        ..case
                    };
                    is_resumed_to_the_bit(&format!("{name} {choices:?}"), &case);
                }
            }
        }
    }
}

#[test]
fn systems_that_are_estimated_are_resumed_to_the_bit() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mechanical/model.toml"),
    );
    let text = text.expect("the example").replace(
        "[systems.left]\n",
        "[systems.left]\nrestrict = { rollback = false }\n",
    );
    assert!(text.contains("restrict"), "{text}");
    let model = Model::parse(&text).expect("a model");
    let choices = [("method", "ifosmondi"), ("rollback-free", "true")];
    let case = Case::of(&model, &choices).expect("costarica");
    is_resumed_to_the_bit("costarica", &case);
}

/// A tank with a controller that samples, a delay, an event of the model and a disturbance.
const SWITCHING: &str = r#"
format = 1

[model]
stop-time = 10.0

[systems.tank]
inputs     = { flow = 0.0, rain = 0.0 }
parameters = { leak = 0.2 }
states     = { level = 1.0 }
equations  = "der(level) = flow + rain - leak * level"
outputs    = { level = "level", late = "delay(flow, 0.3)" }

[systems.valve]
inputs   = { level = 1.0 }
discrete = { open = 1 }
outputs  = { flow = "0.7 * open" }
[[systems.valve.when]]
condition = "level > 1.5"
set       = { open = "0" }
[[systems.valve.when]]
condition = "level < 1.1"
set       = { open = "1" }

[[connections]]
from = "tank.level"
to   = "valve.level"

[[connections]]
from = "valve.flow"
to   = "tank.flow"

[[connections]]
value = "0.1*sin(3*time)"
to    = "tank.rain"

[[events]]
at  = 4.2
set = { "tank.leak" = 0.4, "tank.level" = { offset = 0.2, until = 6.5 } }
"#;

#[test]
fn models_with_memory_events_delays_and_tables_are_resumed_to_the_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("rain.csv");
    let mut rows = String::from("time,tank.rain\n");
    for number in 0..=100 {
        let time = f64::from(number) * 0.1;
        rows += &format!("{time},{}\n", (2.0 * time).sin() * 0.2);
        if number % 20 == 10 {
            rows += &format!("{time},0.5\n"); // a jump
        }
    }
    std::fs::write(&table, rows).expect("written");
    let of_table = SWITCHING.replace(
        "[[connections]]\nvalue = \"0.1*sin(3*time)\"\nto    = \"tank.rain\"\n",
        &format!("[[inputs]]\nfile = {table:?}\n"),
    );
    assert_ne!(of_table, SWITCHING);

    for text in [SWITCHING, &of_table] {
        let model = Model::parse(text).expect("a model");
        let mut cases = 0;
        for method in METHODS {
            if let Some(case) = Case::of(&model, &[("method", method)]) {
                is_resumed_to_the_bit(method, &case);
                cases += 1;
            }
        }
        assert!(cases >= 4, "{cases} methods");
    }
}

#[test]
fn a_run_may_be_resumed_to_a_later_end() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = root.join("lotka-volterra/model.toml");
    let load = |stop: f64| {
        Model::builder(&path)
            .stop_time(stop)
            .load()
            .expect("an example")
    };
    let (short, long) = (load(7.0), load(12.0));
    for method in METHODS {
        let choices = [("method", method), ("step", "0.02")];
        let ended = Case::of(&short, &choices).expect("it can be run");
        let (_, checkpoints) = ended.run_with_checkpoints(100.0);
        let case = Case::of(&long, &choices).expect("it can be run");
        let resumed = case.resume(checkpoints.last().expect("one of the end"));
        assert_eq!(resumed.summary.reached, 12.0, "{method}");
        let whole = case.run(None);
        // On a grid the run never noticed that it stopped; who chooses steps has met the end by a shorter one.
        let within = if whole.summary.step.is_some() {
            0.0
        } else {
            1e-2
        };
        let finals = resumed.summary.final_values.iter();
        for (one, other) in finals.zip(&whole.summary.final_values) {
            let near = (one.value - other.value).abs() <= within * other.value.abs();
            assert!(near, "{method}: {} {} {}", one.name, one.value, other.value);
        }
    }
}

#[test]
fn a_checkpoint_of_another_model_or_method_is_refused() {
    let (one, other) = (example("mechanical"), example("lotka-volterra"));
    let case = Case::of(&one, &[("method", "jacobi")]).expect("it can be run");
    let (_, checkpoints) = case.run_with_checkpoints(0.5);
    let other_model = Case::of(&other, &[("method", "jacobi")]).expect("it can be run");
    let other_method = Case::of(&one, &[("method", "predictive")]).expect("it can be run");
    let other_step = Case::of(&one, &[("method", "jacobi"), ("step", "0.01")]);
    for wrong in [
        other_model,
        other_method,
        other_step.expect("it can be run"),
    ] {
        let mut session = wrong.scenario.session(&wrong.options).expect("a session");
        let refused = checkpoints[0].restore(&mut session);
        let text = refused.expect_err("another run").to_string();
        assert!(text.contains("cannot be used"), "{text}");
    }
}
