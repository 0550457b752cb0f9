//! Whose turn it is: a system that answers at once to what it is fed goes after those that feed it,
//! where both stand at the same time. Their new points turn its inputs from extrapolations into
//! interpolations, so that it does not take the joints of its feeders' polynomials for a course of
//! its own. Systems around a cycle of such answers go together.

use dovetail_core::{Connections, Source, components};

/// The order of the systems within an attempt.
pub(crate) struct Turns {
    /// For each system its turn.
    of: Vec<usize>,
    /// How many turns there are.
    count: usize,
    /// For each system those that it goes after.
    after: Vec<Vec<usize>>,
}

impl Turns {
    /// All go side by side.
    pub fn together(connections: &Connections) -> Self {
        Self::of(vec![Vec::new(); connections.systems()])
    }

    /// By what the outputs of each system depend on at once.
    pub fn by_feedthrough(connections: &Connections) -> Self {
        Self::of(
            (0..connections.systems())
                .map(|k| answers_to(connections, k))
                .collect(),
        )
    }

    fn of(after: Vec<Vec<usize>>) -> Self {
        let mut turns = Self {
            of: vec![0; after.len()],
            count: 1,
            after,
        };
        turns.assign();
        turns
    }

    /// Gives every system its turn, those around a cycle the same one.
    fn assign(&mut self) {
        let mut member_of = vec![usize::MAX; self.after.len()];
        for (cycle, members) in components(&self.after).into_iter().enumerate() {
            members.iter().for_each(|&k| member_of[k] = cycle);
            let outside = members
                .iter()
                .flat_map(|&k| &self.after[k])
                .filter(|&&l| member_of[l] != cycle);
            let turn = outside.map(|&l| self.of[l] + 1).max().unwrap_or(0);
            members.iter().for_each(|&k| self.of[k] = turn);
            self.count = self.count.max(turn + 1);
        }
    }

    /// Systems, each with one that goes after it.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.after
            .iter()
            .enumerate()
            .flat_map(|(k, before)| before.iter().map(move |&feeder| (feeder, k)))
    }

    /// Systems that answer at once to one another, for each cycle.
    pub fn cycles(&self) -> impl Iterator<Item = Vec<usize>> {
        let is_cycle = |members: &Vec<usize>| {
            members.len() > 1 || self.after[members[0]].contains(&members[0])
        };
        components(&self.after).into_iter().filter(is_cycle)
    }

    /// The systems of a cycle, who cannot agree, go in the order in which the model lists them:
    /// only the first is given the value of the last one a step late.
    pub fn unroll(&mut self, cycle: &[usize]) {
        for &k in cycle {
            self.after[k].retain(|l| *l < k || !cycle.contains(l));
        }
        self.assign();
    }

    /// From now on the readers of `system` go after it, since nobody can extrapolate what jumps in
    /// it.
    pub fn put_first(&mut self, system: usize, connections: &Connections) {
        for k in (0..self.after.len()).filter(|&k| k != system) {
            if connections.feeders(k).contains(&system) && !self.after[k].contains(&system) {
                self.after[k].push(system);
            }
        }
        self.assign();
    }

    /// The turns, one after the other.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.count
    }

    /// Whether it is the turn of `system`.
    pub fn is_up(&self, system: usize, turn: usize) -> bool {
        self.of[system] == turn
    }
}

/// The systems whose outputs `system` answers at once.
fn answers_to(connections: &Connections, system: usize) -> Vec<usize> {
    let first = connections.inputs_of(system).start;
    let outputs = &connections.interfaces()[system].outputs;
    let mut inputs: Vec<usize> = outputs
        .iter()
        .flat_map(|output| &output.depends_on)
        .map(|input| first + input)
        .collect();
    inputs.sort_unstable();
    inputs.dedup();
    let feeder = |input: usize| match connections.sources()[input] {
        Source::Output(output) if !connections.is_held(input) => Some(connections.owner(output)),
        _ => None,
    };

    inputs.into_iter().filter_map(feeder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_one_after_the_other_and_a_cycle_together() {
        // 0 → 1 → 2 ⇄ 3 → 4, and 5 for itself.
        let turns = Turns::of(vec![vec![], vec![0], vec![1, 3], vec![2], vec![3], vec![]]);
        assert_eq!(turns.of, [0, 1, 2, 2, 3, 0]);
        assert_eq!(turns.all(), 0..4);
        assert_eq!(turns.cycles().collect::<Vec<_>>(), [[2, 3]]);
        assert!(turns.pairs().any(|pair| pair == (0, 1)));
    }
}
