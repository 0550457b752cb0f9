//! A run that goes on in parts, at the pace of whoever asks for it: an importer of the model as an
//! FMU.
//!
//! Steps are the method's own. They end at the communication points that are asked for, unless a
//! system imposes its steps: such a system stays on its last grid time before, and its outputs are
//! held. An input that jumps is an event of which nobody could know: the interface is made consistent
//! there, and the method starts anew from it, on the same grid.

use std::sync::atomic::AtomicBool;

use dovetail_core::{Capabilities, Ending, Error, Grid, Knot, Orchestrator, RunState, StepRule};
use dovetail_fmi::note_surroundings;
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
    pub(super) session: Session<'a>,
    options: RunOptions,
    context: Context<'a>,
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
        let begun = session.proceed(self.start_time, &mut [], &NEVER);
        begun.map_err(|error| self.blame(&error))?;
        Ok(SteppedRun {
            session,
            options: options.clone(),
            context,
        })
    }
}

impl SteppedRun<'_> {
    /// The newest outputs of all systems, stacked as the model's connections have them.
    pub fn outputs(&self) -> &[Knot] {
        self.session.state.latest()
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.session.state.reached()
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
        note_surroundings();
        let until = self.on_grid(until);
        let session = &mut self.session;
        session.state.set_limit(until);
        let ended = session.proceed(until, &mut [], &NEVER);
        session.state.set_limit(f64::INFINITY);

        Orchestrator::new(
            &session.scenario.connections,
            session.method.as_mut(),
            session.workers.as_mut(),
            &mut [],
            &NEVER,
            &mut session.state,
        )
        .finish(ended)
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
        let free = |able: &Capabilities| able.step_rule == StepRule::Free;
        let session = &mut self.session;
        if !session.workers.capabilities().iter().all(free) {
            return Ok(()); // systems stand at different times, and hold their inputs anyway
        }

        note_surroundings();
        let time = session.state.reached();
        let present = session.state.latest().to_vec();
        let connections = &session.scenario.connections;
        let averages = vec![false; connections.systems()];
        let how = (session.method.derivatives(), &averages[..]);
        let (tasks, _) = reinitialize(connections, session.workers.as_mut(), time, how, &present)?;
        self.renew_method()?;
        let session = &mut self.session;
        session.state = RunState::new(connections, session.method.as_ref());
        session.start = tasks;
        session.begun = false;
        session.proceed(time, &mut [], &NEVER).map(drop)
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
        note_surroundings();
        self.session.save()
    }

    /// Goes back, or on, to where a checkpoint was taken.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), Error> {
        note_surroundings();
        self.renew_method()?;
        self.session.restore(checkpoint)
    }
}

impl Drop for SteppedRun<'_> {
    fn drop(&mut self) {
        note_surroundings(); // FMUs are terminated next
    }
}
