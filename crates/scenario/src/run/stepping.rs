//! A run that goes on in parts, at the pace of whoever asks for it: an importer of the model as an
//! FMU.
//!
//! Steps are the method's own. They end at the communication points that are asked for, unless a
//! system imposes its steps: such a system stays on its last grid time before, and its outputs are
//! held. An input that jumps is an event of which nobody could know: the interface is made consistent
//! there, and the method starts anew from it, on the same grid.

use std::sync::atomic::AtomicBool;

use dovetail_core::{
    Archive, Ending, Error, Grid, Knot, Orchestrator, RunState, Statistics, StepRule,
};
use dovetail_methods::{Context, reinitialize};

use super::session::Session;
use crate::diagnostic::{BadModel, Problem};
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// A communication point that is nearer to the grid than this part of a step is on it: importers
/// add their steps up.
const ON_GRID: f64 = 1e-6;

/// Nobody interrupts a part of a run.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A run that goes on in parts.
pub struct SteppedRun<'a> {
    session: Session<'a>,
    options: RunOptions,
    context: Context<'a>,
    state: Option<RunState>,
}

impl Scenario {
    /// A run that stands at its start and goes on in parts.
    pub fn stepped(&self, options: &RunOptions) -> Result<SteppedRun<'_>, BadModel> {
        let mut session = self.session(options)?;
        if session.kind.properties().solves_as_one {
            let message = format!(
                "{} computes a whole run at once: it cannot go on in parts",
                session.kind.name()
            );
            return Err(self.bad(Problem::general(message)));
        }

        let context = self.plan(options)?.context;
        let start = std::mem::take(&mut session.start);
        let mut run = SteppedRun {
            session,
            options: options.clone(),
            context,
            state: None,
        };
        let begun = run.with_orchestrator(|run| run.begin(&start));
        begun.map_err(|error| self.blame(&error))?;
        Ok(run)
    }
}

impl SteppedRun<'_> {
    /// Does something with the run as a whole; what it has been so far is kept between two parts.
    fn with_orchestrator<T>(&mut self, part: impl FnOnce(&mut Orchestrator<'_, '_>) -> T) -> T {
        let session = &mut self.session;
        let mut none = [];
        let mut run = Orchestrator::new(
            &session.scenario.connections,
            session.method.as_mut(),
            session.workers.as_mut(),
            &mut none,
            &NEVER,
        );
        if let Some(state) = self.state.take() {
            run = run.continued(state);
        }
        let result = part(&mut run);
        self.state = Some(run.into_state());
        result
    }

    fn state(&self) -> &RunState {
        let state = self.state.as_ref();
        state.expect("BUG: a run that goes on in parts stands somewhere between them")
    }

    /// The newest outputs of all systems, stacked as the model's connections have them.
    pub fn outputs(&self) -> &[Knot] {
        self.state().latest()
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.state().reached()
    }

    /// The earliest time at which a system is known to switch; infinite if there is none.
    pub fn next_event(&self) -> f64 {
        self.state().next_event()
    }

    /// Counts so far.
    pub fn statistics(&self) -> Statistics {
        self.state().statistics()
    }

    /// The macro-step, where it is fixed.
    pub fn step(&self) -> Option<f64> {
        self.session.step()
    }

    /// The method that runs.
    pub fn method_name(&self) -> &'static str {
        self.session.method_name()
    }

    /// Whether all that the run is can be written down and read back.
    pub fn can_checkpoint(&mut self) -> bool {
        let mut systems = self.session.workers.capabilities().iter();
        systems.all(|able| able.checkpoint) && self.session.method.checkpoint().is_some()
    }

    /// Goes on to a time, as far as systems do not impose their steps.
    pub fn advance_to(&mut self, until: f64) -> Result<Ending, Error> {
        let until = self.on_grid(until);
        self.with_orchestrator(|run| run.advance_to(until))
    }

    /// The grid time that is meant, where a time is one but for rounding.
    fn on_grid(&self, time: f64) -> f64 {
        let stop = self.context.stop;
        let size = self.session.step().unwrap_or(stop - self.context.start);
        let grid = Grid::new(self.context.start, stop, size);
        let nearest = grid.time(grid.nearest(time));
        match (nearest - time).abs() <= ON_GRID * size && self.session.step().is_some() {
            true => nearest,
            false => time,
        }
    }

    /// Inputs from outside have jumped: outputs that depend on them at once follow, and the method
    /// starts anew.
    pub fn restart(&mut self) -> Result<(), Error> {
        let free = |able: &dovetail_core::Capabilities| able.step_rule == StepRule::Free;
        let session = &mut self.session;
        if !session.workers.capabilities().iter().all(free) {
            return Ok(()); // systems stand at different times, and hold their inputs anyway
        }

        let time = self.state().reached();
        let present = self.outputs().to_vec();
        let session = &mut self.session;
        let connections = &session.scenario.connections;
        let averages = vec![false; connections.systems()];
        let how = (session.method.derivatives(), &averages[..]);
        let (tasks, _) = reinitialize(connections, session.workers.as_mut(), time, how, &present)?;
        self.renew_method()?;
        self.with_orchestrator(|run| run.begin(&tasks))
    }

    /// The method as it was before the run, on the same grid.
    fn renew_method(&mut self) -> Result<(), Error> {
        let session = &mut self.session;
        let scenario = session.scenario;
        let built = scenario.build_method(session.kind, self.context.clone(), &self.options);
        session.method = built.map_err(|refused| Error::Checkpoint(refused.to_string()))?;
        Ok(())
    }

    /// All that the rest of the run depends on.
    pub fn checkpoint(&mut self) -> Result<Vec<u8>, Error> {
        let mut archive = Archive::writer();
        self.with_orchestrator(|run| run.checkpoint(&mut archive))?;
        Ok(archive.into_bytes())
    }

    /// Goes back, or on, to where a checkpoint was taken.
    pub fn restore(&mut self, checkpoint: Vec<u8>) -> Result<(), Error> {
        self.renew_method()?;
        let mut archive = Archive::reader(checkpoint);
        self.with_orchestrator(|run| run.checkpoint(&mut archive))
    }
}
