//! The time loop, written once.

mod flat_loop;
mod run_state;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::checkpoint::{Archive, Checkpoint};
use crate::connections::Connections;
use crate::error::Error;
use crate::interface::{Interface, SignalKind};
use crate::method::{Exchange, Method, Outcome, visit_method};
use crate::observer::Observer;
use crate::signal::Knot;
use crate::task::{Response, Task};
use crate::workers::Workers;

use self::flat_loop::FlatAccess;

pub use self::run_state::RunState;

/// No quantity that a model means is as large as this: values beyond it are a run-away, and end the run while its numbers
/// can still be written down.
const LARGEST: f64 = 1e100;

/// Runs a method on systems from consistent start values, watched by observers.
pub struct Orchestrator<'a, 'o> {
    method: &'a mut dyn Method,
    workers: &'a mut dyn Workers,
    interrupted: &'a AtomicBool,
    progress: Progress<'a, 'o>,
    flat: FlatAccess,
}

/// How far a run has come, and those who watch it.
struct Progress<'a, 'o> {
    connections: &'a Connections,
    observers: &'a mut [&'o mut dyn Observer],
    state: &'a mut RunState,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Statistics {
    /// Accepted attempts.
    pub steps: u64,
    /// Rejected attempts.
    pub rejected: u64,
    /// Iterations of the method's solver.
    pub iterations: u64,
}

/// How a run ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its end.
    Finished,
    /// Someone asked it to stop.
    Interrupted,
    /// This system asked for the end of the run.
    Requested {
        /// Its position.
        system: usize,
    },
}

impl<'a, 'o> Orchestrator<'a, 'o> {
    /// A run that stands where `state` says: one that has not begun, or one that goes on. Raising `interrupted` ends it after the
    /// step under way.
    pub fn new(
        connections: &'a Connections,
        method: &'a mut dyn Method,
        workers: &'a mut dyn Workers,
        observers: &'a mut [&'o mut dyn Observer],
        interrupted: &'a AtomicBool,
        state: &'a mut RunState,
    ) -> Self {
        Self {
            method,
            workers,
            interrupted,
            progress: Progress {
                connections,
                observers,
                state,
            },
            flat: FlatAccess::default(),
        }
    }

    /// The newest outputs of all systems, stacked.
    pub fn latest(&self) -> &[Knot] {
        self.progress.state.past.latest()
    }

    /// Writes down all that the rest of the run depends on, or reads it back: into a run of the same model by the same method that
    /// was set up in the same way, whose systems have begun.
    pub fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_method(self.method, archive)?;
        self.progress.state.visit(archive)?;
        self.workers.checkpoint(archive)
    }

    /// Runs from `start`, the consistent start values as tasks of size zero, to `until`.
    pub fn run(&mut self, start: Vec<Task>, until: f64) -> Result<Ending, Error> {
        let ended = match self.begin(start) {
            Ok(None) => self.proceed(until),
            Ok(Some(ending)) => Ok(ending),
            Err(error) => Err(error),
        };
        self.finish(ended)
    }

    /// Begins at `start`, the consistent start values as tasks of size zero; how the run has ended, if a system asks for its end
    /// there.
    pub fn begin(&mut self, start: Vec<Task>) -> Result<Option<Ending>, Error> {
        let ends = start.iter().find(|task| task.response.ends);
        let ending = ends.map(|task| Ending::Requested {
            system: task.system,
        });
        self.progress.begin(&start)?;
        Ok(ending)
    }

    /// The run has ended so; nothing comes after it.
    pub fn finish(&mut self, ended: Result<Ending, Error>) -> Result<Ending, Error> {
        self.progress.finish(ended)
    }

    /// Goes on to the first communication time that is not before `until`.
    pub fn proceed(&mut self, until: f64) -> Result<Ending, Error> {
        while self.progress.state.past.reached() < until {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            if self.flat.is_due(self.progress.state.statistics.steps) {
                if let Some(ending) = self.proceed_flat(until)? {
                    return Ok(ending);
                }
                continue;
            }
            match self
                .method
                .attempt(&self.progress.state.past, self.workers)?
            {
                Outcome::Accepted(exchange) => {
                    if let Some(ending) = self.progress.accept(exchange)? {
                        return Ok(ending);
                    }
                }
                Outcome::Rejected(step) => {
                    self.progress.state.statistics.rejected += 1;
                    let mut observers = self.progress.observers.iter_mut();
                    observers.try_for_each(|o| o.rejected(step))?;
                }
                Outcome::Finished => break,
            }
        }
        Ok(Ending::Finished)
    }
}

impl Progress<'_, '_> {
    fn begin(&mut self, start: &[Task]) -> Result<(), Error> {
        check_finite(self.connections, start)?;
        self.state.past.record(start);
        self.state.growth.note(&self.state.past);
        let exchange = Exchange {
            tasks: start,
            before: &[],
            iterations: 0,
            signals: &[],
        };

        self.observers
            .iter_mut()
            .try_for_each(|o| o.started(exchange))
    }

    /// Systems have moved; how the run has ended, if one of them asks for its end.
    fn accept(&mut self, exchange: Exchange<'_>) -> Result<Option<Ending>, Error> {
        check_finite(self.connections, exchange.tasks)?;
        self.state.past.record(exchange.tasks);
        self.state.growth.note(&self.state.past);
        self.state.statistics.steps += 1;
        self.state.statistics.iterations += exchange.iterations;
        let mut tasks = exchange.tasks.iter();
        let ends = tasks.find(|task| task.due && task.response.ends);
        let ending = ends.map(|task| Ending::Requested {
            system: task.system,
        });
        let mut observers = self.observers.iter_mut();
        observers.try_for_each(|o| o.accepted(exchange))?;
        Ok(ending)
    }

    fn finish(&mut self, ended: Result<Ending, Error>) -> Result<Ending, Error> {
        let ended = ended.map_err(|error| {
            self.state
                .growth
                .explain(error, self.connections, &self.state.past)
        });
        let finished = self.observers.iter_mut().try_for_each(|o| o.finished());
        ended.and_then(|ending| finished.map(|()| ending))
    }
}

/// A NaN must not travel on to the next system, where nobody would find its origin: an error that names it. The numbers of texts
/// are nobody's business, and other values that jump may be as large as they like.
pub fn check_finite(connections: &Connections, tasks: &[Task]) -> Result<(), Error> {
    // Names and kinds are looked at only where a value is out of the ordinary.
    for task in tasks {
        if task.due && !is_ordinary(&task.response) {
            check_sound(&connections.interfaces()[task.system], &task.response)?;
        }
    }
    Ok(())
}

fn is_ordinary(response: &Response) -> bool {
    response.outputs.iter().all(|knot| ordinary(knot.value))
        && response.states.iter().all(|&state| ordinary(state))
}

/// NaN fails every comparison: this finds it too.
fn ordinary(value: f64) -> bool {
    value.abs() < LARGEST
}

#[cold]
fn check_sound(interface: &Interface, response: &Response) -> Result<(), Error> {
    let sound = |value: f64, kind: SignalKind| match kind {
        SignalKind::Continuous => ordinary(value),
        SignalKind::Discrete => !value.is_nan(),
        SignalKind::Text => true,
    };
    let outputs = response
        .outputs
        .iter()
        .map(|knot| knot.value)
        .zip(&interface.outputs);
    let states = response.states.iter().copied().zip(&interface.states);
    let unsound = outputs
        .filter(|(value, output)| !sound(*value, output.kind))
        .map(|(value, o)| (value, &o.name));

    match unsound
        .chain(states.filter(|(value, _)| !ordinary(*value)))
        .next()
    {
        Some((value, name)) => {
            let (system, variable) = (interface.name.clone(), name.clone());
            Err(Error::NotFinite {
                system,
                variable,
                time: response.reached,
                value,
            })
        }
        None => Ok(()),
    }
}
