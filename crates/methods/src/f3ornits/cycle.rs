//! Systems that answer at once to one another: where they can be asked about the present, their
//! outputs are solved for before they are passed on. What is passed on late instead is multiplied
//! by the gain of the loop in every step, and by the weights of the extrapolation.

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, MacroStep, Signal, Source, Task, Workers,
};
use dovetail_numerics::nonlinear::{
    Ending, Equations, NonlinearSolver, QuasiNewton, QuasiNewtonOptions,
};

use super::inputs::InputPolynomials;
use crate::due_tasks::{due, due_mut};
use crate::solver_memory::visit_solver;

/// More unknowns than this are passed on late: every question goes to all of them.
const MOST_UNKNOWNS: usize = 500;
/// Outputs agree to this part of their tolerance.
const SHARE: f64 = 1e-2;
/// What has not moved yet has no tolerance; this is less than any.
const NOTHING: f64 = 1e-200;

/// One cycle of systems.
pub(crate) struct Cycle {
    pub systems: Vec<usize>,
    /// The outputs (stacked) that close it.
    outputs: Vec<usize>,
    solver: QuasiNewton,
    values: Vec<f64>,
    residual: Vec<f64>,
    tolerances: Vec<f64>,
    /// How often its outputs did not agree.
    pub failures: u64,
}

impl Cycle {
    /// The cycle of these systems; none if it has too many outputs.
    pub fn new(connections: &Connections, systems: Vec<usize>) -> Option<Self> {
        if systems.len() > MOST_UNKNOWNS {
            return None;
        }

        let fed = systems
            .iter()
            .flat_map(|&k| connections.inputs_of(k))
            .filter(|&input| !connections.is_held(input));
        let closing = fed.filter_map(|input| match connections.sources()[input] {
            Source::Output(output) if systems.contains(&connections.owner(output)) => Some(output),
            _ => None,
        });
        let mut outputs: Vec<usize> = closing.collect();
        outputs.sort_unstable();
        outputs.dedup();
        let size = outputs.len();

        (size <= MOST_UNKNOWNS).then(|| Self {
            systems,
            outputs,
            solver: QuasiNewton::new(size, QuasiNewtonOptions::default()),
            values: vec![0.0; size],
            residual: vec![0.0; size],
            tolerances: vec![0.0; size],
            failures: 0,
        })
    }

    /// Asks the systems, which have all come to the end of their steps, until their outputs agree;
    /// `tolerance` is that of an output at a value. The tasks of the others are not due afterwards.
    pub fn agree(
        &mut self,
        connections: &Connections,
        inputs: &mut InputPolynomials<'_>,
        tasks: &mut [Task],
        workers: &mut dyn Workers,
        tolerance: impl Fn(usize, f64) -> f64,
    ) -> Result<(), Error> {
        tasks.iter_mut().for_each(|task| task.due = false);
        for &k in &self.systems {
            tasks[k].due = true;
            tasks[k].step = MacroStep::instant(tasks[k].response.reached);
        }

        for (place, &output) in self.outputs.iter().enumerate() {
            self.values[place] = value(connections, tasks, output);
            self.tolerances[place] = (SHARE * tolerance(output, self.values[place])).max(NOTHING);
        }

        let outputs = &self.outputs[..];
        let tolerances = &self.tolerances[..];
        let mut present = Present {
            connections,
            outputs,
            tolerances,
            inputs,
            tasks,
            workers,
            error: None,
        };
        let outcome = self
            .solver
            .solve(&mut present, &mut self.values, &mut self.residual);
        if let Some(error) = present.error {
            return Err(error);
        }

        if outcome.ending == Ending::Converged {
            present.leave(&self.values);
            return Ok(());
        }

        self.failures += 1;
        present.pass_on_late()
    }
}

/// The value of an output (stacked) in the answers.
fn value(connections: &Connections, tasks: &[Task], output: usize) -> f64 {
    let system = connections.owner(output);
    tasks[system].response.outputs[output - connections.outputs_of(system).start].value
}

/// What the outputs of a cycle answer to themselves.
struct Present<'p, 'a> {
    connections: &'p Connections,
    outputs: &'p [usize],
    tolerances: &'p [f64],
    inputs: &'p mut InputPolynomials<'a>,
    tasks: &'p mut [Task],
    workers: &'p mut dyn Workers,
    error: Option<Error>,
}

impl Present<'_, '_> {
    /// The place of what feeds `input` among the unknowns.
    fn unknown(&self, input: usize) -> Option<usize> {
        match self.connections.sources()[input] {
            Source::Output(output) if !self.connections.is_held(input) => {
                self.outputs.binary_search(&output).ok()
            }
            _ => None,
        }
    }

    /// The answers to the inputs as the steps have left them.
    fn pass_on_late(&mut self) -> Result<(), Error> {
        for task in due_mut(self.tasks) {
            self.inputs.place_present(task);
        }
        self.workers.advance(self.tasks)
    }

    /// The inputs are where the outputs have agreed.
    fn leave(&mut self, values: &[f64]) {
        for task in due(self.tasks) {
            for input in self.connections.inputs_of(task.system) {
                if let Some(unknown) = self.unknown(input) {
                    self.inputs.correct(input, values[unknown]);
                }
            }
        }
    }
}

impl Equations for Present<'_, '_> {
    fn size(&self) -> usize {
        self.outputs.len()
    }

    fn evaluate(&mut self, values: &[f64], residual: &mut [f64]) -> bool {
        for k in 0..self.tasks.len() {
            if !self.tasks[k].due {
                continue;
            }
            self.inputs.place_present(&mut self.tasks[k]);
            for (position, input) in self.connections.inputs_of(k).enumerate() {
                if let Some(unknown) = self.unknown(input) {
                    let slope = self.tasks[k].inputs[position].derivative(1, 0.0);
                    self.tasks[k].inputs[position] = Signal::new(&[values[unknown], slope]);
                }
            }
        }

        if let Err(error) = self.workers.advance(self.tasks) {
            self.error = Some(error);
            return false;
        }

        for (place, &output) in self.outputs.iter().enumerate() {
            residual[place] = values[place] - value(self.connections, self.tasks, output);
        }
        true
    }

    fn converged(&self, _values: &[f64], residual: &[f64]) -> bool {
        residual
            .iter()
            .zip(self.tolerances)
            .all(|(residual, tolerance)| residual.abs() <= *tolerance)
    }

    fn weights(&self, _values: &[f64], weights: &mut [f64]) {
        weights
            .iter_mut()
            .zip(self.tolerances)
            .for_each(|(weight, tolerance)| *weight = 1.0 / tolerance);
    }
}

impl Checkpoint for Cycle {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.field(&mut self.failures)?;
        archive.slice(&mut self.values)?;
        visit_solver(&mut self.solver, archive)
    }
}
