//! A run that goes on in stretches, between which somebody may change what feeds it or go back: controllers, learning, hardware.

use std::sync::atomic::AtomicBool;

use dovetail_core::{
    Archive, Ending, Error, Knot, Observer, Orchestrator, RunState, Task, Workers, check_finite,
};
use dovetail_fmi::note_surroundings;
use dovetail_methods::{Context, MethodKind, reinitialize};

use crate::diagnostic::BadModel;
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// A model under way by hand.
///
/// Every stretch begins as a run does after an event: consistent values are found for the present states and whatever feeds the
/// systems now, and the method looks back no further. It ends exactly where it was asked to.
pub struct SteppedSession<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    workers: Box<dyn Workers>,
    kind: &'static dyn MethodKind,
    context: Context<'a>,
    /// Derivatives of outputs that the method asks for.
    derivatives: usize,
    /// The present, as tasks of size zero, and the newest outputs, stacked.
    tasks: Vec<Task>,
    present: Vec<Knot>,
    reached: f64,
}

impl Scenario {
    /// The model at its start, to be stepped by hand.
    pub fn stepped_session(&self, options: &RunOptions) -> Result<SteppedSession<'_>, BadModel> {
        let session = self.session(options)?;
        let plan = self.plan(options)?;
        let outputs = session.start().iter();
        let outputs = outputs.flat_map(|task| task.response.outputs.iter().copied());

        Ok(SteppedSession {
            scenario: self,
            options: options.clone(),
            kind: plan.kind,
            context: plan.context,
            present: outputs.collect(),
            derivatives: session.method.derivatives(),
            tasks: session.start,
            workers: session.workers,
            reached: self.start_time,
        })
    }
}

impl SteppedSession<'_> {
    /// The time reached.
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// The present, as tasks of size zero.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Goes on to `until`, which must lie ahead. Raising `interrupted` ends it after the step under way.
    pub fn step_until(
        &mut self,
        until: f64,
        observers: &mut [&mut dyn Observer],
        interrupted: &AtomicBool,
    ) -> Result<Ending, SteppingError> {
        note_surroundings();
        self.settle()?;
        let context = Context {
            start: self.reached,
            stop: until,
            step: self.context.step.min(until - self.reached),
            ..self.context.clone()
        };
        let mut method = self
            .scenario
            .build_method(self.kind, context, &self.options)?;
        let mut state = RunState::new(&self.scenario.connections, method.as_ref());
        let mut run = Orchestrator::new(
            &self.scenario.connections,
            method.as_mut(),
            self.workers.as_mut(),
            observers,
            interrupted,
            &mut state,
        );
        let start = std::mem::take(&mut self.tasks);
        let ending = run.run(start, until);
        self.present = run.latest().to_vec();
        self.reached = state.reached();
        let ending = ending?;
        self.settle()?;
        Ok(ending)
    }

    /// Finds consistent values for the present, where something that feeds the systems has changed.
    pub fn refresh(&mut self) -> Result<(), SteppingError> {
        note_surroundings();
        self.settle()
    }

    fn settle(&mut self) -> Result<(), SteppingError> {
        let connections = &self.scenario.connections;
        let workers = self.workers.as_mut();
        let asked = (self.derivatives, &[][..]);
        let settled = reinitialize(connections, workers, self.reached, asked, &self.present);
        (self.tasks, _) = settled?;
        check_finite(connections, &self.tasks)?;
        let outputs = self
            .tasks
            .iter()
            .flat_map(|task| task.response.outputs.iter().copied());
        self.present = outputs.collect();
        Ok(())
    }

    /// Writes down all that the rest of the run depends on.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        note_surroundings();
        let mut archive = Archive::writer();
        self.visit(&mut archive)?;
        Ok(archive.into_bytes())
    }

    /// Goes back, or ahead, to where the run was when it was saved.
    pub fn restore(&mut self, saved: Vec<u8>) -> Result<(), SteppingError> {
        note_surroundings();
        self.visit(&mut Archive::reader(saved))?;
        self.settle()
    }

    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the model", &self.scenario.name.clone())?;
        archive.field(&mut self.reached)?;
        archive.slice(&mut self.present)?;
        self.workers.checkpoint(archive)
    }
}

impl Drop for SteppedSession<'_> {
    fn drop(&mut self) {
        note_surroundings(); // FMUs are terminated next
    }
}

/// Why a stretch came to no end.
#[derive(Debug, thiserror::Error)]
pub enum SteppingError {
    /// The method cannot be made for it.
    #[error("{0}")]
    Model(#[from] BadModel),
    /// It ended early.
    #[error("{0}")]
    Run(#[from] Error),
}
