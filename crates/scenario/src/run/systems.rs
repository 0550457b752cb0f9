//! The systems of a run, here or in processes of their own, until they are handed to workers.

use std::collections::HashMap;

use dovetail_core::{Remedy, System, Workers};
use dovetail_methods::MethodKind;
use dovetail_workers::{ProcessPool, Processes, Remote};

use super::build_plan::BuildPlan;
use super::fmu_report::FmuReport;
#[cfg(feature = "mpi")]
use super::ranked::RankedSystems;
use crate::diagnostic::{BadModel, Problem};
use crate::options::RunOptions;
use crate::placement::Placement;
use crate::scenario::Scenario;
use crate::source::part::Part;

/// The systems of a run.
pub(crate) enum Systems {
    /// In this process, with what can be known of FMUs while they run.
    Here(Vec<Box<dyn System>>, Vec<FmuReport>),
    /// Each in a process of its own.
    Remote(Vec<Remote>),
    /// On the ranks of an MPI program.
    #[cfg(feature = "mpi")]
    Ranked(RankedSystems),
}

impl Systems {
    /// The systems, at their start values.
    pub fn of(
        scenario: &Scenario,
        options: &RunOptions,
        plan: &BuildPlan,
    ) -> Result<Self, BadModel> {
        if let Placement::Processes(pool) = &options.placement {
            return Ok(Self::Remote(remotes(pool, scenario, plan)?));
        }
        #[cfg(feature = "mpi")]
        if let Placement::Ranks(ranks) = &options.placement {
            return Ok(Self::Ranked(RankedSystems::make(*ranks, scenario, plan)?));
        }

        let problems = shared_instances(scenario);
        if !problems.is_empty() {
            return Err(BadModel {
                source: scenario.source.clone(),
                problems,
            });
        }

        let mut systems = Vec::new();
        let mut reports = Vec::new();

        for (k, part) in scenario.parts.iter().enumerate() {
            let (system, report) = plan
                .build(k, part)
                .map_err(|why| scenario.bad(Problem::general(why)))?;
            systems.push(system);
            reports.push(report);
        }
        Ok(Self::Here(systems, reports))
    }

    /// As a list, wherever they live.
    pub fn into_boxes(self) -> Vec<Box<dyn System>> {
        let boxed = |remote| Box::new(remote) as Box<dyn System>;
        match self {
            Self::Here(systems, _) => systems,
            Self::Remote(remotes) => remotes.into_iter().map(boxed).collect(),
            #[cfg(feature = "mpi")]
            Self::Ranked(systems) => systems.into_boxes(),
        }
    }

    /// Puts them where they are to live.
    pub fn place(
        self,
        placement: &Placement,
        parts: &[Part],
        kind: &dyn MethodKind,
    ) -> Result<(Box<dyn Workers>, Vec<FmuReport>), Problem> {
        match self {
            Self::Here(systems, reports) => {
                let workers = placement.place(systems, groups_of(parts), kind)?;
                Ok((workers, reports))
            }
            Self::Remote(remotes) => {
                let reports = remotes
                    .iter()
                    .map(|remote| FmuReport::Remote(remote.final_notes()));
                let reports = reports.collect();
                Ok((Box::new(Processes::new(remotes)), reports))
            }
            #[cfg(feature = "mpi")]
            Self::Ranked(systems) => Ok(systems.place()),
        }
    }
}

/// For each system a group: systems of one FMU, whose library may have memory that all its instances share, are one.
fn groups_of(parts: &[Part]) -> Vec<usize> {
    let mut group_of_folder = HashMap::new();
    let mut count = 0;
    let mut next = || {
        count += 1;
        count - 1
    };

    let group = |part: &Part| match part.source.fmu() {
        Some(prepared) => *group_of_folder
            .entry(prepared.fmu().folder().to_owned())
            .or_insert_with(&mut next),
        None => next(),
    };
    parts.iter().map(group).collect()
}

/// The systems in processes of their own, each of which gets its own part of the model.
fn remotes(
    pool: &ProcessPool,
    scenario: &Scenario,
    plan: &BuildPlan,
) -> Result<Vec<Remote>, BadModel> {
    let made = Remote::make(pool, &plan.orders(scenario)?);
    made.map_err(|error| {
        let problem = Problem::general(error.to_string());
        scenario.bad(problem.with(error.remedies()))
    })
}

/// Systems of which only one can live in a process, and of which the model has more.
fn shared_instances(scenario: &Scenario) -> Vec<Problem> {
    let parts = &scenario.parts;
    let file = |part: &Part| part.source.single_instance().map(|single| single.file);
    let mut problems = Vec::new();

    for (k, part) in parts.iter().enumerate() {
        let Some(single) = part.source.single_instance() else {
            continue;
        };
        let same = |other: &&Part| file(other).as_ref() == Some(&single.file);
        let Some(first) = parts[..k].iter().find(same) else {
            continue;
        };
        let why = if single.declared {
            "its author says so (canBeInstantiatedOnlyOncePerProcess)"
        } else {
            "it was found to fail at its second instantiation"
        };
        let message = format!(
            "`{}` and `{}` are both made of {}, which can be used only once in a process: {why}",
            first.name(),
            part.name(),
            single.file.display()
        );
        problems.push(Problem {
            span: scenario.system_places.get(k).cloned(),
            ..Problem::general(message).with([Remedy::ProcessPerSystem])
        });
    }
    problems
}

impl Scenario {
    /// Whether the model has several systems of an FMU of which only one can live in a process.
    pub fn needs_processes(&self) -> bool {
        !shared_instances(self).is_empty()
    }
}
