//! Instances of FMI 2.0.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

mod events;

use std::ffi::c_int;
use std::sync::Arc;

use crate::call_error::CallError;
use crate::calls::{Purpose, made_component};
use crate::component::{FmiVersion, OwnedComponent};
use crate::description::Version;
use crate::environment::Environment;
use crate::environment_registry::Registered;
use crate::ffi::{Callbacks2, Functions2, ScalarFunctions, SharedFunctions};
use crate::fmu_instance::{FmuInstance, Instantiation};
use crate::guard::guarded;
use crate::instance::{InputDerivatives, Instance, Lifecycle, known_stop};
use crate::journal::Journal;
use crate::scalar::ScalarVersion;
use crate::scalar::callbacks::{self, without_zeros};
use crate::surroundings;

/// What only an instance of 2.0 has.
#[derive(Clone, Copy)]
pub(crate) struct Fmi2 {
    functions: Functions2,
    scalar: ScalarFunctions<c_int>,
}

impl FmiVersion for Fmi2 {
    type CallbackData = &'static Callbacks2;
}

impl ScalarVersion for Fmi2 {
    type Truth = c_int;
    const KNOWS_STATES: bool = true;
    const PREPARED: Option<Version> = Some(Version::Two);

    fn functions(&self) -> &ScalarFunctions<c_int> {
        &self.scalar
    }
}

/// An instance of 2.0.
pub(crate) type Instance2 = FmuInstance<Fmi2>;

/// What an FMU calls. It is never given back: threads of an FMU may log when its instance is gone.
fn callbacks(environment: Environment) -> &'static Callbacks2 {
    let common = callbacks::callbacks();
    Box::leak(Box::new(Callbacks2 {
        logger: common.logger,
        allocate: common.allocate,
        free: common.free,
        step_finished: None,
        environment: environment.pointer(),
    }))
}

impl Instance2 {
    pub fn instantiate(from: Instantiation<'_>) -> Result<Self, CallError> {
        let journal = from.journal;
        let name = without_zeros(&journal.instance);
        let token = without_zeros(from.token);
        let resources = without_zeros(from.resources);
        let environment = Environment::of(Arc::as_ptr(&journal));
        let registered = Registered::plain(environment, journal.clone());
        let callbacks = callbacks(environment);
        let logging = c_int::from(journal.log.is_some());
        let kind = c_int::from(from.co_simulation);
        let functions = Functions2::of(from.library);
        let instantiate = functions.instantiate.find()?;
        journal.log_call(
            instantiate.name,
            format_args!("{name:?}, {kind}, {token:?}, {resources:?}"),
        );
        // SAFETY: texts and callbacks outlive the call, the callbacks the instance.
        let made = guarded(environment, instantiate.name, || unsafe {
            (instantiate.pointer)(
                name.as_ptr(),
                kind,
                token.as_ptr(),
                resources.as_ptr(),
                std::ptr::from_ref(callbacks),
                0,
                logging,
            )
        });
        surroundings::put_back(environment);
        let component = made_component(instantiate.name, made, &journal)?;

        Ok(Self::of(OwnedComponent::new(
            component,
            Box::new(callbacks),
            Fmi2 {
                functions,
                scalar: ScalarFunctions::two(from.library),
            },
            SharedFunctions::of(from.library, Version::Two),
            journal,
            registered,
        )))
    }

    fn set_up_experiment(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        let function = self.version.functions.setup_experiment;
        let given = c_int::from(tolerance.is_some());
        let tolerance = tolerance.unwrap_or(0.0);
        let (ends, stop) = (c_int::from(stop.is_finite()), known_stop(start, stop));
        let arguments = || format!("{given}, {tolerance:?}, {start:?}, {ends}, {stop:?}");

        // SAFETY: plain numbers.
        self.calls
            .demand(function, Purpose::Setup, arguments, |f, component| unsafe {
                f(component, given, tolerance, start, ends, stop)
            })
    }
}

impl Instance for Instance2 {
    fn input_derivatives(&mut self) -> Option<&mut dyn InputDerivatives> {
        Some(self)
    }
}

impl Lifecycle for Instance2 {
    fn journal(&self) -> &Journal {
        &self.calls.journal
    }

    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        self.set_up_experiment(start, stop, tolerance)?;
        let function = self.version.functions.enter_initialization;
        self.call_plain(function, Purpose::Setup)
    }

    fn exit_initialization(&mut self) -> Result<(), CallError> {
        self.exit_initialization_mode()
    }

    fn terminate(&mut self) -> Result<(), CallError> {
        self.terminate_run()
    }
}
