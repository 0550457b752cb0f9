//! Chattering: something switches back and forth without end, and the run must still advance.

use serde::{Deserialize, Serialize};

use crate::rounded::rounded;

/// Steps to events below this part of the run, one after the other, are a crowd.
const CROWDED: f64 = 1e-4;
/// A crowd of so many is more than events that happen to be close.
const LARGE_CROWD: i32 = 20;
/// A side is kept for this part of the run at least, once a crowd has grown, and this at most.
const FIRST_DWELL: f64 = 1e-10;
const LONGEST_DWELL: f64 = 1e-3;

/// Steps that are cut to end at events, one after the other.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Chatter {
    crowd: i32,
    /// The longest time for which a side was kept though an event was due; zero where none was.
    dwell: f64,
}

impl Chatter {
    /// How long a side is kept, in a run of this length.
    pub fn dwell(&self, span: f64) -> f64 {
        if self.crowd <= LARGE_CROWD {
            return 0.0;
        }
        let grown = 2f64.powi((self.crowd - LARGE_CROWD).min(100));
        (FIRST_DWELL * grown).min(LONGEST_DWELL) * span
    }

    /// A step of this size has been planned; whether it was cut for an event.
    pub fn note(&mut self, size: f64, cut: bool, span: f64) {
        let dwell = self.dwell(span);
        if cut && size <= dwell.max(CROWDED * span) {
            // Between two of a crowd there may be a step that meets none.
            self.crowd += 2;
            self.dwell = self.dwell.max(dwell);
        } else if size > dwell {
            self.crowd = (self.crowd - 1).max(0);
        }
    }

    pub fn warning(&self) -> Option<String> {
        warning(self.dwell)
    }
}

/// That switching could not be followed event by event, where a side was kept for so long.
pub(crate) fn warning(dwell: f64) -> Option<String> {
    let rounded = rounded(dwell);
    (dwell > 0.0).then(|| {
        format!(
            "something switches to and fro without end, and could not be followed event by event: \
             it was let stay on a side for up to {rounded} s, and results are no more accurate \
             than that"
        )
    })
}
