//! Models that switch, with all systems as FMUs: tolerances are kept across their events, and the estimate is right or not given.

mod support {
    pub mod written;
}

use std::sync::atomic::AtomicBool;

use dovetail_equations::Monolithic;
use dovetail_fixtures::{Fixture, Version};
use dovetail_report::{ErrorMeasures, Kind, Recorder, Trajectory, Variable, Variables, measure};
use dovetail_scenario::{Choices, Overrides, RunEnd, Scenario, SourceText};

use support::written::{as_units, text_of};

/// A run of FMUs beside the monolithic solution of the equations they are made of.
struct Judged {
    end: RunEnd,
    /// Of each state, under its name in the run.
    errors: Vec<(String, ErrorMeasures)>,
}

impl Judged {
    /// The largest error of a state, as a part of its range.
    fn error(&self) -> f64 {
        let shares = self.errors.iter().filter_map(|(_, error)| error.nrmse);
        shares.fold(0.0, f64::max) / 100.0
    }

    /// Estimated over true error of each state whose error counts beside the integrator's own.
    fn ratios(&self) -> Option<Vec<(String, f64)>> {
        let estimates = self.end.quality.estimated_error.as_ref()?;
        let ratio = |(name, error): &(String, ErrorMeasures)| {
            let counts = error.nrmse.is_some_and(|nrmse| nrmse / 100.0 > 1e-8);
            let (_, estimate) = estimates.iter().find(|(known, _)| known == name)?;
            counts.then(|| (name.clone(), estimate.max / error.max))
        };
        Some(self.errors.iter().filter_map(ratio).collect())
    }
}

fn scenario(name: &str, text: String) -> Scenario {
    let source = SourceText {
        path: format!("{name}.toml"),
        text,
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{name}: {bad}"))
}

fn judge(name: &str, units: &Scenario, choices: &[(&str, &str)]) -> Judged {
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = units
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("{name}: {bad}"));
    let variables = Variables::of(&units.connections);
    let states = Truth::of(name, &[]).names;
    let is_state = |v: &&Variable| {
        v.kind != Kind::Input && states.iter().any(|state| state == v.name.trim_end_matches('_'))
    };
    let named = |v: &Variable| !(v.kind == Kind::Output && v.name.ends_with('_'));
    let wanted = variables.all().iter().filter(is_state).filter(|v| named(v));
    let wanted: Vec<String> = wanted.map(|v| v.name.clone()).collect();
    let selection = variables.select(&wanted).expect("BUG: the model's own names");
    let trajectory = Trajectory::of(&selection);
    let mut recorder =
        Recorder::new(&units.connections, &selection, trajectory, "memory").with_both_sides();
    let end = units
        .run(&options, &mut [&mut recorder], &AtomicBool::new(false))
        .unwrap_or_else(|bad| panic!("{name}: {bad}"));
    assert!(end.ending.is_ok(), "{name}: {:?}", end.ending);
    let trajectory = recorder.into_sink();
    let truth = Truth::of(name, trajectory.times());
    if let Ok(rows) = std::env::var("ROWS") {
        for (column, values) in trajectory.columns() {
            let rows: usize = rows.parse().unwrap();
            println!("{column} {:?} true {:?}", &values[..rows], &truth.state(column)[..rows]);
        }
        println!("{:?}", &trajectory.times()[..8]);
    }
    let error = |(state, values): (&str, &[f64])| {
        let known = truth.state(state);
        (state.to_owned(), measure(trajectory.times(), values, &known))
    };
    let errors = trajectory.columns().map(error).collect();

    Judged { end, errors }
}

/// The monolithic solution of a model's equations.
struct Truth {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Truth {
    fn of(name: &str, times: &[f64]) -> Self {
        let equations = scenario(name, text_of(name));
        let connections = &equations.connections;
        let definitions = equations.definitions().expect("BUG: equations");
        let mut monolithic =
            Monolithic::new(&definitions, connections).expect("BUG: a model that composes");
        let solution = monolithic
            .solve(times, connections.outputs())
            .expect("BUG: a model that can be solved");
        let interfaces = connections.interfaces().iter();
        let names = interfaces.flat_map(|i| i.states.iter().map(|state| i.qualified(state)));

        Self {
            names: names.collect(),
            rows: solution.states,
        }
    }

    /// A state by its name in the FMU, which may end in `_`.
    fn state(&self, name: &str) -> Vec<f64> {
        let plain = name.trim_end_matches('_');
        let found = self.names.iter().position(|known| known == plain);
        let place = found.unwrap_or_else(|| panic!("BUG: no state {plain}"));
        self.rows.iter().map(|row| row[place]).collect()
    }
}

fn units(name: &str, version: Version, fixture: impl Fn(Fixture) -> Fixture) -> Scenario {
    scenario(name, as_units(&text_of(name), version, "model-exchange", fixture))
}

#[test]
#[ignore = "exploration"]
fn explore() {
    let names = std::env::var("NAMES").unwrap_or_else(|_| "hysteresis-room".into());
    let version = if std::env::var("FMI3").is_ok() { Version::Three } else { Version::Two };
    for name in names.split(',') {
        for tolerance in ["1e-3", "1e-6"] {
            let done = std::panic::catch_unwind(|| {
                let units = units(name, version, |fixture| fixture);
                let run = judge(name, &units, &[("method", "predictive"), ("tolerance", tolerance)]);
                let t: f64 = tolerance.parse().unwrap();
                let native = scenario(name, text_of(name));
                let mut own = vec![("method", "predictive"), ("tolerance", tolerance)];
                if std::env::var("CUBIC").is_ok() { own.push(("inputs", "cubic")); }
                let other = judge(name, &native, &own);
                let ratios = |run: &Judged| run.ratios().map(|all| all.iter().map(|(_, r)| (r * 1000.0).round() / 1000.0).collect::<Vec<f64>>());
                println!(
                    "{name:24} {tolerance} error/tol {:9.3e} {:9.3e} steps {:5} {:5} rejected {:4} {:4} ratios {:?} {:?}  {:?}",
                    run.error() / t,
                    other.error() / t,
                    run.end.statistics.steps,
                    other.end.statistics.steps,
                    run.end.statistics.rejected,
                    other.end.statistics.rejected,
                    ratios(&run), ratios(&other), run.end.remarks.iter().map(|r| r.chars().take(60).collect::<String>()).collect::<Vec<_>>(),
                );
                if std::env::var("DUMP").is_ok() {
                    for (name, error) in &run.errors { println!("   {name} {error:?}"); }
                    for (name, error) in &other.errors { println!("  native {name} {error:?}"); }
                }
            });
            if done.is_err() {
                println!("{name:24} {tolerance} FAILED");
            }
        }
    }
}
