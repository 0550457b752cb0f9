//! Where an integrator has been within a step.

use dovetail_core::{Path, Signal};

/// Where an integrator has been within the step last taken or tried, in elapsed time.
#[derive(Default)]
pub(super) struct Trail {
    pub elapsed: Vec<f64>,
    /// A time on the same side of every switch.
    pub sides: Vec<f64>,
    pub states: Vec<f64>,
    pub parts: PartScratch,
}

/// Room to step in parts.
#[derive(Default)]
pub(super) struct PartScratch {
    pub initial: Vec<f64>,
    pub states: Vec<f64>,
    pub shifted: Vec<Signal>,
}

impl Trail {
    pub fn clear(&mut self) {
        self.elapsed.clear();
        self.sides.clear();
        self.states.clear();
    }

    /// The integrator has come here; what it did beyond, in search of an event, does not count.
    pub fn push(&mut self, elapsed: f64, side: f64, states: &[f64]) {
        while self.elapsed.last().is_some_and(|last| *last >= elapsed) {
            self.truncate(self.elapsed.len() - 1, states.len());
        }
        if self.elapsed.len() == Path::MOST {
            self.drop_every_other(states.len());
        }
        self.elapsed.push(elapsed);
        self.sides.push(side);
        self.states.extend(states);
    }

    fn truncate(&mut self, length: usize, width: usize) {
        self.elapsed.truncate(length);
        self.sides.truncate(length);
        self.states.truncate(length * width);
    }

    fn drop_every_other(&mut self, width: usize) {
        let kept = self.elapsed.len() / 2;
        for to in 0..kept {
            let from = 2 * to + 1;
            self.elapsed[to] = self.elapsed[from];
            self.sides[to] = self.sides[from];
            self.states
                .copy_within(from * width..(from + 1) * width, to * width);
        }
        self.truncate(kept, width);
    }
}
