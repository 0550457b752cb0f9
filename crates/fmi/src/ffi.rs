//! The functions of the two standards, as types. Nothing is called here.

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

/// Declares a table of functions, by their symbols; a function that both versions have alike has
/// two.
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
                $field:ident: $two:literal, $three:literal
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
                let symbol = |two: &'static str, three: &'static str| match version {
                    Version::Two => two,
                    Version::Three => three,
                };
                Self { $($field: Symbol::look_up(library, symbol($two, $three)),)* }
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
    /// What both versions have, with the same arguments.
    SharedFunctions by version {
        reset: "fmi2Reset", "fmi3Reset" = fn(Component) -> c_int;
        free_instance: "fmi2FreeInstance", "fmi3FreeInstance" = fn(Component);
        exit_initialization: "fmi2ExitInitializationMode", "fmi3ExitInitializationMode"
            = fn(Component) -> c_int;
        terminate: "fmi2Terminate", "fmi3Terminate" = fn(Component) -> c_int;
        get_state: "fmi2GetFMUstate", "fmi3GetFMUState" = fn(Component, *mut FmuState) -> c_int;
        set_state: "fmi2SetFMUstate", "fmi3SetFMUState" = fn(Component, FmuState) -> c_int;
        free_state: "fmi2FreeFMUstate", "fmi3FreeFMUState" = fn(Component, *mut FmuState) -> c_int;
        state_size: "fmi2SerializedFMUstateSize", "fmi3SerializedFMUStateSize"
            = fn(Component, FmuState, *mut usize) -> c_int;
        serialize_state: "fmi2SerializeFMUstate", "fmi3SerializeFMUState"
            = fn(Component, FmuState, *mut u8, usize) -> c_int;
        deserialize_state: "fmi2DeSerializeFMUstate", "fmi3DeserializeFMUState"
            = fn(Component, *const u8, usize, *mut FmuState) -> c_int;
        enter_event_mode: "fmi2EnterEventMode", "fmi3EnterEventMode" = fn(Component) -> c_int;
        enter_continuous_time_mode: "fmi2EnterContinuousTimeMode", "fmi3EnterContinuousTimeMode"
            = fn(Component) -> c_int;
        set_time: "fmi2SetTime", "fmi3SetTime" = fn(Component, f64) -> c_int;
        set_continuous_states: "fmi2SetContinuousStates", "fmi3SetContinuousStates"
            = fn(Component, *const f64, usize) -> c_int;
        get_continuous_states: "fmi2GetContinuousStates", "fmi3GetContinuousStates"
            = fn(Component, *mut f64, usize) -> c_int;
        get_derivatives: "fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives"
            = fn(Component, *mut f64, usize) -> c_int;
        get_event_indicators: "fmi2GetEventIndicators", "fmi3GetEventIndicators"
            = fn(Component, *mut f64, usize) -> c_int;
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
    /// FMI 2.0.
    Functions2 {
        instantiate: "fmi2Instantiate"
            = fn(Text, c_int, Text, Text, *const Callbacks2, c_int, c_int) -> Component;
        setup_experiment: "fmi2SetupExperiment"
            = fn(Component, c_int, f64, f64, c_int, f64) -> c_int;
        enter_initialization: "fmi2EnterInitializationMode" = fn(Component) -> c_int;
        get_real: "fmi2GetReal" = fn(Component, Refs, usize, *mut f64) -> c_int;
        get_integer: "fmi2GetInteger" = fn(Component, Refs, usize, *mut i32) -> c_int;
        get_boolean: "fmi2GetBoolean" = fn(Component, Refs, usize, *mut c_int) -> c_int;
        get_string: "fmi2GetString" = fn(Component, Refs, usize, *mut Text) -> c_int;
        set_real: "fmi2SetReal" = fn(Component, Refs, usize, *const f64) -> c_int;
        set_integer: "fmi2SetInteger" = fn(Component, Refs, usize, *const i32) -> c_int;
        set_boolean: "fmi2SetBoolean" = fn(Component, Refs, usize, *const c_int) -> c_int;
        set_string: "fmi2SetString" = fn(Component, Refs, usize, *const Text) -> c_int;
        directional_derivative: "fmi2GetDirectionalDerivative"
            = fn(Component, Refs, usize, Refs, usize, *const f64, *mut f64) -> c_int;
        new_discrete_states: "fmi2NewDiscreteStates" = fn(Component, *mut EventInfo2) -> c_int;
        completed_integrator_step: "fmi2CompletedIntegratorStep"
            = fn(Component, c_int, *mut c_int, *mut c_int) -> c_int;
        set_input_derivatives: "fmi2SetRealInputDerivatives"
            = fn(Component, Refs, usize, *const i32, *const f64) -> c_int;
        get_output_derivatives: "fmi2GetRealOutputDerivatives"
            = fn(Component, Refs, usize, *const i32, *mut f64) -> c_int;
        do_step: "fmi2DoStep" = fn(Component, f64, f64, c_int) -> c_int;
        get_status: "fmi2GetStatus" = fn(Component, c_int, *mut c_int) -> c_int;
        get_real_status: "fmi2GetRealStatus" = fn(Component, c_int, *mut f64) -> c_int;
        get_boolean_status: "fmi2GetBooleanStatus" = fn(Component, c_int, *mut c_int) -> c_int;
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
