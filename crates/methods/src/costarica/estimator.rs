//! The estimate of a step: linearization (time reached), operators (step known), answer (inputs
//! known).

use dovetail_core::{
    Archive, Checkpoint, Error, Interface, Linearization, OperatorShape, OperatorTask, Signal,
    visit_fields,
};
use dovetail_numerics::Pole;
use nalgebra::DMatrix;

use super::control::ControlPart;
use super::options::{EstimatorOptions, Form};
use crate::row_product::row_product;

/// A system's linear stand-in for one step: all of it but the operators, which are computed where
/// the system lives.
///
/// What is read in every step lies close together: a model may have thousands of systems, and then
/// memory decides.
pub(crate) struct Estimator {
    options: EstimatorOptions,
    /// The number of the affine system that is known already, see [`Linearization::affine`]; zero
    /// if none is.
    affine: u64,
    /// What does not depend on the inputs of the step: of value, slope and curvature of each
    /// output.
    offsets: Vec<f64>,
    /// `f_C`, and its rate.
    forcing: Vec<f64>,
    ramp: Vec<f64>,
    control: ControlPart,
}

impl Estimator {
    /// Room for a system with this interface.
    pub fn new(interface: &Interface, options: EstimatorOptions) -> Self {
        let states = interface.states.len();
        let outputs = interface.outputs.len();

        Self {
            options,
            affine: 0,
            offsets: vec![0.0; OperatorShape::ORDERS * outputs],
            forcing: vec![0.0; states],
            ramp: vec![0.0; states],
            control: ControlPart::new(options.control, interface),
        }
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

    /// Asks for operators for a step of `size`, where those at hand are not for it.
    pub fn ask(&mut self, size: f64, here: &Linearization, operators: &mut OperatorTask) {
        let known = here.affine != 0 && here.affine == self.affine;
        self.affine = here.affine;
        let kept = operators.size == size && (known || operators.is_for(size, here));
        operators.due = false;
        if !kept {
            operators.ask(size, here);
        }
    }

    /// Gets ready for the step that the operators are for.
    pub fn prepare(
        &mut self,
        here: &Linearization,
        operators: &mut OperatorTask,
    ) -> Result<(), Pole> {
        if let Some(at) = operators.pole.take() {
            operators.size = f64::NAN; // there are none
            return Err(Pole { at });
        }
        self.compute_offsets(here, operators);
        Ok(())
    }

    /// `P x̃ + R f_C + ŷ_C`, with a forcing that grows with time.
    fn compute_offsets(&mut self, here: &Linearization, operators: &OperatorTask) {
        let outputs = operators.shape.outputs;
        for output in 0..outputs {
            let control = self.control.ahead(output, operators.size);
            for (order, control) in control.into_iter().enumerate() {
                let offset = control + self.caused_by_states(order, output, here, operators);
                self.offsets[order * outputs + output] = offset;
            }
        }
    }

    /// What states and forcing cause of a row.
    fn caused_by_states(
        &self,
        order: usize,
        row: usize,
        here: &Linearization,
        operators: &OperatorTask,
    ) -> f64 {
        let after_inputs = operators.shape.inputs * operators.shape.coefficients();
        let gains = operators.row(order, row)[after_inputs..].iter();
        let causes = here.x.iter().chain(&self.forcing).chain(&self.ramp);
        gains.zip(causes).map(|(gain, cause)| gain * cause).sum()
    }

    /// The estimate of one output's value (order 0), slope (1) or curvature (2) under these inputs,
    /// (38) and (39).
    pub fn estimate(
        &self,
        order: usize,
        output: usize,
        inputs: &[Signal],
        operators: &OperatorTask,
    ) -> f64 {
        let offset = self.offsets[order * operators.shape.outputs + output];
        offset + caused(operators, order, output, inputs)
    }

    /// The estimate of a state, where there are operators of the states; `here` is where the system
    /// stands.
    pub fn estimate_state(
        &self,
        state: usize,
        here: &Linearization,
        inputs: &[Signal],
        operators: &OperatorTask,
    ) -> f64 {
        let row = operators.shape.outputs + state;
        self.caused_by_states(0, row, here, operators) + caused(operators, 0, row, inputs)
    }
}

fn caused(operators: &OperatorTask, order: usize, row: usize, inputs: &[Signal]) -> f64 {
    inputs
        .iter()
        .enumerate()
        .map(|(input, signal)| operators.gain(order, row, input, signal.coefficients()))
        .sum()
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
        visit_fields!(archive, self.affine);
        archive.slice(&mut self.offsets)?;
        archive.slice(&mut self.forcing)?;
        archive.slice(&mut self.ramp)?;

        self.control.visit(archive)
    }
}
