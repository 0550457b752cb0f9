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

use super::call;
use super::values::check_counts;
use crate::pointers::{array, array_mut, place};

#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterEventMode(instance: *mut c_void) -> c_int {
    call(instance, |instance| instance.enter_event_mode())
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterContinuousTimeMode(instance: *mut c_void) -> c_int {
    call(instance, |instance| instance.enter_continuous_time_mode())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    instance: *mut c_void,
    again: *mut u8,
    terminate: *mut u8,
    nominals_changed: *mut u8,
    states_changed: *mut u8,
    next_event_defined: *mut u8,
    next_event: *mut f64,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: places for the answers, as the standard has it.
        let (again, terminate) = unsafe { (place(again)?, place(terminate)?) };
        // SAFETY: likewise.
        let nominals_changed = unsafe { place(nominals_changed) }?;
        // SAFETY: likewise.
        let states_changed = unsafe { place(states_changed) }?;
        // SAFETY: likewise.
        let (defined, next_event) = unsafe { (place(next_event_defined)?, place(next_event)?) };
        let event = instance.update_discrete_states()?;
        (*again, *terminate, *nominals_changed) = (0, 0, 0);
        *states_changed = u8::from(event.states_changed);
        *defined = u8::from(event.next_event.is_some());
        *next_event = event.next_event.unwrap_or(0.0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3CompletedIntegratorStep(
    instance: *mut c_void,
    _stays: bool,
    event: *mut u8,
    terminate: *mut u8,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: places for the answers, as the standard has it.
        let (event, terminate) = unsafe { (place(event)?, place(terminate)?) };
        (*event, *terminate) = (0, 0);
        instance.completed_integrator_step()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetTime(instance: *mut c_void, time: f64) -> c_int {
    call(instance, |instance| instance.set_time(time))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetContinuousStates(
    instance: *mut c_void,
    states: *const f64,
    count: usize,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: an array of this length, as the standard has it.
        instance.set_continuous_states(unsafe { array(states, count) }?)
    })
}

/// Rows of numbers.
macro_rules! rows {
    ($($name:ident: $method:ident),+ $(,)?) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            instance: *mut c_void,
            into: *mut f64,
            count: usize,
        ) -> c_int {
            call(instance, |instance| {
                // SAFETY: an array of this length, as the standard has it.
                instance.$method(unsafe { array_mut(into, count) }?)
            })
        })+
    };
}

rows!(
    fmi3GetContinuousStates: continuous_states,
    fmi3GetContinuousStateDerivatives: state_derivatives,
    fmi3GetEventIndicators: event_indicators,
    fmi3GetNominalsOfContinuousStates: state_nominals,
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfContinuousStates(
    instance: *mut c_void,
    count: *mut usize,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(count) }? = instance.exchange_counts()?.0;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfEventIndicators(
    instance: *mut c_void,
    count: *mut usize,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(count) }? = instance.exchange_counts()?.1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    instance: *mut c_void,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    into: *mut f64,
    into_count: usize,
) -> c_int {
    call(instance, |instance| {
        check_counts(known_count, seed_count)?;
        check_counts(unknown_count, into_count)?;
        // SAFETY: arrays of these lengths, as the standard has it.
        let (unknowns, knowns) =
            unsafe { (array(unknowns, unknown_count)?, array(knowns, known_count)?) };
        // SAFETY: likewise.
        let (seed, into) = unsafe { (array(seed, known_count)?, array_mut(into, unknown_count)?) };
        instance.directional_derivative(unknowns, knowns, seed, into)
    })
}
