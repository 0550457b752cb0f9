//! Bounds with the work of each system done by a rank of an MPI program.

use dovetail_core::{Remedy, list_names};
use dovetail_guaranteed::{
    EnclosureObserver, EnclosureOutcome, Options, PlaceLost, Places, Problem, enclose, enclose_at,
};
use dovetail_workers::{RankLoss, ServiceError, ServiceLink, deal};

use crate::placement::RankPlacement;

/// Encloses every trajectory of `problem`, the systems spread over ranks by the operations of their
/// equations. The bounds are those of a single rank to the last bit.
pub fn enclose_on_ranks(
    problem: &Problem,
    options: &Options,
    ranks: RankPlacement,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    if ranks.network.size() == 1 {
        return enclose(problem, options, watcher);
    }

    let costs: Vec<Option<f64>> = problem.costs().into_iter().map(Some).collect();
    let owners = deal(&costs, &vec![None; costs.len()], ranks.owners());
    let owners = owners.expect("BUG: no system has to be kept apart, and none finds a rank");
    let places = RankPlaces {
        link: ServiceLink::new(ranks.network),
        systems: systems_of_ranks(problem, &owners, ranks.network.size()),
    };
    let remark = spread(&places.systems);
    let mut outcome = enclose_at(problem, options, &owners, Box::new(places), watcher);
    outcome.remarks.push(remark);
    outcome
}

/// The names of the systems of each rank.
fn systems_of_ranks(problem: &Problem, owners: &[usize], ranks: usize) -> Vec<Vec<String>> {
    let mut systems = vec![Vec::new(); ranks];
    for (name, &owner) in problem.system_names().zip(owners) {
        systems[owner].push(name.to_owned());
    }
    systems
}

fn spread(systems: &[Vec<String>]) -> String {
    let counts: Vec<String> = systems.iter().map(|own| own.len().to_string()).collect();
    let ranks = counts.len();
    let counts = counts.join(", ");
    format!("{ranks} ranks: systems on each, from rank 0 on: {counts}")
}

/// Places that are ranks, each with its systems.
struct RankPlaces {
    link: ServiceLink,
    systems: Vec<Vec<String>>,
}

impl RankPlaces {
    fn lost(&self, rank: usize, error: &ServiceError) -> PlaceLost {
        let systems = list_names(&self.systems[rank]);
        let remedies = match error {
            ServiceError::Lost(RankLoss::Silent { .. }) => vec![Remedy::MoreTime],
            _ => Vec::new(),
        };
        PlaceLost {
            reason: format!("{error} (rank {rank} has {systems})"),
            remedies,
        }
    }
}

impl Places for RankPlaces {
    fn send(&mut self, rank: usize, message: &[u8]) -> Result<(), PlaceLost> {
        let sent = self.link.send(rank, message);
        sent.map_err(|error| self.lost(rank, &error))
    }

    fn receive(&mut self, rank: usize, answer: &mut Vec<u8>) -> Result<(), PlaceLost> {
        let received = self.link.receive(rank);
        *answer = received.map_err(|error| self.lost(rank, &error))?;
        Ok(())
    }
}
