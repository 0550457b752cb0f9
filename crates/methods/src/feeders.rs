//! Which systems read which.

use dovetail_core::Connections;

/// For each system, those whose outputs it reads.
pub(crate) fn feeders_of_systems(connections: &Connections) -> Vec<Vec<usize>> {
    let systems = 0..connections.systems();
    systems.map(|k| connections.feeders(k)).collect()
}
