//! Work of the engine in a thread of its own, while the calling thread waits: without the interpreter's lock, and with an
//! eye on Ctrl-C.
//!
//! Ctrl-C ends a run after the step under way. Where that step comes to no end, calls of FMUs that are due are no longer made, and
//! an exception is raised in what is written in Python. A call that still does not return cannot be ended: after a second
//! Ctrl-C, or where there is a limit, its thread is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use dovetail::fmi::{CallWatch, abandon_steps, calls_under_way, permit_steps};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{Fields, exception};
use crate::system::{end_calls, longest_call};

/// Between two looks at signals.
const PAUSE: Duration = Duration::from_millis(50);
/// FMUs may need more than threads usually have.
const STACK: usize = 64 << 20;
/// The step under way has so long to come to its end, before it is given up.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// What is given up has so long to come to its end, before its thread is left behind.
const LAST_GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Signals that come so shortly after one another are one: some programs send them to a process and to its group.
const ONE_SIGNAL: Duration = Duration::from_millis(250);

/// Raised to end one run: its time loop looks at it, and so do processes that its FMUs live in.
pub(crate) type Stop = Arc<AtomicBool>;

/// What comes of an engine that somebody waits for.
pub(crate) struct Waited<T> {
    pub answer: T,
    /// What has ended the wait early: KeyboardInterrupt, or what another handler of a signal or `look` has raised.
    pub raised: Option<PyErr>,
}

/// Starts a thread for the engine.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let thread = Builder::new().name("dovetail".to_owned()).stack_size(STACK);
    let started = thread.spawn(work).map(drop);
    started.map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))
}

/// Whoever waits for an answer of the engine.
pub(crate) struct Wait<'a> {
    /// What ends the run after the step under way.
    pub stop: &'a Stop,
    /// The systems in Python of the model.
    pub systems: &'a [u64],
    /// So long a call may take in this process.
    pub limit: Option<Duration>,
}

impl Wait<'_> {
    /// Does `work` in a thread of its own.
    pub fn for_work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> T + Send + 'static,
        look: impl Fn(Python<'_>) -> PyResult<()> + Send,
    ) -> PyResult<Waited<T>> {
        let (done, answer) = channel();
        start(move || drop(done.send(work())))?;
        py.detach(move || self.for_answer(&answer, look))
    }

    /// Waits for an answer, without the interpreter's lock. `look` is called now and then, with it.
    pub fn for_answer<T>(
        &self,
        answers: &Receiver<T>,
        look: impl Fn(Python<'_>) -> PyResult<()>,
    ) -> PyResult<Waited<T>> {
        let mut ending = Ending::default();
        let mut calls = CallWatch::default();
        let answer = loop {
            match answers.recv_timeout(PAUSE) {
                Ok(answer) => break Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "BUG: the engine has failed; its message is above";
                    break Err(PyRuntimeError::new_err(message));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            ending.look_at_signals(self.stop, &look);
            if ending.is_overdue() {
                abandon_steps();
                Python::attach(|py| end_calls(py, self.systems, "KeyboardInterrupt"));
            }
            let stuck = self.keep_to_limit(&mut ending, calls.longest());
            if stuck || ending.is_hopeless() {
                break Err(self.leave_behind(&mut calls));
            }
        };

        if ending.given_up {
            permit_steps();
        }
        if answer.is_ok() {
            self.stop.store(false, Ordering::Relaxed);
        }
        answer.map(|answer| Waited {
            answer,
            raised: ending.raised,
        })
    }

    /// Ends calls that take longer than they may; true where one of an FMU does, which nothing can end.
    fn keep_to_limit(&self, ending: &mut Ending, longest_of_fmus: Duration) -> bool {
        let Some(limit) = self.limit else {
            return false;
        };
        if longest_call(self.systems) > limit && ending.timed_out.is_none() {
            ending.timed_out = Some(Instant::now());
            Python::attach(|py| end_calls(py, self.systems, "StepTimeout"));
        }
        longest_of_fmus > limit
    }

    /// The thread stays with the call that does not return, and nobody waits for it any longer.
    fn leave_behind(&self, calls: &mut CallWatch) -> PyErr {
        self.stop.store(true, Ordering::Relaxed);
        let under_way = calls_under_way(None);
        calls.give_up_on(PAUSE);
        let what = match under_way.as_str() {
            "" if longest_call(self.systems).is_zero() => " in a step",
            "" => " in a call of Python",
            calls => calls,
        };
        let text = format!(
            "the run was left behind{what}, which does not return: its thread goes on until it does, and its results are lost"
        );
        let named = under_way.split('`').nth(1).map(str::to_owned);
        let remedies = vec!["workers=\"processes\"".to_owned()];
        Python::attach(|py| {
            let fields = Fields {
                system: named,
                remedies: if under_way.is_empty() {
                    vec![]
                } else {
                    remedies
                },
                ..Fields::default()
            };
            exception(py, "RunError", &text, fields)
        })
    }
}

/// How far it has come with ending a run early.
#[derive(Default)]
struct Ending {
    raised: Option<PyErr>,
    /// When the run was first to end, and when it was once more.
    since: Option<Instant>,
    again: Option<Instant>,
    /// When a call in Python was told that it takes too long.
    timed_out: Option<Instant>,
    given_up: bool,
}

impl Ending {
    fn look_at_signals(&mut self, stop: &Stop, look: &impl Fn(Python<'_>) -> PyResult<()>) {
        let now = Instant::now();
        let looked = Python::attach(|py| match py.check_signals() {
            Ok(()) if self.since.is_none() => look(py),
            other => other,
        });
        let Err(error) = looked else { return };
        match self.since {
            None => {
                stop.store(true, Ordering::Relaxed);
                self.since = Some(now);
                self.raised = Some(error);
            }
            Some(since) if now - since > ONE_SIGNAL => {
                self.again.get_or_insert(now);
            }
            Some(_) => {}
        }
    }

    /// Whether the step under way has had its time. True now and then from then on.
    fn is_overdue(&mut self) -> bool {
        let since = self.since.filter(|since| since.elapsed() > GRACE_PERIOD);
        let overdue = since.is_some() || self.again.is_some();
        let first = overdue && !self.given_up;
        self.given_up |= overdue;
        first
    }

    /// Whether it comes to no end.
    fn is_hopeless(&self) -> bool {
        let last = [self.again, self.timed_out].into_iter().flatten();
        let mut last = last.map(|told| told.elapsed());
        last.any(|elapsed| elapsed > LAST_GRACE_PERIOD)
    }
}
