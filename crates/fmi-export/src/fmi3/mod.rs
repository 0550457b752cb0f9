//! The functions of FMI 3.0.

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

mod exchange;
mod values;

use std::ffi::{CString, c_char, c_int, c_void};

use dovetail::export::ExportedInterface;

use self::values::check_counts;
use crate::instance::Instance;
use crate::intermediate::{Ask, IntermediateUpdate};
use crate::logger::{Logger, Severity, Sink};
use crate::pointers::{array, array_mut, place, text};
use crate::registry::{self, Missing};
use crate::resources;

const OK: c_int = 0;
const WARNING: c_int = 1;
const ERROR: c_int = 3;

type UpdateCallback = unsafe extern "C" fn(
    *mut c_void,
    f64,
    set_requested: u8,
    get_allowed: u8,
    step_finished: u8,
    can_return_early: u8,
    early_return: *mut u8,
    early_return_time: *mut f64,
);

/// Asks an importer for its inputs at a time.
fn ask(update: UpdateCallback, environment: *mut c_void) -> Ask {
    Box::new(move |time| {
        let (mut early, mut early_time) = (0, time);
        // SAFETY: the callback of the standard, with places for its answers.
        unsafe { update(environment, time, 1, 0, 0, 0, &mut early, &mut early_time) };
    })
}

type LogCallback = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);

/// Sentences by the callback of an importer.
fn sink(log: Option<LogCallback>, environment: *mut c_void) -> Option<Sink> {
    let log = log?;
    Some(Box::new(move |severity, text| {
        let (status, category) = match severity {
            Severity::Warning => (WARNING, c"logStatusWarning"),
            Severity::Error => (ERROR, c"logStatusError"),
        };
        let text = CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: the callback of the standard, with texts that live until it returns.
        unsafe { log(environment, status, category.as_ptr(), text.as_ptr()) };
    }))
}

/// Does something with an instance; a sentence about what went wrong is logged.
fn call(instance: *mut c_void, part: impl FnOnce(&mut Instance) -> Result<(), String>) -> c_int {
    let called = registry::with(instance, |instance| match part(instance) {
        Ok(()) => OK,
        Err(sentence) => {
            instance.logger.error(&sentence);
            ERROR
        }
    });
    called.unwrap_or_else(|missing| match missing {
        Missing::Unknown | Missing::Busy | Missing::Panicked => ERROR,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: *const c_char,
    token: *const c_char,
    resource_path: *const c_char,
    _visible: bool,
    logging: bool,
    event_mode: bool,
    _early_return: bool,
    _intermediate: *const u32,
    intermediate_count: usize,
    environment: *mut c_void,
    log: Option<LogCallback>,
    intermediate_update: Option<UpdateCallback>,
) -> *mut c_void {
    let made = std::panic::catch_unwind(|| {
        // SAFETY: texts, as the standard has them, or null.
        let (name, token, path) = unsafe { (text(name), text(token), text(resource_path)) };
        let logger = Logger::new(sink(log, environment), logging);
        if name.is_none_or(|name| name.is_empty()) {
            logger.error("an instance needs a name");
            return std::ptr::null_mut();
        }
        if event_mode {
            logger.error("this FMU declares no event mode: events inside are its own affair");
            return std::ptr::null_mut();
        }
        let named = path.as_deref().and_then(resources::path_of);
        let token = token.unwrap_or_default();
        let made = crate::instantiate(named, &token, ExportedInterface::CoSimulation, logger);
        // Whoever has no variables to be set within a step need not be asked.
        if let Some(update) = intermediate_update.filter(|_| intermediate_count > 0) {
            let ask = IntermediateUpdate::new(ask(update, environment));
            let _ = registry::with(made, |instance| instance.intermediate = Some(ask));
        }
        made
    });
    made.unwrap_or(std::ptr::null_mut())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: *const c_char,
    token: *const c_char,
    resource_path: *const c_char,
    _visible: bool,
    logging: bool,
    environment: *mut c_void,
    log: Option<LogCallback>,
) -> *mut c_void {
    let made = std::panic::catch_unwind(|| {
        // SAFETY: texts, as the standard has them, or null.
        let (name, token, path) = unsafe { (text(name), text(token), text(resource_path)) };
        let logger = Logger::new(sink(log, environment), logging);
        if name.is_none_or(|name| name.is_empty()) {
            logger.error("an instance needs a name");
            return std::ptr::null_mut();
        }
        let named = path.as_deref().and_then(resources::path_of);
        let token = token.unwrap_or_default();
        crate::instantiate(named, &token, ExportedInterface::ModelExchange, logger)
    });
    made.unwrap_or(std::ptr::null_mut())
}

/// An interface that no FMU of ours has.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateScheduledExecution(
    _name: *const c_char,
    _token: *const c_char,
    _resource_path: *const c_char,
    _visible: bool,
    _logging: bool,
    environment: *mut c_void,
    log: Option<LogCallback>,
    _clock_update: *const c_void,
    _lock: *const c_void,
    _unlock: *const c_void,
) -> *mut c_void {
    Logger::new(sink(log, environment), true).error("this FMU has no Scheduled Execution");
    std::ptr::null_mut()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3FreeInstance(instance: *mut c_void) {
    let _ = std::panic::catch_unwind(|| registry::remove(instance));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    instance: *mut c_void,
    on: bool,
    count: usize,
    categories: *const *const c_char,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: an array of texts, as the standard has it.
        for &category in unsafe { array(categories, count) }? {
            // SAFETY: likewise.
            let name = unsafe { text(category) }.unwrap_or_default();
            if !["logStatusError", "logStatusWarning", "logEvents"].contains(&name.as_str()) {
                return Err(format!("there is no category `{name}` of log messages"));
            }
        }
        instance.logger.verbose = on;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterInitializationMode(
    instance: *mut c_void,
    _tolerance_defined: bool,
    _tolerance: f64,
    start: f64,
    stop_defined: bool,
    stop: f64,
) -> c_int {
    call(instance, |instance| {
        instance.set_up(start, stop_defined.then_some(stop))?;
        instance.enter_initialization()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3ExitInitializationMode(instance: *mut c_void) -> c_int {
    call(instance, Instance::exit_initialization)
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3Terminate(instance: *mut c_void) -> c_int {
    call(instance, Instance::terminate)
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3Reset(instance: *mut c_void) -> c_int {
    call(instance, |instance| {
        instance.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const i32,
    values: *mut f64,
    value_count: usize,
) -> c_int {
    call(instance, |instance| {
        check_counts(count, value_count)?;
        // SAFETY: arrays of these lengths, as the standard has it.
        let (references, orders) = unsafe { (array(references, count)?, array(orders, count)?) };
        // SAFETY: likewise.
        let values = unsafe { array_mut(values, count) }?;
        for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
            *value = instance.output_derivative(reference, order)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    instance: *mut c_void,
    from: f64,
    size: f64,
    stays: bool,
    event: *mut u8,
    terminate: *mut u8,
    early: *mut u8,
    last: *mut f64,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: places for the answers, as the standard has it.
        let (event, terminate) = unsafe { (place(event)?, place(terminate)?) };
        // SAFETY: likewise.
        let (early, last) = unsafe { (place(early)?, place(last)?) };
        (*event, *terminate, *early) = (0, 0, 0);
        *last = instance.reached();
        let stepped = instance.step(from, size, stays)?;
        *terminate = u8::from(stepped.ends);
        *last = stepped.time;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    call(instance, |instance| {
        // SAFETY: a place for the answer, as the standard has it.
        let state = unsafe { place(state) }?;
        *state = instance.save(*state as usize)? as *mut c_void;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetFMUState(instance: *mut c_void, state: *mut c_void) -> c_int {
    call(instance, |instance| instance.restore(state as usize))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    call(instance, |instance| {
        // SAFETY: a place with a state, as the standard has it.
        let state = unsafe { place(state) }?;
        if !state.is_null() {
            instance.free_state(*state as usize)?;
            *state = std::ptr::null_mut();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    instance: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> c_int {
    call(instance, |instance| {
        let bytes = instance.state_bytes(state as usize)?;
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(size) }? = bytes.len();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    instance: *mut c_void,
    state: *mut c_void,
    into: *mut u8,
    size: usize,
) -> c_int {
    call(instance, |instance| {
        let bytes = instance.state_bytes(state as usize)?;
        // SAFETY: an array of this length, as the standard has it.
        let into = unsafe { array_mut(into, size) }?;
        let into = into
            .get_mut(..bytes.len())
            .ok_or("there is not enough room for the state")?;
        into.copy_from_slice(&bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    instance: *mut c_void,
    from: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    call(instance, |instance| {
        // SAFETY: an array of this length and a place for the answer, as the standard has it.
        let (bytes, state) = unsafe { (array(from, size)?, place(state)?) };
        *state = instance.state_from(bytes)? as *mut c_void;
        Ok(())
    })
}

/// Functions of what this FMU declares not to have; what they are called with is not looked at.
macro_rules! absent {
    ($($name:ident: $what:literal),+ $(,)?) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name(instance: *mut c_void) -> c_int {
            call(instance, |_| Err(concat!("this FMU declares no ", $what).to_owned()))
        })+
    };
}

absent!(
    fmi3EnterStepMode: "event mode",
    fmi3EvaluateDiscreteStates: "discrete states to evaluate",
    fmi3EnterConfigurationMode: "structural parameters",
    fmi3ExitConfigurationMode: "structural parameters",
    fmi3GetAdjointDerivative: "adjoint derivatives",
    fmi3GetNumberOfVariableDependencies: "dependencies of elements",
    fmi3GetVariableDependencies: "dependencies of elements",
    fmi3GetClock: "clocks",
    fmi3SetClock: "clocks",
    fmi3GetIntervalDecimal: "clocks",
    fmi3GetIntervalFraction: "clocks",
    fmi3GetShiftDecimal: "clocks",
    fmi3GetShiftFraction: "clocks",
    fmi3SetIntervalDecimal: "clocks",
    fmi3SetIntervalFraction: "clocks",
    fmi3SetShiftDecimal: "clocks",
    fmi3SetShiftFraction: "clocks",
    fmi3ActivateModelPartition: "model partitions",
);
