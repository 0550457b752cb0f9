//! What belongs to the whole process, and an FMU may change: floating-point control words, the
//! working directory, signal handlers, the locale, the umask. All of it is put back.
//!
//! What the host itself has changed since its last run is noted first: a library does not know better than its host.
//!
//! Control words are put back after every call: each call of an FMU begins with those of the host,
//! so that what it computes depends neither on the thread nor on the process that it lives in.

#![allow(unsafe_code, reason = "the process belongs to C")]

use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::Ordering;

use crate::environment::Environment;
use crate::environment_registry;
use crate::guard;

unsafe extern "C" {
    fn dovetail_change_sink(sink: extern "C" fn(*mut c_void, c_int));
    fn dovetail_surroundings_note();
    fn dovetail_surroundings_put_back(environment: *mut c_void);
    fn dovetail_surroundings_put_back_now();
}

/// What can be changed, as C numbers it.
const FLOATING_POINT: u32 = 1;
const CHANGES: [(u32, &str); 5] = [
    (
        FLOATING_POINT,
        "the rounding or the traps of floating-point arithmetic",
    ),
    (2, "the working directory"),
    (4, "the umask"),
    (8, "the locale"),
    (16, "the handlers of signals"),
];

/// What an FMU has changed, in words; nothing where it has changed nothing.
pub fn changes_in_words(changed: u32) -> Option<String> {
    let named = CHANGES.iter().filter(|(bit, _)| changed & bit != 0);
    let words: Vec<&str> = named.map(|(_, words)| *words).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

extern "C" fn note_change(environment: *mut c_void, what: c_int) {
    if let Some(journal) = environment_registry::journal(Environment::of(environment)) {
        let changed = what.cast_unsigned();
        if changed & FLOATING_POINT != 0 {
            journal.disturbs.store(true, Ordering::Relaxed);
        }
        journal.monitor.note(|notes| notes.changed |= changed);
    }
}

/// Has changes noted, once per process.
fn install() {
    static SINK: Once = Once::new();
    // SAFETY: stores a pointer to a function that lives for ever.
    SINK.call_once(|| unsafe { dovetail_change_sink(note_change) });
    guard::install();
}

/// Notes how the process is now, before calls of FMUs: what the host has changed since it last had one called is its own affair. Nothing
/// is noted while an FMU is being called, and nothing in the program, where nobody but FMUs changes anything.
pub fn note_surroundings() {
    if guard::is_installed() {
        // SAFETY: reads what belongs to the process, and puts our handlers of crashes in place of those that came since.
        unsafe { dovetail_surroundings_note() };
    }
}

/// Puts back what the instance of this environment may have changed.
pub(crate) fn put_back(environment: Environment) {
    install();
    // SAFETY: changes the process back to what it was.
    unsafe { dovetail_surroundings_put_back(environment.pointer()) };
}

/// The same now and then, from a thread that calls no FMU: what is of one thread alone, and the
/// locale, which others may be reading, are left.
pub fn put_back_surroundings() {
    if guard::is_installed() {
        // SAFETY: as above.
        unsafe { dovetail_surroundings_put_back_now() };
    }
}
