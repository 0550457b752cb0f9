//! Ctrl-C: the first ends the run after the step under way, with its results kept; the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that Ctrl-C ended.
const KILLED: i32 = 130;

/// Listens for Ctrl-C from now on; the flag it raises.
pub(crate) fn listen() -> &'static AtomicBool {
    // It can only fail where someone else listens already; then Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    });
    &INTERRUPTED
}
