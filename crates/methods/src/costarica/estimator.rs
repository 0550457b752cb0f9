//! The estimate of a step: linearisation (time reached), transfer (step known), answer (inputs known).

use dovetail_core::{Interface, Linearization, Signal};
use dovetail_numerics::{Laplace, Pole, StateSpace, Transfer};
use nalgebra::DMatrix;

use super::control::{Control, ControlPart};

/// What can be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatorOptions {
    /// How the control part is continued.
    pub control: Control,
    /// What of the derivatives of the states is used.
    pub form: Form,
    /// How the transfer operators are evaluated.
    pub laplace: Laplace,
}

/// What an estimate uses of the derivatives of the states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `f_C`, and its rate `∂f/∂t` where the system knows it.
    #[default]
    Full,
    /// `f_C`, held over the step, as the paper has it.
    Held,
    /// Nothing: `f_C = 0`, the paper's form for systems that do not tell the derivatives of their states.
    Degraded,
}

/// A system's linear stand-in for one step.
pub(crate) struct Estimator {
    options: EstimatorOptions,
    /// For which matrices and which step the transfer was computed.
    matrices: Linearization,
    size: f64,
    pub transfer: Transfer,
    control: ControlPart,
    /// What does not depend on the inputs of the step: of value, slope and curvature of each output.
    offsets: [Vec<f64>; 3],
    /// `f_C`, and its rate.
    forcing: Vec<f64>,
    ramp: Vec<f64>,
}

impl Estimator {
    /// Room for a system with this interface, under inputs of `degree`.
    pub fn new(interface: &Interface, degree: usize, options: EstimatorOptions) -> Self {
        let (states, inputs, outputs) = (interface.states.len(), interface.inputs.len(), interface.outputs.len());
        Self {
            options,
            matrices: Linearization::of(interface),
            size: f64::NAN,
            transfer: Transfer::new(states, inputs, outputs, degree),
            control: ControlPart::new(options.control, interface),
            offsets: std::array::from_fn(|_| vec![0.0; outputs]),
            forcing: vec![0.0; states],
            ramp: vec![0.0; states],
        }
    }

    /// The system stands at `time`, where it is `here`: `f_C = f̃ − A x̃ − B ũ` (24).
    pub fn refresh(&mut self, time: f64, here: &Linearization) {
        for (row, forcing) in self.forcing.iter_mut().enumerate() {
            let explained = || {
                dot(&here.a, row, here.x.as_slice())
                    + dot(&here.b, row, here.u.as_slice())
                    + dot(&here.b_slope, row, here.u_slope.as_slice())
            };
            let degraded = self.options.form == Form::Degraded;
            *forcing = if degraded { 0.0 } else { here.f[row] - explained() };
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
    pub fn prepare(&mut self, size: f64, here: &Linearization) -> Result<bool, Pole> {
        let stale = self.size != size || !same_matrices(&self.matrices, here);
        if stale {
            copy_matrices(here, &mut self.matrices);
            self.size = f64::NAN; // until the operators are there
            let Linearization { a, b, c, d, b_slope, d_slope, .. } = &self.matrices;
            self.transfer.compute_by(self.options.laplace, StateSpace { a, b, c, d, b_slope, d_slope }, size)?;
            self.size = size;
        }
        self.compute_offsets(size, here);
        Ok(stale)
    }

    /// `P x̃ + R f_C + ŷ_C`, with a forcing that grows with time.
    fn compute_offsets(&mut self, size: f64, here: &Linearization) {
        for output in 0..self.offsets[0].len() {
            let control = self.control.ahead(output, size);
            for (order, gains) in self.transfer.orders.iter().enumerate() {
                let force = |(j, (held, rate)): (usize, (&f64, &f64))| {
                    gains.forcing[(output, j)] * held + gains.ramp[(output, j)] * rate
                };
                let forced = self.forcing.iter().zip(&self.ramp).enumerate().map(force).sum::<f64>();
                self.offsets[order][output] = dot(&gains.state, output, here.x.as_slice()) + forced + control[order];
            }
        }
    }

    /// The estimate of one output's value (order 0), slope (1) or curvature (2) under these inputs, (38) and (39).
    pub fn estimate(&self, order: usize, output: usize, inputs: &[Signal]) -> f64 {
        self.offsets[order][output] + self.response(order, output, inputs)
    }

    /// The part of it that the inputs cause.
    pub fn response(&self, order: usize, output: usize, inputs: &[Signal]) -> f64 {
        inputs.iter().enumerate().map(|(input, signal)| self.gain(order, output, input, signal)).sum()
    }

    /// What one input alone causes.
    pub fn gain(&self, order: usize, output: usize, input: usize, signal: &Signal) -> f64 {
        let gains = &self.transfer.orders[order].inputs;
        signal.coefficients().iter().zip(gains).map(|(c, gain)| gain[(output, input)] * c).sum()
    }
}

fn same_matrices(one: &Linearization, other: &Linearization) -> bool {
    one.a == other.a
        && one.b == other.b
        && one.c == other.c
        && one.d == other.d
        && one.b_slope == other.b_slope
        && one.d_slope == other.d_slope
}

fn copy_matrices(from: &Linearization, to: &mut Linearization) {
    to.a.copy_from(&from.a);
    to.b.copy_from(&from.b);
    to.c.copy_from(&from.c);
    to.d.copy_from(&from.d);
    to.b_slope.copy_from(&from.b_slope);
    to.d_slope.copy_from(&from.d_slope);
}

/// A row of a matrix times a vector.
pub(super) fn dot(matrix: &DMatrix<f64>, row: usize, vector: &[f64]) -> f64 {
    vector.iter().enumerate().map(|(j, v)| matrix[(row, j)] * v).sum()
}
