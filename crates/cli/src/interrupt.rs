//! Ctrl-C: the first ends the run after the step under way, with its results kept; the second ends the program, with the rows
//! written so far.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::rescue::save_rows;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that Ctrl-C ended.
const KILLED: i32 = 130;

/// Listens for Ctrl-C from now on; the flag it raises.
pub(crate) fn listen() -> &'static AtomicBool {
    dovetail::fmi::on_fmu_exit(save_rows, crate::remedies::AFTER_EXIT);
    // It can only fail where someone else listens already; then Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(interrupt);
    &INTERRUPTED
}

/// What Ctrl-C does.
fn interrupt() {
    if INTERRUPTED.swap(true, Ordering::Relaxed) {
        // Whoever is stuck stays stuck: the rows so far are all there is.
        save_rows();
        std::process::exit(KILLED);
    }
}
