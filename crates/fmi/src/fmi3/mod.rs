//! Instances of FMI 3.0.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

mod events;
mod intermediate;
mod stepping;
mod values;

use std::ffi::{CString, c_char, c_int, c_void};

use self::intermediate::{CallbackData, intermediate_update};
use crate::call_error::CallError;
use crate::calls::{Purpose, made_component};
use crate::component::{FmiVersion, OwnedComponent};
use crate::description::Version;
use crate::environment::Environment;
use crate::environment_registry::Registered;
use crate::ffi::{Component, Functions3, SharedFunctions};
use crate::fmu_instance::{FmuInstance, Instantiation, record_message};
use crate::guard::{Crash, guarded};
use crate::instance::{
    Configuration, Derivatives, Instance, IntermediateInputs, Lifecycle, known_stop,
};
use crate::journal::Journal;
use crate::numbers::c_text;
use crate::surroundings;

/// What a Co-Simulation FMU of 3.0 is instantiated with.
pub(crate) struct CoSimulationOptions<'a> {
    pub event_mode: bool,
    pub early_return: bool,
    /// Inputs that may be set during intermediate update; empty where that is not used.
    pub intermediate: &'a [u32],
}

/// What only an instance of 3.0 has.
#[derive(Clone, Copy)]
pub(crate) struct Fmi3 {
    functions: Functions3,
    co_simulation: bool,
}

impl FmiVersion for Fmi3 {
    type CallbackData = CallbackData;

    fn forget(left: &CallbackData) {
        left.follow_nothing();
    }
}

/// An instance of 3.0.
pub(crate) type Instance3 = FmuInstance<Fmi3>;

unsafe extern "C" fn log_message(
    environment: *mut c_void,
    status: c_int,
    _category: *const c_char,
    text: *const c_char,
) {
    // SAFETY: the standard asks for a text that ends with a zero.
    unsafe { record_message(environment, status, text) };
}

/// What both kinds of FMU are instantiated with.
struct Arguments {
    name: CString,
    token: CString,
    resources: CString,
    logging: bool,
    environment: Environment,
}

impl Arguments {
    fn instantiate_co_simulation(
        &self,
        functions: &Functions3,
        options: &CoSimulationOptions<'_>,
    ) -> Result<Result<Component, Crash>, CallError> {
        let function = functions.instantiate_co_simulation.find()?;
        let intermediate = options.intermediate;
        let callback = (!intermediate.is_empty()).then_some(intermediate_update as _);
        // SAFETY: texts and lists outlive the call, the environment the instance.
        let component = guarded(self.environment, function.name, || unsafe {
            (function.pointer)(
                self.name.as_ptr(),
                self.token.as_ptr(),
                self.resources.as_ptr(),
                false,
                self.logging,
                options.event_mode,
                options.early_return,
                intermediate.as_ptr(),
                intermediate.len(),
                self.environment.pointer(),
                log_message,
                callback,
            )
        });

        Ok(component)
    }

    fn instantiate_model_exchange(
        &self,
        functions: &Functions3,
    ) -> Result<Result<Component, Crash>, CallError> {
        let function = functions.instantiate_model_exchange.find()?;
        // SAFETY: texts outlive the call, the environment the instance.
        let component = guarded(self.environment, function.name, || unsafe {
            (function.pointer)(
                self.name.as_ptr(),
                self.token.as_ptr(),
                self.resources.as_ptr(),
                false,
                self.logging,
                self.environment.pointer(),
                log_message,
            )
        });
        Ok(component)
    }
}

impl Instance3 {
    pub fn instantiate(
        from: Instantiation<'_>,
        options: &CoSimulationOptions<'_>,
    ) -> Result<Self, CallError> {
        let journal = from.journal;
        let functions = Functions3::of(from.library);
        let set_inputs = functions.set_float64.pointer;
        let callback_data = Box::new(CallbackData::new(set_inputs, options.intermediate.len()));
        let environment = Environment::of(&raw const *callback_data);
        let registered = Registered::three(environment, journal.clone());
        let arguments = Arguments {
            name: c_text(&journal.instance),
            token: c_text(from.token),
            resources: c_text(from.resources),
            logging: journal.log.is_some(),
            environment,
        };
        let shown = format_args!("{:?}, {:?}", from.token, from.resources);
        let function = if from.co_simulation {
            functions.instantiate_co_simulation.name
        } else {
            functions.instantiate_model_exchange.name
        };
        journal.log_call(function, shown);
        let made = if from.co_simulation {
            arguments.instantiate_co_simulation(&functions, options)?
        } else {
            arguments.instantiate_model_exchange(&functions)?
        };
        surroundings::put_back(environment);
        let component = made_component(function, made, &journal)?;
        callback_data.set_component(component);
        let version = Fmi3 {
            functions,
            co_simulation: from.co_simulation,
        };

        Ok(Self::of(OwnedComponent::new(
            component,
            callback_data,
            version,
            SharedFunctions::of(from.library, Version::Three),
            journal,
            registered,
        )))
    }
}

impl Instance for Instance3 {
    fn configuration(&mut self) -> Option<&mut dyn Configuration> {
        Some(self)
    }

    fn intermediate_inputs(&mut self) -> Option<&mut dyn IntermediateInputs> {
        Some(self)
    }
}

impl Lifecycle for Instance3 {
    fn journal(&self) -> &Journal {
        &self.calls.journal
    }

    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        let function = self.version.functions.enter_initialization;
        let given = tolerance.is_some();
        let tolerance = tolerance.unwrap_or(0.0);
        let (ends, stop) = (stop.is_finite(), known_stop(start, stop));
        let arguments = || format!("{given}, {tolerance:?}, {start:?}, {ends}, {stop:?}");

        // SAFETY: plain numbers.
        self.calls
            .demand(function, Purpose::Setup, arguments, |f, component| unsafe {
                f(component, given, tolerance, start, ends, stop)
            })
    }

    fn exit_initialization(&mut self) -> Result<(), CallError> {
        self.exit_initialization_mode()
    }

    fn terminate(&mut self) -> Result<(), CallError> {
        self.terminate_run()
    }
}

impl Configuration for Instance3 {
    fn enter_configuration(&mut self) -> Result<(), CallError> {
        let function = self.version.functions.enter_configuration;
        self.call_plain(function, Purpose::Setup)
    }

    fn exit_configuration(&mut self) -> Result<(), CallError> {
        let function = self.version.functions.exit_configuration;
        self.call_plain(function, Purpose::Setup)
    }
}

impl Derivatives for Instance3 {
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
                    seed.len(),
                    sensitivity.as_mut_ptr(),
                    sensitivity.len(),
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
        // SAFETY: the pointers belong to slices of these lengths.
        self.calls
            .get_values(function, references, |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    references.len(),
                    orders.as_ptr(),
                    values.as_mut_ptr(),
                    values.len(),
                )
            })
    }
}
