//! What must be done in time even while the program waits for an FMU: rows are written, what FMUs have changed is put back, and
//! calls and steps that take too long are ended.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Once, OnceLock};
use std::thread::{Builder, sleep};
use std::time::Duration;

use dovetail::fmi::{CallWatch, calls_under_way, leave_at_once, put_back_surroundings};

use crate::rescue::{save_rows, save_rows_in_time};
use crate::{interrupt, launch, output};

/// Between two rounds.
const PAUSE: Duration = Duration::from_millis(250);
/// What FMUs have changed is put back in one round of so many.
const ROUNDS_TO_PUT_BACK: u32 = 4;

/// So long a call of an FMU in this process may take.
static LIMIT: OnceLock<Duration> = OnceLock::new();

/// Starts the rounds, once. Without a thread for them rows are written when they fill the memory, and at the end.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // It must be under way before an FMU is loaded: a thread cannot begin while a constructor of a library hangs.
        let (begun, wait) = channel();
        let thread = Builder::new().name("housekeeping".to_owned());
        if thread.spawn(move || rounds(&begun)).is_ok() {
            let _ = wait.recv();
        }
    });
}

/// Ends the program when a call of an FMU in it takes longer than this.
pub(crate) fn limit_calls(limit: Duration) {
    let _ = LIMIT.set(limit);
    start();
}

fn rounds(begun: &Sender<()>) {
    output::complain(""); // what printing needs is made now, for the same reason
    let _ = begun.send(());
    let mut calls = CallWatch::default();
    for round in 1_u32.. {
        sleep(LIMIT.get().map_or(PAUSE, |limit| PAUSE.min(*limit / 4)));
        save_rows_in_time();
        interrupt::give_up_in_time();
        if round.is_multiple_of(ROUNDS_TO_PUT_BACK) {
            put_back_surroundings();
        }
        if let Some(limit) = LIMIT.get()
            && calls.longest() > *limit
        {
            end_stuck_run(*limit);
        }
    }
}

/// An FMU that does not return cannot be stopped but with the program.
fn end_stuck_run(limit: Duration) {
    let calls = calls_under_way(None);
    let whole = launch::this_process();
    save_rows();
    output::complain(&format!(
        "the run ended early: an FMU did not answer within {} s{calls}, and was ended with {whole}; rows so far are kept. \
         Where it is slow rather than stuck, give it more time (--step-timeout)\n",
        limit.as_secs_f64()
    ));
    leave_at_once(1);
}
