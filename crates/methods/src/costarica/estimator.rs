//! The estimate of a step: linearization (time reached), transfer (step known), answer (inputs
//! known).

use dovetail_core::{Archive, Checkpoint, Error, Interface, Linearization, Signal, visit_fields};
use dovetail_numerics::{Pole, StateSpace, Transfer};
use nalgebra::DMatrix;

use super::control::ControlPart;
use super::options::{EstimatorOptions, Form};
use crate::row_product::row_product;

/// A system's linear stand-in for one step.
///
/// What is read in every step lies close together: a model may have thousands of systems, and then
/// memory decides.
pub(crate) struct Estimator {
    options: EstimatorOptions,
    sizes: Sizes,
    /// C, D and D', with rows for the states below those of the outputs, where states are watched.
    watched: Option<[DMatrix<f64>; 3]>,
    /// For which matrices, one after the other, and for which step the operators were computed.
    matrices: Vec<f64>,
    size: f64,
    /// The number of the affine system that is known already, see [`Linearization::affine`]; zero
    /// if none is.
    affine: u64,
    /// The operators of value, slope and curvature of each output, as rows: for each input those of
    /// its coefficients, then those of the state, of `f_C` and of its rate.
    operators: Vec<f64>,
    /// What does not depend on the inputs of the step: of value, slope and curvature of each
    /// output.
    offsets: Vec<f64>,
    /// `f_C`, and its rate.
    forcing: Vec<f64>,
    ramp: Vec<f64>,
    control: ControlPart,
}

/// What there is of each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    states: usize,
    inputs: usize,
    outputs: usize,
    /// Outputs, and states where they are watched.
    rows: usize,
    /// Coefficients of an input.
    coefficients: usize,
}

impl Sizes {
    /// Room to compute operators in.
    pub fn transfer(&self) -> Transfer {
        Transfer::new(self.states, self.inputs, self.rows, self.coefficients - 1)
    }

    /// The length of a row of operators.
    fn row(&self) -> usize {
        self.inputs * self.coefficients + 3 * self.states
    }
}

/// Value, slope and curvature.
const ORDERS: usize = 3;

impl Estimator {
    /// Room for a system with this interface, under inputs of `degree`; with operators of the
    /// states as well, behind those of the outputs, where states are watched.
    pub fn new(
        interface: &Interface,
        degree: usize,
        options: EstimatorOptions,
        watch_states: bool,
    ) -> Self {
        let states = interface.states.len();
        let inputs = interface.inputs.len();
        let outputs = interface.outputs.len();
        let rows = outputs + if watch_states { states } else { 0 };
        let sizes = Sizes {
            states,
            inputs,
            outputs,
            rows,
            coefficients: degree + 1,
        };
        let watched = || {
            [
                DMatrix::zeros(rows, states),
                DMatrix::zeros(rows, inputs),
                DMatrix::zeros(rows, inputs),
            ]
        };

        Self {
            options,
            sizes,
            watched: watch_states.then(watched),
            matrices: vec![f64::NAN; (states + outputs) * (states + 2 * inputs)],
            size: f64::NAN,
            affine: 0,
            operators: vec![0.0; ORDERS * rows * sizes.row()],
            offsets: vec![0.0; ORDERS * outputs],
            forcing: vec![0.0; states],
            ramp: vec![0.0; states],
            control: ControlPart::new(options.control, interface),
        }
    }

    /// What [`Self::prepare`] needs room for; systems of equal sizes can share it.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The system stands at `time`, where it is `here`: `f_C = f̃ − A x̃ − B ũ` (24).
    pub fn refresh(&mut self, time: f64, here: &Linearization) {
        if here.affine != 0 && here.affine == self.affine && self.control.is_known() {
            return; // f_C and y_C are what they were
        }

        let x = here.x.as_slice();
        let u = here.u.as_slice();
        let u_slope = here.u_slope.as_slice();

        for (row, forcing) in self.forcing.iter_mut().enumerate() {
            let explained = || {
                row_product(&here.a, row, x)
                    + row_product(&here.b, row, u)
                    + row_product(&here.b_slope, row, u_slope)
            };
            let degraded = self.options.form == Form::Degraded;
            *forcing = if degraded {
                0.0
            } else {
                here.f[row] - explained()
            };
        }

        if self.options.form == Form::Full {
            self.ramp.copy_from_slice(here.f_time.as_slice());
        }
        self.control.record(time, here);
    }

    /// An event was crossed.
    pub fn forget(&mut self) {
        self.control.forget();
    }

    /// Gets ready for a step of `size`; true if the operators had to be computed anew.
    pub fn prepare(
        &mut self,
        size: f64,
        here: &Linearization,
        transfer: &mut Transfer,
    ) -> Result<bool, Pole> {
        let known = here.affine != 0 && here.affine == self.affine;
        let mut entries_kept = self.matrices.iter().zip(entries(here));
        let same = known || entries_kept.all(|(kept, new)| kept == new);
        self.affine = here.affine;
        let stale = self.size != size || !same;

        if stale {
            for (kept, new) in self.matrices.iter_mut().zip(entries(here)) {
                *kept = *new;
            }
            self.size = f64::NAN; // until the operators are there
            self.compute_operators(size, here, transfer)?;
            self.size = size;
        }

        self.compute_offsets(size, here);
        Ok(stale)
    }

    /// The operators of the outputs and, where states are watched, of the states below them.
    fn compute_operators(
        &mut self,
        size: f64,
        here: &Linearization,
        transfer: &mut Transfer,
    ) -> Result<(), Pole> {
        let mut rows = [&here.c, &here.d, &here.d_slope];
        if let Some(watched) = &mut self.watched {
            for (to, from) in watched.iter_mut().zip(rows) {
                to.rows_mut(0, from.nrows()).copy_from(from);
            }
            for state in 0..self.sizes.states {
                watched[0][(self.sizes.outputs + state, state)] = 1.0;
            }
            rows = watched.each_ref();
        }

        let [c, d, d_slope] = rows;
        let space = StateSpace {
            a: &here.a,
            b: &here.b,
            c,
            d,
            b_slope: &here.b_slope,
            d_slope,
        };
        transfer.compute_by(self.options.laplace, space, size)?;
        self.collect(transfer);
        Ok(())
    }

    /// Copies the operators into their rows.
    fn collect(&mut self, transfer: &Transfer) {
        let Sizes {
            states,
            inputs,
            rows,
            ..
        } = self.sizes;
        let mut place = self.operators.iter_mut();

        for gains in &transfer.orders {
            for output in 0..rows {
                let by_inputs = (0..inputs)
                    .flat_map(|i| gains.inputs.iter().map(move |gain| gain[(output, i)]));
                let by_states = [&gains.state, &gains.forcing, &gains.ramp].into_iter();
                let by_states =
                    by_states.flat_map(|gain| (0..states).map(move |j| gain[(output, j)]));
                by_inputs
                    .chain(by_states)
                    .for_each(|gain| *place.next().expect("BUG: rows too short") = gain);
            }
        }
    }

    /// The operators of one derivative of one output.
    fn row(&self, order: usize, output: usize) -> &[f64] {
        let length = self.sizes.row();
        &self.operators[(order * self.sizes.rows + output) * length..][..length]
    }

    /// `P x̃ + R f_C + ŷ_C`, with a forcing that grows with time.
    fn compute_offsets(&mut self, size: f64, here: &Linearization) {
        let outputs = self.sizes.outputs;
        for output in 0..outputs {
            let control = self.control.ahead(output, size);
            for (order, control) in control.into_iter().enumerate() {
                let offset = control + self.caused_by_states(order, output, here);
                self.offsets[order * outputs + output] = offset;
            }
        }
    }

    /// What states and forcing cause of a row.
    fn caused_by_states(&self, order: usize, row: usize, here: &Linearization) -> f64 {
        let after_inputs = self.sizes.inputs * self.sizes.coefficients;
        let gains = self.row(order, row)[after_inputs..].iter();
        let causes = here.x.iter().chain(&self.forcing).chain(&self.ramp);
        gains.zip(causes).map(|(gain, cause)| gain * cause).sum()
    }

    /// The estimate of one output's value (order 0), slope (1) or curvature (2) under these inputs,
    /// (38) and (39).
    pub fn estimate(&self, order: usize, output: usize, inputs: &[Signal]) -> f64 {
        self.offsets[order * self.sizes.outputs + output] + self.caused(order, output, inputs)
    }

    /// The estimate of a state, where states are watched; `here` is where the system stands.
    pub fn estimate_state(&self, state: usize, here: &Linearization, inputs: &[Signal]) -> f64 {
        let row = self.sizes.outputs + state;
        self.caused_by_states(0, row, here) + self.caused(0, row, inputs)
    }

    fn caused(&self, order: usize, row: usize, inputs: &[Signal]) -> f64 {
        inputs
            .iter()
            .enumerate()
            .map(|(input, signal)| self.gain(order, row, input, signal.coefficients()))
            .sum()
    }

    /// What one input alone causes, a polynomial with these coefficients.
    pub fn gain(&self, order: usize, output: usize, input: usize, polynomial: &[f64]) -> f64 {
        let coefficients = self.sizes.coefficients;
        let gains = &self.row(order, output)[input * coefficients..][..coefficients];
        polynomial
            .iter()
            .zip(gains)
            .map(|(coefficient, gain)| gain * coefficient)
            .sum()
    }
}

/// All that the operators depend on, but for the step.
fn entries(here: &Linearization) -> impl Iterator<Item = &f64> {
    let matrices = [
        &here.a,
        &here.b,
        &here.c,
        &here.d,
        &here.b_slope,
        &here.d_slope,
    ];
    matrices.into_iter().flat_map(|matrix| matrix.as_slice())
}

/// An entry that is not finite (the slope of a root at zero, say) would spoil every estimate:
/// without it they are only less accurate. True if there was one.
pub(crate) fn zero_non_finite(here: &mut Linearization) -> bool {
    let matrices = [
        &mut here.a,
        &mut here.b,
        &mut here.c,
        &mut here.d,
        &mut here.b_slope,
        &mut here.d_slope,
    ];
    let rates = [here.f_time.as_mut_slice(), here.g_time.as_mut_slice()];
    let entries = matrices
        .into_iter()
        .map(DMatrix::as_mut_slice)
        .chain(rates)
        .flatten();
    let wild = entries.filter(|entry| !entry.is_finite());

    wild.map(|entry| *entry = 0.0).count() > 0
}

impl Checkpoint for Estimator {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.size, self.affine);
        archive.slice(&mut self.matrices)?;
        archive.slice(&mut self.operators)?;
        archive.slice(&mut self.offsets)?;
        archive.slice(&mut self.forcing)?;
        archive.slice(&mut self.ramp)?;

        self.control.visit(archive)
    }
}
