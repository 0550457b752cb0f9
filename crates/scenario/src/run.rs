//! One run of a scenario.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Capabilities, Ending, Error, LinearizeTask, Method, MethodQuality, Observer, Orchestrator,
    Source, Statistics, StepRule, System, Task, Work, Workers, check_finite, readable,
};
use dovetail_fmi::Costs;
use dovetail_methods::{
    AUTO, Beforehand, Candidate, Context, MethodKind, Refusal, StandIns, build_watched, choose,
    start_values,
};
use dovetail_workers::Lost;

use crate::diagnostic::{BadModel, Problem};
use crate::method;
use crate::options::RunOptions;
use crate::part::{Making, Part, PartModel};
use crate::rehearsal::{rehearse, with_inputs};
use crate::scenario::Scenario;
use crate::systems::{Order, Systems, Witness};

/// Without `--step`, fixed-step methods take so many steps.
const DEFAULT_STEPS: f64 = 500.0;

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

/// What a run will be, as far as that can be known before any system is made.
struct Plan<'a> {
    kind: &'static dyn MethodKind,
    context: Context<'a>,
    /// Why `auto` chose the method.
    reason: Option<String>,
    order: Order,
    warnings: Vec<String>,
}

/// Everything a run needs, made once from a model and options: systems where they live, their start values, and the method.
pub struct Session<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    clock: Instant,
    workers: Box<dyn Workers>,
    kind: &'static dyn MethodKind,
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
        let tolerance = self.kind.tolerance(&self.options.settings);
        tolerance.filter(|_| self.chooses_steps())
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
        let told = scenario.inside_fmus(&notes);
        let own = scenario.run_warnings(self.kind, &self.options);
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
            kind,
            context,
            reason,
            mut order,
            warnings,
        } = self.plan(options)?;
        let chooses = kind.chooses_steps(&options.settings);
        let step = (!chooses).then_some(context.step);
        let method = self.build_method(kind, context, options)?;
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
        let mut session = Session {
            scenario: self,
            options: options.clone(),
            clock,
            workers,
            kind,
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

    /// The method of a run and what its systems are to be, checked; neither is made.
    fn plan(&self, options: &RunOptions) -> Result<Plan<'_>, BadModel> {
        let step = self.step(options)?;
        let mut found = self.capabilities(step);
        let (kind, reason) = self.method_of(options, &found);
        let stand_ins = self.stand_ins(kind, options, &found);
        let stand_ins = stand_ins.map_err(|refusal| self.refused(refusal))?;
        stand_ins.raise(&mut found);
        let mut warnings = stand_ins.warnings;
        warnings.extend(self.unfitting(step));
        warnings.extend(self.noisy(kind, options, &found));
        let context = self.context(options, step, found);
        kind.check(&context)
            .map_err(|refusal| self.refused(refusal))?;
        let making = Making {
            step,
            integrator_tolerance: options.integrator_tolerance(),
            fmu_tolerance: method::fmu_tolerance(kind, options),
            log: options.fmi_log.clone(),
            inputs: None,
        };
        let order = Order {
            making: vec![making; self.parts.len()],
            estimated: stand_ins.estimated,
            estimator: stand_ins.options,
        };
        Ok(Plan {
            kind,
            context,
            reason,
            order,
            warnings,
        })
    }

    /// The method that the options ask for, and why where it was chosen from what the systems can do.
    fn method_of(
        &self,
        options: &RunOptions,
        found: &[Capabilities],
    ) -> (&'static dyn MethodKind, Option<String>) {
        let named = |name: &str| {
            let kind = self.registry.method(name);
            kind.expect("BUG: names of methods are checked when options are read")
        };
        if options.method != AUTO {
            return (named(&options.method), None);
        }
        let chosen = choose(found, self.is_coupled(), self.jumping());
        (named(chosen.name), Some(chosen.reason))
    }

    fn stand_ins(
        &self,
        kind: &dyn MethodKind,
        options: &RunOptions,
        found: &[Capabilities],
    ) -> Result<StandIns, Refusal> {
        let systems = self.parts.iter().zip(found);
        let candidates: Vec<Candidate<'_>> = systems
            .map(|(part, capabilities)| Candidate {
                name: part.name(),
                capabilities: *capabilities,
            })
            .collect();
        kind.stand_ins(&candidates, &options.settings)
    }

    fn context(
        &self,
        options: &RunOptions,
        step: f64,
        capabilities: Vec<Capabilities>,
    ) -> Context<'_> {
        Context {
            connections: &self.connections,
            start: self.start_time,
            stop: self.stop_time,
            step,
            capabilities,
            settings: options.settings.clone(),
            solvers: self.registry.solvers(),
            whole: Some(self),
        }
    }

    fn build_method<'a>(
        &'a self,
        kind: &dyn MethodKind,
        context: Context<'a>,
        options: &RunOptions,
    ) -> Result<Box<dyn Method + 'a>, BadModel> {
        let automatic = options.method == AUTO;
        let method = build_watched(&self.registry, kind, context, automatic);
        method.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&self, refusal: Refusal) -> BadModel {
        self.bad(Problem {
            help: refusal.help,
            ..Problem::general(refusal.message)
        })
    }

    /// The methods that the systems permit, under these options. Neither systems nor methods are made for it.
    pub fn permitted_methods(&self, options: &RunOptions) -> Vec<&'static str> {
        let names = self.registry.method_names().into_iter();
        let permits = |name: &&str| self.plan(&options.with_method(name)).is_ok();
        names.filter(permits).collect()
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
        Ok((plan.kind.name(), plan.reason))
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

    pub(crate) fn step(&self, options: &RunOptions) -> Result<f64, BadModel> {
        let span = self.stop_time - self.start_time;
        let step = options.step().unwrap_or_else(|| {
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
