//! Jumps that nobody announced: an error far beyond its recent history.
//!
//! An estimate goes wrong by more and more while the steps are too long, and the controller sees to
//! that. A jump is another matter: from one communication to the next the error is many times what
//! it was, and many times the tolerance.

use dovetail_core::{Connections, readable};
use serde::{Deserialize, Serialize};

/// Errors that are remembered.
const MEMORY: usize = 8;
/// So many of them must be known before another can be out of line.
const LEAST: usize = 4;
/// An error is a jump when it is so many times the largest of the recent ones, and of the
/// tolerance.
pub(super) const FAR: f64 = 30.0;
/// So many jumps are reported one by one.
const MOST_REPORTED: usize = 5;

/// The recent errors of an output, in units of its tolerance.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RecentErrors {
    errors: [f64; MEMORY],
    known: usize,
}

impl RecentErrors {
    /// Takes an error in.
    pub fn record(&mut self, error: f64) {
        self.errors.rotate_right(1);
        self.errors[0] = error;
        self.known = (self.known + 1).min(MEMORY);
    }

    /// The error beyond which an output must have jumped; infinite while too little is known.
    pub fn limit(&self) -> f64 {
        if self.known < LEAST {
            return f64::INFINITY;
        }
        FAR * self.errors[..self.known]
            .iter()
            .fold(1.0, |most: f64, &error| most.max(error))
    }
}

/// A jump that was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Jump {
    output: usize,
    /// Where it was seen, and how much earlier it may have been.
    time: f64,
    lag: f64,
    located: bool,
}

/// The jumps of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Jumps {
    reported: Vec<Jump>,
    located: u64,
    late: u64,
}

impl Jump {
    /// The output and the time, as one writes them.
    fn place(&self, connections: &Connections) -> (String, f64) {
        (connections.output_name(self.output), readable(self.time))
    }
}

impl Jumps {
    /// None so far.
    pub fn new() -> Self {
        Self {
            reported: Vec::with_capacity(MOST_REPORTED),
            located: 0,
            late: 0,
        }
    }

    /// Output `output` (stacked) has jumped at `time` or up to `lag` before.
    pub fn record(&mut self, output: usize, time: f64, lag: f64, located: bool) {
        *(if located {
            &mut self.located
        } else {
            &mut self.late
        }) += 1;
        if self.reported.len() < MOST_REPORTED {
            self.reported.push(Jump {
                output,
                time,
                lag,
                located,
            });
        }
    }

    /// What there is to say of jumps that were found where they are.
    pub fn remarks(&self, connections: &Connections) -> Vec<String> {
        self.report(true, self.located, |jump| {
            let (name, time) = jump.place(connections);
            format!(
                "`{name}` jumps at t = {time} s, which no system had announced: found by \
                trying shorter steps"
            )
        })
    }

    /// What there is to say of jumps that were noticed too late.
    pub fn warnings(&self, connections: &Connections) -> Vec<String> {
        self.report(false, self.late, |jump| {
            let (name, time) = jump.place(connections);
            format!(
                "`{name}` has jumped within the {:.3e} s before t = {time} s, which no system had \
                 announced: the systems that read it got the new value up to that much late",
                jump.lag
            )
        })
    }

    fn report(&self, located: bool, count: u64, sentence: impl Fn(&Jump) -> String) -> Vec<String> {
        let mut all: Vec<String> = self
            .reported
            .iter()
            .filter(|jump| jump.located == located)
            .map(sentence)
            .collect();
        if count > all.len() as u64 {
            let more = count - all.len() as u64;
            all.push(format!(
                "so it was {more} more {}",
                if more == 1 { "time" } else { "times" }
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_beyond_the_recent_errors_and_the_tolerance_is_a_jump() {
        let mut recent = RecentErrors::default();
        assert_eq!(recent.limit(), f64::INFINITY, "nothing is known yet");
        (0..4).for_each(|_| recent.record(1e-3));
        assert_eq!(
            recent.limit(),
            FAR,
            "errors within the tolerance are no jumps"
        );
        recent.record(5.0);
        assert_eq!(recent.limit(), 5.0 * FAR);
        (0..8).for_each(|_| recent.record(0.5));
        assert_eq!(recent.limit(), FAR, "what lies back is forgotten");
    }
}
