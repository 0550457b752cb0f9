//! A run, set up once from a model and options.

use std::iter::zip;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Ending, Error, LinearizeTask, Method, MethodQuality, Notice, Observer, Orchestrator, RunState,
    Statistics, StepRule, System, Task, Work, Workers, check_finite, readable,
};
use dovetail_fmi::Costs;
use dovetail_methods::{MethodKind, Properties, StartAssumptions, start_values};
use dovetail_workers::ProcessLoss;
#[cfg(feature = "mpi")]
use dovetail_workers::RankLoss;

use super::fmu_report::FmuReport;
use super::plan::Plan;
use super::rehearsal::{rehearse, with_inputs};
use super::systems::Systems;
use crate::diagnostic::BadModel;
use crate::options::RunOptions;
use crate::scenario::Scenario;

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
    /// Where the systems ran and why, where that was chosen on the way.
    pub workers: Option<String>,
    /// Elapsed time of the run, without reading the model.
    pub wall_seconds: f64,
    /// What the user should know.
    pub warnings: Vec<Notice>,
    /// What may interest the user.
    pub remarks: Vec<String>,
    /// What the method has to say to those who know it.
    pub details: Vec<String>,
    /// What the method knows of its result.
    pub quality: MethodQuality,
    /// For each system that is an FMU: where its time went.
    pub costs: Vec<Option<Costs>>,
}

/// Everything a run needs, made once from a model and options: systems where they live, their start values, and the method.
pub struct Session<'a> {
    pub(super) scenario: &'a Scenario,
    options: RunOptions,
    clock: Instant,
    /// How long the run had taken where it goes on from a checkpoint.
    pub(super) earlier_seconds: f64,
    pub(super) workers: Box<dyn Workers>,
    pub(super) kind: &'static dyn MethodKind,
    pub(super) method: Box<dyn Method + 'a>,
    pub(super) state: RunState,
    /// Whether its observers have seen the start, or it goes on from a checkpoint.
    pub(super) begun: bool,
    reason: Option<String>,
    step: Option<f64>,
    pub(super) start: Vec<Task>,
    warnings: Vec<Notice>,
    remarks: Vec<String>,
    reports: Vec<FmuReport>,
    /// For each system, how often it was linearized before the run.
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

    /// Why the method was chosen, where the engine chose it.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
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

    /// What is true of the method that runs.
    pub fn method_properties(&self) -> Properties {
        self.kind.properties()
    }

    /// Whether the method estimates the error of this run: where it chooses its steps.
    pub fn estimates_error(&self) -> bool {
        // With steps of its own choice it looks at each of them; given steps may be too long for it to know.
        self.kind.properties().estimates_error && self.chooses_steps()
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
                return Err(Error::NotFinite {
                    system: interface.name.clone(),
                    variable: format!("der({})", interface.states[state]),
                    time: self.scenario.start_time,
                    value: here.f[state],
                });
            }
        }
        Ok(())
    }

    /// Runs to the end, watched by `observers`. Raising `interrupted` ends it after the step under way.
    pub fn run(mut self, observers: &mut [&mut dyn Observer], interrupted: &AtomicBool) -> RunEnd {
        let ending = self.proceed(self.scenario.stop_time, observers, interrupted);
        self.conclude(ending, observers)
    }

    /// Begins, if that has not happened, and goes on to the first communication time that is not before `until`: a run in
    /// several parts has the bits of a run in one. How it has ended, if it has; [`Ending::Finished`] also where `until` is reached.
    pub fn proceed(
        &mut self,
        until: f64,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<Ending, Error> {
        let start = (!self.begun).then(|| std::mem::take(&mut self.start));
        self.begun = true;
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            observers,
            interrupted,
            &mut self.state,
        );

        match start.map(|start| run.begin(start)).transpose()?.flatten() {
            Some(ending) => Ok(ending),
            None => run.proceed(until),
        }
    }

    /// The run has ended so; what it cost and how good it is.
    pub fn conclude(
        mut self,
        ending: Result<Ending, Error>,
        observers: &mut [&mut dyn Observer],
    ) -> RunEnd {
        let never = AtomicBool::new(false);
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            observers,
            &never,
            &mut self.state,
        );
        let ending = run.finish(ending);
        let ending = interrupted_after_all(ending, &mut self.warnings);
        let reached = self.state.reached();
        if let Ok(Ending::Requested { system }) = ending {
            let name = self.scenario.parts[system].name();
            let time = readable(reached);
            let remark = format!("`{name}` asked for the end of the simulation at t = {time} s");
            self.remarks.push(remark);
        }
        self.end(ending, reached)
    }

    /// What there is to say of a run that is over.
    fn end(self, ending: Result<Ending, Error>, reached: f64) -> RunEnd {
        let work = self.work();
        let wall_seconds = self.wall_seconds();
        let workers = self.workers.choice();
        drop(self.workers); // systems in other processes report when they end
        let reports = self.reports.iter().map(|report| report.read().unzip());
        let (costs, notes): (Vec<_>, Vec<_>) = reports.unzip();
        let inside = self.scenario.inside_fmus(&notes);
        let own = self.scenario.run_warnings(self.kind, &self.options);

        RunEnd {
            method: self.method.name(),
            reason: self.reason,
            step: self.step,
            reached,
            ending,
            statistics: self.state.statistics(),
            work,
            workers,
            wall_seconds,
            warnings: [own, self.warnings, self.method.warnings(), inside.warnings].concat(),
            remarks: [self.remarks, inside.remarks].concat(),
            details: self.method.remarks(),
            costs,
            quality: self.method.quality(),
        }
    }

    /// Elapsed time of the run so far, in all its parts.
    pub(super) fn wall_seconds(&self) -> f64 {
        self.earlier_seconds + self.clock.elapsed().as_secs_f64()
    }

    /// The work of the systems, without that before the run.
    fn work(&self) -> Vec<Work> {
        let mut work = self.workers.work().to_vec();
        for (work, checks) in zip(&mut work, &self.checks) {
            work.linearizations -= checks;
        }
        work
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
        dovetail_fmi::note_surroundings();
        let Plan {
            kind,
            context,
            reason,
            mut systems,
            warnings,
        } = self.plan(options)?;
        let chooses = kind.chooses_steps(&options.settings);
        let step = (!chooses).then_some(context.step);
        let method = self.build_method(kind, context, options)?;
        let known = rehearse(self, options, &systems);
        systems.each = with_inputs(&systems, &known);
        let systems = Systems::of(self, options, &systems)?;
        let (mut workers, reports) = systems
            .place(&options.placement, &self.parts, kind)
            .map_err(|problem| self.bad(problem))?;
        let derivatives = method.derivatives();
        let beforehand = StartAssumptions {
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
            earlier_seconds: 0.0,
            workers,
            kind,
            state: RunState::new(&self.connections, method.as_ref()),
            begun: false,
            method,
            reason,
            step,
            start: start.tasks,
            warnings,
            remarks: [self.start_remarks(), known.remarks].concat(),
            reports,
            checks: vec![0; self.parts.len()],
        };
        session.check_start().map_err(|error| self.blame(&error))?;

        Ok(session)
    }

    /// The systems, at their start values, where the options have them live.
    pub fn systems(&self, options: &RunOptions) -> Result<Vec<Box<dyn System>>, BadModel> {
        Ok(Systems::of(self, options, &self.plan(options)?.systems)?.into_boxes())
    }

    /// Consistent start values, as `check` needs them.
    pub fn start(&self, options: &RunOptions) -> Result<Vec<Task>, BadModel> {
        Ok(self.session(options)?.start)
    }
}

/// A system that had to be killed because it did not hear of an interrupt has not failed.
fn interrupted_after_all(
    ending: Result<Ending, Error>,
    warnings: &mut Vec<Notice>,
) -> Result<Ending, Error> {
    match ending {
        Err(Error::System { system, reason, .. }) if is_interrupt(reason.as_ref()) => {
            let warning = format!("`{system}` was still in its step: {reason}");
            warnings.push(warning.into());
            Ok(Ending::Interrupted)
        }
        other => other,
    }
}

/// Whether a system did not answer because the run was interrupted.
fn is_interrupt(reason: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    #[cfg(feature = "mpi")]
    if let Some(RankLoss::Interrupted { .. }) = reason.downcast_ref() {
        return true;
    }
    matches!(reason.downcast_ref(), Some(ProcessLoss::Interrupted { .. }))
}
