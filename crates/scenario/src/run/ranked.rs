//! The systems of a run on the ranks of an MPI program: who owns which, and how they are made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dovetail_core::{Remedy, System, Workers};
use dovetail_workers::{
    Making, Network, RankError, RankPlace, Ranks, SystemRequest, deal, measure_on_ranks,
};

use super::build_plan::BuildPlan;
use super::fmu_report::FmuReport;
use crate::cost::{CostTask, seconds_of_step};
use crate::diagnostic::{BadModel, Problem};
use crate::placement::RankPlacement;
use crate::process::child_task;
use crate::process::texts::TEXTS;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::source::system_source::BuildOptions;

/// An FMU has so long to be measured, where steps have no limit.
const MEASURE_LIMIT: Duration = Duration::from_secs(10);

/// The systems of a run, each on the rank that owns it.
pub(crate) struct RankedSystems {
    network: &'static Network,
    systems: Vec<RankPlace>,
    reports: Vec<FmuReport>,
}

impl RankedSystems {
    /// Deals the systems out and has every rank make its own.
    pub fn make(
        ranks: RankPlacement,
        scenario: &Scenario,
        plan: &BuildPlan,
    ) -> Result<Self, BadModel> {
        let network = ranks.network;
        let requests = plan.orders(scenario)?;
        let owners = owners(ranks, scenario, plan)?;
        let refused = |error: RankError| {
            let problem = Problem::general(error.to_string());
            scenario.bad(problem.with(error.remedies()))
        };
        let making = Making::begin(network, TEXTS, &requests, &owners).map_err(refused)?;
        let own = make_own(scenario, plan, &owners, network.rank());
        // The answers of the others are taken in, whatever became of our own.
        let theirs = making.finish();
        let own = own.map_err(|why| scenario.bad(Problem::general(why)))?;
        let theirs = theirs.map_err(refused)?;

        let mut made = Self {
            network,
            systems: Vec::with_capacity(owners.len()),
            reports: Vec::with_capacity(owners.len()),
        };
        for (own, theirs) in own.into_iter().zip(theirs) {
            let (system, report) = match (own, theirs) {
                (Some((system, report)), _) => (RankPlace::Here(system), report),
                (None, Some(system)) => {
                    let report = FmuReport::Remote(system.final_notes());
                    (RankPlace::There(Box::new(system)), report)
                }
                (None, None) => unreachable!("BUG: a system without an owner"),
            };
            made.systems.push(system);
            made.reports.push(report);
        }
        Ok(made)
    }

    /// As a list, wherever they live.
    pub fn into_boxes(self) -> Vec<Box<dyn System>> {
        let boxed = |place| match place {
            RankPlace::Here(system) => system,
            RankPlace::There(system) => system as Box<dyn System>,
        };
        self.systems.into_iter().map(boxed).collect()
    }

    /// Puts them into the hands of workers.
    pub fn place(self) -> (Box<dyn Workers>, Vec<FmuReport>) {
        let workers = Ranks::new(self.network, self.systems);
        (Box::new(workers), self.reports)
    }
}

type OwnSystem = Option<(Box<dyn System>, FmuReport)>;

/// The systems of this rank; nothing at the positions of the others.
fn make_own(
    scenario: &Scenario,
    plan: &BuildPlan,
    owners: &[usize],
    rank: usize,
) -> Result<Vec<OwnSystem>, String> {
    let parts = scenario.parts.iter().enumerate();
    let made = parts.map(|(k, part)| (owners[k] == rank).then(|| plan.build(k, part)));
    made.map(Option::transpose).collect()
}

/// The rank of each system: balanced by what a step of each costs.
fn owners(
    ranks: RankPlacement,
    scenario: &Scenario,
    plan: &BuildPlan,
) -> Result<Vec<usize>, BadModel> {
    let count = scenario.parts.len();
    let unmeasured = || vec![None; count];
    // Where each rank has one system at most, or one rank has them all, there is nothing to weigh.
    let costs = if count <= ranks.owners().len() || ranks.owners().len() == 1 {
        unmeasured()
    } else {
        measure(ranks.network, scenario, plan).unwrap_or_else(|_| unmeasured())
    };

    let owners = deal(&costs, &kept_apart(scenario), ranks.owners());
    owners.ok_or_else(|| {
        let message = "an FMU of the model can be used only once in a process, and there are more \
                       systems of it than ranks";
        scenario.bad(Problem::general(message.to_owned()).with([Remedy::ProcessPerSystem]))
    })
}

/// For each system of which only one can live in a process: the number of its file.
fn kept_apart(scenario: &Scenario) -> Vec<Option<usize>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let number = |part: &Part| {
        let file = part.source.single_instance()?.file;
        let known = files.iter().position(|other| *other == file);
        Some(known.unwrap_or_else(|| {
            files.push(file);
            files.len() - 1
        }))
    };
    scenario.parts.iter().map(number).collect()
}

/// Seconds that a step of each system takes, where they can be measured. Systems of equations are made
/// once more for it, by all ranks in turn; FMUs, which may leave traces in a process, in a child process,
/// each file once.
fn measure(
    network: &'static Network,
    scenario: &Scenario,
    plan: &BuildPlan,
) -> Result<Vec<Option<f64>>, BadModel> {
    let quiet = BuildPlan {
        each: plan.each.iter().map(without_log).collect(),
        ..plan.clone()
    };
    let requests = quiet.orders(scenario)?;
    let nobody = usize::MAX;
    let is_fmu = |k: usize| scenario.parts[k].source.fmu().is_some();
    let turn = |k: usize| {
        if is_fmu(k) {
            nobody
        } else {
            k % network.size()
        }
    };
    let turns: Vec<usize> = (0..requests.len()).map(turn).collect();
    let mut own = vec![None; requests.len()];

    let measure_own = || {
        for (k, part) in scenario.parts.iter().enumerate() {
            own[k] = match turns[k] {
                0 => quiet.build(k, part).ok().and_then(|(mut system, _)| {
                    let step = plan.each[k].step;
                    seconds_of_step(system.as_mut(), scenario.start_time, step)
                }),
                _ => None,
            };
        }
        measure_fmus(scenario, &requests, &mut own);
    };
    let theirs = measure_on_ranks(network, TEXTS, &requests, &turns, measure_own);
    let theirs = theirs.map_err(|error| scenario.bad(Problem::general(error.to_string())))?;

    let both = own.into_iter().zip(theirs);
    Ok(both.map(|(own, theirs)| own.or(theirs)).collect())
}

fn without_log(options: &BuildOptions) -> BuildOptions {
    BuildOptions {
        log: None,
        ..options.clone()
    }
}

fn measure_fmus(scenario: &Scenario, requests: &[SystemRequest], costs: &mut [Option<f64>]) {
    let mut known: HashMap<&Path, Option<f64>> = HashMap::new();
    for (k, part) in scenario.parts.iter().enumerate() {
        if let Some(prepared) = part.source.fmu() {
            let file = prepared.fmu().path();
            costs[k] = *known
                .entry(file)
                .or_insert_with(|| measure_in_child(scenario, &requests[k]));
        }
    }
}

fn measure_in_child(scenario: &Scenario, request: &SystemRequest) -> Option<f64> {
    let pool = scenario.changes.helpers.as_ref()?;
    let mut helper = pool.helper().ok()?;
    let limit = pool.limit().unwrap_or(MEASURE_LIMIT);
    let task = CostTask::of(request);
    child_task::run(&mut helper, &task, limit).ok().flatten()
}
