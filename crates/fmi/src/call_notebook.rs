//! Which functions of FMUs are being called, where another process can read it: a process that has
//! come to its end cannot say any more what it did last.

#![allow(unsafe_code, reason = "the guard notes calls in C")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicU64;

use crate::environment::Environment;

/// The words of a page of notes.
pub const NOTEBOOK_WORDS: usize = 512;
/// So many threads have a place in it.
const SLOTS: usize = 16;

unsafe extern "C" {
    fn dovetail_notebook_use(page: *mut c_void);
    fn dovetail_notebook_name(environment: *mut c_void, name: *const c_char, length: usize);
    fn dovetail_notebook_describe(page: *const c_void, text: *mut c_char, size: usize) -> usize;
    fn dovetail_notebook_counts(counts: *mut u64);
    fn dovetail_notebook_forget(slot: usize, count: u64);
}

/// Calls of this process are noted in this page from now on. To be called before the first FMU is
/// loaded.
pub fn note_calls_in(page: &'static [AtomicU64]) {
    assert!(
        page.len() >= NOTEBOOK_WORDS,
        "BUG: a page that is too small"
    );
    // SAFETY: the page is large enough, lives for ever and may be changed behind a shared
    // reference.
    unsafe { dovetail_notebook_use(page.as_ptr().cast_mut().cast()) };
}

/// The calls under way that a page holds, such as ` in fmi2DoStep of `tank``; empty where none was under
/// way. Without a page, those of this process.
pub fn calls_under_way(page: Option<&[AtomicU64]>) -> String {
    let page = page.filter(|page| page.len() >= NOTEBOOK_WORDS);
    let page = page.map_or(std::ptr::null(), |page| page.as_ptr().cast());
    let mut text = [0; 512];
    // SAFETY: the page is null or large enough, and the text has room for what is asked for.
    unsafe { dovetail_notebook_describe(page, text.as_mut_ptr(), text.len()) };
    // SAFETY: C has ended it with a zero.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    text.to_string_lossy().into_owned()
}

/// Tells how long calls of this process have been under way.
#[derive(Debug, Default)]
pub struct CallWatch {
    seen: [u64; SLOTS],
    since: [Option<std::time::Instant>; SLOTS],
}

impl CallWatch {
    /// The time for which some call has been seen to be under way; asked again and again, it is
    /// known as well as that.
    pub fn longest(&mut self) -> std::time::Duration {
        let mut counts = [0; SLOTS];
        // SAFETY: there is room for all slots.
        unsafe { dovetail_notebook_counts(counts.as_mut_ptr()) };
        let now = std::time::Instant::now();
        let mut longest = std::time::Duration::ZERO;

        for (slot, count) in counts.into_iter().enumerate() {
            if count == 0 || count != self.seen[slot] {
                self.since[slot] = (count != 0).then_some(now);
            }
            self.seen[slot] = count;
            let age = self.since[slot].map_or(longest, |since| now - since);
            longest = longest.max(age);
        }
        longest
    }
}

impl CallWatch {
    /// Nobody waits any longer for calls that have been under way for as long as this: they are not reported again, by this watch or by
    /// another.
    pub fn give_up_on(&mut self, age: std::time::Duration) {
        self.longest();
        let now = std::time::Instant::now();
        for (slot, since) in self.since.iter_mut().enumerate() {
            if since.is_some_and(|since| now - since >= age) {
                // SAFETY: the slot is one of those there are.
                unsafe { dovetail_notebook_forget(slot, self.seen[slot]) };
                *since = None;
            }
        }
    }
}

/// The name of an instance in the notes, as long as it lives.
pub(crate) struct NotedName(Environment);

impl NotedName {
    pub fn new(environment: Environment, name: &str) -> Self {
        // SAFETY: the text is copied.
        unsafe {
            dovetail_notebook_name(environment.pointer(), name.as_ptr().cast(), name.len());
        }
        Self(environment)
    }
}

impl Drop for NotedName {
    fn drop(&mut self) {
        // SAFETY: forgets a name.
        unsafe { dovetail_notebook_name(self.0.pointer(), std::ptr::null(), 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::guarded;

    #[test]
    fn the_call_under_way_is_named_with_its_instance() {
        let place = 0_u64;
        let environment = Environment::of(&raw const place);
        let _name = NotedName::new(environment, "tank");
        static SEEN: std::sync::Mutex<String> = std::sync::Mutex::new(String::new());
        let noted = guarded(environment, "fmi2DoStep", || {
            *SEEN.lock().unwrap() = calls_under_way(None);
        });
        assert_eq!(noted, Ok(()));
        let seen = SEEN.lock().unwrap();
        assert!(seen.contains(" fmi2DoStep of `tank`"), "{seen}");
    }
}
