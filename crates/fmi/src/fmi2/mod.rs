//! Instances of FMI 2.0.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

mod events;
mod stepping;
mod values;

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Arc, Once};

use crate::call_error::CallError;
use crate::calls::{Purpose, made_component};
use crate::component::{FmiVersion, OwnedComponent};
use crate::description::Version;
use crate::environment::Environment;
use crate::environment_registry::Registered;
use crate::ffi::{Callbacks2, Functions2, SharedFunctions};
use crate::fmu_instance::{FmuInstance, Instantiation, record_message};
use crate::guard::guarded;
use crate::instance::{Derivatives, InputDerivatives, Instance, Lifecycle};
use crate::journal::Journal;
use crate::surroundings;

unsafe extern "C" {
    fn dovetail_log_sink(
        sink: unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char),
    );
    fn dovetail_fmi2_logger();
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// What only an instance of 2.0 has.
#[derive(Clone, Copy)]
pub(crate) struct Fmi2 {
    functions: Functions2,
}

impl FmiVersion for Fmi2 {
    type CallbackData = &'static Callbacks2;
}

/// An instance of 2.0.
pub(crate) type Instance2 = FmuInstance<Fmi2>;

/// Receives formatted messages of all FMUs.
unsafe extern "C" fn receive_message(
    environment: *mut c_void,
    status: c_int,
    _category: *const c_char,
    text: *const c_char,
) {
    // SAFETY: a text of ours, which ends with a zero.
    unsafe { record_message(environment, status, text) };
}

/// Has messages of all FMUs received here, once per process.
fn install_message_sink() {
    static SINK: Once = Once::new();
    // SAFETY: stores a pointer to a function that lives for ever.
    SINK.call_once(|| unsafe { dovetail_log_sink(receive_message) });
}

/// What an FMU calls. It is never given back: threads of an FMU may log when its instance is gone.
fn callbacks(environment: Environment) -> &'static Callbacks2 {
    Box::leak(Box::new(Callbacks2 {
        logger: dovetail_fmi2_logger as *const c_void,
        allocate: calloc,
        free,
        step_finished: None,
        environment: environment.pointer(),
    }))
}

fn without_zeros(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl Instance2 {
    pub fn instantiate(from: Instantiation<'_>) -> Result<Self, CallError> {
        install_message_sink();
        let journal = from.journal;
        let name = without_zeros(&journal.instance);
        let token = without_zeros(from.token);
        let resources = without_zeros(from.resources);
        let environment = Environment::of(Arc::as_ptr(&journal));
        let registered = Registered::two(environment, journal.clone());
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
            Fmi2 { functions },
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
        let arguments = || format!("{given}, {tolerance:?}, {start:?}, 1, {stop:?}");

        // SAFETY: plain numbers.
        self.calls
            .demand(function, Purpose::Setup, arguments, |f, component| unsafe {
                f(component, given, tolerance, start, 1, stop)
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

impl Derivatives for Instance2 {
    fn directional(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<(), CallError> {
        if unknowns.is_empty() || knowns.is_empty() {
            sensitivity.fill(0.0);
            return Ok(());
        }

        let function = self.version.functions.directional_derivative;
        let arguments = || format!("{unknowns:?}, {knowns:?}, {seed:?}");
        // SAFETY: the pointers belong to slices of these lengths.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    unknowns.as_ptr(),
                    unknowns.len(),
                    knowns.as_ptr(),
                    knowns.len(),
                    seed.as_ptr(),
                    sensitivity.as_mut_ptr(),
                )
            },
        )
    }

    fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let function = self.version.functions.get_output_derivatives;
        // SAFETY: the pointers belong to slices of this length.
        self.calls
            .get_values(function, references, |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    references.len(),
                    orders.as_ptr(),
                    values.as_mut_ptr(),
                )
            })
    }
}

impl InputDerivatives for Instance2 {
    fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let function = self.version.functions.set_input_derivatives;
        let count = references.len();
        let arguments = || format!("{references:?}, {orders:?}, {values:?}");

        // SAFETY: the pointers belong to slices of this length.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    count,
                    orders.as_ptr(),
                    values.as_ptr(),
                )
            },
        )
    }
}
