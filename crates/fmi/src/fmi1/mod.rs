//! Instances of FMI 1.0.
//!
//! It has no initialization mode, no saved states and no directional derivatives. Its initialization is one call, made
//! where 2.0 enters the mode: what must be known before is set before, and from then on inputs may be set and all values
//! read. Nothing is left to do where 2.0 leaves the mode.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

mod events;

use std::ffi::c_char;
use std::sync::Arc;

use crate::call_error::CallError;
use crate::calls::{Purpose, made_component};
use crate::component::{FmiVersion, OwnedComponent};
use crate::description::Version;
use crate::environment::Environment;
use crate::environment_registry::Registered;
use crate::ffi::{
    Component, EventInfo1, Functions1, ModelCallbacks1, ScalarFunctions, SharedFunctions,
    SlaveCallbacks1,
};
use crate::fmu_instance::{FmuInstance, Instantiation};
use crate::guard::{Crash, guarded};
use crate::instance::{InputDerivatives, Instance, Lifecycle, known_stop};
use crate::journal::Journal;
use crate::scalar::ScalarVersion;
use crate::scalar::callbacks::{callbacks, without_zeros};
use crate::surroundings;

/// What the standard calls an FMU whose code is a library.
const MIME_TYPE: &std::ffi::CStr = c"application/x-fmu-sharedlibrary";
const NO_TIMEOUT: f64 = 0.0;

/// What only an instance of 1.0 has.
#[derive(Clone, Copy)]
pub(crate) struct Fmi1 {
    functions: Functions1,
    scalar: ScalarFunctions<c_char>,
    co_simulation: bool,
}

impl FmiVersion for Fmi1 {
    type CallbackData = ();
}

impl ScalarVersion for Fmi1 {
    type Truth = c_char;
    const KNOWS_STATES: bool = false;
    const PREPARED: Option<Version> = None;

    fn functions(&self) -> &ScalarFunctions<c_char> {
        &self.scalar
    }
}

/// An instance of 1.0.
pub(crate) type Instance1 = FmuInstance<Fmi1>;

impl Instance1 {
    pub fn instantiate(from: Instantiation<'_>) -> Result<Self, CallError> {
        let journal = from.journal.clone();
        let environment = Environment::of(Arc::as_ptr(&journal));
        let registered = Registered::plain(environment, journal.clone());
        let functions = Functions1::of(from.library);
        let mut shared = SharedFunctions::of(from.library, Version::One);
        let (function, made) = if from.co_simulation {
            instantiate_slave(&functions, &from, environment)?
        } else {
            shared.free_instance = functions.free_model;
            shared.terminate = functions.terminate_model;
            instantiate_model(&functions, &from, environment)?
        };
        surroundings::put_back(environment);
        let component = made_component(function, made, &journal)?;
        let version = Fmi1 {
            functions,
            scalar: ScalarFunctions::one(from.library),
            co_simulation: from.co_simulation,
        };

        Ok(Self::of(OwnedComponent::new(
            component,
            Box::new(()),
            version,
            shared,
            journal,
            registered,
        )))
    }

    fn initialize_slave(&mut self, start: f64, stop: f64) -> Result<(), CallError> {
        let function = self.version.functions.initialize_slave;
        let (ends, stop) = (c_char::from(stop.is_finite()), known_stop(start, stop));
        let arguments = || format!("{start:?}, {ends}, {stop:?}");
        // SAFETY: plain numbers.
        self.calls
            .demand(function, Purpose::Setup, arguments, |f, component| unsafe {
                f(component, start, ends, stop)
            })
    }

    /// What the FMU says of events here is asked again when it leaves the initialization.
    fn initialize_model(&mut self, tolerance: Option<f64>) -> Result<(), CallError> {
        let function = self.version.functions.initialize;
        let given = c_char::from(tolerance.is_some());
        let tolerance = tolerance.unwrap_or(0.0);
        let mut info = EventInfo1::default();
        let arguments = || format!("{given}, {tolerance:?}");
        // SAFETY: plain numbers, and a record of ours.
        self.calls
            .demand(function, Purpose::Setup, arguments, |f, component| unsafe {
                f(component, given, tolerance, &raw mut info)
            })
    }
}

/// The name of a function, and the component that it has made.
type Made = (&'static str, Result<Component, Crash>);

fn instantiate_slave(
    functions: &Functions1,
    from: &Instantiation<'_>,
    environment: Environment,
) -> Result<Made, CallError> {
    let name = without_zeros(&from.journal.instance);
    let token = without_zeros(from.token);
    let location = without_zeros(from.resources);
    let common = callbacks();
    let callbacks = SlaveCallbacks1 {
        logger: common.logger,
        allocate: common.allocate,
        free: common.free,
        step_finished: None,
    };
    let logging = c_char::from(from.journal.log.is_some());
    let function = functions.instantiate_slave.find()?;
    from.journal.log_call(
        function.name,
        format_args!("{name:?}, {token:?}, {location:?}, {MIME_TYPE:?}"),
    );
    // SAFETY: the texts outlive the call; the callbacks are copied.
    let made = guarded(environment, function.name, || unsafe {
        (function.pointer)(
            name.as_ptr(),
            token.as_ptr(),
            location.as_ptr(),
            MIME_TYPE.as_ptr(),
            NO_TIMEOUT,
            0,
            0,
            callbacks,
            logging,
        )
    });
    Ok((function.name, made))
}

fn instantiate_model(
    functions: &Functions1,
    from: &Instantiation<'_>,
    environment: Environment,
) -> Result<Made, CallError> {
    let name = without_zeros(&from.journal.instance);
    let token = without_zeros(from.token);
    let common = callbacks();
    let callbacks = ModelCallbacks1 {
        logger: common.logger,
        allocate: common.allocate,
        free: common.free,
    };
    let logging = c_char::from(from.journal.log.is_some());
    let function = functions.instantiate_model.find()?;
    from.journal
        .log_call(function.name, format_args!("{name:?}, {token:?}"));
    // SAFETY: the texts outlive the call; the callbacks are copied.
    let made = guarded(environment, function.name, || unsafe {
        (function.pointer)(name.as_ptr(), token.as_ptr(), callbacks, logging)
    });
    Ok((function.name, made))
}

impl Instance for Instance1 {
    fn input_derivatives(&mut self) -> Option<&mut dyn InputDerivatives> {
        Some(self)
    }
}

impl Lifecycle for Instance1 {
    fn journal(&self) -> &Journal {
        &self.calls.journal
    }

    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        use crate::instance::ContinuousTime;
        let done = if self.version.co_simulation {
            self.initialize_slave(start, stop)
        } else {
            self.set_time(start)
                .and_then(|()| self.initialize_model(tolerance))
        };
        surroundings::put_back(self.calls.environment());
        done
    }

    fn exit_initialization(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn terminate(&mut self) -> Result<(), CallError> {
        self.terminate_run()
    }
}
