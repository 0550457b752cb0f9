//! When checkpoints of a run are taken, and where they go.

use std::io;

use super::RunCheckpoint;

/// Keeps a checkpoint: in a file, say.
pub type KeepCheckpoint<'a> = Box<dyn FnMut(&RunCheckpoint) -> io::Result<()> + 'a>;

/// Checkpoints of a run on its way: at the first communication time after each interval, and where it ends. None moves a
/// communication time, so that the numbers of a run are the same with and without them.
pub struct CheckpointPlan<'a> {
    /// So much simulated time is between two of them, counted from the start of the run.
    pub interval: f64,
    /// What they say of the run beside its state, for whoever resumes it.
    pub about: Vec<u8>,
    /// Keeps each of them.
    pub keep: KeepCheckpoint<'a>,
}

impl CheckpointPlan<'_> {
    /// When the next one is due, in a run that began at `start` and has come to `reached`.
    pub(crate) fn next(&self, start: f64, reached: f64) -> f64 {
        let passed = ((reached - start) / self.interval).floor();
        let at = |number: f64| start + number * self.interval;
        let next = at(passed + 1.0);
        // The division may round.
        if next > reached {
            next
        } else {
            at(passed + 2.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_is_due_after_the_time_reached() {
        let plan = CheckpointPlan {
            interval: 0.1,
            about: Vec::new(),
            keep: Box::new(|_| Ok(())),
        };
        let mut reached = 1.0;
        for number in 1..100 {
            let next = plan.next(1.0, reached);
            assert_eq!(next, 1.0 + f64::from(number) * 0.1);
            reached = next;
        }
        assert_eq!(plan.next(1.0, 1.05), 1.1);
    }
}
