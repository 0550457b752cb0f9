//! Event mode of FMI 3.0.

use super::Instance3;
use crate::call_error::CallError;
use crate::calls::Purpose;
use crate::fmu_instance::{EventRound, next_event};
use crate::instance::{Completed, Discrete, Events};

/// What `fmi3UpdateDiscreteStates` answers beside its status.
#[derive(Default)]
struct EventFlags {
    again: u8,
    terminate: u8,
    nominals_changed: u8,
    values_changed: u8,
    next_event_defined: u8,
    next_event: f64,
}

impl EventFlags {
    fn round(&self) -> EventRound {
        EventRound {
            again: self.again != 0,
            terminate: self.terminate != 0,
            states_changed: self.values_changed != 0,
            next_event: next_event(self.next_event_defined, self.next_event),
        }
    }
}

impl Instance3 {
    fn event_round(&mut self) -> Result<EventRound, CallError> {
        let function = self.version.functions.update_discrete_states;
        let mut flags = EventFlags {
            next_event: f64::INFINITY,
            ..EventFlags::default()
        };
        // SAFETY: five flags and a number of ours.
        self.calls
            .demand_plain(function, Purpose::Step, |f, component| unsafe {
                f(
                    component,
                    &raw mut flags.again,
                    &raw mut flags.terminate,
                    &raw mut flags.nominals_changed,
                    &raw mut flags.values_changed,
                    &raw mut flags.next_event_defined,
                    &raw mut flags.next_event,
                )
            })?;

        Ok(flags.round())
    }
}

impl Events for Instance3 {
    fn enter_event_mode(&mut self) -> Result<(), CallError> {
        self.call_plain(self.shared.enter_event_mode, Purpose::Step)
    }

    fn update_discrete_states(&mut self) -> Result<Discrete, CallError> {
        self.iterate_events("fmi3UpdateDiscreteStates", Self::event_round)
    }

    fn leave_event_mode(&mut self) -> Result<(), CallError> {
        let function = if self.version.co_simulation {
            self.version.functions.enter_step_mode
        } else {
            self.shared.enter_continuous_time_mode
        };
        self.call_plain(function, Purpose::Step)
    }

    fn completed_step(&mut self) -> Result<Completed, CallError> {
        let function = self.version.functions.completed_integrator_step;
        let mut event = 0;
        let mut terminate = 0;
        let arguments = || "true".into();
        // SAFETY: the places are ours.
        self.calls
            .demand(function, Purpose::Step, arguments, |f, component| unsafe {
                f(component, true, &raw mut event, &raw mut terminate)
            })?;

        Ok(Completed {
            event: event != 0,
            terminate: terminate != 0,
        })
    }
}
