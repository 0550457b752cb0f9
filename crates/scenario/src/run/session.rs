//! A run, set up once from a model and options.

use std::iter::zip;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{
    Archive, Ending, Error, LinearizeTask, Method, MethodQuality, Notice, Observer, Orchestrator,
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
    pub(super) workers: Box<dyn Workers>,
    pub(super) kind: &'static dyn MethodKind,
    pub(super) method: Box<dyn Method + 'a>,
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
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            observers,
            interrupted,
        );
        let ending = run.run(std::mem::take(&mut self.start), self.scenario.stop_time);
        let (reached, statistics) = (run.reached(), run.statistics());

        self.conclude(ending, reached, statistics)
    }

    /// Runs until `interrupted` is raised, or to the end; then what the rest of the run depends on.
    pub fn run_to_checkpoint(
        &mut self,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            observers,
            interrupted,
        );
        run.run(std::mem::take(&mut self.start), self.scenario.stop_time)?;
        let mut archive = Archive::writer();
        run.checkpoint(&mut archive)?;

        Ok(archive.into_bytes())
    }

    /// Goes on from a checkpoint of the same model under the same options, with the bits of a run that never stopped.
    pub fn resume(
        mut self,
        checkpoint: Vec<u8>,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<RunEnd, Error> {
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            self.method.as_mut(),
            self.workers.as_mut(),
            observers,
            interrupted,
        );
        run.checkpoint(&mut Archive::reader(checkpoint))?;
        let ending = run.resume(self.scenario.stop_time);
        let (reached, statistics) = (run.reached(), run.statistics());

        Ok(self.conclude(ending, reached, statistics))
    }

    fn conclude(
        mut self,
        ending: Result<Ending, Error>,
        reached: f64,
        statistics: Statistics,
    ) -> RunEnd {
        let ending = interrupted_after_all(ending, &mut self.warnings);
        if let Ok(Ending::Requested { system }) = ending {
            let name = self.scenario.parts[system].name();
            let time = readable(reached);
            let remark = format!("`{name}` asked for the end of the simulation at t = {time} s");
            self.remarks.push(remark);
        }
        self.end(ending, reached, statistics)
    }

    /// What there is to say of a run that is over.
    fn end(self, ending: Result<Ending, Error>, reached: f64, statistics: Statistics) -> RunEnd {
        let work = self.work();
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
            statistics,
            work,
            workers,
            wall_seconds: self.clock.elapsed().as_secs_f64(),
            warnings: [own, self.warnings, self.method.warnings(), inside.warnings].concat(),
            remarks: [self.remarks, inside.remarks].concat(),
            details: self.method.remarks(),
            costs,
            quality: self.method.quality(),
        }
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
            workers,
            kind,
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
