//! Work of the engine in a thread of its own, while the calling thread waits: without the interpreter's lock, and with an
//! eye on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// Between two looks at signals.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// FMUs may need more than threads usually have.
pub(crate) const STACK: usize = 64 << 20;
/// The step under way has so long to come to its end.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// Raised while a run is being interrupted: processes that try FMUs out, or that systems live in, give up.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What came of it.
pub(crate) struct Waited<T> {
    pub answer: T,
    /// Ctrl-C was pressed.
    pub interrupted: bool,
}

/// Does `work`, which looks at the flag that it is given and ends soon after it is raised. `look` is called now and then,
/// with the interpreter's lock.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
) -> PyResult<Waited<T>> {
    let stop = AtomicBool::new(false);
    let outcome = py.detach(|| {
        scope(|threads| {
            let (done, wait) = channel();
            let stop = &stop;
            let builder = Builder::new().name("dovetail".to_owned()).stack_size(STACK);
            let work = move || {
                let answer = work(stop);
                let _ = done.send(());
                answer
            };
            let thread = builder.spawn_scoped(threads, work);
            let thread = thread.map_err(|error| {
                PyRuntimeError::new_err(format!("no thread could be started for a run: {error}"))
            })?;
            let raised = watch(&wait, stop, &look);
            let answer = thread.join();
            INTERRUPTED.store(false, Ordering::Relaxed);
            dovetail::fmi::permit_steps();
            let answer = answer.map_err(|_| {
                PyRuntimeError::new_err("BUG: the engine has failed; its message is above")
            })?;
            raised.map(|interrupted| Waited {
                answer,
                interrupted,
            })
        })
    })?;
    Ok(outcome)
}

/// Waits for the end of the work. Whether Ctrl-C was pressed; or another exception, of a signal handler or of `look`.
fn watch(
    end: &std::sync::mpsc::Receiver<()>,
    stop: &AtomicBool,
    look: &(impl Fn(Python<'_>) -> PyResult<()> + Sync),
) -> PyResult<bool> {
    let mut raised = None;
    let mut since = None;

    while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(PAUSE) {
        let signals = Python::attach(|py| py.check_signals().and_then(|()| look(py)));
        if let Err(error) = signals {
            stop.store(true, Ordering::Relaxed);
            INTERRUPTED.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
            since.get_or_insert_with(Instant::now);
        }
        if since.is_some_and(|since| since.elapsed() > GRACE_PERIOD) {
            dovetail::fmi::abandon_steps();
        }
    }

    match raised {
        None => Ok(false),
        Some(error) if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => {
            Ok(true)
        }
        Some(error) => Err(error),
    }
}
