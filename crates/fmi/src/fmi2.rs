//! Instances of FMI 2.0.

#![allow(
    unsafe_code,
    reason = "every function of a unit is foreign code behind a pointer"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Once};
use std::time::Duration;

use dovetail_core::{MacroStep, Signal};

use crate::description::{Value, ValueType};
use crate::environments::{self, Environment, Registered};
use crate::ffi::{Callbacks2, Component, EventInfo2, FmuState, Functions2};
use crate::glider::Glider;
use crate::guard::{Ended, RawRequest, guarded};
use crate::instance::{
    CallError, Completed, Discrete, Instance, Purpose, Shell, Status, StepEnd, StepRequest,
};
use crate::journal::Journal;
use crate::numbers::{Scratch, fitting};
use crate::strings;

unsafe extern "C" {
    fn dovetail_log_sink(
        sink: unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char),
    );
    fn dovetail_fmi2_logger();
    fn dovetail_step2(request: *mut RawRequest, set: Set2, step: Step2, get: Get2) -> c_int;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

type Set2 = unsafe extern "C" fn(Component, *const u32, usize, *const f64) -> c_int;
type Step2 = unsafe extern "C" fn(Component, f64, f64, c_int) -> c_int;
type Get2 = unsafe extern "C" fn(Component, *const u32, usize, *mut f64) -> c_int;

/// Kinds of status that can be asked for.
const DO_STEP_STATUS: c_int = 0;
const LAST_SUCCESSFUL_TIME: c_int = 2;
const TERMINATED: c_int = 3;

/// An event iteration that is not over after so many rounds never will be.
pub(crate) const MOST_EVENT_ROUNDS: usize = 1000;

/// What `instantiate` needs.
pub(crate) struct Start<'a> {
    pub functions: Functions2,
    pub co_simulation: bool,
    pub token: &'a str,
    pub resources: &'a str,
    pub journal: Arc<Journal>,
}

/// One instance.
pub(crate) struct Instance2 {
    functions: Functions2,
    component: Component,
    saved: FmuState,
    scratch: Scratch,
    shell: Shell,
    /// Lives as long as the component, which keeps a pointer to it.
    _callbacks: Box<Callbacks2>,
}

// SAFETY: the standard allows an instance to be used from any thread, by one at a time; `&mut self` sees to that.
unsafe impl Send for Instance2 {}

/// Receives formatted messages of all units.
unsafe extern "C" fn hear(
    environment: *mut c_void,
    status: c_int,
    category: *const c_char,
    text: *const c_char,
) {
    let _ = category;
    if text.is_null() {
        return;
    }
    // SAFETY: a text of ours, which ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    if let Some(journal) = environments::journal(Environment::of(environment)) {
        journal.hear(status, &text.to_string_lossy());
    }
}

impl Instance2 {
    pub fn new(start: Start<'_>) -> Result<Self, CallError> {
        static SINK: Once = Once::new();
        // SAFETY: stores a pointer to a function that lives for ever.
        SINK.call_once(|| unsafe { dovetail_log_sink(hear) });
        let Start {
            functions,
            co_simulation,
            token,
            resources,
            journal,
        } = start;
        let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let (name, token, resources) = (text(&journal.instance), text(token), text(resources));
        let environment = Environment::of(Arc::as_ptr(&journal));
        let registered = Registered::two(environment, journal.clone());
        let callbacks = Box::new(Callbacks2 {
            logger: dovetail_fmi2_logger as *const c_void,
            allocate: calloc,
            free,
            step_finished: None,
            environment: environment.pointer(),
        });
        let logging = c_int::from(journal.log.is_some());
        let instantiate = functions.instantiate()?;
        let kind = c_int::from(co_simulation);
        // SAFETY: texts and callbacks outlive the call, the callbacks the instance.
        let made = guarded(environment, || unsafe {
            instantiate(
                name.as_ptr(),
                kind,
                token.as_ptr(),
                resources.as_ptr(),
                &raw const *callbacks,
                0,
                logging,
            )
        });
        if let Some(log) = &journal.log {
            log.write(
                &journal.instance,
                format_args!("fmi2Instantiate({name:?}, {kind}, {token:?}, {resources:?})"),
            );
        }
        let mut shell = Shell::new(journal, registered);
        let message = || shell.journal.explanation();
        let function = "fmi2Instantiate";
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
        shell.weight = None;
        let (saved, scratch) = (null_mut(), Scratch::default());
        Ok(Self {
            functions,
            component,
            saved,
            scratch,
            shell,
            _callbacks: callbacks,
        })
    }

    /// Asks for a status after a step that was not done.
    fn last_successful_time(&mut self) -> Result<f64, CallError> {
        let (function, component, mut time) =
            (self.functions.get_real_status()?, self.component, f64::NAN);
        let place = &raw mut time;
        // SAFETY: `place` is a number of ours.
        self.shell.demand(
            "fmi2GetRealStatus",
            Purpose::Step,
            || "lastSuccessfulTime".into(),
            || unsafe { function(component, LAST_SUCCESSFUL_TIME, place) },
        )?;
        Ok(time)
    }

    /// A unit that steps in the background is waited for.
    fn wait(&mut self) -> Result<Status, CallError> {
        let (function, component) = (self.functions.get_status()?, self.component);
        loop {
            std::thread::sleep(Duration::from_micros(50));
            let mut status = 0;
            let place = &raw mut status;
            // SAFETY: `place` is a number of ours.
            self.shell.demand(
                "fmi2GetStatus",
                Purpose::Step,
                || "doStepStatus".into(),
                || unsafe { function(component, DO_STEP_STATUS, place) },
            )?;
            match self.shell.judge("fmi2DoStep", Ok(status))? {
                Status::Pending => {}
                done => return Ok(done),
            }
        }
    }

    fn do_step(&mut self, request: &StepRequest<'_>) -> Result<Status, CallError> {
        let (function, component) = (self.functions.do_step()?, self.component);
        let (time, size, final_step) = (
            request.step.start,
            request.step.size(),
            c_int::from(request.final_step),
        );
        let arguments = || format!("{time:?}, {size:?}, {final_step}");
        // SAFETY: plain numbers.
        let ended = self
            .shell
            .call("fmi2DoStep", Purpose::Step, arguments, || unsafe {
                function(component, time, size, final_step)
            })?;
        if ended == Status::Pending {
            self.wait()
        } else {
            Ok(ended)
        }
    }

    /// Every call of which the standard says `status f(component)`.
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
}

impl Instance for Instance2 {
    fn journal(&self) -> &Journal {
        &self.shell.journal
    }

    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }
        let (function, component) = (self.functions.get_real()?, self.component);
        let place = values.as_mut_ptr();
        // SAFETY: the pointers belong to slices of this length.
        self.shell.demand(
            "fmi2GetReal",
            Purpose::Values,
            || format!("{references:?}"),
            || unsafe { function(component, references.as_ptr(), references.len(), place) },
        )
    }

    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }
        let (function, component) = (self.functions.set_real()?, self.component);
        // SAFETY: the pointers belong to slices of this length.
        self.shell.demand(
            "fmi2SetReal",
            Purpose::Values,
            || format!("{references:?}, {values:?}"),
            || unsafe {
                function(
                    component,
                    references.as_ptr(),
                    references.len(),
                    values.as_ptr(),
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
        let (component, count, list) = (self.component, references.len(), references.as_ptr());
        let shown = || format!("{references:?}");
        // SAFETY (all): the pointers belong to slices of this length.
        match kind {
            ValueType::Float64 | ValueType::Float32 => return self.get_floats(references, values),
            ValueType::Boolean => {
                let (function, place) = (self.functions.get_boolean()?, self.scratch.int32(count));
                self.shell
                    .demand("fmi2GetBoolean", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })?;
                values
                    .iter_mut()
                    .zip(&self.scratch.int32)
                    .for_each(|(v, &b)| *v = f64::from(u8::from(b != 0)));
            }
            ValueType::String => {
                let (function, place) = (self.functions.get_string()?, self.scratch.texts(count));
                self.shell
                    .demand("fmi2GetString", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })?;
                for (value, &text) in values.iter_mut().zip(&self.scratch.texts) {
                    // SAFETY: a text that ends with a zero, valid until the next call of the unit.
                    *value = if text.is_null() {
                        0.0
                    } else {
                        strings::number(&unsafe { CStr::from_ptr(text) }.to_string_lossy())
                    };
                }
            }
            _ => {
                let (function, place) = (self.functions.get_integer()?, self.scratch.int32(count));
                self.shell
                    .demand("fmi2GetInteger", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })?;
                values
                    .iter_mut()
                    .zip(&self.scratch.int32)
                    .for_each(|(v, &i)| *v = f64::from(i));
            }
        }
        Ok(())
    }

    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let (component, count, list) = (self.component, references.len(), references.as_ptr());
        let shown = || format!("{references:?}, {values:?}");
        // SAFETY (all): the pointers belong to slices of this length.
        match kind {
            ValueType::Float64 | ValueType::Float32 => self.set_floats(references, values),
            ValueType::Boolean => {
                let (function, place) = (self.functions.set_boolean()?, self.scratch.int32(count));
                self.scratch
                    .int32
                    .iter_mut()
                    .zip(values)
                    .for_each(|(b, &v)| *b = c_int::from(v != 0.0));
                self.shell
                    .demand("fmi2SetBoolean", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })
            }
            ValueType::String => {
                let function = self.functions.set_string()?;
                let texts: Vec<CString> = values
                    .iter()
                    .map(|&v| crate::numbers::c_text(&strings::text(v)))
                    .collect();
                let place: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
                let place = place.as_ptr();
                self.shell
                    .demand("fmi2SetString", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })
            }
            _ => {
                let (function, place) = (self.functions.set_integer()?, self.scratch.int32(count));
                for (integer, &value) in self.scratch.int32.iter_mut().zip(values) {
                    *integer = fitting(value, ValueType::Int32)? as i32;
                }
                self.shell
                    .demand("fmi2SetInteger", Purpose::Values, shown, || unsafe {
                        function(component, list, count, place)
                    })
            }
        }
    }

    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError> {
        let numbers: Vec<f64> = values.iter().map(crate::numbers::as_number).collect();
        self.set_values(kind, &[reference], &numbers[..1.min(numbers.len())])
    }

    fn enter_configuration(&mut self) -> Result<(), CallError> {
        Ok(()) // 2.0 has no structural parameters
    }

    fn exit_configuration(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn enter_initialization(
        &mut self,
        start: f64,
        stop: f64,
        tolerance: Option<f64>,
    ) -> Result<(), CallError> {
        let (function, component) = (self.functions.setup_experiment()?, self.component);
        let (given, tolerance) = (c_int::from(tolerance.is_some()), tolerance.unwrap_or(0.0));
        let arguments = || format!("{given}, {tolerance:?}, {start:?}, 1, {stop:?}");
        // SAFETY: plain numbers.
        self.shell.demand(
            "fmi2SetupExperiment",
            Purpose::Setup,
            arguments,
            || unsafe { function(component, given, tolerance, start, 1, stop) },
        )?;
        self.simple(
            self.functions.enter_initialization()?,
            "fmi2EnterInitializationMode",
            Purpose::Setup,
        )
    }

    fn exit_initialization(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.exit_initialization()?,
            "fmi2ExitInitializationMode",
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
        self.simple(self.functions.terminate()?, "fmi2Terminate", Purpose::Setup)
    }

    fn save(&mut self) -> Result<(), CallError> {
        let (function, component, place) = (
            self.functions.get_state()?,
            self.component,
            &raw mut self.saved,
        );
        // SAFETY: the place holds null or a state of this component, as the standard asks.
        self.shell
            .demand("fmi2GetFMUstate", Purpose::State, String::new, || unsafe {
                function(component, place)
            })
    }

    fn restore(&mut self) -> Result<(), CallError> {
        let (function, component, saved) =
            (self.functions.set_state()?, self.component, self.saved);
        // SAFETY: the state is one of this component.
        self.shell
            .demand("fmi2SetFMUstate", Purpose::State, String::new, || unsafe {
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
        let (seed_place, place) = (seed.as_ptr(), sensitivity.as_mut_ptr());
        let arguments = || format!("{unknowns:?}, {knowns:?}, {seed:?}");
        // SAFETY: the pointers belong to slices of these lengths.
        self.shell.demand(
            "fmi2GetDirectionalDerivative",
            Purpose::Values,
            arguments,
            || unsafe { function(component, u, nu, k, nk, seed_place, place) },
        )
    }

    fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let (function, component) = (self.functions.get_output_derivatives()?, self.component);
        let (list, count, orders, place) = (
            references.as_ptr(),
            references.len(),
            orders.as_ptr(),
            values.as_mut_ptr(),
        );
        let arguments = || format!("{references:?}");
        // SAFETY: the pointers belong to slices of this length.
        self.shell.demand(
            "fmi2GetRealOutputDerivatives",
            Purpose::Values,
            arguments,
            || unsafe { function(component, list, count, orders, place) },
        )
    }

    fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let (function, component) = (self.functions.set_input_derivatives()?, self.component);
        let (list, count, orders_at, place) = (
            references.as_ptr(),
            references.len(),
            orders.as_ptr(),
            values.as_ptr(),
        );
        let arguments = || format!("{references:?}, {orders:?}, {values:?}");
        // SAFETY: the pointers belong to slices of this length.
        self.shell.demand(
            "fmi2SetRealInputDerivatives",
            Purpose::Values,
            arguments,
            || unsafe { function(component, list, count, orders_at, place) },
        )
    }

    fn follow(&mut self, _references: &[u32], _signals: &[Signal], _start: f64) {}

    fn end_of_run(&mut self) -> Option<f64> {
        let function = self.functions.get_boolean_status().ok()?;
        let (component, mut terminated) = (self.component, 0);
        let place = &raw mut terminated;
        // SAFETY: `place` is a number of ours.
        let asked = self.shell.demand(
            "fmi2GetBooleanStatus",
            Purpose::Step,
            || "terminated".into(),
            || unsafe { function(component, TERMINATED, place) },
        );
        if asked.is_err() || terminated == 0 {
            None
        } else {
            self.last_successful_time().ok()
        }
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
            functions.set_real,
            functions.do_step,
            functions.get_real,
            self.shell.dead,
        ) else {
            return false;
        };
        // SAFETY: the pointers of the request belong to slices of its lengths; the guard was installed by `instantiate`.
        let ended = unsafe { dovetail_step2(glider.request(step), set, go, get) };
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
            functions.set_real()?,
            functions.do_step()?,
            functions.get_real()?,
        );
        match Ended::of(glider.ended) {
            Ended::Step(5) => {
                let done = self.wait()?;
                if done == Status::Fine {
                    let (references, values) = glider.reading();
                    self.get_floats(references, values)?;
                }
                Ok(done)
            }
            Ended::Step(status) => self.shell.judge("fmi2DoStep", Ok(status)),
            Ended::Crashed(crash) => self.shell.judge("fmi2DoStep", Err(crash)),
            Ended::Set(status) => Err(self.shell.not_done("fmi2SetReal", status)),
            Ended::Get(0 | 1) => Ok(Status::Fine),
            Ended::Get(status) => Err(self.shell.not_done("fmi2GetReal", status)),
        }
    }

    fn step(
        &mut self,
        request: &StepRequest<'_>,
        outputs: &mut [f64],
    ) -> Result<StepEnd, CallError> {
        self.set_floats(request.input_references, request.input_values)?;
        let ended = self.do_step(request)?;
        if ended == Status::Fine {
            self.get_floats(request.output_references, outputs)?;
        }
        let mut end = StepEnd {
            discarded: false,
            last: request.step.end,
            event: false,
            terminate: false,
        };
        if ended == Status::Discard {
            let end_of_run = self.end_of_run();
            (end.terminate, end.discarded) = (end_of_run.is_some(), true);
            end.last = match end_of_run {
                Some(last) => {
                    self.get_floats(request.output_references, outputs)?;
                    last
                }
                None => self.last_successful_time().unwrap_or(request.step.start),
            };
        }
        Ok(end)
    }

    fn enter_event_mode(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.enter_event_mode()?,
            "fmi2EnterEventMode",
            Purpose::Step,
        )
    }

    fn update_discrete_states(&mut self) -> Result<Discrete, CallError> {
        let (function, component) = (self.functions.new_discrete_states()?, self.component);
        let mut changed = false;
        for _ in 0..MOST_EVENT_ROUNDS {
            let mut info = EventInfo2::default();
            let place = &raw mut info;
            // SAFETY: `place` is a record of ours.
            self.shell.demand(
                "fmi2NewDiscreteStates",
                Purpose::Step,
                String::new,
                || unsafe { function(component, place) },
            )?;
            changed |= info.values_changed != 0;
            let terminate = info.terminate != 0;
            if terminate || info.new_discrete_states_needed == 0 {
                let defined = info.next_event_time_defined != 0;
                let next_event = if defined {
                    info.next_event_time
                } else {
                    f64::INFINITY
                };
                return Ok(Discrete {
                    terminate,
                    states_changed: changed,
                    next_event,
                });
            }
        }
        Err(self.shell.refused(
            "fmi2NewDiscreteStates",
            "a wish for yet another round after a thousand of them",
        ))
    }

    fn leave_event_mode(&mut self) -> Result<(), CallError> {
        self.simple(
            self.functions.enter_continuous_time_mode()?,
            "fmi2EnterContinuousTimeMode",
            Purpose::Step,
        )
    }

    fn set_time(&mut self, time: f64) -> Result<(), CallError> {
        let (function, component) = (self.functions.set_time()?, self.component);
        // SAFETY: a plain number.
        self.shell.demand(
            "fmi2SetTime",
            Purpose::Values,
            || format!("{time:?}"),
            || unsafe { function(component, time) },
        )
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), CallError> {
        let (function, component) = (self.functions.set_continuous_states()?, self.component);
        // SAFETY: the pointer belongs to a slice of this length.
        self.shell.demand(
            "fmi2SetContinuousStates",
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
            "fmi2GetContinuousStates",
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
            "fmi2GetDerivatives",
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
            "fmi2GetEventIndicators",
            Purpose::Step,
            String::new,
            || unsafe { function(component, place, count) },
        )
    }

    fn completed_step(&mut self) -> Result<Completed, CallError> {
        let (function, component) = (self.functions.completed_integrator_step()?, self.component);
        let (mut event, mut terminate) = (0, 0);
        let places = (&raw mut event, &raw mut terminate);
        // SAFETY: the places are numbers of ours.
        self.shell.demand(
            "fmi2CompletedIntegratorStep",
            Purpose::Step,
            || "1".into(),
            || unsafe { function(component, 1, places.0, places.1) },
        )?;
        Ok(Completed {
            event: event != 0,
            terminate: terminate != 0,
        })
    }
}

impl Drop for Instance2 {
    fn drop(&mut self) {
        let (component, saved) = (self.component, self.saved);
        if !saved.is_null()
            && let Ok(free_state) = self.functions.free_state()
        {
            let mut state = saved;
            let place = &raw mut state;
            // SAFETY: a state of this component, freed once. What it answers does not matter any more.
            let _ = self
                .shell
                .demand("fmi2FreeFMUstate", Purpose::Setup, String::new, || unsafe {
                    free_state(component, place)
                });
        }
        if let (Ok(free), false) = (self.functions.free_instance(), self.shell.dead) {
            // SAFETY: the component is live and not used after this.
            let _ = guarded(self.shell.environment(), || unsafe { free(component) });
        }
    }
}
