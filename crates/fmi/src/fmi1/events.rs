//! Events of FMI 1.0: one function updates all that is discrete, and there is no mode for it.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use super::Instance1;
use crate::call_error::CallError;
use crate::calls::Purpose;
use crate::ffi::EventInfo1;
use crate::fmu_instance::{EventRound, next_event};
use crate::instance::{Completed, Discrete, Events};

impl EventInfo1 {
    fn round(&self) -> EventRound {
        EventRound {
            again: self.iteration_converged == 0,
            terminate: self.terminate != 0,
            states_changed: self.values_changed != 0,
            next_event: next_event(self.time_event, self.next_event_time),
        }
    }
}

impl Instance1 {
    /// Nobody looks at what an iteration comes through, so the FMU need not stop there.
    fn event_round(&mut self) -> Result<EventRound, CallError> {
        let function = self.version.functions.event_update;
        let mut info = EventInfo1::default();
        // SAFETY: a record of ours.
        self.calls.demand(
            function,
            Purpose::Step,
            || "0".into(),
            |f, component| unsafe { f(component, 0, &raw mut info) },
        )?;

        Ok(info.round())
    }
}

impl Events for Instance1 {
    fn enter_event_mode(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn update_discrete_states(&mut self) -> Result<Discrete, CallError> {
        let name = self.version.functions.event_update.name;
        self.iterate_events(name, Self::event_round)
    }

    fn leave_event_mode(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn completed_step(&mut self) -> Result<Completed, CallError> {
        let function = self.version.functions.completed_integrator_step;
        let mut event = 0;
        // SAFETY: the place is a number of ours.
        self.calls
            .demand_plain(function, Purpose::Step, |f, component| unsafe {
                f(component, &raw mut event)
            })?;

        Ok(Completed {
            event: event != 0,
            terminate: false,
        })
    }
}
