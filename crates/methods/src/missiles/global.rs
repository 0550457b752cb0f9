//! The coupling of all estimators as one linear system, `(I − K) z = r`, (50).

use std::collections::BTreeMap;

use dovetail_core::{Capabilities, Connections, Error, LinearizeTask, Signal, Workers};
use dovetail_numerics::{PatternLu, Pole, SingularPattern, Transfer};

use super::control::sum;
use crate::costarica::{Estimator, EstimatorOptions, Sizes, tame};
use crate::coupling::Coupling;

/// The global system, with the estimators it is made of.
///
/// Unknowns are the values of all coupling variables at the end of the step, then their slopes times the step. The pattern is that of the
/// connections and never changes; rows are computed anew where an estimator has changed, factors where any row has.
pub(super) struct Global {
    estimators: Vec<Estimator>,
    /// Room to compute operators in, one for each combination of sizes, and which one each estimator uses.
    transfers: Vec<Transfer>,
    transfer_of: Vec<usize>,
    local: Vec<LinearizeTask>,
    matrix: PatternLu,
    /// For each system, its coupled outputs.
    rows: Vec<Vec<Row>>,
    /// For each system, its inputs that others feed.
    columns: Vec<Vec<Column>>,
    /// The degree of the inputs that each system takes.
    degrees: Vec<usize>,
    /// Size and smoothness of the step that the matrix was made for.
    shape: Option<(f64, bool)>,
    /// Whether the estimators have yet to learn of the linearisations.
    fresh: bool,
    pub counts: Counts,
    /// The first system, and when, whose linearisation was not finite.
    pub tamed: Option<(usize, f64)>,
}

/// What could be kept from step to step, and what not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub operators_kept: u64,
    pub factorizations: u64,
    pub factorizations_kept: u64,
}

/// An output that is an unknown.
struct Row {
    variable: usize,
    position: usize,
    /// Places of its entries in the matrix: those of `columns`, four each: value and slope by value and slope.
    places: Vec<[usize; 4]>,
    /// Places of its diagonal entries.
    diagonal: [usize; 2],
}

/// An input that an unknown feeds.
struct Column {
    input: usize,
    variable: usize,
}

/// Why a step cannot be solved.
pub(super) enum Unsolved {
    /// The matrix is singular.
    Singular,
    /// An operator cannot be evaluated for this step.
    Pole { system: usize, pole: Pole },
}

impl From<SingularPattern> for Unsolved {
    fn from(_: SingularPattern) -> Self {
        Self::Singular
    }
}

impl Global {
    /// The system of these connections. Where disturbances are to be followed (`watchful`), operators are for quartics too,
    /// and those of the states are there.
    pub fn new(
        connections: &Connections,
        coupling: &Coupling<'_>,
        capabilities: &[Capabilities],
        options: EstimatorOptions,
        watchful: bool,
    ) -> Self {
        let degree = if watchful { 4 } else { 3 };
        let interfaces = connections.interfaces();
        let columns: Vec<Vec<Column>> = (0..interfaces.len()).map(|k| columns_of(connections, coupling, k)).collect();
        let unknowns = 2 * coupling.variables.len();
        let mut entries: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut listed = Vec::new();
        let mut place = |entry: (usize, usize)| {
            *entries.entry(entry).or_insert_with(|| {
                listed.push(entry);
                listed.len() - 1
            })
        };
        let mut rows: Vec<Vec<Row>> = interfaces.iter().map(|_| Vec::new()).collect();
        let half = coupling.variables.len();
        for (c, variable) in coupling.variables.iter().enumerate() {
            let block = |column: &Column| {
                let v = column.variable;
                [(c, v), (c, half + v), (half + c, v), (half + c, half + v)]
            };
            let diagonal = [(c, c), (half + c, half + c)].map(&mut place);
            let places = columns[variable.system].iter().map(|column| block(column).map(&mut place)).collect();
            rows[variable.system].push(Row { variable: c, position: variable.position, places, diagonal });
        }
        let estimators: Vec<Estimator> =
            interfaces.iter().map(|interface| Estimator::new(interface, degree, options, watchful)).collect();
        let mut sizes = Vec::new();
        let transfer_of = estimators.iter().map(|estimator| position_of(estimator.sizes(), &mut sizes)).collect();
        Self {
            estimators,
            transfers: sizes.iter().map(Sizes::transfer).collect(),
            transfer_of,
            local: interfaces.iter().enumerate().map(|(k, interface)| LinearizeTask::new(k, interface)).collect(),
            matrix: PatternLu::new(unknowns, listed),
            rows,
            columns,
            degrees: capabilities.iter().map(|c| c.input_degree).collect(),
            shape: None,
            fresh: false,
            counts: Counts::default(),
            tamed: None,
        }
    }

    /// All systems are linearised where they stand.
    pub fn localize(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        self.fresh = true;
        workers.linearize(&mut self.local)?;
        for task in &mut self.local {
            if tame(&mut task.linearization) {
                self.tamed.get_or_insert((task.system, time));
            }
        }
        Ok(())
    }

    /// An event was crossed.
    pub fn forget(&mut self) {
        self.estimators.iter_mut().for_each(Estimator::forget);
    }

    /// Where a system stands.
    pub fn local(&self) -> &[LinearizeTask] {
        &self.local
    }

    /// Gets ready for the step of the coupling: the matrix is computed anew and factored where something has changed. What the
    /// estimators answer to the inputs that are placed goes into `answers`.
    ///
    /// All that is done with a system's estimator is done at once: with many systems, fetching them from memory is what takes time.
    pub fn prepare(&mut self, coupling: &Coupling<'_>, answers: &mut [f64]) -> Result<(), Unsolved> {
        let size = coupling.step.size();
        let shape = Some((size, coupling.smooth));
        let reshaped = self.shape != shape;
        self.shape = None; // until the factors are there
        let mut changed = reshaped;
        for system in 0..self.estimators.len() {
            let (estimator, here) = (&mut self.estimators[system], &self.local[system].linearization);
            if self.fresh {
                estimator.refresh(coupling.step.start, here);
            }
            let transfer = &mut self.transfers[self.transfer_of[system]];
            let stale = match estimator.prepare(size, here, transfer) {
                Ok(stale) => stale,
                Err(pole) => {
                    self.refresh_from(system + 1, coupling.step.start);
                    return Err(Unsolved::Pole { system, pole });
                }
            };
            self.counts.operators_kept += u64::from(!stale);
            if stale || reshaped {
                self.assemble(system, size, coupling.basis(self.degrees[system]));
                changed = true;
            }
            self.estimate(system, coupling, answers);
        }
        self.fresh = false;
        if changed {
            self.counts.factorizations += 1;
            self.matrix.factor()?;
        } else {
            self.counts.factorizations_kept += 1;
        }
        self.shape = shape;
        Ok(())
    }

    /// The estimators from here on learn of the linearisations, although the step will not be solved.
    fn refresh_from(&mut self, first: usize, time: f64) {
        if std::mem::take(&mut self.fresh) {
            for (estimator, task) in self.estimators.iter_mut().zip(&self.local).skip(first) {
                estimator.refresh(time, &task.linearization);
            }
        }
    }

    /// The rows of a system, given what the inputs are for an end value of 1 and for an end slope of 1.
    fn assemble(&mut self, system: usize, size: f64, basis: [Signal; 2]) {
        let (estimator, values) = (&self.estimators[system], self.matrix.values_mut());
        for row in &self.rows[system] {
            row.places.iter().flatten().for_each(|&place| values[place] = 0.0);
            row.diagonal.iter().for_each(|&place| values[place] = 1.0);
            for (column, places) in self.columns[system].iter().zip(&row.places) {
                let gain = |order: usize, by: usize| estimator.gain(order, row.position, column.input, &basis[by]);
                let block = [gain(0, 0), gain(0, 1) / size, gain(1, 0) * size, gain(1, 1)];
                places.iter().zip(block).for_each(|(&place, gain)| values[place] -= gain);
            }
        }
    }

    fn estimate(&self, system: usize, coupling: &Coupling<'_>, into: &mut [f64]) {
        let (half, estimator) = (coupling.variables.len(), &self.estimators[system]);
        let inputs = &coupling.tasks[system].inputs;
        for row in &self.rows[system] {
            into[row.variable] = estimator.estimate(0, row.position, inputs);
            into[half + row.variable] = estimator.estimate(1, row.position, inputs);
        }
    }

    /// What a disturbance of the coupling variables within the step, as signals, does to values and slopes at its end, through
    /// one system each. A system that does not take all of its `inputs` is disturbed by what was taken away as well.
    pub fn disturb(&self, disturbance: &[Signal], inputs: &[Signal], into: &mut [f64]) {
        let half = disturbance.len();
        for (row, system) in self.all_rows() {
            let caused = |order: usize| self.caused(system, order, row.position, disturbance, Some(inputs));
            (into[row.variable], into[half + row.variable]) = (caused(0), caused(1));
        }
    }

    /// What it does to the states of all systems, stacked.
    pub fn disturb_states(&self, disturbance: &[Signal], inputs: Option<&[Signal]>, into: &mut [f64]) {
        let mut places = into.iter_mut();
        for (system, task) in self.local.iter().enumerate() {
            let first = task.linearization.g.len();
            for (state, place) in (0..task.linearization.x.len()).zip(&mut places) {
                *place = self.caused(system, 0, first + state, disturbance, inputs);
            }
        }
    }

    fn caused(
        &self,
        system: usize,
        order: usize,
        row: usize,
        disturbance: &[Signal],
        inputs: Option<&[Signal]>,
    ) -> f64 {
        let (size, degree) = (self.shape.map_or(0.0, |(size, _)| size), self.degrees[system]);
        let gain = |column: &Column| {
            let signal = match inputs {
                Some(inputs) if inputs[column.variable].degree() > degree => {
                    let whole = &inputs[column.variable];
                    sum(&disturbance[column.variable], &sum(whole, &whole.reduced(size, degree), -1.0), 1.0)
                }
                _ => disturbance[column.variable],
            };
            self.estimators[system].gain(order, row, column.input, &signal)
        };
        self.columns[system].iter().map(gain).sum()
    }

    fn all_rows(&self) -> impl Iterator<Item = (&Row, usize)> {
        self.rows.iter().enumerate().flat_map(|(system, rows)| rows.iter().map(move |row| (row, system)))
    }

    /// `(I − K)⁻¹`, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        let (size, _) = self.shape.expect("BUG: solved before it was prepared");
        let half = right.len() / 2;
        right[half..].iter_mut().for_each(|slope| *slope *= size);
        self.matrix.solve(right);
        right[half..].iter_mut().for_each(|slope| *slope /= size);
    }
}

/// Where `wanted` stands among `all`, at the end if it is new.
fn position_of(wanted: Sizes, all: &mut Vec<Sizes>) -> usize {
    all.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        all.push(wanted);
        all.len() - 1
    })
}

fn columns_of(connections: &Connections, coupling: &Coupling<'_>, system: usize) -> Vec<Column> {
    let inputs = connections.inputs_of(system).enumerate();
    inputs.filter_map(|(input, stacked)| coupling.feeders[stacked].map(|variable| Column { input, variable })).collect()
}
