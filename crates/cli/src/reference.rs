//! What runs are compared with.

use std::path::Path;

use dovetail::core::{Connections, Error, Task};
use dovetail::equations::{Monolithic, Solution};
use dovetail::report::{Kind, ReferenceFile, Selection, Variable};
use dovetail::scenario::{Scenario, WholeTable};

use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::remedies::with_advice;

/// The source of truth.
pub(crate) enum Reference<'a> {
    /// The coupled equations as one system, with the solution last asked for: runs with the same step share it.
    Monolithic {
        scenario: &'a Scenario,
        system: Box<Monolithic>,
        times: Vec<f64>,
        solution: Solution,
    },
    /// A result file.
    File(ReferenceFile),
}

impl<'a> Reference<'a> {
    /// `start` tells the start values of the model, where they are needed.
    pub fn new(
        name: &str,
        scenario: &'a Scenario,
        start: impl FnOnce() -> Result<Vec<Task>, Failure>,
    ) -> Result<Self, Failure> {
        if name == "monolithic" {
            let system = monolithic(scenario)?;
            let system = Box::new(system.starting_at(&outputs(&start()?)));
            return Ok(Self::Monolithic {
                scenario,
                system,
                times: vec![],
                solution: Solution::default(),
            });
        }

        Ok(Self::File(read(Path::new(name))?))
    }

    /// The variables for which there is a reference; all of them must be, where the user has named them.
    pub fn covers(&self, variable: &Variable) -> bool {
        match self {
            Self::Monolithic { .. } => true,
            Self::File(file) => file.names().contains(&variable.name),
        }
    }

    /// The reference of each selected variable at these times.
    pub fn columns(
        &mut self,
        selection: &Selection,
        times: &[f64],
    ) -> Result<Vec<Vec<f64>>, Failure> {
        match self {
            Self::File(file) => {
                let column = |variable: &Variable| file.evaluate(&variable.name, times);
                let columns: Result<_, _> = selection.variables().iter().map(column).collect();
                columns.map_err(Failure::misuse_by)
            }
            Self::Monolithic {
                scenario,
                system,
                times: known,
                solution,
            } => {
                if known != times {
                    let outputs = scenario.connections.outputs();
                    let solved = system.solve_unless(times, outputs, interrupt::is_overdue);
                    let solved = solved.map_err(not_computed)?;
                    let interrupted = || {
                        Failure::EndedEarly(
                            "interrupted while the reference was computed: errors are missing"
                                .to_owned(),
                        )
                    };
                    *solution = solved.ok_or_else(interrupted)?;
                    *known = times.to_vec();
                }
                Ok(selection
                    .variables()
                    .iter()
                    .map(|v| column(&scenario.connections, solution, v))
                    .collect())
            }
        }
    }
}

/// A file of results, CSV or Parquet.
fn read(path: &Path) -> Result<ReferenceFile, Failure> {
    if !output::has_ending(path, "parquet") {
        return ReferenceFile::open(path).map_err(Failure::misuse_by);
    }
    let table = WholeTable::read(path);
    let table = table.map_err(|error| Failure::misuse(format!("the reference {error}")))?;
    let shown = path.display().to_string();
    let reference = ReferenceFile::of_columns(shown, table.names, table.columns);
    reference.map_err(Failure::misuse_by)
}

/// The equations of all systems as one.
fn monolithic(scenario: &Scenario) -> Result<Monolithic, Failure> {
    let definitions = scenario.definitions().map_err(|error| {
        Failure::misuse(format!(
            "there is no monolithic reference: {error}. \
             Compare with a result file (--reference FILE.csv)"
        ))
    })?;
    let system = Monolithic::new(&definitions, &scenario.connections);
    system.map_err(|error| Failure::misuse(with_advice(error.to_string(), &error.remedies())))
}

/// The values of the outputs of all systems.
fn outputs(tasks: &[Task]) -> Vec<f64> {
    let knots = tasks.iter().flat_map(|task| &task.response.outputs);
    knots.map(|knot| knot.value).collect()
}

fn not_computed(error: Error) -> Failure {
    let text = format!("the reference could not be computed: {error}");
    Failure::EndedEarly(with_advice(text, &error.remedies()))
}

fn column(connections: &Connections, solution: &Solution, variable: &Variable) -> Vec<f64> {
    let rows = rows(solution, variable.kind);
    let position = variable.stacked(connections);
    rows.iter().map(|row| row[position]).collect()
}

/// What a solution has of variables of this kind, for each time.
fn rows(solution: &Solution, kind: Kind) -> &[Vec<f64>] {
    match kind {
        Kind::Input => &solution.inputs,
        Kind::State => &solution.states,
        _ => &solution.outputs,
    }
}
