//! Ctrl-C: the first ends the run after the step under way, with its results kept; a step that comes to no end within two
//! seconds is given up. The second ends the program, with the rows written so far.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::housekeeping;
use crate::rescue::save_rows;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// When the first signal came.
static FIRST: OnceLock<Instant> = OnceLock::new();

/// The exit code of a program that Ctrl-C ended.
const KILLED: u8 = 130;
/// The step under way has so long to come to its end.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// What follows a run that was interrupted, such as its reference, may take so long.
const PATIENCE: Duration = Duration::from_millis(500);
/// Signals that come so shortly after one another are one: some programs send them to a process and to its group.
const ONE_SIGNAL: Duration = Duration::from_millis(250);

/// Listens for Ctrl-C from now on; the flag it raises.
pub(crate) fn listen() -> &'static AtomicBool {
    dovetail::fmi::on_fmu_exit(save_rows, crate::remedies::AFTER_EXIT);
    // It can only fail where someone else listens already; then Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(interrupt);
    housekeeping::start();
    &INTERRUPTED
}

/// Whether what was interrupted has had its time to end.
pub(crate) fn is_overdue() -> bool {
    let first = FIRST.get();
    first.is_some_and(|first| first.elapsed() > PATIENCE)
}

/// What Ctrl-C does.
fn interrupt() {
    if !INTERRUPTED.swap(true, Ordering::Relaxed) {
        let _ = FIRST.set(Instant::now());
        // Whoever sent the signal may kill the program soon.
        save_rows();
        dovetail::fmi::abandon_loading();
        return;
    }

    let first = FIRST.get();
    if first.is_some_and(|first| first.elapsed() > ONE_SIGNAL) {
        // Whoever is stuck stays stuck: the rows so far are all there is.
        save_rows();
        dovetail::fmi::leave_at_once(KILLED);
    }
}

/// Gives the step under way up, if an interrupt has waited long enough for its end.
pub(crate) fn give_up_in_time() {
    let first = FIRST.get();
    if first.is_some_and(|first| first.elapsed() > GRACE_PERIOD) {
        dovetail::fmi::abandon_steps();
    }
}
