//! Event mode of FMI 2.0.

use super::Instance2;
use crate::call_error::CallError;
use crate::calls::Purpose;
use crate::ffi::EventInfo2;
use crate::fmu_instance::{EventRound, next_event};
use crate::instance::{Completed, Discrete, Events};

impl EventInfo2 {
    fn round(&self) -> EventRound {
        EventRound {
            again: self.new_discrete_states_needed != 0,
            terminate: self.terminate != 0,
            states_changed: self.values_changed != 0,
            next_event: next_event(self.next_event_time_defined, self.next_event_time),
        }
    }
}

impl Instance2 {
    fn event_round(&mut self) -> Result<EventRound, CallError> {
        let function = self.version.functions.new_discrete_states;
        let mut info = EventInfo2::default();
        // SAFETY: a record of ours.
        self.calls
            .demand_plain(function, Purpose::Step, |f, component| unsafe {
                f(component, &raw mut info)
            })?;

        Ok(info.round())
    }
}

impl Events for Instance2 {
    fn enter_event_mode(&mut self) -> Result<(), CallError> {
        self.call_plain(self.shared.enter_event_mode, Purpose::Step)
    }

    fn update_discrete_states(&mut self) -> Result<Discrete, CallError> {
        self.iterate_events("fmi2NewDiscreteStates", Self::event_round)
    }

    fn leave_event_mode(&mut self) -> Result<(), CallError> {
        let function = self.shared.enter_continuous_time_mode;
        self.call_plain(function, Purpose::Step)
    }

    fn completed_step(&mut self) -> Result<Completed, CallError> {
        let function = self.version.functions.completed_integrator_step;
        let mut event = 0;
        let mut terminate = 0;
        let arguments = || "1".into();
        // SAFETY: the places are numbers of ours.
        self.calls
            .demand(function, Purpose::Step, arguments, |f, component| unsafe {
                f(component, 1, &raw mut event, &raw mut terminate)
            })?;

        Ok(Completed {
            event: event != 0,
            terminate: terminate != 0,
        })
    }
}
