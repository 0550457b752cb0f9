//! The component that an FMU has made, freed with its last user.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::calls::Calls;
use crate::environment_registry::Registered;
use crate::ffi::{Component, SharedFunctions};
use crate::guard::guarded;
use crate::journal::{Journal, Notes};
use crate::surroundings;

/// What only one version of the standard has.
pub(crate) trait FmiVersion: Copy + 'static {
    /// What the callbacks of a component are given; the component keeps a pointer to it.
    type CallbackData: 'static;

    /// Forgets what an instance has left there.
    fn forget(_left: &Self::CallbackData) {}
}

/// A component, with all that must live as long as it does.
pub(crate) struct OwnedComponent<V: FmiVersion> {
    component: Component,
    pub callback_data: Box<V::CallbackData>,
    pub version: V,
    pub shared: SharedFunctions,
    journal: Arc<Journal>,
    registered: Registered,
    /// What the FMU said while it was instantiated.
    first_notes: Notes,
    /// It crashed or returned "fatal": it must not be called again, not even to free it.
    dead: AtomicBool,
    /// Every call of its users did what it was asked for.
    flawless: AtomicBool,
}

// SAFETY: the standard allows a component to be used from any thread, by one at a time. It is used
// by the one instance that it belongs to, and by whoever keeps it when that instance is gone.
unsafe impl<V: FmiVersion> Send for OwnedComponent<V> {}
// SAFETY: as above; what both may touch at the same time are the two flags.
unsafe impl<V: FmiVersion> Sync for OwnedComponent<V> {}

impl<V: FmiVersion> OwnedComponent<V> {
    pub fn new(
        component: Component,
        callback_data: Box<V::CallbackData>,
        version: V,
        shared: SharedFunctions,
        journal: Arc<Journal>,
        registered: Registered,
    ) -> Arc<Self> {
        Arc::new(Self {
            component,
            callback_data,
            version,
            shared,
            first_notes: journal.monitor.notes(),
            journal,
            registered,
            dead: AtomicBool::new(false),
            flawless: AtomicBool::new(true),
        })
    }

    /// Calls of it, none of which has been made yet.
    pub fn calls(&self) -> Calls {
        let environment = self.registered.environment();
        Calls::new(self.journal.clone(), environment, self.component)
    }

    /// Whether every call of its instances did what it was asked for, up to now.
    pub fn is_flawless(&self) -> bool {
        self.flawless.load(Ordering::Relaxed)
    }

    /// Forgets what its last instance has left on our side: all that the FMU said since it was
    /// instantiated, and what its callbacks are given.
    pub fn forget_instance(&self) {
        self.journal.monitor.restart(self.first_notes.clone());
        V::forget(&self.callback_data);
    }

    /// An instance is done with it, after these calls.
    pub fn put_down(&self, calls: &Calls) {
        self.dead.fetch_or(calls.is_dead(), Ordering::Relaxed);
        self.flawless
            .fetch_and(calls.is_flawless(), Ordering::Relaxed);
    }
}

/// What the FMU answers here does not matter any more.
impl<V: FmiVersion> Drop for OwnedComponent<V> {
    fn drop(&mut self) {
        let Ok(free) = self.shared.free_instance.find() else {
            return;
        };
        if *self.dead.get_mut() {
            return;
        }

        let component = self.component;
        let environment = self.registered.environment();
        self.journal.log_call(free.name, format_args!(""));
        // SAFETY: the component is live and not used after this.
        let body = || unsafe { (free.pointer)(component) };
        match guarded(environment, free.name, body) {
            Ok(()) => self.journal.log_status(free.name, "ok"),
            Err(crash) => {
                self.journal
                    .log_status(free.name, format_args!("crash by {crash}"));
                let bad = format!("{} crashed it by {crash}", free.name);
                self.journal.monitor.note(|notes| notes.bad_end = Some(bad));
            }
        }
        surroundings::put_back(environment);
    }
}
