//! Model Exchange, and directional derivatives.

#![allow(
    unsafe_code,
    reason = "the C interface of the standard: names that C finds, and pointers of importers"
)]
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "the names, the arguments and the rules of use are those of the standard"
)]

use std::ffi::{c_int, c_void};

use super::{OK, call};
use crate::pointers::{array, array_mut, place};

/// `fmi2EventInfo`.
#[repr(C)]
pub struct EventInfo {
    new_discrete_states_needed: c_int,
    terminate_simulation: c_int,
    nominals_changed: c_int,
    states_changed: c_int,
    next_event_defined: c_int,
    next_event: f64,
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2EnterEventMode(component: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.enter_event_mode().map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(
    component: *mut c_void,
    info: *mut EventInfo,
) -> c_int {
    call(component, |instance| {
        // SAFETY: a place for the answer, as the standard has it.
        let info = unsafe { place(info) }?;
        let event = instance.update_discrete_states()?;
        *info = EventInfo {
            new_discrete_states_needed: 0,
            terminate_simulation: 0,
            nominals_changed: 0,
            states_changed: c_int::from(event.states_changed),
            next_event_defined: c_int::from(event.next_event.is_some()),
            next_event: event.next_event.unwrap_or(0.0),
        };
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2EnterContinuousTimeMode(component: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.enter_continuous_time_mode().map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    component: *mut c_void,
    _stays: c_int,
    event: *mut c_int,
    terminate: *mut c_int,
) -> c_int {
    call(component, |instance| {
        // SAFETY: places for the answers, as the standard has it.
        let (event, terminate) = unsafe { (place(event)?, place(terminate)?) };
        (*event, *terminate) = (0, 0);
        instance.completed_integrator_step().map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2SetTime(component: *mut c_void, time: f64) -> c_int {
    call(component, |instance| instance.set_time(time).map(|()| OK))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(
    component: *mut c_void,
    states: *const f64,
    count: usize,
) -> c_int {
    call(component, |instance| {
        // SAFETY: an array of this length, as the standard has it.
        let states = unsafe { array(states, count) }?;
        instance.set_continuous_states(states).map(|()| OK)
    })
}

/// Rows of numbers.
macro_rules! rows {
    ($($name:ident: $method:ident),+ $(,)?) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            component: *mut c_void,
            into: *mut f64,
            count: usize,
        ) -> c_int {
            call(component, |instance| {
                // SAFETY: an array of this length, as the standard has it.
                let into = unsafe { array_mut(into, count) }?;
                instance.$method(into).map(|()| OK)
            })
        })+
    };
}

rows!(
    fmi2GetContinuousStates: continuous_states,
    fmi2GetDerivatives: state_derivatives,
    fmi2GetEventIndicators: event_indicators,
    fmi2GetNominalsOfContinuousStates: state_nominals,
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    component: *mut c_void,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    into: *mut f64,
) -> c_int {
    call(component, |instance| {
        // SAFETY: arrays of these lengths, as the standard has it.
        let (unknowns, knowns) =
            unsafe { (array(unknowns, unknown_count)?, array(knowns, known_count)?) };
        // SAFETY: likewise.
        let (seed, into) = unsafe { (array(seed, known_count)?, array_mut(into, unknown_count)?) };
        let done = instance.directional_derivative(unknowns, knowns, seed, into);
        done.map(|()| OK)
    })
}
