//! The life of a rank of an MPI program that is not the first: it makes the systems that it owns, or does
//! their work in a proof of bounds.

use dovetail_guaranteed::SystemServer;
use dovetail_workers::Network;

use super::own_part::OwnPart;
use super::texts::TEXTS;
use crate::cost::seconds_of_part;

/// Serves rank 0, on which runs with [`Placement::Ranks`](crate::Placement::Ranks) are under way, or
/// bounds are proved ([`enclose_on_ranks`](crate::enclose_on_ranks)), until the program there is over.
pub fn serve_rank(network: &Network) -> std::io::Result<()> {
    dovetail_fmi::name_process(&format!("rank {}", network.rank()));
    let mut bounds = SystemServer::announcing(announce);
    serve_rank_with(network, |message| {
        bounds.answer(message).map_err(|bad| bad.to_string())
    })
}

/// The same for a program that has questions of its own, which rank 0 asks by a [`ServiceLink`](dovetail_workers::ServiceLink).
pub fn serve_rank_with(
    network: &Network,
    answer: impl FnMut(&[u8]) -> Result<Vec<u8>, String>,
) -> std::io::Result<()> {
    dovetail_workers::serve_rank(
        network,
        TEXTS,
        OwnPart::open,
        seconds_of_part,
        announce,
        answer,
    )
}

/// Whoever says how this process ended names its systems.
fn announce(names: &[&str]) {
    const MOST: usize = 4;
    let rank = Network::join().rank();
    let quoted = names.iter().take(MOST).map(|name| format!("`{name}`"));
    let quoted = quoted.collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    dovetail_fmi::name_process(&format!("rank {rank} (with {quoted}{more})"));
}
