//! Inputs that an FMU of 3.0 asks for during a step.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use dovetail_core::Signal;

use super::Instance3;
use crate::environment::Environment;
use crate::environment_registry;
use crate::ffi::Component;
use crate::guard;
use crate::instance::IntermediateInputs;

type SetInputs = unsafe extern "C" fn(Component, *const u32, usize, *const f64, usize) -> c_int;

/// What the callbacks of an instance need. It never moves while the instance lives, and its address
/// is what they are given.
pub(crate) struct CallbackData {
    component: Cell<Component>,
    set: Option<SetInputs>,
    /// Inputs as functions of time, for the step under way.
    references: Cell<(*const u32, usize)>,
    signals: Cell<(*const Signal, usize)>,
    /// The worst status with which inputs were set on the way.
    status: Cell<c_int>,
    start: Cell<f64>,
    values: RefCell<Vec<f64>>,
}

impl CallbackData {
    pub fn new(set: Option<SetInputs>, inputs: usize) -> Self {
        Self {
            component: Cell::new(null_mut()),
            set,
            references: Cell::new((null(), 0)),
            signals: Cell::new((null(), 0)),
            status: Cell::new(0),
            start: Cell::new(0.0),
            values: RefCell::new(Vec::with_capacity(inputs)),
        }
    }

    pub fn set_component(&self, component: Component) {
        self.component.set(component);
    }

    /// No inputs are functions of time any more.
    pub fn follow_nothing(&self) {
        self.references.set((null(), 0));
        self.signals.set((null(), 0));
        self.status.set(0);
    }

    /// The status of a call that did not set inputs as it must, once.
    pub fn take_failure(&self) -> Option<c_int> {
        (self.status.get() > 1).then(|| self.status.replace(0))
    }

    /// Sets the inputs as they are at `time`, where a step that follows them is under way.
    fn set_inputs(&self, time: f64) {
        let (signals, elements) = self.signals.get();
        let (Some(set), false) = (self.set, signals.is_null()) else {
            return;
        };
        // SAFETY: `follow` set them for the step under way, where they are borrowed.
        let signals = unsafe { std::slice::from_raw_parts(signals, elements) };
        let elapsed = time - self.start.get();
        let mut values = self.values.borrow_mut();
        values.clear();
        values.extend(signals.iter().map(|signal| signal.value(elapsed)));
        let component = self.component.get();
        let (references, count) = self.references.get();
        // SAFETY: references of variables with as many elements together as there are values.
        let status = unsafe { set(component, references, count, values.as_ptr(), values.len()) };

        self.status.set(self.status.get().max(status));
    }
}

/// Inputs are functions of time: wherever the FMU stops on its way, it may have their values there.
pub(super) unsafe extern "C" fn intermediate_update(
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
        // SAFETY: a place that the FMU gives for the answer.
        unsafe { *early_return = 0 };
    }
    if let Some(asking) = environment_registry::asking(Environment::of(environment))
        && set_requested != 0
    {
        // SAFETY: the callback data of an instance of 3.0 that lives: its step is under way.
        let data = unsafe { &*asking.pointer().cast::<CallbackData>() };
        guard::in_callback(|| data.set_inputs(time));
    }
}

impl IntermediateInputs for Instance3 {
    fn follow(&mut self, references: &[u32], signals: &[Signal], start: f64) {
        let data = self.callback_data();
        let first = if signals.is_empty() {
            null()
        } else {
            signals.as_ptr()
        };
        data.references.set((references.as_ptr(), references.len()));
        data.signals.set((first, signals.len()));
        data.start.set(start);

        data.status.set(0);
    }
}
