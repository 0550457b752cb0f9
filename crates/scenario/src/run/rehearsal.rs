//! The start of a run on instances that are thrown away, where FMUs must know their inputs before they are initialized.
//!
//! Some FMUs start from the inputs that they know before initialization mode; others show their outputs only when they have left
//! it. What feeds them is then found on instances in another process, a few times if need be, and the instances of the run are made with it.

use dovetail_core::{Source, Task, Workers, readable};
use dovetail_fmi::CallLog;
use dovetail_methods::{Settings, StartAssumptions, start_values};
use dovetail_workers::{ProcessError, Processes, SingleThread};
use serde::{Deserialize, Serialize};

use super::build_plan::BuildPlan;
use super::model_copy::ModelCopy;
use super::systems::Systems;
use crate::options::RunOptions;
use crate::placement::Placement;
use crate::process::child_task::{self, ChildTask};
use crate::process::portable::RemoteBuild;
use crate::scenario::Scenario;
use crate::source::system_source::BuildOptions;

/// The start is tried so often at most.
const MOST_ROUNDS: usize = 5;
/// It has settled when no input changes by more than this, relative.
const SETTLED: f64 = 1e-9;
/// Values smaller than this are not told apart.
const LEAST: f64 = 1e-6;
/// So long a child process may take for it, where the user has not set a limit.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

/// What a start has shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rehearsal {
    /// For each system, what its inputs are.
    pub inputs: Vec<Vec<f64>>,
    /// Outputs (stacked) that have their values only after initialization mode, with these and what they were before.
    pub late: Vec<(usize, f64, f64)>,
}

/// The start of a run, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RehearsalTask {
    copy: ModelCopy,
    each: Vec<RemoteBuild>,
    assumed: Vec<(usize, f64)>,
}

impl ChildTask for RehearsalTask {
    const NAME: &'static str = "rehearse";
    type Answer = Result<Rehearsal, String>;

    fn carry_out(self) -> Self::Answer {
        let scenario = self.copy.read().map_err(|bad| bad.to_string())?;
        let each = self.each.into_iter().map(RemoteBuild::here);
        let each = each.collect::<Result<_, _>>()?;
        let options = scenario
            .options(&Default::default())
            .map_err(|bad| bad.to_string())?;

        rehearse_here(&scenario, &options, each, &self.assumed)
    }
}

/// What is known of a start before the systems are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// For each system, what its inputs will be; none where that was not found out.
    pub inputs: Option<Vec<Vec<f64>>>,
    /// Outputs (stacked) that will have other values than initialization mode shows.
    pub assumed: Vec<(usize, f64)>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// Finds out what FMUs must know before they are initialized, if any must.
pub(crate) fn rehearse(scenario: &Scenario, options: &RunOptions, plan: &BuildPlan) -> Known {
    let mut known = Known {
        inputs: Some(first_guess(scenario)),
        ..Known::default()
    };
    if !is_needed(scenario) {
        return known;
    }

    for round in 0.. {
        let tried = match try_start(scenario, options, plan, &known) {
            Ok(tried) => tried,
            Err(why) => {
                known.remarks.push(format!(
                    "the start could not be found before the FMUs were made: {why}"
                ));
                return known;
            }
        };
        let settled = is_settled(&known, &tried);
        known.inputs = Some(tried.inputs);
        // What was found late stays so: it agrees now because it was assumed.
        for &(output, value, _) in &tried.late {
            known.assumed.retain(|(late, _)| *late != output);
            known.assumed.push((output, value));
        }
        if settled {
            return known;
        }
        if round + 1 == MOST_ROUNDS {
            known.remarks.push(unsettled(scenario, &tried.late));
            return known;
        }
    }
    known
}

/// Constants, and the start values of inputs that others feed.
fn first_guess(scenario: &Scenario) -> Vec<Vec<f64>> {
    let connections = &scenario.connections;
    let of_system = |(system, interface): (usize, &dovetail_core::Interface)| {
        let inputs = connections.inputs_of(system).zip(&interface.inputs);
        let value =
            |(input, face): (usize, &dovetail_core::Input)| match connections.sources()[input] {
                Source::Constant(value) => value,
                Source::Output(_) => face.start,
            };
        inputs.map(value).collect()
    };
    connections
        .interfaces()
        .iter()
        .enumerate()
        .map(of_system)
        .collect()
}

/// Whether an FMU that others feed starts from what it knows before, or one that shows its outputs late feeds another.
fn is_needed(scenario: &Scenario) -> bool {
    let connections = &scenario.connections;
    let habits = |system: usize| scenario.parts[system].source.start_habits();
    let feeders = |system: usize| {
        let sources = connections
            .inputs_of(system)
            .filter_map(|input| connections.sources()[input].output());
        sources
            .map(|output| connections.owner(output))
            .collect::<Vec<usize>>()
    };
    let late = |feeder: &usize| habits(*feeder).late_outputs;

    (0..scenario.parts.len()).any(|system| {
        let feeders = feeders(system);
        let before = !feeders.is_empty() && habits(system).enters_with_inputs;
        before || feeders.iter().any(late)
    })
}

/// One start, in another process where there is one.
fn try_start(
    scenario: &Scenario,
    options: &RunOptions,
    plan: &BuildPlan,
    known: &Known,
) -> Result<Rehearsal, String> {
    let each = with_inputs(plan, known);
    let each = each.into_iter().zip(&scenario.parts);
    let each: Vec<BuildOptions> = each.map(|(own, part)| of_probe(own, part.name())).collect();
    if let Placement::Processes(_) = options.placement {
        return rehearse_here(scenario, options, each, &known.assumed);
    }

    let Some(pool) = &scenario.changes.helpers else {
        if scenario.has_single_instances() {
            let why = "an FMU can be made only once in this process, and there is no other";
            return Err(why.to_owned());
        }
        return rehearse_here(scenario, options, each, &known.assumed);
    };
    let task = RehearsalTask {
        copy: ModelCopy::of(scenario),
        each: each.iter().map(RemoteBuild::of).collect(),
        assumed: known.assumed.clone(),
    };
    let mut helper = pool.helper().map_err(|error| error.to_string())?;
    let limit = pool.limit().unwrap_or(LIMIT);
    let done = child_task::run(&mut helper, &task, limit);

    done.map_err(|refusal| match refusal {
        ProcessError::Said(why) => why,
        ProcessError::Lost(lost) => lost.briefly(),
    })?
}

/// The same, with calls that are marked as those of a system that is tried out.
fn of_probe(options: BuildOptions, system: &str) -> BuildOptions {
    let log = options.log.as_ref();
    BuildOptions {
        log: log.and_then(|log| CallLog::of_probe(log.path(), system).ok()),
        ..options
    }
}

/// How systems are made that know their inputs.
pub(crate) fn with_inputs(plan: &BuildPlan, known: &Known) -> Vec<BuildOptions> {
    let own = |k: usize| known.inputs.as_ref().map(|all| all[k].clone());
    let each = plan.each.iter().enumerate();

    each.map(|(k, options)| BuildOptions {
        inputs: own(k),
        ..options.clone()
    })
    .collect()
}

fn rehearse_here(
    scenario: &Scenario,
    options: &RunOptions,
    each: Vec<BuildOptions>,
    assumed: &[(usize, f64)],
) -> Result<Rehearsal, String> {
    let inputs = each
        .iter()
        .map(|options| options.inputs.clone().unwrap_or_default());
    let inputs: Vec<Vec<f64>> = inputs.collect();
    let plan = BuildPlan {
        estimated: vec![false; each.len()],
        settings: Settings::default(),
        each,
    };
    let mut workers = workers_for(scenario, options, &plan)?;
    let known = StartAssumptions {
        assumed,
        inputs: Some(&inputs),
    };
    let start = start_values(
        &scenario.connections,
        workers.as_mut(),
        scenario.start_time,
        0,
        &known,
    );
    let start = start.map_err(|error| error.to_string())?;
    let late = start.late.iter();

    Ok(Rehearsal {
        inputs: start.tasks.iter().map(input_values).collect(),
        late: late
            .map(|late| (late.output, late.value, late.before))
            .collect(),
    })
}

fn input_values(task: &Task) -> Vec<f64> {
    let signals = task.inputs.iter();
    signals.map(|signal| signal.value(0.0)).collect()
}

fn workers_for(
    scenario: &Scenario,
    options: &RunOptions,
    plan: &BuildPlan,
) -> Result<Box<dyn Workers>, String> {
    match Systems::of(scenario, options, plan) {
        Ok(Systems::Here(systems, _)) => Ok(Box::new(SingleThread::new(systems))),
        Ok(Systems::Remote(remotes)) => Ok(Box::new(Processes::new(remotes))),
        #[cfg(feature = "mpi")]
        Ok(Systems::Ranked(systems)) => Ok(systems.place().0),
        Err(bad) => Err(bad.to_string()),
    }
}

fn is_settled(known: &Known, tried: &Rehearsal) -> bool {
    let same = |a: f64, b: f64| {
        (a - b).abs() <= SETTLED * a.abs().max(b.abs()).max(LEAST) || (a.is_nan() && b.is_nan())
    };
    let before = known.inputs.iter().flatten().flatten();
    let inputs = before
        .zip(tried.inputs.iter().flatten())
        .all(|(before, now)| same(*before, *now));

    inputs
        && tried
            .late
            .iter()
            .all(|(_, value, before)| same(*value, *before))
}

fn unsettled(scenario: &Scenario, late: &[(usize, f64, f64)]) -> String {
    let worst = late
        .iter()
        .max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()));
    let off = worst.map_or_else(String::new, |(output, value, before)| {
        let name = scenario.connections.output_name(*output);
        format!(
            ": `{name}` is {} after initialization mode and {} in it",
            readable(*value),
            readable(*before)
        )
    });
    format!("the start did not settle in {MOST_ROUNDS} tries{off}")
}
