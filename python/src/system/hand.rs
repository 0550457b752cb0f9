//! Outputs that are set from outside, between two stretches of a run that is stepped by hand.

use std::sync::Arc;

use dovetail::core::{
    Archive, Checkpoint, Error, Interface, Knot, Linearization, Linearize, MacroStep, Response,
    Signal, System, Trial,
};

use super::PythonModel;

/// A system with neither inputs nor states.
pub(super) struct HandSystem {
    interface: Interface,
    model: Arc<PythonModel>,
}

impl HandSystem {
    pub fn new(interface: Interface, model: Arc<PythonModel>) -> Self {
        Self { interface, model }
    }

    fn answer(&self, step: MacroStep, response: &mut Response) {
        for (output, knot) in response.outputs.iter_mut().enumerate() {
            *knot = Knot {
                value: self.model.value(output),
                slope: 0.0,
                curvature: 0.0,
            };
        }
        response.reached = step.end;
        response.next_event = f64::INFINITY;
    }
}

impl System for HandSystem {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        _inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.answer(step, response);
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn output_derivatives(&self) -> usize {
        2
    }
}

impl Trial for HandSystem {
    fn respond(
        &mut self,
        step: MacroStep,
        _inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.answer(step, response);
        Ok(())
    }
}

impl Linearize for HandSystem {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        for (output, value) in into.g.iter_mut().enumerate() {
            *value = self.model.value(output);
        }
        into.g_time.fill(0.0);
        (into.affine, into.kept, into.event.due) = (0, false, 0);
        Ok(())
    }
}

impl Checkpoint for HandSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        for output in 0..self.interface.outputs.len() {
            let mut value = self.model.value(output);
            archive.field(&mut value)?;
            self.model.set_value(output, value);
        }
        Ok(())
    }
}
