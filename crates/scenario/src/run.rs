//! One run of a scenario.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Capabilities, Ending, Error, LinearizeTask, Method, MethodQuality, Observer, Orchestrator,
    Source, Statistics, StepRule, System, Task, Work, Workers, check_finite, readable,
};
use dovetail_fmi::{Costs, Notes};
use dovetail_methods::{Beforehand, start_values};
use dovetail_workers::Lost;

use crate::diagnostic::{BadModel, Problem};
use crate::method::{self, Limits};
use crate::options::{OPTIONS, RunOptions};
use crate::part::{Making, Part, PartModel};
use crate::rehearsal::{rehearse, with_inputs};
use crate::scenario::Scenario;
use crate::systems::{Order, Systems, Witness};

/// Without `--step`, fixed-step methods take so many steps.
const DEFAULT_STEPS: f64 = 500.0;

/// So many different messages of an FMU are shown.
const MOST_MESSAGES: usize = 5;

/// The options that have a flag of their own on the command line.
const FLAGS: [&str; 5] = [
    "step",
    "tolerance",
    "solver",
    "integrator-tolerance",
    "petsc-options",
];

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

/// What a run will be, as far as that can be known before any system is made.
struct Plan<'a> {
    method: Box<dyn Method + 'a>,
    reason: Option<String>,
    step: f64,
    order: Order,
    warnings: Vec<String>,
}

/// Everything a run needs, made once from a model and options: systems where they live, their start values, and the method.
pub struct Session<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    clock: Instant,
    workers: Box<dyn Workers>,
    method: Box<dyn Method + 'a>,
    reason: Option<String>,
    step: Option<f64>,
    start: Vec<Task>,
    warnings: Vec<String>,
    remarks: Vec<String>,
    witnesses: Vec<Witness>,
    /// For each system, how often it was linearised before the run.
    checks: Vec<u64>,
}

impl Session<'_> {
    /// The consistent start of the run, as tasks of size zero.
    pub fn start(&self) -> &[Task] {
        &self.start
    }

    /// Names of what the method tells about itself.
    pub fn signals(&self) -> Vec<String> {
        self.method.signals()
    }

    /// The method that runs.
    pub fn method_name(&self) -> &'static str {
        self.method.name()
    }

    /// The tolerance that the method keeps to, where it has one.
    pub fn tolerance(&self) -> Option<f64> {
        method::tolerance(self.method.name(), &self.options)
    }

    /// A system that imposes its steps, if there is one.
    pub fn imposing(&self) -> Option<&str> {
        let imposes = self
            .workers
            .capabilities()
            .iter()
            .position(|c| c.step_rule != StepRule::Free)?;
        Some(&self.scenario.connections.interfaces()[imposes].name)
    }

    /// The macro-step, where it is fixed.
    pub fn step(&self) -> Option<f64> {
        self.step
    }

    /// Whether the method chooses its steps.
    pub fn chooses_steps(&self) -> bool {
        self.step.is_none()
    }

    /// Refuses a model whose outputs or derivatives are no numbers at its start. This is no work of the run.
    fn check_start(&mut self) -> Result<(), Error> {
        let connections = &self.scenario.connections;
        check_finite(connections, &self.start)?;
        for (system, interface) in connections.interfaces().iter().enumerate() {
            if !self.workers.capabilities()[system].linearize {
                continue;
            }
            let mut task = LinearizeTask::new(system, interface);
            self.workers.linearize(std::slice::from_mut(&mut task))?;
            self.checks[system] += 1;
            let here = task.linearization;
            if let Some(state) = here.f.iter().position(|rate| !rate.is_finite()) {
                let variable = format!("der({})", interface.states[state]);
                let (system, time, value) = (
                    interface.name.clone(),
                    self.scenario.start_time,
                    here.f[state],
                );
                return Err(Error::NotFinite {
                    system,
                    variable,
                    time,
                    value,
                });
            }
        }
        Ok(())
    }

    /// Runs to the end, watched by `observers`. Raising `interrupted` ends it after the step under way.
    pub fn run(mut self, observers: &mut [&mut dyn Observer], interrupted: &AtomicBool) -> RunEnd {
        let (scenario, name) = (self.scenario, self.method.name());
        let workers = self.workers.as_mut();
        let mut run = Orchestrator::new(
            &scenario.connections,
            self.method.as_mut(),
            workers,
            observers,
            interrupted,
        );
        let ending = run.run(&self.start, scenario.stop_time);
        let (reached, statistics) = (run.reached(), run.statistics());
        let ending = interrupted_after_all(ending, &mut self.warnings);
        if let Ok(Ending::Requested { system }) = ending {
            let who = scenario.parts[system].name();
            self.remarks.push(format!(
                "`{who}` asked for the end of the simulation at t = {} s",
                readable(reached)
            ));
        }
        let mut work = self.workers.work().to_vec();
        work.iter_mut()
            .zip(&self.checks)
            .for_each(|(work, checks)| work.linearizations -= checks);
        drop(self.workers); // systems in other processes tell what they noted when they leave
        let (costs, notes): (Vec<_>, Vec<_>) = self
            .witnesses
            .iter()
            .map(|witness| witness.heard().unzip())
            .unzip();
        let told = scenario.told(&notes);
        let own = scenario.run_warnings(name, &self.options);
        RunEnd {
            method: name,
            reason: self.reason,
            step: self.step,
            reached,
            ending,
            statistics,
            work,
            wall_seconds: self.clock.elapsed().as_secs_f64(),
            warnings: [own, self.warnings, self.method.warnings(), told.warnings].concat(),
            remarks: [self.remarks, self.method.remarks(), told.remarks].concat(),
            costs,
            quality: self.method.quality(),
        }
    }
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
        Ok(self.session(options)?.run(observers, interrupted))
    }

    /// Makes the systems and the method of a run, once, and finds its start values.
    pub fn session(&self, options: &RunOptions) -> Result<Session<'_>, BadModel> {
        let clock = Instant::now();
        let Plan {
            method,
            reason,
            step,
            mut order,
            warnings,
        } = self.plan(options)?;
        let known = rehearse(self, options, &order);
        order.making = with_inputs(&order, &known);
        let systems = Systems::of(self, options, &order)?;
        let (mut workers, witnesses) = systems
            .place(&options.placement)
            .map_err(|problem| self.bad(problem))?;
        let derivatives = method.derivatives();
        let beforehand = Beforehand {
            assumed: &known.assumed,
            inputs: known.inputs.as_deref(),
        };
        let start = start_values(
            &self.connections,
            workers.as_mut(),
            self.start_time,
            derivatives,
            &beforehand,
        )
        .map_err(|error| self.blame(&error))?;
        let step = (!method::is_adaptive(method.name(), options)).then_some(step);
        let mut session = Session {
            scenario: self,
            options: options.clone(),
            clock,
            workers,
            method,
            reason,
            step,
            start: start.tasks,
            warnings,
            remarks: known.remarks,
            witnesses,
            checks: vec![0; self.parts.len()],
        };
        session.check_start().map_err(|error| self.blame(&error))?;
        Ok(session)
    }

    /// The method of a run and what its systems are to be, checked; no system is made.
    fn plan(&self, options: &RunOptions) -> Result<Plan<'_>, BadModel> {
        let bad = |problem| self.bad(problem);
        let step = self.step(options)?;
        let mut found = self.capabilities(step);
        let (name, reason) = method::choose(options, &found, self.is_coupled(), self.jumping());
        let (mut warnings, mut estimated) = (Vec::new(), vec![false; found.len()]);
        if name == "ifosmondi" {
            let names: Vec<&str> = self.parts.iter().map(Part::name).collect();
            (estimated, warnings) = method::estimated(&names, &found, options).map_err(bad)?;
            for (capabilities, _) in found
                .iter_mut()
                .zip(&estimated)
                .filter(|(_, estimated)| **estimated)
            {
                (capabilities.trial, capabilities.output_derivatives) =
                    (true, capabilities.output_derivatives.max(1));
            }
        }
        warnings.extend(self.unfitting(step));
        warnings.extend(self.noisy(name, options, &found));
        let method = method::make(self, options, name, step, &found).map_err(bad)?;
        method
            .check(&found)
            .map_err(|error| self.bad(Problem::general(error.to_string())))?;
        let making = Making {
            step,
            integrator_tolerance: options.integrator_tolerance,
            fmu_tolerance: method::fmu_tolerance(name, options),
            log: options.fmi_log.clone(),
            inputs: None,
        };
        let order = Order {
            making: vec![making; self.parts.len()],
            estimated,
        };
        Ok(Plan {
            method,
            reason,
            step,
            order,
            warnings,
        })
    }

    /// What the systems can do in a run with steps of about this size.
    fn capabilities(&self, step: f64) -> Vec<Capabilities> {
        self.parts
            .iter()
            .map(|part| part.capabilities(step))
            .collect()
    }

    /// What the systems can do, in order; none of them is made.
    pub fn capabilities_of_systems(
        &self,
        options: &RunOptions,
    ) -> Result<Vec<Capabilities>, BadModel> {
        Ok(self.capabilities(self.step(options)?))
    }

    /// The systems, at their start values, where the options have them live.
    pub fn systems(&self, options: &RunOptions) -> Result<Vec<Box<dyn System>>, BadModel> {
        Ok(Systems::of(self, options, &self.plan(options)?.order)?.into_boxes())
    }

    /// Consistent start values, as `check` needs them.
    pub fn start(&self, options: &RunOptions) -> Result<Vec<Task>, BadModel> {
        Ok(self.session(options)?.start)
    }

    /// Refuses a method that the systems do not permit.
    pub fn check_method(&self, options: &RunOptions) -> Result<(), BadModel> {
        self.plan(options).map(|_| ())
    }

    /// The method that will run, and why where `auto` chose it.
    pub fn chosen_method(
        &self,
        options: &RunOptions,
    ) -> Result<(&'static str, Option<String>), BadModel> {
        let plan = self.plan(options)?;
        Ok((plan.method.name(), plan.reason))
    }

    /// Names of what the method tells about itself.
    pub fn signals(&self, options: &RunOptions) -> Result<Vec<String>, BadModel> {
        Ok(self.plan(options)?.method.signals())
    }

    /// Whether any system feeds another, or itself.
    fn is_coupled(&self) -> bool {
        self.connections
            .sources()
            .iter()
            .any(|source| matches!(source, Source::Output(_)))
    }

    /// A system whose equations jump where nothing announces it, if there is one.
    pub fn jumping(&self) -> Option<&str> {
        let jumps = |part: &&Part| matches!(&part.model, PartModel::Equations { definition, .. } if definition.model.jumps());
        self.parts.iter().find(jumps).map(Part::name)
    }

    /// A system whose equations have corners, if there is one.
    pub fn bending(&self) -> Option<&str> {
        let bends = |part: &&Part| matches!(&part.model, PartModel::Equations { definition, .. } if definition.model.bends());
        self.parts.iter().find(bends).map(Part::name)
    }

    /// What happened inside the FMUs.
    fn told(&self, notes: &[Option<Notes>]) -> Told {
        let mut told = Told {
            warnings: Vec::new(),
            remarks: Vec::new(),
        };
        for (part, notes) in self.parts.iter().zip(notes) {
            let Some(notes) = notes else { continue };
            let name = part.name();
            if notes.discarded > 0 {
                let text = format!(
                    "`{name}` discarded {} steps, which were then taken in smaller parts",
                    notes.discarded
                );
                told.warnings.push(text);
            }
            if notes.events > 0 {
                told.remarks
                    .push(format!("`{name}` had {} events within steps", notes.events));
            }
            let mut told_messages = notes
                .messages
                .iter()
                .filter(|m| m.status > 0 && !m.text.is_empty());
            for message in told_messages.by_ref().take(MOST_MESSAGES) {
                let times = if message.count > 1 {
                    format!(" ({} times)", message.count)
                } else {
                    String::new()
                };
                told.warnings
                    .push(format!("`{name}` said: {}{times}", message.text));
            }
            let more =
                notes.more_messages + told_messages.map(|message| message.count).sum::<u64>();
            if more > 0 {
                let text = format!("`{name}` said more ({more} messages): see --log-fmi-calls");
                told.warnings.push(text);
            }
        }
        told
    }

    pub(crate) fn step(&self, options: &RunOptions) -> Result<f64, BadModel> {
        let span = self.stop_time - self.start_time;
        let step = options.step.unwrap_or_else(|| {
            self.fitting_step(self.proposed_step.unwrap_or(span / DEFAULT_STEPS))
        });
        let resolved =
            self.start_time + step > self.start_time && self.stop_time - step < self.stop_time;
        if resolved && span / step < u64::MAX as f64 {
            return Ok(step);
        }
        let message = format!(
            "a step of {step:e} s is too small for a run from {} to {} s",
            self.start_time, self.stop_time
        );
        Err(self.bad(
            Problem::general(message)
                .help("times that close are the same number: choose a larger --step"),
        ))
    }

    /// A step near the proposed one that is made of the steps inside FMUs and of those that systems impose.
    fn fitting_step(&self, proposed: f64) -> f64 {
        let imposed = |part: &Part| {
            let inner = part.unit().and_then(|prepared| prepared.internal_step());
            part.restrictions.and_then(|r| r.imposed_step).or(inner)
        };
        let longest = self.parts.iter().filter_map(imposed).fold(0.0, f64::max);
        if longest > 0.0 {
            longest * (proposed / longest).round().max(1.0)
        } else {
            proposed
        }
    }

    /// An FMU whose answers are too noisy for the tolerance of a method that chooses its steps by them.
    fn noisy(&self, name: &str, options: &RunOptions, found: &[Capabilities]) -> Option<String> {
        let limits = Limits::of(found, self.stop_time - self.start_time);
        let asked = options.tolerance.unwrap_or(method::DEFAULT_TOLERANCE);
        if limits.tolerance <= asked
            || !["ifosmondi", "missiles", "dovetail"].contains(&name)
            || !method::is_adaptive(name, options)
        {
            return None;
        }
        let worst = found
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.precision.noise.total_cmp(&b.precision.noise));
        let (system, noise) = worst.map(|(k, c)| (self.parts[k].name(), c.precision.noise))?;
        Some(format!(
            "the answers of `{system}` have a noise of {noise:.1e} (one step against two halves): steps were chosen for a tolerance of \
             {:.1e} instead of {asked:.1e}; a smaller --integrator-tolerance may make them better",
            limits.tolerance
        ))
    }

    /// FMUs whose own step does not fit the run, although they take any.
    fn unfitting(&self, step: f64) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, prepared) in self.units() {
            let Some(inner) = prepared
                .internal_step()
                .filter(|inner| !prepared.fits(*inner, step))
            else {
                continue;
            };
            if prepared.capabilities(step).step_rule == StepRule::Free {
                warnings.push(format!(
                    "`{name}` steps by {inner} s inside, and neither all steps nor the whole run are multiples of that: it may answer for \
                     other times than it is asked for"
                ));
            }
        }
        warnings
    }

    /// What a method that holds its inputs makes of systems that use their slopes.
    pub fn flat_slopes(&self, method: &str) -> Vec<String> {
        if !["jacobi", "gauss-seidel"].contains(&method) {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            for (input, stacked) in interface
                .inputs
                .iter()
                .zip(self.connections.inputs_of(system))
            {
                if input.uses_slope && self.connections.sources()[stacked].output().is_some() {
                    warnings.push(format!(
                        "`{}` uses der({}), and {method} holds its inputs: that slope is zero all the time; f3ornits, ifosmondi, missiles \
                         and dovetail give inputs a slope",
                        interface.name, input.name
                    ));
                }
            }
        }
        warnings
    }

    /// Options that were given and do not matter to the method.
    fn run_warnings(&self, method: &str, options: &RunOptions) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        for key in &options.given {
            let concerns = OPTIONS
                .iter()
                .find(|option| option.key == key)
                .is_none_or(|option| option.concerns(method));
            if !concerns {
                let flag = if FLAGS.contains(&key.as_str()) {
                    "--"
                } else {
                    "the option "
                };
                warnings.push(format!("{method} has no {key}: {flag}{key} was not used"));
            } else if key == "tolerance"
                && ["missiles", "dovetail"].contains(&method)
                && options.step.is_some()
            {
                warnings.push(format!(
                    "{method} has no tolerance with a fixed step: --tolerance was not used"
                ));
            }
        }
        warnings.extend(self.flat_slopes(method));
        if options.petsc_options.is_some() && options.solver.as_deref() != Some("petsc") {
            warnings.push("--petsc-options was not used: it belongs to --solver petsc".to_owned());
        }
        warnings.extend(
            options
                .placement
                .warning(method, self.connections.systems()),
        );
        warnings
    }
}

/// A system that had to be killed because it did not hear of an interrupt has not failed.
fn interrupted_after_all(
    ending: Result<Ending, Error>,
    warnings: &mut Vec<String>,
) -> Result<Ending, Error> {
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
