//! The systems of a run, here or in processes of their own, until they are handed to workers.

use std::sync::{Arc, PoisonError};

use dovetail_core::{System, Workers};
use dovetail_fmi::{Costs, Monitor, Notes};
use dovetail_methods::EstimatorOptions;
use dovetail_workers::{Fleet, Processes, Remote, Told};

use crate::diagnostic::{BadModel, Problem};
use crate::method;
use crate::options::RunOptions;
use crate::part::{Made, Making, Part};
use crate::placement::Placement;
use crate::scenario::Scenario;
use crate::worker;

/// The systems of a run.
pub(crate) enum Systems {
    /// In this process, with what can be known of FMUs while they run.
    Here(Vec<Box<dyn System>>, Vec<Witness>),
    /// Each in a process of its own.
    There(Vec<Remote>),
}

/// How the systems of a run are to be made.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// For each system.
    pub making: Vec<Making>,
    /// For each system, whether an estimator (COSTARICA) stands before it.
    pub estimated: Vec<bool>,
    /// How it estimates.
    pub estimator: EstimatorOptions,
}

/// Where to learn what happened inside a system, once the run is over.
pub(crate) enum Witness {
    /// Nothing is told of systems given as equations.
    Nobody,
    /// An FMU in this process.
    Here(Arc<Monitor>),
    /// A system in another process, which tells when it leaves.
    There(Told),
}

impl Witness {
    /// Costs and notes of an FMU.
    pub fn heard(&self) -> Option<(Costs, Notes)> {
        match self {
            Self::Nobody => None,
            Self::Here(monitor) => Some((monitor.costs(), monitor.notes())),
            Self::There(told) => {
                worker::read_told(&told.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }
}

impl Systems {
    /// The systems, at their start values.
    pub fn of(scenario: &Scenario, options: &RunOptions, order: &Order) -> Result<Self, BadModel> {
        if let Placement::Processes(fleet) = &options.placement {
            return Ok(Self::There(remotes(fleet, scenario, order)?));
        }
        let problems = only_once(scenario);
        if !problems.is_empty() {
            return Err(BadModel {
                source: scenario.source.clone(),
                problems,
            });
        }
        let (mut systems, mut witnesses) = (Vec::new(), Vec::new());
        for ((part, making), estimated) in scenario
            .parts
            .iter()
            .zip(&order.making)
            .zip(&order.estimated)
        {
            let (system, monitor) = make(part, making).map_err(|problem| scenario.bad(problem))?;
            systems.push(if *estimated {
                method::estimate(system, order.estimator)
            } else {
                system
            });
            witnesses.push(monitor.map_or(Witness::Nobody, Witness::Here));
        }
        Ok(Self::Here(systems, witnesses))
    }

    /// As a list, wherever they live.
    pub fn into_boxes(self) -> Vec<Box<dyn System>> {
        match self {
            Self::Here(systems, _) => systems,
            Self::There(remotes) => remotes
                .into_iter()
                .map(|remote| Box::new(remote) as Box<dyn System>)
                .collect(),
        }
    }

    /// Puts them where they are to live.
    pub fn place(self, placement: &Placement) -> Result<(Box<dyn Workers>, Vec<Witness>), Problem> {
        match self {
            Self::Here(systems, witnesses) => Ok((placement.place(systems)?, witnesses)),
            Self::There(remotes) => {
                let witnesses = remotes
                    .iter()
                    .map(|remote| Witness::There(remote.told()))
                    .collect();
                Ok((Box::new(Processes::new(remotes)), witnesses))
            }
        }
    }
}

/// A system of this process, and what can be known of it while it runs.
pub(crate) fn make(part: &Part, making: &Making) -> Result<Made, Problem> {
    let refused = |error| Problem::general(format!("the FMU of system `{}`: {error}", part.name()));
    part.system(making).map_err(refused)
}

fn remotes(fleet: &Fleet, scenario: &Scenario, order: &Order) -> Result<Vec<Remote>, BadModel> {
    let orders = worker::orders(scenario, order);
    Remote::make(fleet, &orders).map_err(|error| scenario.bad(Problem::general(error.to_string())))
}

/// Units of which only one can live in a process, and of which the model has more.
pub(crate) fn only_once(scenario: &Scenario) -> Vec<Problem> {
    let (parts, mut problems) = (&scenario.parts, Vec::new());
    for (k, part) in parts.iter().enumerate() {
        let Some(prepared) = part.unit().filter(|prepared| prepared.only_once()) else {
            continue;
        };
        let same = |other: &&Part| {
            other
                .unit()
                .is_some_and(|unit| unit.unit().path() == prepared.unit().path())
        };
        if let Some(first) = parts[..k].iter().find(same) {
            let file = prepared.unit().path().display();
            let message = format!(
                "`{}` and `{}` are both made of {file}, which can be used only once in a process",
                first.name(),
                part.name()
            );
            let help = if prepared.declared().single {
                "its author says so (canBeInstantiatedOnlyOncePerProcess); with --workers processes each has a process of its own"
            } else {
                "it was found to fail at its second instantiation; with --workers processes each has a process of its own"
            };
            let span = scenario.system_places.get(k).cloned();
            problems.push(
                Problem {
                    span,
                    ..Problem::general(message)
                }
                .help(help),
            );
        }
    }
    problems
}
