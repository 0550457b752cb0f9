//! How many states systems have.

use dovetail_core::Connections;

/// All systems together.
pub(crate) fn total_states(connections: &Connections) -> usize {
    each(connections).sum()
}

/// The numbers that occur, in increasing order.
pub(crate) fn distinct_state_counts(connections: &Connections) -> Vec<usize> {
    let mut counts: Vec<usize> = each(connections).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn each(connections: &Connections) -> impl Iterator<Item = usize> {
    let interfaces = connections.interfaces().iter();
    interfaces.map(|interface| interface.states.len())
}
