//! The functions of the three standards, as types. Nothing is called here.

#![allow(unsafe_code, reason = "functions of foreign code are typed by hand")]

use std::ffi::{c_char, c_int, c_void};

use crate::description::Version;
use crate::library::{Library, MissingSymbol};

/// An FMU's own handle, opaque.
pub(crate) type Component = *mut c_void;
/// A saved state, opaque.
pub(crate) type FmuState = *mut c_void;
type Refs = *const u32;
type Text = *const c_char;

/// A function of an FMU, which is there, and the name by which errors and the call log know it.
#[derive(Clone, Copy)]
pub(crate) struct Function<F> {
    pub name: &'static str,
    pub pointer: F,
}

/// A function that an FMU may have. Many lack what they do not need, and that matters only when it
/// is called.
#[derive(Clone, Copy)]
pub(crate) struct Symbol<F> {
    pub name: &'static str,
    pub pointer: Option<F>,
}

impl<F: Copy> Symbol<F> {
    fn look_up(library: &Library, name: &'static str) -> Self {
        let pointer = library.symbol(name);
        Self { name, pointer }
    }

    /// Its address for C; null where it is not there.
    pub fn address(&self) -> *const c_void {
        const { assert!(size_of::<F>() == size_of::<*const c_void>(), "a function") };
        let address = |pointer: F| {
            // SAFETY: `F` is a pointer to a function, of the same size as any other.
            unsafe { std::mem::transmute_copy::<F, *const c_void>(&pointer) }
        };
        self.pointer.map_or(std::ptr::null(), address)
    }

    /// The function, or an error that names it.
    #[inline]
    pub fn find(&self) -> Result<Function<F>, MissingSymbol> {
        let pointer = self.pointer.ok_or(MissingSymbol(self.name))?;
        Ok(Function {
            name: self.name,
            pointer,
        })
    }
}

/// Declares a table of functions, by their symbols; a function that several versions have alike has
/// one for each.
macro_rules! functions {
    (
        $(#[$doc:meta])*
        $table:ident {
            $($field:ident: $symbol:literal = fn($($argument:ty),* $(,)?) $(-> $answer:ty)?;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub $field: Symbol<unsafe extern "C" fn($($argument),*) $(-> $answer)?>,)*
        }

        impl $table {
            /// Looks all functions up.
            pub fn of(library: &Library) -> Self {
                Self { $($field: Symbol::look_up(library, $symbol),)* }
            }
        }
    };
    (
        $(#[$doc:meta])*
        $table:ident by version {
            $(
                $field:ident: $one:literal, $two:literal, $three:literal
                    = fn($($argument:ty),*) $(-> $answer:ty)?;
            )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub $field: Symbol<unsafe extern "C" fn($($argument),*) $(-> $answer)?>,)*
        }

        impl $table {
            /// Looks all functions up.
            pub fn of(library: &Library, version: Version) -> Self {
                let symbol = |one: &'static str, two: &'static str, three: &'static str| match version {
                    Version::One => one,
                    Version::Two => two,
                    Version::Three => three,
                };
                Self { $($field: Symbol::look_up(library, symbol($one, $two, $three)),)* }
            }
        }
    };
    (
        $(#[$doc:meta])*
        $table:ident<$truth:ident> {
            $(
                $field:ident: $one:literal, $two:literal
                    = fn($($argument:ty),* $(,)?) $(-> $answer:ty)?;
            )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table<$truth> {
            $(pub $field: Symbol<unsafe extern "C" fn($($argument),*) $(-> $answer)?>,)*
        }

        impl<$truth: Copy> $table<$truth> {
            /// Looks all functions up by their names in 1.0.
            pub fn one(library: &Library) -> Self {
                Self { $($field: Symbol::look_up(library, $one),)* }
            }

            /// Looks all functions up by their names in 2.0.
            pub fn two(library: &Library) -> Self {
                Self { $($field: Symbol::look_up(library, $two),)* }
            }
        }
    };
}

/// A function of the component alone.
pub(crate) type PlainFunction = unsafe extern "C" fn(Component) -> c_int;
/// A function of the place of a saved state.
pub(crate) type SetState = unsafe extern "C" fn(Component, FmuState) -> c_int;
pub(crate) type StateFunction = unsafe extern "C" fn(Component, *mut FmuState) -> c_int;
/// A function that writes so many numbers.
pub(crate) type NumbersFunction = unsafe extern "C" fn(Component, *mut f64, usize) -> c_int;

functions! {
    /// What several versions have with the same arguments. What 1.0 does not have is not there. Its instances for Model
    /// Exchange end by other functions than those for Co-Simulation, which are named here.
    SharedFunctions by version {
        reset: "fmiResetSlave", "fmi2Reset", "fmi3Reset" = fn(Component) -> c_int;
        free_instance: "fmiFreeSlaveInstance", "fmi2FreeInstance", "fmi3FreeInstance" = fn(Component);
        exit_initialization: "fmiExitInitializationMode", "fmi2ExitInitializationMode", "fmi3ExitInitializationMode"
            = fn(Component) -> c_int;
        terminate: "fmiTerminateSlave", "fmi2Terminate", "fmi3Terminate" = fn(Component) -> c_int;
        get_state: "fmiGetFMUstate", "fmi2GetFMUstate", "fmi3GetFMUState" = fn(Component, *mut FmuState) -> c_int;
        set_state: "fmiSetFMUstate", "fmi2SetFMUstate", "fmi3SetFMUState" = fn(Component, FmuState) -> c_int;
        free_state: "fmiFreeFMUstate", "fmi2FreeFMUstate", "fmi3FreeFMUState" = fn(Component, *mut FmuState) -> c_int;
        state_size: "fmiSerializedFMUstateSize", "fmi2SerializedFMUstateSize", "fmi3SerializedFMUStateSize"
            = fn(Component, FmuState, *mut usize) -> c_int;
        serialize_state: "fmiSerializeFMUstate", "fmi2SerializeFMUstate", "fmi3SerializeFMUState"
            = fn(Component, FmuState, *mut u8, usize) -> c_int;
        deserialize_state: "fmiDeSerializeFMUstate", "fmi2DeSerializeFMUstate", "fmi3DeserializeFMUState"
            = fn(Component, *const u8, usize, *mut FmuState) -> c_int;
        enter_event_mode: "fmiEnterEventMode", "fmi2EnterEventMode", "fmi3EnterEventMode" = fn(Component) -> c_int;
        enter_continuous_time_mode: "fmiEnterContinuousTimeMode", "fmi2EnterContinuousTimeMode", "fmi3EnterContinuousTimeMode"
            = fn(Component) -> c_int;
        set_time: "fmiSetTime", "fmi2SetTime", "fmi3SetTime" = fn(Component, f64) -> c_int;
        set_continuous_states: "fmiSetContinuousStates", "fmi2SetContinuousStates", "fmi3SetContinuousStates"
            = fn(Component, *const f64, usize) -> c_int;
        get_continuous_states: "fmiGetContinuousStates", "fmi2GetContinuousStates", "fmi3GetContinuousStates"
            = fn(Component, *mut f64, usize) -> c_int;
        get_derivatives: "fmiGetDerivatives", "fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives"
            = fn(Component, *mut f64, usize) -> c_int;
        get_event_indicators: "fmiGetEventIndicators", "fmi2GetEventIndicators", "fmi3GetEventIndicators"
            = fn(Component, *mut f64, usize) -> c_int;
    }
}

functions! {
    /// What 1.0 and 2.0 have alike, but for the type of truth values.
    ScalarFunctions<B> {
        get_real: "fmiGetReal", "fmi2GetReal" = fn(Component, Refs, usize, *mut f64) -> c_int;
        get_integer: "fmiGetInteger", "fmi2GetInteger" = fn(Component, Refs, usize, *mut i32) -> c_int;
        get_boolean: "fmiGetBoolean", "fmi2GetBoolean" = fn(Component, Refs, usize, *mut B) -> c_int;
        get_string: "fmiGetString", "fmi2GetString" = fn(Component, Refs, usize, *mut Text) -> c_int;
        set_real: "fmiSetReal", "fmi2SetReal" = fn(Component, Refs, usize, *const f64) -> c_int;
        set_integer: "fmiSetInteger", "fmi2SetInteger" = fn(Component, Refs, usize, *const i32) -> c_int;
        set_boolean: "fmiSetBoolean", "fmi2SetBoolean" = fn(Component, Refs, usize, *const B) -> c_int;
        set_string: "fmiSetString", "fmi2SetString" = fn(Component, Refs, usize, *const Text) -> c_int;
        directional_derivative: "fmiGetDirectionalDerivative", "fmi2GetDirectionalDerivative"
            = fn(Component, Refs, usize, Refs, usize, *const f64, *mut f64) -> c_int;
        set_input_derivatives: "fmiSetRealInputDerivatives", "fmi2SetRealInputDerivatives"
            = fn(Component, Refs, usize, *const i32, *const f64) -> c_int;
        get_output_derivatives: "fmiGetRealOutputDerivatives", "fmi2GetRealOutputDerivatives"
            = fn(Component, Refs, usize, *const i32, *mut f64) -> c_int;
        do_step: "fmiDoStep", "fmi2DoStep" = fn(Component, f64, f64, B) -> c_int;
        get_status: "fmiGetStatus", "fmi2GetStatus" = fn(Component, c_int, *mut c_int) -> c_int;
        get_real_status: "fmiGetRealStatus", "fmi2GetRealStatus" = fn(Component, c_int, *mut f64) -> c_int;
        get_boolean_status: "fmiGetBooleanStatus", "fmi2GetBooleanStatus" = fn(Component, c_int, *mut B) -> c_int;
    }
}

/// The callbacks of 1.0 for Co-Simulation, which are passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SlaveCallbacks1 {
    pub logger: *const c_void,
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub step_finished: Option<unsafe extern "C" fn(Component, c_int)>,
}

/// The callbacks of 1.0 for Model Exchange, which are passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ModelCallbacks1 {
    pub logger: *const c_void,
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
}

/// `fmiEventInfo`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct EventInfo1 {
    pub iteration_converged: c_char,
    pub references_changed: c_char,
    pub values_changed: c_char,
    pub terminate: c_char,
    pub time_event: c_char,
    pub next_event_time: f64,
}

functions! {
    /// FMI 1.0. In the library every name begins with the model's identifier.
    Functions1 {
        instantiate_slave: "fmiInstantiateSlave"
            = fn(Text, Text, Text, Text, f64, c_char, c_char, SlaveCallbacks1, c_char) -> Component;
        initialize_slave: "fmiInitializeSlave" = fn(Component, f64, c_char, f64) -> c_int;
        instantiate_model: "fmiInstantiateModel" = fn(Text, Text, ModelCallbacks1, c_char) -> Component;
        initialize: "fmiInitialize" = fn(Component, c_char, f64, *mut EventInfo1) -> c_int;
        free_model: "fmiFreeModelInstance" = fn(Component);
        terminate_model: "fmiTerminate" = fn(Component) -> c_int;
        event_update: "fmiEventUpdate" = fn(Component, c_char, *mut EventInfo1) -> c_int;
        completed_integrator_step: "fmiCompletedIntegratorStep" = fn(Component, *mut c_char) -> c_int;
    }
}

/// `fmi2CallbackFunctions`.
#[repr(C)]
pub(crate) struct Callbacks2 {
    pub logger: *const c_void,
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    pub environment: *mut c_void,
}

/// `fmi2EventInfo`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct EventInfo2 {
    pub new_discrete_states_needed: c_int,
    pub terminate: c_int,
    pub nominals_changed: c_int,
    pub values_changed: c_int,
    pub next_event_time_defined: c_int,
    pub next_event_time: f64,
}

functions! {
    /// What 2.0 alone has.
    Functions2 {
        instantiate: "fmi2Instantiate"
            = fn(Text, c_int, Text, Text, *const Callbacks2, c_int, c_int) -> Component;
        setup_experiment: "fmi2SetupExperiment"
            = fn(Component, c_int, f64, f64, c_int, f64) -> c_int;
        enter_initialization: "fmi2EnterInitializationMode" = fn(Component) -> c_int;
        new_discrete_states: "fmi2NewDiscreteStates" = fn(Component, *mut EventInfo2) -> c_int;
        completed_integrator_step: "fmi2CompletedIntegratorStep"
            = fn(Component, c_int, *mut c_int, *mut c_int) -> c_int;
    }
}

/// `fmi3LogMessageCallback`.
pub(crate) type LogMessage3 = unsafe extern "C" fn(*mut c_void, c_int, Text, Text);
/// `fmi3IntermediateUpdateCallback`.
pub(crate) type IntermediateUpdate3 =
    unsafe extern "C" fn(*mut c_void, f64, u8, u8, u8, u8, *mut u8, *mut f64);

functions! {
    /// FMI 3.0. What an FMU writes into a `bool` may be any byte, hence `u8`.
    Functions3 {
        instantiate_model_exchange: "fmi3InstantiateModelExchange"
            = fn(Text, Text, Text, bool, bool, *mut c_void, LogMessage3) -> Component;
        instantiate_co_simulation: "fmi3InstantiateCoSimulation" = fn(
            Text, Text, Text, bool, bool, bool, bool, Refs, usize, *mut c_void, LogMessage3,
            Option<IntermediateUpdate3>,
        ) -> Component;
        enter_initialization: "fmi3EnterInitializationMode"
            = fn(Component, bool, f64, f64, bool, f64) -> c_int;
        enter_configuration: "fmi3EnterConfigurationMode" = fn(Component) -> c_int;
        exit_configuration: "fmi3ExitConfigurationMode" = fn(Component) -> c_int;
        update_discrete_states: "fmi3UpdateDiscreteStates"
            = fn(Component, *mut u8, *mut u8, *mut u8, *mut u8, *mut u8, *mut f64) -> c_int;
        enter_step_mode: "fmi3EnterStepMode" = fn(Component) -> c_int;
        get_float64: "fmi3GetFloat64" = fn(Component, Refs, usize, *mut f64, usize) -> c_int;
        get_float32: "fmi3GetFloat32" = fn(Component, Refs, usize, *mut f32, usize) -> c_int;
        get_int64: "fmi3GetInt64" = fn(Component, Refs, usize, *mut i64, usize) -> c_int;
        get_int32: "fmi3GetInt32" = fn(Component, Refs, usize, *mut i32, usize) -> c_int;
        get_int16: "fmi3GetInt16" = fn(Component, Refs, usize, *mut i16, usize) -> c_int;
        get_int8: "fmi3GetInt8" = fn(Component, Refs, usize, *mut i8, usize) -> c_int;
        get_uint64: "fmi3GetUInt64" = fn(Component, Refs, usize, *mut u64, usize) -> c_int;
        get_uint32: "fmi3GetUInt32" = fn(Component, Refs, usize, *mut u32, usize) -> c_int;
        get_uint16: "fmi3GetUInt16" = fn(Component, Refs, usize, *mut u16, usize) -> c_int;
        get_uint8: "fmi3GetUInt8" = fn(Component, Refs, usize, *mut u8, usize) -> c_int;
        get_boolean: "fmi3GetBoolean" = fn(Component, Refs, usize, *mut u8, usize) -> c_int;
        get_string: "fmi3GetString" = fn(Component, Refs, usize, *mut Text, usize) -> c_int;
        get_binary: "fmi3GetBinary"
            = fn(Component, Refs, usize, *mut usize, *mut *const u8, usize) -> c_int;
        set_float64: "fmi3SetFloat64" = fn(Component, Refs, usize, *const f64, usize) -> c_int;
        set_float32: "fmi3SetFloat32" = fn(Component, Refs, usize, *const f32, usize) -> c_int;
        set_int64: "fmi3SetInt64" = fn(Component, Refs, usize, *const i64, usize) -> c_int;
        set_int32: "fmi3SetInt32" = fn(Component, Refs, usize, *const i32, usize) -> c_int;
        set_int16: "fmi3SetInt16" = fn(Component, Refs, usize, *const i16, usize) -> c_int;
        set_int8: "fmi3SetInt8" = fn(Component, Refs, usize, *const i8, usize) -> c_int;
        set_uint64: "fmi3SetUInt64" = fn(Component, Refs, usize, *const u64, usize) -> c_int;
        set_uint32: "fmi3SetUInt32" = fn(Component, Refs, usize, *const u32, usize) -> c_int;
        set_uint16: "fmi3SetUInt16" = fn(Component, Refs, usize, *const u16, usize) -> c_int;
        set_uint8: "fmi3SetUInt8" = fn(Component, Refs, usize, *const u8, usize) -> c_int;
        set_boolean: "fmi3SetBoolean" = fn(Component, Refs, usize, *const bool, usize) -> c_int;
        set_string: "fmi3SetString" = fn(Component, Refs, usize, *const Text, usize) -> c_int;
        set_binary: "fmi3SetBinary"
            = fn(Component, Refs, usize, *const usize, *const *const u8, usize) -> c_int;
        directional_derivative: "fmi3GetDirectionalDerivative"
            = fn(Component, Refs, usize, Refs, usize, *const f64, usize, *mut f64, usize) -> c_int;
        completed_integrator_step: "fmi3CompletedIntegratorStep"
            = fn(Component, bool, *mut u8, *mut u8) -> c_int;
        get_output_derivatives: "fmi3GetOutputDerivatives"
            = fn(Component, Refs, usize, *const i32, *mut f64, usize) -> c_int;
        do_step: "fmi3DoStep"
            = fn(Component, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> c_int;
    }
}
