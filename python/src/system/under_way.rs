//! Calls of Python that are under way: who waits for one that takes too long can raise an exception in it.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::system;

/// The calls under way of one system.
#[derive(Default)]
pub(super) struct CallsUnderWay(Mutex<Vec<CallUnderWay>>);

struct CallUnderWay {
    /// As Python numbers threads.
    thread: u64,
    since: Instant,
}

impl CallsUnderWay {
    /// Notes a call of this thread, until what is returned is dropped.
    pub fn begin(&self, py: Python<'_>) -> NotedCall<'_> {
        let thread = this_thread(py);
        let since = Instant::now();
        self.all().push(CallUnderWay { thread, since });
        NotedCall {
            calls: self,
            thread,
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<CallUnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way.
pub(super) struct NotedCall<'a> {
    calls: &'a CallsUnderWay,
    thread: u64,
}

impl Drop for NotedCall<'_> {
    fn drop(&mut self) {
        let mut all = self.calls.all();
        let place = all.iter().position(|call| call.thread == self.thread);
        if let Some(place) = place {
            all.swap_remove(place);
        }
    }
}

/// The number of this thread.
fn this_thread(py: Python<'_>) -> u64 {
    thread_local!(static NUMBER: Cell<u64> = const { Cell::new(0) });
    NUMBER.with(|number| {
        if number.get() == 0 {
            let asked = py
                .import("_thread")
                .and_then(|module| module.call_method0("get_ident"));
            let known = asked.and_then(|answer| answer.extract());
            number.set(known.unwrap_or_default());
        }
        number.get()
    })
}

/// How long the longest call of these systems has been under way.
pub(crate) fn longest_call(systems: &[u64]) -> Duration {
    let models = systems.iter().filter_map(|number| system(*number));
    let longest = models.filter_map(|model| {
        let calls = model.calls.all();
        calls.iter().map(|call| call.since.elapsed()).max()
    });
    longest.max().unwrap_or_default()
}

/// Raises an exception of this class of `dovetail._interrupt` in all calls of these systems. Where a call waits in C it comes late.
pub(crate) fn end_calls(py: Python<'_>, systems: &[u64], class: &str) {
    let models = systems.iter().filter_map(|number| system(*number));
    let threads: Vec<u64> = models
        .flat_map(|model| {
            let calls = model.calls.all();
            calls.iter().map(|call| call.thread).collect::<Vec<_>>()
        })
        .collect();
    if threads.is_empty() {
        return;
    }
    let raised = py
        .import("dovetail._interrupt")
        .and_then(|module| module.call_method1("raise_in", (threads, class)));
    if let Err(error) = raised {
        error.print(py);
    }
}
