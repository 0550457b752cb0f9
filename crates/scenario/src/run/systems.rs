//! The systems of a run, here or in processes of their own, until they are handed to workers.

use dovetail_core::{Remedy, System, Workers};
use dovetail_methods::{EstimatorOptions, Settings};
use dovetail_workers::{ProcessPool, Processes, Remote};

use super::fmu_report::FmuReport;
use crate::diagnostic::{BadModel, Problem};
use crate::options::RunOptions;
use crate::placement::Placement;
use crate::process::portable;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::source::system_source::BuildOptions;
use crate::stand_in::estimated_by;

/// The systems of a run.
pub(crate) enum Systems {
    /// In this process, with what can be known of FMUs while they run.
    Here(Vec<Box<dyn System>>, Vec<FmuReport>),
    /// Each in a process of its own.
    Remote(Vec<Remote>),
}

/// How the systems of a run are to be made.
#[derive(Clone, Debug)]
pub(crate) struct BuildPlan {
    /// For each system.
    pub each: Vec<BuildOptions>,
    /// For each system, whether an estimator (COSTARICA) stands before it.
    pub estimated: Vec<bool>,
    /// The options of the run, those of estimators among them.
    pub settings: Settings,
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

        let problems = shared_instances(scenario);
        if !problems.is_empty() {
            return Err(BadModel {
                source: scenario.source.clone(),
                problems,
            });
        }

        let estimator = EstimatorOptions::of(&plan.settings);
        let mut systems = Vec::new();
        let mut reports = Vec::new();

        for (k, part) in scenario.parts.iter().enumerate() {
            let built = part.build(&plan.each[k]);
            let built = built.map_err(|why| scenario.bad(Problem::general(why)))?;
            systems.push(if plan.estimated[k] {
                estimated_by(built.system, estimator)
            } else {
                built.system
            });
            reports.push(built.monitor.map_or(FmuReport::None, FmuReport::Here));
        }
        Ok(Self::Here(systems, reports))
    }

    /// As a list, wherever they live.
    pub fn into_boxes(self) -> Vec<Box<dyn System>> {
        let boxed = |remote| Box::new(remote) as Box<dyn System>;
        match self {
            Self::Here(systems, _) => systems,
            Self::Remote(remotes) => remotes.into_iter().map(boxed).collect(),
        }
    }

    /// Puts them where they are to live.
    pub fn place(
        self,
        placement: &Placement,
    ) -> Result<(Box<dyn Workers>, Vec<FmuReport>), Problem> {
        match self {
            Self::Here(systems, reports) => Ok((placement.place(systems)?, reports)),
            Self::Remote(remotes) => {
                let reports = remotes
                    .iter()
                    .map(|remote| FmuReport::Remote(remote.final_notes()));
                let reports = reports.collect();
                Ok((Box::new(Processes::new(remotes)), reports))
            }
        }
    }
}

/// The systems in processes of their own, each of which gets its own part of the model.
fn remotes(
    pool: &ProcessPool,
    scenario: &Scenario,
    plan: &BuildPlan,
) -> Result<Vec<Remote>, BadModel> {
    let general = |error: String| scenario.bad(Problem::general(error));
    let mut orders = Vec::new();

    for (k, part) in scenario.parts.iter().enumerate() {
        let settings = plan.estimated[k].then_some(&plan.settings);
        let order = portable::order(part, &plan.each[k], settings);
        orders.push(order.map_err(general)?);
    }

    let made = Remote::make(pool, &orders);
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
