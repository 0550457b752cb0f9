//! One run of a scenario.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Ending, Error, LinearizeTask, Method, MethodQuality, Observer, Orchestrator, SingleThread, Source, Statistics,
    Task, Work, Workers, check_finite,
};
use dovetail_fmi::{Costs, Notes};
use dovetail_methods::initialize;
use dovetail_workers::Lost;

use crate::diagnostic::{BadModel, Problem};
use crate::method;
use crate::options::{OPTIONS, RunOptions};
use crate::part::{Part, PartModel};
use crate::scenario::Scenario;
use crate::systems::{Systems, Witness};

/// Without `--step`, fixed-step methods take so many steps.
const DEFAULT_STEPS: f64 = 500.0;

/// So many different messages of an FMU are shown.
const MOST_MESSAGES: usize = 5;

/// The options that have a flag of their own on the command line.
const FLAGS: [&str; 5] = ["step", "tolerance", "solver", "integrator-tolerance", "petsc-options"];

/// How a run ended, and what it cost.
#[derive(Debug)]
pub struct RunEnd {
    /// The method that ran.
    pub method: &'static str,
    /// Why `auto` chose it.
    pub reason: Option<String>,
    /// The macro-step, where it was fixed.
    pub step: Option<f64>,
    /// The time reached.
    pub reached: f64,
    /// Whether it finished, was interrupted, or failed.
    pub ending: Result<Ending, Error>,
    /// Counts of the time loop.
    pub statistics: Statistics,
    /// What each system did.
    pub work: Vec<Work>,
    /// Elapsed time of the run, without reading the model.
    pub wall_seconds: f64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What may interest the user.
    pub remarks: Vec<String>,
    /// What the method knows of its result.
    pub quality: MethodQuality,
    /// For each system that is an FMU: where its time went.
    pub costs: Vec<Option<Costs>>,
}

/// What FMUs had to tell.
struct Told {
    warnings: Vec<String>,
    remarks: Vec<String>,
}

/// A run that is ready to begin.
struct Setup<'a> {
    workers: Box<dyn Workers>,
    method: Box<dyn Method + 'a>,
    reason: Option<String>,
    step: Option<f64>,
    warnings: Vec<String>,
    witnesses: Vec<Witness>,
}

impl Scenario {
    /// Runs the model, watched by `observers`. Raising `interrupted` ends it after the step under way.
    ///
    /// What is wrong with the model or the choice of method is an error; a run that began and failed is a [`RunEnd`].
    pub fn run(
        &self,
        options: &RunOptions,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<RunEnd, BadModel> {
        let clock = Instant::now();
        let Setup { mut workers, mut method, reason, step, mut warnings, witnesses } = self.set_up(options)?;
        let start = initialize(&self.connections, workers.as_mut(), self.start_time, method.derivatives())
            .map_err(|error| self.blame(&error))?;
        let name = method.name();
        let mut run = Orchestrator::new(&self.connections, method.as_mut(), workers.as_mut(), observers, interrupted);
        let ending = run.run(&start, self.stop_time);
        let (reached, statistics) = (run.reached(), run.statistics());
        let ending = interrupted_after_all(ending, &mut warnings);
        let work = workers.work().to_vec();
        drop(workers); // systems in other processes tell what they noted when they leave
        let (costs, notes): (Vec<_>, Vec<_>) = witnesses.iter().map(|witness| witness.heard().unzip()).unzip();
        let told = self.told(&notes);
        Ok(RunEnd {
            method: name,
            reason,
            step,
            reached,
            ending,
            statistics,
            work,
            wall_seconds: clock.elapsed().as_secs_f64(),
            warnings: [self.run_warnings(name, options), warnings, method.warnings(), told.warnings].concat(),
            remarks: [method.remarks(), told.remarks].concat(),
            costs,
            quality: method.quality(),
        })
    }

    /// Systems, where they live, and the method that couples them, checked.
    fn set_up(&self, options: &RunOptions) -> Result<Setup<'_>, BadModel> {
        let bad = |problem| self.bad(problem);
        let mut systems = Systems::of(self, options)?;
        let found = systems.capabilities();
        let (name, reason) = method::choose(options, &found, self.is_coupled(), self.jumping());
        let mut warnings = Vec::new();
        if name == "ifosmondi" {
            let names: Vec<&str> = self.parts.iter().map(Part::name).collect();
            let (estimated, said) = method::estimated(&names, &found, options).map_err(bad)?;
            (systems, warnings) = (systems.estimated(self, options, &estimated)?, said);
        }
        let step = self.step(options)?;
        let (workers, witnesses) = systems.place(&options.placement).map_err(bad)?;
        let method = method::make(self, options, name, step, workers.capabilities()).map_err(bad)?;
        method.check(workers.as_ref()).map_err(|error| self.bad(Problem::general(error.to_string())))?;
        let step = (!method::is_adaptive(name, options)).then_some(step);
        Ok(Setup { workers, method, reason, step, warnings, witnesses })
    }

    /// Consistent start values, as `check` needs them.
    pub fn start(&self, options: &RunOptions) -> Result<Vec<Task>, BadModel> {
        let mut workers = SingleThread::new(self.systems(options)?);
        let start =
            initialize(&self.connections, &mut workers, self.start_time, 0).map_err(|error| self.blame(&error))?;
        self.check_start(&start, &mut workers).map_err(|error| self.blame(&error))?;
        Ok(start)
    }

    /// A model whose outputs or derivatives are no numbers at its start can be refused without running it.
    fn check_start(&self, start: &[Task], workers: &mut dyn Workers) -> Result<(), Error> {
        check_finite(&self.connections, start)?;
        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            if !workers.capabilities()[system].linearize {
                continue;
            }
            let mut task = LinearizeTask::new(system, interface);
            workers.linearize(std::slice::from_mut(&mut task))?;
            let here = task.linearization;
            if let Some(state) = here.f.iter().position(|rate| !rate.is_finite()) {
                let variable = format!("der({})", interface.states[state]);
                let (system, time, value) = (interface.name.clone(), self.start_time, here.f[state]);
                return Err(Error::NotFinite { system, variable, time, value });
            }
        }
        Ok(())
    }

    /// Refuses a method that the systems do not permit.
    pub fn check_method(&self, options: &RunOptions) -> Result<(), BadModel> {
        self.set_up(options).map(|_| ())
    }

    /// The method that will run, and why where `auto` chose it.
    pub fn chosen_method(&self, options: &RunOptions) -> Result<(&'static str, Option<String>), BadModel> {
        let setup = self.set_up(options)?;
        Ok((setup.method.name(), setup.reason))
    }

    /// Names of what the method tells about itself.
    pub fn signals(&self, options: &RunOptions) -> Result<Vec<String>, BadModel> {
        Ok(self.set_up(options)?.method.signals())
    }

    /// Whether any system feeds another, or itself.
    fn is_coupled(&self) -> bool {
        self.connections.sources().iter().any(|source| matches!(source, Source::Output(_)))
    }

    /// A system whose equations jump where nothing announces it, if there is one.
    fn jumping(&self) -> Option<&str> {
        let jumps =
            |part: &&Part| matches!(&part.model, PartModel::Equations { definition, .. } if definition.model.jumps());
        self.parts.iter().find(jumps).map(Part::name)
    }

    /// What happened inside the FMUs.
    fn told(&self, notes: &[Option<Notes>]) -> Told {
        let mut told = Told { warnings: Vec::new(), remarks: Vec::new() };
        for (part, notes) in self.parts.iter().zip(notes) {
            let Some(notes) = notes else { continue };
            let name = part.name();
            if notes.discarded > 0 {
                let text =
                    format!("`{name}` discarded {} steps, which were then taken in smaller parts", notes.discarded);
                told.warnings.push(text);
            }
            if notes.events > 0 {
                told.remarks.push(format!("`{name}` had {} events within steps", notes.events));
            }
            let mut told_messages = notes.messages.iter().filter(|m| m.status > 0 && !m.text.is_empty());
            for message in told_messages.by_ref().take(MOST_MESSAGES) {
                let times = if message.count > 1 { format!(" ({} times)", message.count) } else { String::new() };
                told.warnings.push(format!("`{name}` said: {}{times}", message.text));
            }
            let more = notes.more_messages + told_messages.map(|message| message.count).sum::<u64>();
            if more > 0 {
                let text = format!("`{name}` said more ({more} messages): see --log-fmi-calls");
                told.warnings.push(text);
            }
        }
        told
    }

    pub(crate) fn step(&self, options: &RunOptions) -> Result<f64, BadModel> {
        let span = self.stop_time - self.start_time;
        let step = options.step.or(self.proposed_step).unwrap_or(span / DEFAULT_STEPS);
        let resolved = self.start_time + step > self.start_time && self.stop_time - step < self.stop_time;
        if resolved && span / step < u64::MAX as f64 {
            return Ok(step);
        }
        let message =
            format!("a step of {step:e} s is too small for a run from {} to {} s", self.start_time, self.stop_time);
        Err(self.bad(Problem::general(message).help("times that close are the same number: choose a larger --step")))
    }

    /// Options that were given and do not matter to the method.
    fn run_warnings(&self, method: &str, options: &RunOptions) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        for key in &options.given {
            let concerns = OPTIONS.iter().find(|option| option.key == key).is_none_or(|option| option.concerns(method));
            if !concerns {
                let flag = if FLAGS.contains(&key.as_str()) { "--" } else { "the option " };
                warnings.push(format!("{method} has no {key}: {flag}{key} was not used"));
            } else if key == "tolerance" && ["missiles", "dovetail"].contains(&method) && options.step.is_some() {
                warnings.push(format!("{method} has no tolerance with a fixed step: --tolerance was not used"));
            }
        }
        if options.petsc_options.is_some() && options.solver.as_deref() != Some("petsc") {
            warnings.push("--petsc-options was not used: it belongs to --solver petsc".to_owned());
        }
        warnings.extend(options.placement.warning(method, self.connections.systems()));
        warnings
    }
}

/// A system that had to be killed because it did not hear of an interrupt has not failed.
fn interrupted_after_all(ending: Result<Ending, Error>, warnings: &mut Vec<String>) -> Result<Ending, Error> {
    match ending {
        Err(Error::System { system, reason, .. })
            if matches!(reason.downcast_ref(), Some(Lost::Interrupted { .. })) =>
        {
            warnings.push(format!("`{system}` was still in its step: {reason}"));
            Ok(Ending::Interrupted)
        }
        other => other,
    }
}
