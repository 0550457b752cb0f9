//! A run and its error, in one call.

use std::sync::atomic::AtomicBool;

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
}

impl Measured {
    /// The NRMSE of a state or output, in percent.
    pub fn nrmse(&self, variable: &str) -> f64 {
        let found = self.errors.iter().find(|(name, _)| name == variable).and_then(|(_, error)| error.nrmse);
        found.unwrap_or_else(|| panic!("BUG: no error is known for {variable}"))
    }
}

impl Measured {
    /// The mean over all states of the normalised L2 error, in percent: the error of the IFOSMONDI papers.
    pub fn mean_l2(&self, states: &[&str]) -> f64 {
        let l2 = |name: &&str| self.errors.iter().find(|(known, _)| known == name).and_then(|(_, error)| error.l2);
        states.iter().map(|name| l2(name).unwrap_or_else(|| panic!("BUG: no error is known for {name}"))).sum::<f64>()
            / states.len() as f64
    }
}

/// Runs `scenario` with these choices (as on the command line) and measures it against the monolithic solution.
pub fn measure_run(scenario: &Scenario, choices: &[(&str, &str)]) -> Measured {
    let mut command_line = Choices::default();
    choices.iter().for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario.options(&command_line).unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let connections = &scenario.connections;
    let variables = Variables::of(connections);
    let wanted = variables.all().iter().filter(|v| v.kind != Kind::Input).map(|v| v.name.clone());
    let selection = variables.select(&wanted.collect::<Vec<_>>()).expect("BUG: the model's own names");
    let mut recorder = Recorder::new(connections, &selection, Trajectory::of(&selection), "memory");
    let interrupted = AtomicBool::new(false);
    let end = scenario.run(&options, &mut [&mut recorder], &interrupted).unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let trajectory = recorder.into_sink();
    let start = scenario.start(&options).unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let outputs: Vec<f64> = start.iter().flat_map(|task| task.response.outputs.iter().map(|knot| knot.value)).collect();
    let monolithic = Monolithic::new(&scenario.definitions().expect("BUG: the cases are equations"), connections)
        .expect("BUG: a model that composes");
    let mut monolithic = monolithic.starting_at(&outputs);
    let solution =
        monolithic.solve(trajectory.times(), connections.outputs()).expect("BUG: a model that can be solved");
    let truth = |variable: &Variable| -> Vec<f64> {
        let rows = if variable.kind == Kind::State { &solution.states } else { &solution.outputs };
        rows.iter().map(|row| row[variable.stacked(connections)]).collect()
    };
    let columns = selection.variables().iter().zip(trajectory.columns());
    let errors = columns
        .map(|(variable, (name, values))| (name.to_owned(), measure(trajectory.times(), values, &truth(variable))))
        .collect();
    Measured { end, trajectory, errors }
}
