//! COSTARICA: a system that stands in for itself, so that one without rollback can take part in
//! iterations.
//!
//! Needs of the system: that it can be linearized. Reference: Éguillon, Lacabanne, Tromeur-Dervout
//! (2022), cited as "(n)". At the time reached the system is linearized; trials are answered by the
//! linear model, whose response to polynomial inputs is known in closed form; the step that is
//! accepted is integrated, once. Outputs that jump from value to value are not estimated: they keep
//! the values they have. Departures: the paper inverts Laplace transforms numerically; the
//! operators are matrix exponentials, exact to rounding (the paper's way is an option). Where a
//! system knows `∂f/∂t` the forcing grows with it over the step, which makes the error of a step
//! one order smaller for systems that depend on time. The control part is followed under the
//! present linearization. (16) prints `D x̃` where `C x̃` is meant, and the sentence under (12)
//! misstates `f_C`; (24) is right.

pub(crate) mod choice;
mod control;
mod estimator;
pub(crate) mod options;

pub(crate) use estimator::{Estimator, zero_non_finite};
pub use options::{Control, EstimatorOptions, Form};

use dovetail_core::{
    Archive, Checkpoint, Error, Knot, Linearization, MAX_DEGREE, MacroStep, OperatorTask, Response,
    Signal, SignalKind, System, Trial, forward_to_system, visit_fields, visit_system,
};
use dovetail_numerics::{Laplace, OperatorRows, Pole, RowSizes};

use crate::output_derivatives::slope_of;

/// A system that answers trials by estimation and integrates what is accepted.
pub struct Costarica<S> {
    system: S,
    estimator: Estimator,
    operators: OperatorTask,
    /// Room to compute them in.
    rows: OperatorRows,
    laplace: Laplace,
    /// Where the system stands, if `local`.
    here: Linearization,
    local: bool,
    next_event: f64,
    /// Values of the outputs there: of those that jump, for as long as the system stands there.
    present: Vec<f64>,
}

impl<S: System> Costarica<S> {
    /// Wraps `system`, which can be linearized; one that cannot is given back.
    pub fn new(mut system: S, options: EstimatorOptions) -> Result<Self, S> {
        if system.linearize().is_none() {
            return Err(system);
        }

        let degree = system.input_degree().min(MAX_DEGREE);
        let shape = options.shape(system.interface(), degree, false);
        let here = Linearization::of(system.interface());
        let present = vec![f64::NAN; system.interface().outputs.len()];

        Ok(Self {
            estimator: Estimator::new(system.interface(), options),
            operators: OperatorTask::new(0, shape),
            rows: OperatorRows::new(RowSizes {
                states: shape.states,
                inputs: shape.inputs,
                outputs: shape.outputs,
                degree,
                with_states: false,
            }),
            laplace: options.laplace,
            system,
            here,
            local: false,
            next_event: f64::INFINITY,
            present,
        })
    }

    /// Gets the operators ready for a step of this size, here: the system itself lives here.
    fn prepare(&mut self, size: f64) -> Result<(), Pole> {
        let operators = &mut self.operators;
        self.estimator.ask(size, &self.here, operators);
        if operators.due {
            let into = &mut operators.operators;
            let computed = self
                .rows
                .compute(self.laplace, &operators.matrices, size, into);
            operators.pole = computed.err().map(|pole| pole.at);
        }
        self.estimator.prepare(&self.here, operators)
    }

    fn estimate(&self, order: usize, output: usize, inputs: &[Signal]) -> f64 {
        self.estimator
            .estimate(order, output, inputs, &self.operators)
    }

    fn localize(&mut self, time: f64, response: &mut Response) -> Result<(), Error> {
        if !self.local {
            let system = self
                .system
                .linearize()
                .expect("BUG: it could be linearized when it was wrapped");
            system.linearize_into(&mut self.here)?;
            zero_non_finite(&mut self.here);
            response.linearized = true;
            self.estimator.refresh(time, &self.here);
            self.local = true;
        }
        Ok(())
    }

    /// The system stands elsewhere.
    fn complete_step(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.local = false; // the linearization belonged to the point just left
        self.next_event = response.next_event;
        self.present
            .iter_mut()
            .zip(&response.outputs)
            .for_each(|(value, knot)| *value = knot.value);

        if step.is_instant() {
            self.estimator.forget();
        }

        if response.derivatives() > 0 && self.system.output_derivatives() == 0 {
            self.provide_slopes(step, inputs, response)?;
        }
        Ok(())
    }

    /// `y' = C f + D u' + D' u'' + ∂g/∂t`, for a system that does not tell its slopes. The
    /// linearization is needed anyway.
    fn provide_slopes(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.localize(step.end, response)?;
        let input = |i: usize| inputs[i].at(step.size());
        let outputs = &self.system.interface().outputs;

        for (output, knot) in response.outputs.iter_mut().enumerate() {
            if outputs[output].kind == SignalKind::Continuous {
                knot.slope = slope_of(&self.here, output, input);
            }
        }
        Ok(())
    }
}

impl<S: System> System for Costarica<S> {
    forward_to_system!(system: interface, presence, join_lane, precision, linearize, evaluate, input_degree, step_rule);

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.system.begin(step, inputs, response)?;
        self.complete_step(step, inputs, response)
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.system.advance(step, inputs, response)?;
        self.complete_step(step, inputs, response)
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        if self.system.checkpoint().is_some() {
            Some(self)
        } else {
            None
        }
    }

    fn output_derivatives(&self) -> usize {
        self.system.output_derivatives().max(1)
    }
}

impl<S: System> Trial for Costarica<S> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.localize(step.start, response)?;
        if let Err(pole) = self.prepare(step.size()) {
            let name = &self.system.interface().name;
            return Err(Error::system(name, step.start, pole));
        }
        let kinds = self
            .system
            .interface()
            .outputs
            .iter()
            .map(|output| output.kind);

        for ((output, knot), kind) in response.outputs.iter_mut().enumerate().zip(kinds) {
            if kind != SignalKind::Continuous {
                *knot = Knot::from(self.present[output]);
                continue;
            }
            let [value, slope, curvature] =
                [0, 1, 2].map(|order| self.estimate(order, output, inputs));
            *knot = Knot {
                value,
                slope,
                curvature,
            };
        }

        response.states.fill(f64::NAN);
        response.reached = step.end;
        response.next_event = self.next_event;
        response.estimated = true;
        Ok(())
    }
}

impl<S: System> Checkpoint for Costarica<S> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.here,
            self.local,
            self.next_event,
            self.operators
        );
        archive.slice(&mut self.present)?;
        self.estimator.visit(archive)?;
        visit_system(&mut self.system, archive)
    }
}
