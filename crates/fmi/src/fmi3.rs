//! Instances of FMI 3.0.

#![allow(
    unsafe_code,
    reason = "every function of a unit is foreign code behind a pointer"
)]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

use dovetail_core::{MacroStep, Signal};

use crate::description::{Value, ValueType};
use crate::environments::{self, Environment, Registered};
use crate::ffi::{Component, FmuState, Functions3};
use crate::fmi2::MOST_EVENT_ROUNDS;
use crate::glider::Glider;
use crate::guard::{Ended, RawRequest, guarded};
use crate::instance::{
    CallError, Completed, Discrete, Instance, Purpose, Shell, Status, StepEnd, StepRequest,
};
use crate::journal::Journal;
use crate::numbers::{Scratch, as_number, c_text, fitting};
use crate::strings;

type Set3 = unsafe extern "C" fn(Component, *const u32, usize, *const f64, usize) -> c_int;
type Step3 =
    unsafe extern "C" fn(Component, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> c_int;
type Get3 = unsafe extern "C" fn(Component, *const u32, usize, *mut f64, usize) -> c_int;

unsafe extern "C" {
    fn dovetail_step3(request: *mut RawRequest, set: Set3, step: Step3, get: Get3) -> c_int;
}

/// What `instantiate` needs.
pub(crate) struct Start<'a> {
    pub functions: Functions3,
    pub co_simulation: bool,
    pub token: &'a str,
    pub resources: &'a str,
    pub event_mode: bool,
    pub early_return: bool,
    /// Inputs that may be set during intermediate update; empty where that is not used.
    pub intermediate: &'a [u32],
    pub journal: Arc<Journal>,
}

/// What the callbacks of an instance need. It never moves while the instance lives, and its address is what they are given.
struct Surroundings {
    component: Cell<Component>,
    set: Option<unsafe extern "C" fn(Component, *const u32, usize, *const f64, usize) -> c_int>,
    /// Inputs as functions of time, for the step under way.
    references: Cell<(*const u32, usize)>,
    signals: Cell<(*const Signal, usize)>,
    /// The worst status with which inputs were set on the way.
    status: Cell<c_int>,
    start: Cell<f64>,
    values: RefCell<Vec<f64>>,
}

/// One instance.
pub(crate) struct Instance3 {
    functions: Functions3,
    component: Component,
    co_simulation: bool,
    saved: FmuState,
    scratch: Scratch,
    shell: Shell,
    surroundings: Box<Surroundings>,
}

// SAFETY: the standard allows an instance to be used from any thread, by one at a time; `&mut self` sees to that.
unsafe impl Send for Instance3 {}

unsafe extern "C" fn log_message(
    environment: *mut c_void,
    status: c_int,
    _category: *const c_char,
    text: *const c_char,
) {
    if text.is_null() {
        return;
    }
    // SAFETY: the standard asks for a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    if let Some(journal) = environments::journal(Environment::of(environment)) {
        journal.hear(status, &text.to_string_lossy());
    }
}

/// Inputs are functions of time: wherever the unit stops on its way, it may have their values there.
unsafe extern "C" fn intermediate_update(
    environment: *mut c_void,
    time: f64,
    set_requested: u8,
    _get_allowed: u8,
    _step_finished: u8,
    _can_return_early: u8,
    early_return: *mut u8,
    _early_return_time: *mut f64,
) {
    if !early_return.is_null() {
        // SAFETY: a place that the unit gives for the answer.
        unsafe { *early_return = 0 };
    }
    let Some(asking) =
        environments::asking(Environment::of(environment)).filter(|_| set_requested != 0)
    else {
        return;
    };
    // SAFETY: the surroundings of an instance of 3.0 that lives: its step is under way.
    let environment = unsafe { &*asking.pointer().cast::<Surroundings>() };
    let ((signals, elements), (references, count)) =
        (environment.signals.get(), environment.references.get());
    let (Some(set), false) = (environment.set, signals.is_null()) else {
        return;
    };
    // SAFETY: `follow` set them for the step under way, where they are borrowed.
    let signals = unsafe { std::slice::from_raw_parts(signals, elements) };
    let mut values = environment.values.borrow_mut();
    values.clear();
    values.extend(
        signals
            .iter()
            .map(|signal| signal.value(time - environment.start.get())),
    );
    // SAFETY: references of variables with as many elements together as there are values.
    let status = unsafe {
        set(
            environment.component.get(),
            references,
            count,
            values.as_ptr(),
            values.len(),
        )
    };
    environment.status.set(environment.status.get().max(status));
}

impl Instance3 {
    pub fn new(start: Start<'_>) -> Result<Self, CallError> {
        let Start {
            functions,
            co_simulation,
            journal,
            intermediate,
            event_mode,
            early_return,
            ..
        } = start;
        let (name, token, resources) = (
            c_text(&journal.instance),
            c_text(start.token),
            c_text(start.resources),
        );
        let surroundings = Box::new(Surroundings {
            component: Cell::new(null_mut()),
            set: functions.set_float64().ok(),
            references: Cell::new((null(), 0)),
            signals: Cell::new((null(), 0)),
            status: Cell::new(0),
            start: Cell::new(0.0),
            values: RefCell::new(Vec::with_capacity(intermediate.len())),
        });
        let environment = Environment::of(&raw const *surroundings);
        let registered = Registered::three(environment, journal.clone());
        let pointer = environment.pointer();
        let (name, token, resources) = (name.as_ptr(), token.as_ptr(), resources.as_ptr());
        let logging = journal.log.is_some();
        let (function, made) = if co_simulation {
            let function = functions.instantiate_co_simulation()?;
            let callback = (!intermediate.is_empty()).then_some(intermediate_update as _);
            // SAFETY: texts and lists outlive the call, the environment the instance.
            let made = guarded(environment, || unsafe {
                function(
                    name,
                    token,
                    resources,
                    false,
                    logging,
                    event_mode,
                    early_return,
                    intermediate.as_ptr(),
                    intermediate.len(),
                    pointer,
                    log_message,
                    callback,
                )
            });
            ("fmi3InstantiateCoSimulation", made)
        } else {
            let function = functions.instantiate_model_exchange()?;
            // SAFETY: as above.
            let made = guarded(environment, || unsafe {
                function(name, token, resources, false, logging, pointer, log_message)
            });
            ("fmi3InstantiateModelExchange", made)
        };
        if let Some(log) = &journal.log {
            log.write(
                &journal.instance,
                format_args!("{function}({:?}, {:?})", start.token, start.resources),
            );
        }
        let shell = Shell::new(journal, registered);
        let message = || shell.journal.explanation();
        let component = made.map_err(|crash| CallError::Crashed {
            function,
            crash,
            message: message(),
        })?;
        if component.is_null() {
            return Err(CallError::NotInstantiated {
                function,
                message: message(),
            });
        }
        surroundings.component.set(component);
        let (saved, scratch) = (null_mut(), Scratch::default());
        Ok(Self {
            functions,
            component,
            co_simulation,
            saved,
            scratch,
            shell,
            surroundings,
        })
    }

    /// Every call of which the standard says `status f(instance)`.
    fn simple(
        &mut self,
        function: unsafe extern "C" fn(Component) -> c_int,
        name: &'static str,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        let component = self.component;
        // SAFETY: the component is live.
        self.shell.demand(name, purpose, String::new, || unsafe {
            function(component)
        })
    }

    fn do_step(
        &mut self,
        request: &StepRequest<'_>,
        flags: &mut Flags,
    ) -> Result<Status, CallError> {
        let (function, component) = (self.functions.do_step()?, self.component);
        let (time, size, final_step) =
            (request.step.start, request.step.size(), request.final_step);
        let arguments = || format!("{time:?}, {size:?}, {final_step}");
        let places = flags.places();
        // SAFETY: the places are ours.
        self.shell
            .call("fmi3DoStep", Purpose::Step, arguments, || unsafe {
                function(
                    component, time, size, final_step, places.0, places.1, places.2, places.3,
                )
            })
    }
}

/// What `fmi3DoStep` answers beside its status.
struct Flags {
    event: u8,
    terminate: u8,
    early: u8,
    last: f64,
}

impl Flags {
    fn places(&mut self) -> (*mut u8, *mut u8, *mut u8, *mut f64) {
        (
            &raw mut self.event,
            &raw mut self.terminate,
            &raw mut self.early,
            &raw mut self.last,
        )
    }
}

/// Gets values of an integer type through words of ours.
macro_rules! get_integers {
    ($self:ident, $getter:ident, $name:literal, $type:ty, $references:ident, $values:ident) => {{
        let (function, component) = ($self.functions.$getter()?, $self.component);
        let (list, count, room) = ($references.as_ptr(), $references.len(), $values.len());
        let place = $self.scratch.words(room).cast::<$type>();
        // SAFETY: the words are at least as wide as the values.
        $self.shell.demand(
            $name,
            Purpose::Values,
            || format!("{:?}", $references),
            || unsafe { function(component, list, count, place, room) },
        )?;
        for (i, value) in $values.iter_mut().enumerate() {
            // SAFETY: within the words, and written by the unit or zero.
            *value = unsafe { *place.add(i) } as f64;
        }
    }};
}

/// Sets values of an integer type through words of ours.
macro_rules! set_integers {
    ($self:ident, $kind:ident, $setter:ident, $name:literal, $type:ty, $references:ident, $values:ident) => {{
        let (function, component) = ($self.functions.$setter()?, $self.component);
        let (list, count, room) = ($references.as_ptr(), $references.len(), $values.len());
        let place = $self.scratch.words(room).cast::<$type>();
        for (i, &value) in $values.iter().enumerate() {
            // SAFETY: within the words.
            unsafe { *place.add(i) = fitting(value, $kind)? as $type };
        }
        // SAFETY: as above.
        $self.shell.demand(
            $name,
            Purpose::Values,
            || format!("{:?}, {:?}", $references, $values),
            || unsafe { function(component, list, count, place.cast_const(), room) },
        )
    }};
}

impl Instance for Instance3 {
    fn journal(&self) -> &Journal {
        &self.shell.journal
    }

    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }
        let (function, component) = (self.functions.get_float64()?, self.component);
        let (place, room) = (values.as_mut_ptr(), values.len());
        // SAFETY: the pointers belong to slices of these lengths.
        self.shell.demand(
            "fmi3GetFloat64",
            Purpose::Values,
            || format!("{references:?}"),
            || unsafe {
                function(
                    component,
                    references.as_ptr(),
                    references.len(),
                    place,
                    room,
                )
            },
        )
    }

    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }
        let (function, component) = (self.functions.set_float64()?, self.component);
        // SAFETY: the pointers belong to slices of these lengths.
        self.shell.demand(
            "fmi3SetFloat64",
            Purpose::Values,
            || format!("{references:?}, {values:?}"),
            || unsafe {
                function(
                    component,
                    references.as_ptr(),
                    references.len(),
                    values.as_ptr(),
                    values.len(),
                )
            },
        )
    }

    fn get_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        match kind {
            ValueType::Float64 => return self.get_floats(references, values),
            ValueType::Float32 => {
                get_integers!(self, get_float32, "fmi3GetFloat32", f32, references, values)
            }
            ValueType::Int64 | ValueType::Enumeration => {
                get_integers!(self, get_int64, "fmi3GetInt64", i64, references, values);
            }
            ValueType::Int32 => {
                get_integers!(self, get_int32, "fmi3GetInt32", i32, references, values)
            }
            ValueType::Int16 => {
                get_integers!(self, get_int16, "fmi3GetInt16", i16, references, values)
            }
            ValueType::Int8 => get_integers!(self, get_int8, "fmi3GetInt8", i8, references, values),
            ValueType::UInt64 => {
                get_integers!(self, get_uint64, "fmi3GetUInt64", u64, references, values)
            }
            ValueType::UInt32 => {
                get_integers!(self, get_uint32, "fmi3GetUInt32", u32, references, values)
            }
            ValueType::UInt16 => {
                get_integers!(self, get_uint16, "fmi3GetUInt16", u16, references, values)
            }
            ValueType::UInt8 => {
                get_integers!(self, get_uint8, "fmi3GetUInt8", u8, references, values)
            }
            ValueType::Boolean => {
                get_integers!(self, get_boolean, "fmi3GetBoolean", u8, references, values);
                values
                    .iter_mut()
                    .for_each(|value| *value = f64::from(u8::from(*value != 0.0)));
            }
            ValueType::String => {
                let (function, component) = (self.functions.get_string()?, self.component);
                let (list, count, room) = (references.as_ptr(), references.len(), values.len());
                let place = self.scratch.texts(room);
                // SAFETY: the pointers belong to slices of these lengths.
                self.shell.demand(
                    "fmi3GetString",
                    Purpose::Values,
                    || format!("{references:?}"),
                    || unsafe { function(component, list, count, place, room) },
                )?;
                for (value, &text) in values.iter_mut().zip(&self.scratch.texts) {
                    // SAFETY: a text that ends with a zero, valid until the next call of the unit.
                    let read =
                        || strings::number(&unsafe { CStr::from_ptr(text) }.to_string_lossy());
                    *value = if text.is_null() { 0.0 } else { read() };
                }
            }
            ValueType::Binary | ValueType::Clock => values.fill(f64::NAN), // not part of any interface
        }
        Ok(())
    }

    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        match kind {
            ValueType::Float64 => self.set_floats(references, values),
            ValueType::Float32 => {
                let (function, component) = (self.functions.set_float32()?, self.component);
                let (list, count, room) = (references.as_ptr(), references.len(), values.len());
                let place = self.scratch.words(room).cast::<f32>();
                for (i, &value) in values.iter().enumerate() {
                    // SAFETY: within the words.
                    unsafe { *place.add(i) = value as f32 };
                }
                // SAFETY: the pointers belong to slices of these lengths.
                self.shell.demand(
                    "fmi3SetFloat32",
                    Purpose::Values,
                    || format!("{references:?}, {values:?}"),
                    || unsafe { function(component, list, count, place.cast_const(), room) },
                )
            }
            ValueType::Int64 | ValueType::Enumeration => {
                set_integers!(
                    self,
                    kind,
                    set_int64,
                    "fmi3SetInt64",
                    i64,
                    references,
                    values
                )
            }
            ValueType::Int32 => set_integers!(
                self,
                kind,
                set_int32,
                "fmi3SetInt32",
                i32,
                references,
                values
            ),
            ValueType::Int16 => set_integers!(
                self,
                kind,
                set_int16,
                "fmi3SetInt16",
                i16,
                references,
                values
            ),
            ValueType::Int8 => {
                set_integers!(self, kind, set_int8, "fmi3SetInt8", i8, references, values)
            }
            ValueType::UInt64 => set_integers!(
                self,
                kind,
                set_uint64,
                "fmi3SetUInt64",
                u64,
                references,
                values
            ),
            ValueType::UInt32 => set_integers!(
                self,
                kind,
                set_uint32,
                "fmi3SetUInt32",
                u32,
                references,
                values
            ),
            ValueType::UInt16 => set_integers!(
                self,
                kind,
                set_uint16,
                "fmi3SetUInt16",
                u16,
                references,
                values
            ),
            ValueType::UInt8 => set_integers!(
                self,
                kind,
                set_uint8,
                "fmi3SetUInt8",
                u8,
                references,
                values
            ),
            ValueType::Boolean => {
                let (function, component) = (self.functions.set_boolean()?, self.component);
                let (list, count, room) = (references.as_ptr(), references.len(), values.len());
                let place = self.scratch.words(room).cast::<bool>();
                for (i, &value) in values.iter().enumerate() {
                    // SAFETY: within the words.
                    unsafe { *place.add(i) = value != 0.0 };
                }
                // SAFETY: the pointers belong to slices of these lengths.
                self.shell.demand(
                    "fmi3SetBoolean",
                    Purpose::Values,
                    || format!("{references:?}, {values:?}"),
                    || unsafe { function(component, list, count, place.cast_const(), room) },
                )
            }
            ValueType::String => {
                let texts: Vec<CString> = values
                    .iter()
                    .map(|&value| c_text(&strings::text(value)))
                    .collect();
                let places: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
                let (function, component) = (self.functions.set_string()?, self.component);
                let (list, count, place, room) = (
                    references.as_ptr(),
                    references.len(),
                    places.as_ptr(),
                    places.len(),
                );
                // SAFETY: the pointers belong to slices of these lengths, the texts outlive the call.
                self.shell.demand(
                    "fmi3SetString",
                    Purpose::Values,
                    || format!("{references:?}, {texts:?}"),
                    || unsafe { function(component, list, count, place, room) },
                )
            }
            ValueType::Binary | ValueType::Clock => Ok(()), // not part of any interface
        }
    }

    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError> {
        if let (ValueType::Binary, [Value::Binary(bytes)]) = (kind, values) {
            let (function, component) = (self.functions.set_binary()?, self.component);
            let (list, size, place) = (&raw const reference, bytes.len(), bytes.as_ptr());
            let (sizes, places) = (&raw const size, &raw const place);
            // SAFETY: one reference, one size, one pointer to so many bytes.
            return self.shell.demand(
                "fmi3SetBinary",
                Purpose::Values,
                || format!("[{reference}]"),
                || unsafe { function(component, list, 1, sizes, places, 1) },
            );
        }
        let numbers: Vec<f64> = values.iter().map(as_number).collect();
        self.set_values(kind, &[reference], &numbers)
    }

    fn enter_configuration(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.enter_configuration()?,
            "fmi3EnterConfigurationMode",
            Purpose::Setup,
        )
    }

    fn exit_configuration(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.exit_configuration()?,
            "fmi3ExitConfigurationMode",
            Purpose::Setup,
        )
    }

    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        let (function, component) = (self.functions.enter_initialization()?, self.component);
        let (given, tolerance) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        let arguments = || format!("{given}, {tolerance:?}, {start:?}, true, {stop:?}");
        // SAFETY: plain numbers.
        self.shell.demand(
            "fmi3EnterInitializationMode",
            Purpose::Setup,
            arguments,
            || unsafe { function(component, given, tolerance, start, true, stop) },
        )
    }

    fn exit_initialization(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.exit_initialization()?,
            "fmi3ExitInitializationMode",
            Purpose::Setup,
        )
    }

    fn sample(&mut self) -> bool {
        self.shell.weight = self.shell.sampler.due();
        self.shell.weight.is_some()
    }

    fn took(&mut self, time: Duration) {
        self.shell.sampler.took(time);
    }

    fn terminate(&mut self) -> Result<(), CallError> {
        if self.shell.failed {
            return Ok(()); // the standard allows nothing but freeing it
        }
        self.simple(self.functions.terminate()?, "fmi3Terminate", Purpose::Setup)
    }

    fn save(&mut self) -> Result<(), CallError> {
        let (function, component, place) = (
            self.functions.get_state()?,
            self.component,
            &raw mut self.saved,
        );
        // SAFETY: the place holds null or a state of this component, as the standard asks.
        self.shell
            .demand("fmi3GetFMUState", Purpose::State, String::new, || unsafe {
                function(component, place)
            })
    }

    fn restore(&mut self) -> Result<(), CallError> {
        let (function, component, saved) =
            (self.functions.set_state()?, self.component, self.saved);
        // SAFETY: the state is one of this component.
        self.shell
            .demand("fmi3SetFMUState", Purpose::State, String::new, || unsafe {
                function(component, saved)
            })
    }

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
        let (function, component) = (self.functions.directional_derivative()?, self.component);
        let (u, nu, k, nk) = (
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
        );
        let (seed_at, seeds, place, room) = (
            seed.as_ptr(),
            seed.len(),
            sensitivity.as_mut_ptr(),
            sensitivity.len(),
        );
        let arguments = || format!("{unknowns:?}, {knowns:?}, {seed:?}");
        // SAFETY: the pointers belong to slices of these lengths.
        self.shell.demand(
            "fmi3GetDirectionalDerivative",
            Purpose::Values,
            arguments,
            || unsafe { function(component, u, nu, k, nk, seed_at, seeds, place, room) },
        )
    }

    fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let (function, component) = (self.functions.get_output_derivatives()?, self.component);
        let (list, count, orders) = (references.as_ptr(), references.len(), orders.as_ptr());
        let (place, room) = (values.as_mut_ptr(), values.len());
        let arguments = || format!("{references:?}");
        // SAFETY: the pointers belong to slices of these lengths.
        self.shell.demand(
            "fmi3GetOutputDerivatives",
            Purpose::Values,
            arguments,
            || unsafe { function(component, list, count, orders, place, room) },
        )
    }

    fn set_input_derivatives(&mut self, _: &[u32], _: &[i32], _: &[f64]) -> Result<(), CallError> {
        Ok(()) // 3.0 has intermediate update instead
    }

    fn follow(&mut self, references: &[u32], signals: &[Signal], start: f64) {
        self.surroundings
            .references
            .set((references.as_ptr(), references.len()));
        let first = if signals.is_empty() {
            null()
        } else {
            signals.as_ptr()
        };
        self.surroundings.signals.set((first, signals.len()));
        self.surroundings.start.set(start);
        self.surroundings.status.set(0);
    }

    fn component(&self) -> Component {
        self.component
    }

    fn environment(&self) -> Environment {
        self.shell.environment()
    }

    #[inline]
    fn is_quick(&mut self) -> bool {
        self.shell.is_quick()
    }

    #[inline]
    fn glide(&mut self, glider: &mut Glider, step: MacroStep) -> bool {
        let functions = &self.functions;
        let (Some(set), Some(go), Some(get), false) = (
            functions.set_float64,
            functions.do_step,
            functions.get_float64,
            self.shell.dead,
        ) else {
            return false;
        };
        // SAFETY: the pointers of the request belong to slices of its lengths; the guard was installed by `instantiate`.
        let ended = unsafe { dovetail_step3(glider.request(step), set, go, get) };
        glider.ended = ended;
        Ended::is_fine(ended)
    }

    #[cold]
    fn not_glided(&mut self, glider: &mut Glider, _step: MacroStep) -> Result<Status, CallError> {
        if self.shell.dead {
            return Err(self.shell.is_dead());
        }
        let functions = &self.functions;
        let (_, _, _) = (
            functions.set_float64()?,
            functions.do_step()?,
            functions.get_float64()?,
        );
        match Ended::of(glider.ended) {
            Ended::Step(status) => self.shell.judge("fmi3DoStep", Ok(status)),
            Ended::Crashed(crash) => self.shell.judge("fmi3DoStep", Err(crash)),
            Ended::Set(status) => Err(self.shell.not_done("fmi3SetFloat64", status)),
            Ended::Get(0 | 1) => Ok(Status::Fine),
            Ended::Get(status) => Err(self.shell.not_done("fmi3GetFloat64", status)),
        }
    }

    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError> {
        let mut flags = Flags {
            event: 0,
            terminate: 0,
            early: 0,
            last: request.step.end,
        };
        self.set_floats(request.input_references, request.input_values)?;
        let ended = self.do_step(request, &mut flags)?;
        if ended == Status::Fine {
            self.get_floats(request.output_references, outputs)?;
        }
        if self.surroundings.status.get() > 1 {
            return Err(self.shell.not_done(
                "fmi3SetFloat64 during the step",
                self.surroundings.status.replace(0),
            ));
        }
        let discarded = ended == Status::Discard;
        // A unit that does not stop early need not say where it stopped.
        let last = if flags.early != 0 || flags.terminate != 0 || discarded {
            flags.last
        } else {
            request.step.end
        };
        Ok(StepEnd {
            discarded,
            last,
            event: flags.event != 0,
            terminate: flags.terminate != 0,
        })
    }

    fn enter_event_mode(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.enter_event_mode()?,
            "fmi3EnterEventMode",
            Purpose::Step,
        )
    }

    fn update_discrete_states(&mut self) -> Result<Discrete, CallError> {
        let (function, component) = (self.functions.update_discrete_states()?, self.component);
        let mut changed = false;
        for _ in 0..MOST_EVENT_ROUNDS {
            let (mut flags, mut next) = ([0_u8; 5], f64::INFINITY);
            let (place, next_place) = (flags.as_mut_ptr(), &raw mut next);
            // SAFETY: five flags and a number of ours.
            self.shell.demand(
                "fmi3UpdateDiscreteStates",
                Purpose::Step,
                String::new,
                || unsafe {
                    function(
                        component,
                        place,
                        place.add(1),
                        place.add(2),
                        place.add(3),
                        place.add(4),
                        next_place,
                    )
                },
            )?;
            let [again, terminate, _nominals, values, defined] = flags.map(|flag| flag != 0);
            changed |= values;
            if terminate || !again {
                let next_event = if defined { next } else { f64::INFINITY };
                return Ok(Discrete {
                    terminate,
                    states_changed: changed,
                    next_event,
                });
            }
        }
        Err(self.shell.refused(
            "fmi3UpdateDiscreteStates",
            "a wish for yet another round after a thousand of them",
        ))
    }

    fn leave_event_mode(&mut self) -> Result<(), CallError> {
        if self.co_simulation {
            self.simple(
                self.functions.enter_step_mode()?,
                "fmi3EnterStepMode",
                Purpose::Step,
            )
        } else {
            self.simple(
                self.functions.enter_continuous_time_mode()?,
                "fmi3EnterContinuousTimeMode",
                Purpose::Step,
            )
        }
    }

    fn set_time(&mut self, time: f64) -> Result<(), CallError> {
        let (function, component) = (self.functions.set_time()?, self.component);
        // SAFETY: a plain number.
        self.shell.demand(
            "fmi3SetTime",
            Purpose::Values,
            || format!("{time:?}"),
            || unsafe { function(component, time) },
        )
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), CallError> {
        let (function, component) = (self.functions.set_continuous_states()?, self.component);
        // SAFETY: the pointer belongs to a slice of this length.
        self.shell.demand(
            "fmi3SetContinuousStates",
            Purpose::Values,
            || format!("{states:?}"),
            || unsafe { function(component, states.as_ptr(), states.len()) },
        )
    }

    fn get_states(&mut self, states: &mut [f64]) -> Result<(), CallError> {
        let (function, component) = (self.functions.get_continuous_states()?, self.component);
        let (place, count) = (states.as_mut_ptr(), states.len());
        // SAFETY: the pointer belongs to a slice of this length.
        self.shell.demand(
            "fmi3GetContinuousStates",
            Purpose::Values,
            String::new,
            || unsafe { function(component, place, count) },
        )
    }

    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Result<(), CallError> {
        let (function, component) = (self.functions.get_derivatives()?, self.component);
        let (place, count) = (derivatives.as_mut_ptr(), derivatives.len());
        // SAFETY: the pointer belongs to a slice of this length.
        self.shell.demand(
            "fmi3GetContinuousStateDerivatives",
            Purpose::Step,
            String::new,
            || unsafe { function(component, place, count) },
        )
    }

    fn get_indicators(&mut self, indicators: &mut [f64]) -> Result<(), CallError> {
        let (function, component) = (self.functions.get_event_indicators()?, self.component);
        let (place, count) = (indicators.as_mut_ptr(), indicators.len());
        // SAFETY: the pointer belongs to a slice of this length.
        self.shell.demand(
            "fmi3GetEventIndicators",
            Purpose::Step,
            String::new,
            || unsafe { function(component, place, count) },
        )
    }

    fn completed_step(&mut self) -> Result<Completed, CallError> {
        let (function, component) = (self.functions.completed_integrator_step()?, self.component);
        let (mut event, mut terminate) = (0, 0);
        let places = (&raw mut event, &raw mut terminate);
        // SAFETY: the places are ours.
        self.shell.demand(
            "fmi3CompletedIntegratorStep",
            Purpose::Step,
            || "true".into(),
            || unsafe { function(component, true, places.0, places.1) },
        )?;
        Ok(Completed {
            event: event != 0,
            terminate: terminate != 0,
        })
    }
}

impl Drop for Instance3 {
    fn drop(&mut self) {
        let component = self.component;
        if let (Ok(free_state), false) = (self.functions.free_state(), self.saved.is_null()) {
            let place = &raw mut self.saved;
            // SAFETY: a state of this component, freed once. What it answers does not matter any more.
            let _ = self
                .shell
                .demand("fmi3FreeFMUState", Purpose::Setup, String::new, || unsafe {
                    free_state(component, place)
                });
        }
        if let (Ok(free), false) = (self.functions.free_instance(), self.shell.dead) {
            // SAFETY: the component is live and not used after this.
            let _ = guarded(self.shell.environment(), || unsafe { free(component) });
        }
    }
}
