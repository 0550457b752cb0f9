//! The events of a model at work.

use dovetail_core::{
    Error, Interface, MacroStep, Response, Signal, SignalKind, System, forward_to_system,
};
use dovetail_equations::NativeSystem;

/// Equations whose outputs jump, one of which may ask for the end of the run.
pub(crate) struct EventsSystem {
    system: NativeSystem,
    interface: Interface,
    /// The output that asks for the end when it is not zero.
    stop: Option<usize>,
}

/// What an event sets is held.
pub(crate) fn with_held_outputs(mut interface: Interface) -> Interface {
    for output in interface.outputs.iter_mut() {
        output.kind = SignalKind::Discrete;
    }
    interface
}

impl EventsSystem {
    pub fn new(system: NativeSystem, stop: Option<usize>) -> Self {
        let interface = with_held_outputs(system.interface().clone());
        Self {
            system,
            interface,
            stop,
        }
    }

    fn ask_for_the_end(&self, response: &mut Response) {
        let asks = self.stop.map(|output| response.outputs[output].value);
        response.ends |= asks.is_some_and(|flag| flag != 0.0);
    }
}

impl System for EventsSystem {
    forward_to_system!(system: linearize, evaluate, checkpoint, presence, join_lane, precision, input_degree, output_derivatives, step_rule);

    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.system.advance(step, inputs, response)?;
        self.ask_for_the_end(response);
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.system.begin(step, inputs, response)?;
        self.ask_for_the_end(response);
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn dovetail_core::Trial> {
        self.system.trial()
    }
}
