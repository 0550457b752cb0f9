//! By how much the matrix of all systems coupled has changed over a step.

use super::coupled_blocks::{BlockLayout, Blocks, SystemLayout, lines};
use super::tuning::{FEEDTHROUGH_ROUNDS, LEAST_RANGE};
use crate::ranges::Ranges;

/// Room to measure it in.
pub(super) struct CoupledChange {
    difference: Vec<f64>,
    mean: Vec<f64>,
    /// The ranges of states.
    ranges: Vec<f64>,
    /// What coupling variables move by where states move by their ranges, and how much of that has
    /// changed.
    moves: Vec<f64>,
    changes: Vec<f64>,
}

impl CoupledChange {
    pub fn new(layout: &BlockLayout) -> Self {
        Self {
            difference: vec![0.0; layout.numbers],
            mean: vec![0.0; layout.numbers],
            ranges: vec![0.0; layout.states],
            moves: vec![0.0; layout.variables],
            changes: vec![0.0; layout.variables],
        }
    }

    /// The change between these blocks in units of the ranges of the states, over a step of `size`:
    /// the largest of all rows, block by block. A state that follows fast what drives it keeps no
    /// more of a change than one time constant lets it.
    pub fn measure(
        &mut self,
        layout: &BlockLayout,
        [before, now]: [&[f64]; 2],
        size: f64,
        ranges: &Ranges,
    ) -> f64 {
        if before == now {
            return 0.0;
        }

        for (k, (before, now)) in before.iter().zip(now).enumerate() {
            self.difference[k] = now - before;
            self.mean[k] = 0.5 * (now + before);
        }
        for (state, range) in self.ranges.iter_mut().enumerate() {
            *range = ranges.scale(state);
        }
        self.follow_feedthrough(layout);

        let largest = self.ranges.iter().copied().fold(0.0, f64::max);
        // A state that stays at zero by symmetry has no range, and must not ask for steps of no
        // length.
        let least = LEAST_RANGE * largest;
        if largest == 0.0 {
            return 0.0;
        }
        let systems = layout.systems.iter();
        let of_system = |system: &SystemLayout| self.measure_system(system, now, size, least);

        systems.map(of_system).fold(0.0, f64::max)
    }

    /// What becomes of coupling variables: from states, and through feedthrough from one system to
    /// the next.
    fn follow_feedthrough(&mut self, layout: &BlockLayout) {
        self.moves.fill(0.0);
        self.changes.fill(0.0);
        let rounds = if layout.passes_through(&self.mean) || layout.passes_through(&self.difference)
        {
            FEEDTHROUGH_ROUNDS
        } else {
            1
        };
        for _ in 0..rounds {
            for system in &layout.systems {
                self.follow_system(system);
            }
        }
    }

    fn follow_system(&mut self, system: &SystemLayout) {
        let mean = system.blocks(&self.mean);
        let difference = system.blocks(&self.difference);
        let ranges = system.own(&self.ranges);

        for (k, &row) in system.rows.iter().enumerate() {
            let of_states = k * system.states..(k + 1) * system.states;
            let of_inputs = k * system.columns.len()..(k + 1) * system.columns.len();
            let mut moves = weighted(&mean.c[of_states.clone()], ranges);
            let mut changes = weighted(&difference.c[of_states], ranges);
            let gains = mean.d[of_inputs.clone()]
                .iter()
                .zip(&difference.d[of_inputs]);
            for (&column, (gain, change)) in system.columns.iter().zip(gains) {
                moves += gain.abs() * self.moves[column];
                changes += change.abs() * self.moves[column] + gain.abs() * self.changes[column];
            }
            self.moves[row] = moves;
            self.changes[row] = changes;
        }
    }

    /// The largest of the rows of a system.
    fn measure_system(&self, system: &SystemLayout, now: &[f64], size: f64, least: f64) -> f64 {
        let Blocks { a, b, .. } = system.blocks(&self.difference);
        let gains = system.blocks(&self.mean).b;
        let own = system.blocks(now);
        let ranges = system.own(&self.ranges);
        let inputs = system.columns.len();
        let mut largest: f64 = 0.0;

        for (i, line) in lines(a, system.states).enumerate() {
            let mut row = weighted(line, ranges);
            for (k, &column) in system.columns.iter().enumerate() {
                let at = i * inputs + k;
                row += b[at].abs() * self.moves[column] + gains[at].abs() * self.changes[column];
            }
            let damping = 1.0 + size * (-own.a[i * system.states + i]).max(0.0);
            largest = largest.max(row / (damping * ranges[i].max(least)));
        }
        largest
    }
}

/// `Σ_j |line_j| ranges_j`.
fn weighted(line: &[f64], ranges: &[f64]) -> f64 {
    line.iter()
        .zip(ranges)
        .map(|(a, range)| a.abs() * range)
        .sum()
}
