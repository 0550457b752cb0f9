//! The coupling of all estimators as one linear system, `(I − K) z = r`, (50).

pub(crate) mod hermite_error;
mod kept_linearizations;
mod matrix;
pub(crate) mod needs;
pub(crate) mod steps;
pub(crate) mod unsolved;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Connections, Error, Kept, Linearization, LinearizeTask,
    OperatorTask, Signal, Task, Workers, readable, visit_fields,
};
use serde::{Deserialize, Serialize};

use crate::costarica::{Estimator, EstimatorOptions, zero_non_finite};
use crate::coupling::Coupling;
use crate::interface_vector::Stacking;
use crate::shape::Shape;
pub(crate) use matrix::{InterfaceMatrices, MOST_ORDERS};
pub(crate) use unsolved::Unsolved;

/// Beyond a jump of this, relative, an interface is made consistent anew at an event.
pub(crate) const JUMP: f64 = 1e-9;

/// The linear system, with the estimators it is made of.
///
/// Unknowns are the values of all coupling variables at the end of the step, then their slopes,
/// then, for quintic inputs, their curvatures. Rows are computed anew where an estimator has
/// changed, factors where any row has.
pub(crate) struct InterfaceSystem {
    estimators: Vec<Estimator>,
    /// Their operators.
    operators: Vec<OperatorTask>,
    local: Vec<LinearizeTask>,
    /// What the estimators stand on where that is not the newest linearization: older matrices,
    /// where the system stands now.
    kept: Option<Vec<Linearization>>,
    /// The systems whose older matrices are good enough.
    stays: Vec<bool>,
    /// The matrices: for cubics, and for quintics where they are wanted.
    matrices: InterfaceMatrices,
    /// For each system, its coupled outputs.
    pub rows: Vec<Vec<CoupledOutput>>,
    /// For each system, its inputs that others feed.
    pub columns: Vec<Vec<CoupledInput>>,
    /// The degree of the inputs that each system takes.
    degrees: Vec<usize>,
    /// Size and inputs of the step that the matrix was made for.
    shape: Option<(f64, Shape)>,
    /// Whether the estimators have yet to learn of the linearizations.
    fresh: bool,
    pub counts: Counts,
    /// The first system, and when, whose linearization was not finite.
    pub non_finite: Option<(usize, f64)>,
}

/// What could be kept from step to step, and what not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub operators_kept: u64,
    pub factorizations: u64,
    pub factorizations_kept: u64,
}

impl Counts {
    /// What is reported of them.
    pub fn kept(self) -> Kept {
        Kept {
            linearizations: self.operators_kept,
            factorizations: self.factorizations_kept,
        }
    }
}

/// An output that is an unknown.
pub(crate) struct CoupledOutput {
    pub variable: usize,
    pub position: usize,
}

/// An input that an unknown feeds.
pub(crate) struct CoupledInput {
    pub input: usize,
    pub variable: usize,
}

/// What operators are wanted for.
#[derive(Clone, Copy)]
pub(crate) struct OperatorScope {
    /// Signals of this degree.
    pub degree: usize,
    /// States as well.
    pub states: bool,
    /// Quintic inputs as well as cubic ones.
    pub quintics: bool,
    /// Systems whose linearizations may be kept although there are newer ones.
    pub keeps: bool,
}

impl InterfaceSystem {
    /// The system of these connections.
    pub fn new(
        connections: &Connections,
        coupling: &Coupling<'_>,
        capabilities: &[Capabilities],
        options: EstimatorOptions,
        scope: OperatorScope,
    ) -> Self {
        let interfaces = connections.interfaces();
        let systems = 0..interfaces.len();
        let columns_of = |k: usize| columns_of(connections, coupling, k);
        let columns: Vec<Vec<CoupledInput>> = systems.clone().map(columns_of).collect();
        let rows = rows_of(coupling, interfaces.len());
        let shape = |k: usize| options.shape(&interfaces[k], scope.degree, scope.states);
        let blank = || interfaces.iter().map(Linearization::of).collect();

        Self {
            estimators: interfaces
                .iter()
                .map(|interface| Estimator::new(interface, options))
                .collect(),
            operators: systems
                .clone()
                .map(|k| OperatorTask::new(k, shape(k)))
                .collect(),
            local: systems
                .map(|k| LinearizeTask::new(k, &interfaces[k]))
                .collect(),
            matrices: InterfaceMatrices::new(scope.quintics, coupling, &rows, &columns),
            rows,
            columns,
            degrees: capabilities.iter().map(|c| c.input_degree).collect(),
            kept: scope.keeps.then(blank),
            stays: vec![false; interfaces.len()],
            shape: None,
            fresh: false,
            counts: Counts::default(),
            non_finite: None,
        }
    }

    /// All systems are linearized where they stand.
    pub fn localize(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        self.fresh = true;
        workers.linearize(&mut self.local)?;

        for task in &mut self.local {
            if zero_non_finite(&mut task.linearization) {
                self.non_finite.get_or_insert((task.system, time));
            }
        }
        Ok(())
    }

    /// An event was crossed.
    pub fn forget(&mut self) {
        self.estimators.iter_mut().for_each(Estimator::forget);
    }

    /// The linearization of a system where it stands.
    pub fn linearization(&self, system: usize) -> &Linearization {
        &self.local[system].linearization
    }

    /// Those of all systems.
    pub fn linearizations(&self) -> impl Iterator<Item = &Linearization> {
        self.local.iter().map(|task| &task.linearization)
    }

    /// The states of all systems, stacked.
    pub fn states(&self) -> impl Iterator<Item = f64> {
        self.linearizations()
            .flat_map(|here| here.x.iter().copied())
    }

    /// Their slopes.
    pub fn state_slopes(&self) -> impl Iterator<Item = f64> {
        self.linearizations()
            .flat_map(|here| here.f.iter().copied())
    }

    /// What the estimator of a system stands on: its newest linearization, or an older one that was
    /// kept.
    fn stands_on(&self, system: usize) -> &Linearization {
        match &self.kept {
            Some(kept) => &kept[system],
            None => self.linearization(system),
        }
    }

    /// What the user should know: where a linearization was not finite.
    pub fn warning(&self, connections: &Connections) -> Option<String> {
        let (system, time) = self.non_finite?;
        Some(format!(
            "the linearization of `{}` is not finite at t = {} s: what is not was left out, \
             and predictions there are worse",
            connections.interfaces()[system].name,
            readable(time)
        ))
    }

    /// Where a system stands.
    pub fn local(&self) -> &[LinearizeTask] {
        &self.local
    }

    /// Gets ready for the step of the coupling: operators are computed by the workers where they
    /// are not for it, the matrix is computed anew and factored where something has changed. What
    /// the estimators answer to the inputs that are placed goes into `answers`.
    pub fn prepare(
        &mut self,
        coupling: &Coupling<'_>,
        workers: &mut dyn Workers,
        answers: &mut [f64],
    ) -> Result<(), Unsolved> {
        let size = coupling.step.size();
        let shape = Some((size, coupling.shape()));
        let reshaped = self.shape != shape;
        self.shape = None; // until the factors are there
        self.find_operators(coupling, workers)?;
        let changed = self.answer(coupling, reshaped, answers)?;

        if changed {
            self.counts.factorizations += 1;
            self.matrices.of(coupling.shape().orders()).factor()?;
        } else {
            self.counts.factorizations_kept += 1;
        }

        self.shape = shape;
        Ok(())
    }

    /// Estimators learn of new linearizations, and operators are computed that are not for them or
    /// not for this step.
    fn find_operators(
        &mut self,
        coupling: &Coupling<'_>,
        workers: &mut dyn Workers,
    ) -> Result<(), Error> {
        let fresh = std::mem::take(&mut self.fresh);
        let mut any_due = false;

        for (system, estimator) in self.estimators.iter_mut().enumerate() {
            let new = &self.local[system].linearization;
            let here = self.kept.as_ref().map_or(new, |kept| &kept[system]);
            if fresh {
                estimator.refresh(coupling.step.start, here);
            }
            let operators = &mut self.operators[system];
            estimator.ask(coupling.step.size(), here, operators);
            any_due |= operators.due;
        }

        if any_due {
            workers.operators(&mut self.operators)?;
        }
        Ok(())
    }

    /// The estimators answer to the inputs that are placed; true if a row of the matrix has
    /// changed.
    ///
    /// All that is done with a system's estimator is done at once: with many systems, fetching them
    /// from memory is what takes time.
    fn answer(
        &mut self,
        coupling: &Coupling<'_>,
        reshaped: bool,
        answers: &mut [f64],
    ) -> Result<bool, Unsolved> {
        let size = coupling.step.size();
        let orders = coupling.shape().orders();
        let mut changed = reshaped;
        let mut unsolved = None;

        for system in 0..self.estimators.len() {
            let new = &self.local[system].linearization;
            let here = self.kept.as_ref().map_or(new, |kept| &kept[system]);
            let operators = &mut self.operators[system];
            if let Err(pole) = self.estimators[system].prepare(here, operators) {
                unsolved.get_or_insert(Unsolved::Pole { system, pole });
                continue;
            }
            let stale = operators.due;
            self.counts.operators_kept += u64::from(!stale);
            if stale || reshaped {
                self.assemble(orders, system, size, coupling.basis(self.degrees[system]));
                changed = true;
            }
            self.estimate(system, coupling, answers);
        }

        unsolved.map_or(Ok(changed), Err)
    }

    /// The rows of a system, given what the inputs are for an end value of 1, an end slope of 1, an
    /// end curvature of 1.
    fn assemble(&mut self, orders: usize, system: usize, size: f64, basis: [Signal; MOST_ORDERS]) {
        let operators = &self.operators[system];
        let rows = &self.rows[system];
        let columns = &self.columns[system];
        let sizes = (rows.len(), columns.len());

        self.matrices
            .of(orders)
            .assemble(system, sizes, size, |row, to, column, by| {
                operators.gain(
                    to,
                    rows[row].position,
                    columns[column].input,
                    basis[by].coefficients(),
                )
            });
    }

    fn estimate(&self, system: usize, coupling: &Coupling<'_>, into: &mut [f64]) {
        let stacking = coupling.stacking();
        let estimator = &self.estimators[system];
        let operators = &self.operators[system];
        let inputs = &coupling.tasks[system].inputs;

        for row in &self.rows[system] {
            for (order, place) in stacking.places(row.variable, into.len()).enumerate() {
                into[place] = estimator.estimate(order, row.position, inputs, operators);
            }
        }
    }

    /// What the estimators answer to the inputs that are placed: values, then slopes and so on, as
    /// far as there is room.
    pub fn estimate_all(&self, coupling: &Coupling<'_>, into: &mut [f64]) {
        (0..self.estimators.len()).for_each(|system| self.estimate(system, coupling, into));
    }

    /// What they say of a state at the end of the step.
    pub fn estimate_state(&self, system: usize, state: usize, inputs: &[Signal]) -> f64 {
        let here = self.stands_on(system);
        let operators = &self.operators[system];
        self.estimators[system].estimate_state(state, here, inputs, operators)
    }

    /// The same of all states of a task's system, under its inputs.
    pub fn estimate_states<'b>(&'b self, task: &'b Task) -> impl Iterator<Item = f64> + 'b {
        let states = 0..self.linearization(task.system).x.len();
        states.map(|state| self.estimate_state(task.system, state, &task.inputs))
    }

    /// What a disturbance of the coupling variables within the step, as polynomials, does to
    /// values, slopes and so on at its end, through one system each. A system that does not take
    /// all of its `inputs` is disturbed by what was taken away as well.
    pub fn disturb<P: AsRef<[f64]>>(
        &self,
        disturbance: &[P],
        inputs: Option<&[Signal]>,
        into: &mut [f64],
    ) {
        let stacking = Stacking {
            variables: disturbance.len(),
        };
        for (system, rows) in self.rows.iter().enumerate() {
            for row in rows {
                for (order, place) in stacking.places(row.variable, into.len()).enumerate() {
                    into[place] = self.caused(system, order, row.position, disturbance, inputs);
                }
            }
        }
    }

    /// What it does to the states of all systems, stacked.
    pub fn disturb_states<P: AsRef<[f64]>>(
        &self,
        disturbance: &[P],
        inputs: Option<&[Signal]>,
        into: &mut [f64],
    ) {
        let mut places = into.iter_mut();
        for (system, task) in self.local.iter().enumerate() {
            let first = task.linearization.g.len();
            for (state, place) in (0..task.linearization.x.len()).zip(&mut places) {
                *place = self.caused(system, 0, first + state, disturbance, inputs);
            }
        }
    }

    fn caused<P: AsRef<[f64]>>(
        &self,
        system: usize,
        order: usize,
        row: usize,
        disturbance: &[P],
        inputs: Option<&[Signal]>,
    ) -> f64 {
        let size = self.shape.map_or(0.0, |(size, _)| size);
        let degree = self.degrees[system];
        let operators = &self.operators[system];
        let by_column = |column: &CoupledInput| {
            let gain =
                |coefficients: &[f64]| operators.gain(order, row, column.input, coefficients);
            let direct = gain(disturbance[column.variable].as_ref());
            let whole = inputs.map(|inputs| &inputs[column.variable]);
            match whole.filter(|whole| whole.degree() > degree) {
                Some(whole) => {
                    let taken = whole.reduced(size, degree);
                    direct + gain(whole.coefficients()) - gain(taken.coefficients())
                }
                None => direct,
            }
        };

        self.columns[system].iter().map(by_column).sum()
    }

    /// `(I − K)⁻¹`, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        let (size, shape) = self.shape.expect("BUG: solved before it was prepared");
        self.matrices.of(shape.orders()).solve(size, right);
    }
}

/// The coupled outputs of each system.
fn rows_of(coupling: &Coupling<'_>, systems: usize) -> Vec<Vec<CoupledOutput>> {
    let mut rows: Vec<Vec<CoupledOutput>> = Vec::new();
    rows.resize_with(systems, Vec::new);
    for (c, variable) in coupling.variables.iter().enumerate() {
        rows[variable.system].push(CoupledOutput {
            variable: c,
            position: variable.position,
        });
    }
    rows
}

/// The inputs of a system that coupling variables feed.
fn columns_of(
    connections: &Connections,
    coupling: &Coupling<'_>,
    system: usize,
) -> Vec<CoupledInput> {
    let inputs = connections.inputs_of(system).enumerate();
    inputs
        .filter_map(|(input, stacked)| {
            coupling.feeders[stacked].map(|variable| CoupledInput { input, variable })
        })
        .collect()
}

impl Checkpoint for InterfaceSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.fresh, self.counts, self.non_finite, self.kept);
        archive.slice(&mut self.local)?;
        archive.slice(&mut self.stays)?;

        if archive.restores() {
            self.shape = None; // the matrix follows from the operators
        }
        archive.slice(&mut self.operators)?;
        archive.parts(&mut self.estimators)
    }
}
