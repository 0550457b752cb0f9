//! The functions of FMI 2.0.

#![allow(
    unsafe_code,
    reason = "the C interface of the standard: names that C finds, and pointers of importers"
)]
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    reason = "the names and the rules of use are those of the standard"
)]

mod exchange;
mod values;

use std::ffi::{CString, c_char, c_int, c_void};

use dovetail::export::ExportedInterface;

use crate::instance::Instance;
use crate::logger::{Logger, Severity, Sink};
use crate::pointers::{array, array_mut, place, text};
use crate::registry::{self, Missing};
use crate::resources;

const OK: c_int = 0;
const WARNING: c_int = 1;
const DISCARD: c_int = 2;
const ERROR: c_int = 3;

const MODEL_EXCHANGE: c_int = 0;
const CO_SIMULATION: c_int = 1;
/// Of the status kinds: the time that was reached, and whether the simulation is to end.
const LAST_SUCCESSFUL_TIME: c_int = 2;
const TERMINATED: c_int = 3;

type LogCallback =
    unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...);

/// `fmi2CallbackFunctions`.
#[repr(C)]
pub struct Callbacks {
    logger: Option<LogCallback>,
    allocate: *const c_void,
    free: *const c_void,
    step_finished: *const c_void,
    environment: *mut c_void,
}

/// Sentences by the callback of an importer, under the name of the instance.
unsafe fn sink(callbacks: *const Callbacks, name: &str) -> Option<Sink> {
    if callbacks.is_null() || !callbacks.is_aligned() {
        return None;
    }
    // SAFETY: not null; an importer keeps its callbacks as long as the instance.
    let (log, environment) = unsafe { ((*callbacks).logger?, (*callbacks).environment) };
    let name = CString::new(name.replace('\0', "")).unwrap_or_default();
    Some(Box::new(move |severity, text| {
        let (status, category) = match severity {
            Severity::Warning => (WARNING, c"logStatusWarning"),
            Severity::Error => (ERROR, c"logStatusError"),
        };
        let text = CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: the callback of the standard, with texts that live until it returns; the format takes one text.
        unsafe {
            log(
                environment,
                name.as_ptr(),
                status,
                category.as_ptr(),
                c"%s".as_ptr(),
                text.as_ptr(),
            )
        };
    }))
}

/// Does something with an instance; a sentence about what went wrong is logged.
fn call(
    component: *mut c_void,
    part: impl FnOnce(&mut Instance) -> Result<c_int, String>,
) -> c_int {
    let called = registry::with(component, |instance| match part(instance) {
        Ok(status) => status,
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
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    location: *const c_char,
    callbacks: *const Callbacks,
    _visible: c_int,
    logging: c_int,
) -> *mut c_void {
    let made = std::panic::catch_unwind(|| {
        // SAFETY: texts and callbacks as the standard has them; null is allowed for.
        let (name, guid, location) = unsafe { (text(name), text(guid), text(location)) };
        // SAFETY: likewise.
        let sink = unsafe { sink(callbacks, name.as_deref().unwrap_or_default()) };
        let logger = Logger::new(sink, logging != 0);
        if name.is_none_or(|name| name.is_empty()) {
            logger.error("an instance needs a name");
            return std::ptr::null_mut();
        }
        let interface = match kind {
            MODEL_EXCHANGE => ExportedInterface::ModelExchange,
            CO_SIMULATION => ExportedInterface::CoSimulation,
            _ => {
                logger.error("an instance is one for Model Exchange or for Co-Simulation");
                return std::ptr::null_mut();
            }
        };
        let named = location.as_deref().and_then(resources::path_of);
        crate::instantiate(named, &guid.unwrap_or_default(), interface, logger)
    });
    made.unwrap_or(std::ptr::null_mut())
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2FreeInstance(component: *mut c_void) {
    let _ = std::panic::catch_unwind(|| registry::remove(component));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    component: *mut c_void,
    on: c_int,
    count: usize,
    categories: *const *const c_char,
) -> c_int {
    call(component, |instance| {
        // SAFETY: an array of texts, as the standard has it.
        let categories = unsafe { array(categories, count) }?;
        for &category in categories {
            // SAFETY: likewise.
            let known = unsafe { text(category) };
            let known = known.is_some_and(|name| {
                ["logStatusError", "logStatusWarning", "logEvents", "logAll"]
                    .contains(&name.as_str())
            });
            if !known {
                return Err("there is no such category of log messages".to_owned());
            }
        }
        instance.logger.verbose = on != 0;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2SetupExperiment(
    component: *mut c_void,
    _tolerance_defined: c_int,
    _tolerance: f64,
    start: f64,
    stop_defined: c_int,
    stop: f64,
) -> c_int {
    let stop = (stop_defined != 0).then_some(stop);
    call(component, |instance| {
        instance.set_up(start, stop).map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2EnterInitializationMode(component: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.enter_initialization().map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2ExitInitializationMode(component: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.exit_initialization().map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2Terminate(component: *mut c_void) -> c_int {
    call(component, |instance| instance.terminate().map(|()| OK))
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2Reset(component: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.reset();
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    component: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *const f64,
) -> c_int {
    call(component, |instance| {
        // SAFETY: arrays of this length, as the standard has it.
        let (references, orders) = unsafe { (array(references, count)?, array(orders, count)?) };
        // SAFETY: likewise.
        let values = unsafe { array(values, count) }?;
        for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
            instance.set_input_derivative(reference, order, value)?;
        }
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    component: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *mut f64,
) -> c_int {
    call(component, |instance| {
        // SAFETY: arrays of this length, as the standard has it.
        let (references, orders) = unsafe { (array(references, count)?, array(orders, count)?) };
        // SAFETY: likewise.
        let values = unsafe { array_mut(values, count) }?;
        for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
            *value = instance.output_derivative(reference, order)?;
        }
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2DoStep(component: *mut c_void, from: f64, size: f64, stays: c_int) -> c_int {
    call(component, |instance| {
        let stepped = instance.step(from, size, stays != 0)?;
        Ok(if stepped.ends { DISCARD } else { OK })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2CancelStep(component: *mut c_void) -> c_int {
    call(component, |_| {
        Err("a step ends before its call returns: there is none to cancel".to_owned())
    })
}

/// Questions about a step that is under way: none ever is.
macro_rules! no_status {
    ($($name:ident: $type:ty),+ $(,)?) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name(component: *mut c_void, _kind: c_int, _value: *mut $type) -> c_int {
            call(component, |instance| {
                instance.logger.warn("a step ends before its call returns: there is no such status");
                Ok(DISCARD)
            })
        })+
    };
}
no_status!(fmi2GetStatus: c_int, fmi2GetIntegerStatus: c_int, fmi2GetStringStatus: *const c_char);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(
    component: *mut c_void,
    kind: c_int,
    value: *mut f64,
) -> c_int {
    call(component, |instance| {
        if kind != LAST_SUCCESSFUL_TIME {
            return Ok(DISCARD);
        }
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(value) }? = instance.reached();
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(
    component: *mut c_void,
    kind: c_int,
    value: *mut c_int,
) -> c_int {
    call(component, |instance| {
        if kind != TERMINATED {
            return Ok(DISCARD);
        }
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(value) }? = c_int::from(instance.wants_to_end());
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(component: *mut c_void, state: *mut *mut c_void) -> c_int {
    call(component, |instance| {
        // SAFETY: a place for the answer, as the standard has it.
        let state = unsafe { place(state) }?;
        *state = instance.save(*state as usize)? as *mut c_void;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2SetFMUstate(component: *mut c_void, state: *mut c_void) -> c_int {
    call(component, |instance| {
        instance.restore(state as usize).map(|()| OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(
    component: *mut c_void,
    state: *mut *mut c_void,
) -> c_int {
    call(component, |instance| {
        // SAFETY: a place with a state, as the standard has it.
        let state = unsafe { place(state) }?;
        if !state.is_null() {
            instance.free_state(*state as usize)?;
            *state = std::ptr::null_mut();
        }
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    component: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> c_int {
    call(component, |instance| {
        let bytes = instance.state_bytes(state as usize)?;
        // SAFETY: a place for the answer, as the standard has it.
        *unsafe { place(size) }? = bytes.len();
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    component: *mut c_void,
    state: *mut c_void,
    into: *mut u8,
    size: usize,
) -> c_int {
    call(component, |instance| {
        let bytes = instance.state_bytes(state as usize)?;
        // SAFETY: an array of this length, as the standard has it.
        let into = unsafe { array_mut(into, size) }?;
        let into = into
            .get_mut(..bytes.len())
            .ok_or("there is not enough room for the state")?;
        into.copy_from_slice(&bytes);
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    component: *mut c_void,
    from: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    call(component, |instance| {
        // SAFETY: an array of this length and a place for the answer, as the standard has it.
        let (bytes, state) = unsafe { (array(from, size)?, place(state)?) };
        *state = instance.state_from(bytes)? as *mut c_void;
        Ok(OK)
    })
}
