//! Systems that step by themselves: `step(t, h, u)` answers the outputs at `t + h`.
//!
//! They take inputs that are constant over a step. With `save()` and `restore(state)` they can be asked "what if".

use dovetail::core::{
    Archive, Checkpoint, Error, Interface, Knot, MacroStep, Response, Signal, StepRule, System,
    Trial,
};

use super::calls::{Call, Instance, Second};

/// A system in Python that steps by itself.
pub(super) struct SteppingSystem {
    interface: Interface,
    instance: Instance,
    time: f64,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl SteppingSystem {
    pub fn new(interface: Interface, instance: Instance) -> Self {
        Self {
            inputs: vec![0.0; interface.inputs.len()],
            outputs: vec![0.0; interface.outputs.len()],
            time: f64::NAN,
            interface,
            instance,
        }
    }

    fn can_go_back(&self) -> bool {
        self.instance.model().description.rollback
    }

    fn step(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        for (value, signal) in self.inputs.iter_mut().zip(inputs) {
            *value = signal.mean(step.size());
        }
        let call = Call {
            method: "step",
            time: step.start,
            second: Second::Size(step.size()),
            inputs: &self.inputs,
        };
        self.instance.numbers(call, &mut self.outputs)?;
        for (knot, value) in response.outputs.iter_mut().zip(&self.outputs) {
            *knot = Knot::value_only(*value);
        }
        response.reached = step.end;
        response.next_event = f64::INFINITY;
        Ok(())
    }
}

impl System for SteppingSystem {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.step(step, inputs, response)?;
        self.time = step.end;
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        self.can_go_back().then_some(self as &mut dyn Trial)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        self.can_go_back().then_some(self as &mut dyn Checkpoint)
    }

    fn step_rule(&self) -> StepRule {
        let imposed = self.instance.model().description.imposed_step;
        imposed.map_or(StepRule::Free, StepRule::Imposed)
    }
}

impl Trial for SteppingSystem {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let saved = self.instance.save(step.start)?;
        let answered = self.step(step, inputs, response);
        self.instance.restore(step.start, &saved)?;
        answered
    }
}

impl Checkpoint for SteppingSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.field(&mut self.time)?;
        let mut bytes = match archive.restores() {
            true => Vec::new(),
            false => self.instance.pickled(self.time)?,
        };
        archive.field(&mut bytes)?;
        if archive.restores() {
            self.instance.unpickle(self.time, &bytes)?;
        }
        Ok(())
    }
}
