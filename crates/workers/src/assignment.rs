//! Which system falls to which thread.

/// For each system its thread, and its place among the systems of that thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    threads: usize,
    thread_of: Vec<usize>,
    place_of: Vec<usize>,
}

impl Assignment {
    fn new(threads: usize, thread_of: Vec<usize>) -> Self {
        let mut counts = vec![0; threads];
        let mut next_place = |&thread: &usize| {
            counts[thread] += 1;
            counts[thread] - 1
        };
        let place_of = thread_of.iter().map(&mut next_place).collect();

        Self {
            threads,
            thread_of,
            place_of,
        }
    }

    /// Dealt out like cards. Systems of one kind tend to stand side by side in a model: this
    /// spreads every kind over all threads.
    pub fn dealt(systems: usize, threads: usize) -> Self {
        Self::new(threads, (0..systems).map(|k| k % threads).collect())
    }

    /// Balanced by cost: the costliest group first, each to the thread that has least to do so far.
    /// Systems of one group stay together.
    pub fn balanced(costs: &[f64], groups: &[usize], threads: usize) -> Self {
        let count = groups.iter().max().map_or(0, |last| last + 1);
        let mut totals = vec![0.0; count];
        for (cost, &group) in costs.iter().zip(groups) {
            totals[group] += cost;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|one, other| totals[*other].total_cmp(&totals[*one]));

        let mut loads = vec![0.0; threads];
        let mut thread_of_group = vec![0; count];
        for group in order {
            let least = least_loaded(&loads);
            thread_of_group[group] = least;
            loads[least] += totals[group];
        }
        Self::new(
            threads,
            groups.iter().map(|&group| thread_of_group[group]).collect(),
        )
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The thread of a system.
    pub fn thread(&self, system: usize) -> usize {
        self.thread_of[system]
    }

    /// Its place among the systems of that thread.
    pub fn place(&self, system: usize) -> usize {
        self.place_of[system]
    }
}

/// The first of those with the least.
fn least_loaded(loads: &[f64]) -> usize {
    let positions = 0..loads.len();
    let least = positions.min_by(|&one, &other| loads[one].total_cmp(&loads[other]));
    least.expect("BUG: there is at least one thread")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads_of(assignment: &Assignment) -> Vec<usize> {
        assignment.thread_of.clone()
    }

    #[test]
    fn cards_go_round() {
        let dealt = Assignment::dealt(5, 2);
        assert_eq!(threads_of(&dealt), [0, 1, 0, 1, 0]);
        assert_eq!(dealt.place_of, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn the_costliest_system_is_alone_where_that_is_fair() {
        let costs = [1.0, 5.0, 1.0, 2.0, 1.0];
        let balanced = Assignment::balanced(&costs, &[0, 1, 2, 3, 4], 2);
        assert_eq!(threads_of(&balanced), [1, 0, 1, 1, 1]);
    }

    #[test]
    fn a_group_is_not_torn_apart() {
        let balanced = Assignment::balanced(&[3.0, 3.0, 3.0, 1.0], &[0, 0, 1, 2], 2);
        assert_eq!(threads_of(&balanced), [0, 0, 1, 1]);
    }
}
