//! An instance of an FMU, with the roles that both versions of the standard implement by the same
//! functions.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use crate::batch::{Member, RawMember};
use crate::call_error::CallError;
use crate::calls::{Calls, Purpose};
use crate::component::{FmiVersion, OwnedComponent};
use crate::description::Version;
use crate::environment::Environment;
use crate::environment_registry;
use crate::ffi::{
    NumbersFunction, PlainFunction, SetState, SharedFunctions, StateFunction, Symbol,
};
use crate::guard;
use crate::instance::{ContinuousTime, Discrete, StateSlot, Timing};
use crate::journal::Journal;
use crate::layout::Layout;
use crate::library::Library;
use crate::numbers::ValueScratch;
use crate::prepared_step::PreparedStep;
use crate::saved_state::SavedState;
use crate::strings;
use crate::surroundings;

/// An event iteration that is not over after so many rounds never will be.
const MOST_EVENT_ROUNDS: usize = 1000;

/// So many bytes of a message are looked at.
const LONGEST_MESSAGE: usize = 4096;

/// What an instance is made of.
pub(crate) struct Instantiation<'a> {
    pub library: &'a Library,
    pub co_simulation: bool,
    pub token: &'a str,
    pub resources: &'a str,
    pub journal: Arc<Journal>,
}

/// What an FMU answers to one round of an event iteration.
pub(crate) struct EventRound {
    pub again: bool,
    pub terminate: bool,
    pub states_changed: bool,
    pub next_event: Option<f64>,
}

/// The time of the next event, where an FMU says that there is one.
pub(crate) fn next_event(defined: impl Into<c_int>, time: f64) -> Option<f64> {
    (defined.into() != 0).then_some(time)
}

/// One instance; `V` is what only its version of the standard has.
pub(crate) struct FmuInstance<V: FmiVersion> {
    pub version: V,
    pub calls: Calls,
    pub shared: SharedFunctions,
    pub scratch: ValueScratch,
    saved: SavedState,
    owner: Arc<OwnedComponent<V>>,
}

// SAFETY: the standard allows an instance to be used from any thread, by one at a time; `&mut self`
// sees to that.
unsafe impl<V: FmiVersion> Send for FmuInstance<V> {}

impl<V: FmiVersion> FmuInstance<V> {
    /// The instance of a component, which no other instance uses.
    pub fn of(owner: Arc<OwnedComponent<V>>) -> Self {
        Self {
            version: owner.version,
            calls: owner.calls(),
            shared: owner.shared,
            scratch: ValueScratch::default(),
            saved: SavedState::none(),
            owner,
        }
    }

    pub fn owner(&self) -> &Arc<OwnedComponent<V>> {
        &self.owner
    }

    /// What the callbacks of this instance are given.
    pub fn callback_data(&self) -> &V::CallbackData {
        &self.owner.callback_data
    }

    /// Every call of which the standard says `status f(instance)`.
    pub fn call_plain(
        &mut self,
        function: Symbol<PlainFunction>,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        // SAFETY: the component is live.
        let body = |f: PlainFunction, component| unsafe { f(component) };
        self.calls.demand_plain(function, purpose, body)
    }

    /// Every call of which the standard says `status f(instance, numbers, how many)`.
    fn read_numbers(
        &mut self,
        function: Symbol<NumbersFunction>,
        purpose: Purpose,
        numbers: &mut [f64],
    ) -> Result<(), CallError> {
        // SAFETY: the pointer belongs to a slice of this length.
        let body = |f: NumbersFunction, component| unsafe {
            f(component, numbers.as_mut_ptr(), numbers.len())
        };
        self.calls.demand_plain(function, purpose, body)
    }

    pub fn exit_initialization_mode(&mut self) -> Result<(), CallError> {
        let done = self.call_plain(self.shared.exit_initialization, Purpose::Setup);
        surroundings::put_back(self.calls.environment());
        done
    }

    /// Ends the run, unless the FMU has failed: the standard then allows nothing but freeing it.
    pub fn terminate_run(&mut self) -> Result<(), CallError> {
        if self.calls.has_failed() {
            return Ok(());
        }
        let done = self.call_plain(self.shared.terminate, Purpose::Setup);
        if let Err(error @ CallError::Crashed { .. }) = &done {
            let bad = error.to_string();
            let monitor = &self.calls.journal.monitor;
            monitor.note(|notes| notes.bad_end = Some(bad));
        }
        surroundings::put_back(self.calls.environment());
        done
    }

    /// Repeats rounds of an event iteration until the FMU needs no more of them, or asks for the
    /// end of the run.
    pub fn iterate_events(
        &mut self,
        function: &'static str,
        mut round: impl FnMut(&mut Self) -> Result<EventRound, CallError>,
    ) -> Result<Discrete, CallError> {
        let mut states_changed = false;
        for _ in 0..MOST_EVENT_ROUNDS {
            let answer = round(self)?;
            states_changed |= answer.states_changed;
            if answer.terminate || !answer.again {
                return Ok(Discrete {
                    terminate: answer.terminate,
                    states_changed,
                    next_event: answer.next_event.unwrap_or(f64::INFINITY),
                });
            }
        }

        let status = "a wish for yet another round after a thousand of them";
        Err(self.calls.refused(function, status))
    }

    /// Calls a function that takes the place of the saved state: it holds null or a state of this
    /// component, as the standard asks.
    fn call_with_state(
        &mut self,
        function: Symbol<StateFunction>,
        purpose: Purpose,
    ) -> Result<(), CallError> {
        let place = self.saved.place();
        // SAFETY: the place is ours.
        let body = |f: StateFunction, component| unsafe { f(component, place) };
        self.calls.demand_plain(function, purpose, body)
    }

    fn free_state(&mut self) -> Result<(), CallError> {
        self.call_with_state(self.shared.free_state, Purpose::Setup)
    }

    /// What callbacks find the instance by, and the component, for whoever prepares steps.
    pub fn prepared_step(
        &self,
        layout: &Arc<Layout>,
        functions: [*const c_void; 3],
    ) -> PreparedStep {
        let (component, environment) = (self.calls.component(), self.calls.environment());
        PreparedStep::new(component, environment, layout, functions)
    }

    /// What a batch needs of this instance, if it has all that is called; `saves` where its state may be asked for again.
    pub fn batch_member(
        &self,
        version: Version,
        prepared: &PreparedStep,
        layout: &Arc<Layout>,
        saves: bool,
    ) -> Option<Member>
    where
        V: 'static,
        V::CallbackData: 'static,
    {
        let save = self.shared.get_state.address();
        let complete = prepared.complete && !(saves && save.is_null());
        let state = saves.then(|| (save, self.saved.place()));
        let alive = complete && !self.calls.is_dead();
        alive.then(|| Member {
            raw: RawMember::new(prepared.copy_request(), version, state),
            journal: self.calls.journal.clone(),
            owners: [self.owner.clone(), layout.clone()],
            state: self.saved.clone(),
        })
    }

    /// Why a batch could not save the state, if it is that what it answers.
    pub fn batch_save_failure(&mut self, answer: c_int) -> Option<CallError> {
        let name = self.shared.get_state.name;
        match guard::not_saved(answer)? {
            Ok(status) => Some(self.calls.not_done(name, status)),
            Err(crash) => self.calls.judge(name, Err(crash)).err(),
        }
    }
}

impl<V: FmiVersion> Timing for FmuInstance<V> {
    fn begin_sample(&mut self) -> bool {
        self.calls.begin_sample()
    }

    fn end_sample(&mut self, time: Duration) {
        self.calls.end_sample(time);
    }
}

impl<V: FmiVersion> StateSlot for FmuInstance<V> {
    fn save(&mut self) -> Result<(), CallError> {
        self.call_with_state(self.shared.get_state, Purpose::State)
    }

    fn restore(&mut self) -> Result<(), CallError> {
        // SAFETY: the state is one of this component.
        let body = |f: SetState, component| unsafe { f(component, self.saved.state()) };
        self.calls
            .demand_plain(self.shared.set_state, Purpose::State, body)
    }

    fn serialize(&mut self) -> Result<Vec<u8>, CallError> {
        let state = self.saved.state();
        let mut size = 0;
        let function = self.shared.state_size;
        // SAFETY: the state is one of this component, the number ours.
        self.calls
            .demand_plain(function, Purpose::State, |f, component| unsafe {
                f(component, state, &raw mut size)
            })?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            let status = "a size for which there is no memory";
            return Err(self.calls.refused(function.name, status));
        }
        bytes.resize(size, 0);

        let function = self.shared.serialize_state;
        // SAFETY: the pointer belongs to a buffer of this length.
        self.calls
            .demand_plain(function, Purpose::State, |f, component| unsafe {
                f(component, state, bytes.as_mut_ptr(), size)
            })?;
        Ok(bytes)
    }

    fn deserialize(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        if !self.saved.state().is_null() {
            self.free_state()?;
            self.saved.clear();
        }
        let place = self.saved.place();
        let function = self.shared.deserialize_state;
        // SAFETY: the pointer belongs to a buffer of this length, the place is ours.
        self.calls
            .demand_plain(function, Purpose::State, |f, component| unsafe {
                f(component, bytes.as_ptr(), bytes.len(), place)
            })
    }
}

impl<V: FmiVersion> ContinuousTime for FmuInstance<V> {
    fn set_time(&mut self, time: f64) -> Result<(), CallError> {
        self.calls.demand(
            self.shared.set_time,
            Purpose::Values,
            || format!("{time:?}"),
            // SAFETY: a plain number.
            |f, component| unsafe { f(component, time) },
        )
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), CallError> {
        let function = self.shared.set_continuous_states;
        let arguments = || format!("{states:?}");
        // SAFETY: the pointer belongs to a slice of this length.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe { f(component, states.as_ptr(), states.len()) },
        )
    }

    fn get_states(&mut self, states: &mut [f64]) -> Result<(), CallError> {
        let function = self.shared.get_continuous_states;
        self.read_numbers(function, Purpose::Values, states)
    }

    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Result<(), CallError> {
        let function = self.shared.get_derivatives;
        self.read_numbers(function, Purpose::Step, derivatives)
    }

    fn get_indicators(&mut self, indicators: &mut [f64]) -> Result<(), CallError> {
        let function = self.shared.get_event_indicators;
        self.read_numbers(function, Purpose::Step, indicators)
    }
}

/// The component is freed with its last user. What the FMU answers to the end of its saved state
/// does not matter any more, unless the component is kept.
impl<V: FmiVersion> Drop for FmuInstance<V> {
    fn drop(&mut self) {
        if !self.saved.state().is_null() {
            let _ = self.free_state();
        }
        self.owner.put_down(&self.calls);
    }
}

/// The numbers of texts that an FMU has just written; `function` is where they come from.
pub(crate) fn numbers_of_texts(
    function: &'static str,
    texts: &[*const c_char],
    numbers: &mut [f64],
) -> Result<(), CallError> {
    for (number, &text) in numbers.iter_mut().zip(texts) {
        // SAFETY: a text is valid until the next call of the FMU.
        let bytes = unsafe { guard::text_bytes(text) };
        *number = match bytes {
            Some(bytes) => strings::passing_number(&String::from_utf8_lossy(bytes)),
            None if text.is_null() => 0.0,
            None => return Err(CallError::BadText { function }),
        };
    }
    Ok(())
}

/// Records a message that an FMU logs, whatever instance it is of.
///
/// # Safety
///
/// Nobody changes the text meanwhile.
pub(crate) unsafe fn record_message(
    environment: *const c_void,
    status: c_int,
    text: *const c_char,
) {
    // SAFETY: as asked of the caller.
    let Some(text) = (unsafe { guard::text_bytes(text) }) else {
        return;
    };
    if let Some(journal) = environment_registry::journal(Environment::of(environment)) {
        let text = &text[..text.len().min(LONGEST_MESSAGE)];
        journal.record_message(status, &String::from_utf8_lossy(text));
    }
}
