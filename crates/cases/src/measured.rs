//! A run and its error, in one call.

use std::sync::atomic::AtomicBool;

use dovetail_core::{Error, Exchange, Observer};
use dovetail_equations::Monolithic;
use dovetail_report::{ErrorMeasures, Kind, Recorder, Trajectory, Variable, Variables, measure};
use dovetail_scenario::{Choices, RunEnd, Scenario};

/// A run, what it recorded, and how far each state and output was from the monolithic solution.
#[derive(Debug)]
pub struct Measured {
    /// How the run ended, and what it cost.
    pub end: RunEnd,
    /// States and outputs at the communication times.
    pub trajectory: Trajectory,
    errors: Vec<(String, ErrorMeasures)>,
    /// For each variable what it would have to be increased by, at each of these times.
    deviations: Vec<(String, Vec<f64>)>,
    signals: Signals,
}

/// What the method told of itself, step by step; NaN at the start.
#[derive(Debug, Default)]
struct Signals {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Observer for Signals {
    fn started(&mut self, _: Exchange<'_>) -> Result<(), Error> {
        self.rows.push(vec![f64::NAN; self.names.len()]);
        Ok(())
    }

    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        self.rows.push(exchange.signals.to_vec());
        Ok(())
    }
}

impl Measured {
    /// How far a variable is from the monolithic solution.
    pub fn error(&self, variable: &str) -> Option<&ErrorMeasures> {
        let found = self.errors.iter().find(|(name, _)| name == variable);
        found.map(|(_, error)| error)
    }

    /// The NRMSE of a state or output, in percent.
    pub fn nrmse(&self, variable: &str) -> f64 {
        let found = self
            .errors
            .iter()
            .find(|(name, _)| name == variable)
            .and_then(|(_, error)| error.nrmse);
        found.unwrap_or_else(|| panic!("BUG: no error is known for {variable}"))
    }

    /// The state or output with the largest NRMSE, and that as a part of its range.
    pub fn worst(&self) -> (&str, f64) {
        let known = self
            .errors
            .iter()
            .filter_map(|(name, error)| Some((name.as_str(), error.nrmse? / 100.0)));
        known
            .max_by(|one, other| one.1.total_cmp(&other.1))
            .unwrap_or(("", 0.0))
    }

    /// The largest error of a state or output as the run itself estimates it, over the true one.
    pub fn estimated_over_true(&self, variable: &str) -> Option<f64> {
        let estimate = self
            .end
            .quality
            .estimated_error
            .as_ref()?
            .iter()
            .find(|(name, _)| name == variable)?
            .1
            .max;
        Some(estimate / self.errors.iter().find(|(name, _)| name == variable)?.1.max)
    }

    /// By how much a state or output is too small, at each communication time.
    pub fn deviation(&self, variable: &str) -> &[f64] {
        let found = self.deviations.iter().find(|(name, _)| name == variable);
        found.map_or_else(
            || panic!("BUG: no error is known for {variable}"),
            |(_, deviation)| deviation,
        )
    }

    /// What the method told under this name, at each communication time; nothing if it has no such signal.
    pub fn signal(&self, name: &str) -> Option<Vec<f64>> {
        let place = self.signals.names.iter().position(|known| known == name)?;
        Some(self.signals.rows.iter().map(|row| row[place]).collect())
    }
}

impl Measured {
    /// The mean over all states of the normalized L2 error, in percent: the error of the IFOSMONDI papers.
    pub fn mean_l2(&self, states: &[&str]) -> f64 {
        let l2 = |name: &&str| {
            self.errors
                .iter()
                .find(|(known, _)| known == name)
                .and_then(|(_, error)| error.l2)
        };
        states
            .iter()
            .map(|name| l2(name).unwrap_or_else(|| panic!("BUG: no error is known for {name}")))
            .sum::<f64>()
            / states.len() as f64
    }
}

/// Runs `scenario` with these choices (as on the command line) and measures it against the monolithic solution.
pub fn measure_run(scenario: &Scenario, choices: &[(&str, &str)]) -> Measured {
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let connections = &scenario.connections;
    let variables = Variables::of(connections);
    let wanted = variables
        .all()
        .iter()
        .filter(|v| v.kind != Kind::Input)
        .map(|v| v.name.clone());
    let selection = variables
        .select(&wanted.collect::<Vec<_>>())
        .expect("BUG: the model's own names");
    let mut recorder = Recorder::new(
        connections,
        &selection,
        Trajectory::of(&selection),
        "memory",
    );
    // States that jump are compared on both sides of an event.
    let definitions = scenario.definitions();
    if definitions.is_ok_and(|all| all.iter().any(|one| !one.model.whens.is_empty())) {
        recorder = recorder.with_both_sides();
    }
    let interrupted = AtomicBool::new(false);
    let session = scenario
        .session(&options)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let mut signals = Signals {
        names: session.signals(),
        rows: Vec::new(),
    };
    let start = session.start().to_vec();
    let end = session.run(&mut [&mut recorder, &mut signals], &interrupted);
    let trajectory = recorder.into_sink();
    let outputs: Vec<f64> = start
        .iter()
        .flat_map(|task| task.response.outputs.iter().map(|knot| knot.value))
        .collect();
    let monolithic = Monolithic::new(
        &scenario
            .definitions()
            .expect("BUG: the cases are equations"),
        connections,
    )
    .expect("BUG: a model that composes");
    let mut monolithic = monolithic.starting_at(&outputs);
    let solution = monolithic
        .solve(trajectory.times(), connections.outputs())
        .expect("BUG: a model that can be solved");
    let truth = |variable: &Variable| -> Vec<f64> {
        let rows = if variable.kind == Kind::State {
            &solution.states
        } else {
            &solution.outputs
        };
        rows.iter()
            .map(|row| row[variable.stacked(connections)])
            .collect()
    };
    let (mut errors, mut deviations) = (Vec::new(), Vec::new());

    for (variable, (name, values)) in selection.variables().iter().zip(trajectory.columns()) {
        let truth = truth(variable);
        errors.push((name.to_owned(), measure(trajectory.times(), values, &truth)));
        deviations.push((
            name.to_owned(),
            truth
                .iter()
                .zip(values)
                .map(|(truth, value)| truth - value)
                .collect(),
        ));
    }
    Measured {
        end,
        trajectory,
        errors,
        deviations,
        signals,
    }
}
