//! The time loop, written once.

mod flat_loop;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::checkpoint::{Archive, Checkpoint};
use crate::connections::Connections;
use crate::error::Error;
use crate::growth::Growth;
use crate::interface::{Interface, SignalKind};
use crate::method::{Exchange, Method, Outcome, visit_method};
use crate::observer::Observer;
use crate::past::Past;
use crate::signal::Knot;
use crate::task::{Response, Task};
use crate::workers::Workers;

use self::flat_loop::FlatAccess;

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
    past: Past,
    growth: Growth,
    statistics: Statistics,
}

/// What a run has been so far, for one that goes on in parts: by the same method, with the same systems.
pub struct RunState {
    past: Past,
    growth: Growth,
    statistics: Statistics,
}

impl RunState {
    /// The newest outputs of all systems, stacked.
    pub fn latest(&self) -> &[Knot] {
        self.past.latest()
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.past.reached()
    }

    /// The earliest time at which a system is known to switch.
    pub fn next_event(&self) -> f64 {
        self.past.next_event()
    }

    /// Counts so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
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
    /// A run that has not begun. Raising `interrupted` ends it after the step under way.
    pub fn new(
        connections: &'a Connections,
        method: &'a mut dyn Method,
        workers: &'a mut dyn Workers,
        observers: &'a mut [&'o mut dyn Observer],
        interrupted: &'a AtomicBool,
    ) -> Self {
        let past = if method.looks_back() {
            Past::new(connections)
        } else {
            Past::newest_only(connections)
        };
        Self {
            method,
            workers,
            interrupted,
            progress: Progress {
                connections,
                observers,
                past,
                growth: Growth::new(connections),
                statistics: Statistics::default(),
            },
            flat: FlatAccess::default(),
        }
    }

    /// The same run, for another part of it.
    pub fn continued(mut self, state: RunState) -> Self {
        self.progress.past = state.past;
        self.progress.growth = state.growth;
        self.progress.statistics = state.statistics;
        self
    }

    /// What the run has been so far; it goes on as another orchestrator.
    pub fn into_state(self) -> RunState {
        let Progress {
            mut past,
            growth,
            statistics,
            ..
        } = self.progress;
        past.set_limit(f64::INFINITY);
        RunState {
            past,
            growth,
            statistics,
        }
    }

    /// Takes in where the systems stand: at the start, or where the inputs of all have jumped.
    pub fn begin(&mut self, start: &[Task]) -> Result<(), Error> {
        self.progress.begin(start)
    }

    /// Goes on up to `limit`, which no step goes beyond. Systems that impose their steps stay on their last grid times before it.
    pub fn advance_to(&mut self, limit: f64) -> Result<Ending, Error> {
        self.progress.past.set_limit(limit);
        let ended = self.proceed(limit);
        self.progress.past.set_limit(f64::INFINITY);
        self.progress.explain(ended)
    }

    /// The earliest time that any system has reached.
    pub fn reached(&self) -> f64 {
        self.progress.past.reached()
    }

    /// The newest outputs of all systems, stacked.
    pub fn latest(&self) -> &[Knot] {
        self.progress.past.latest()
    }

    /// Counts so far.
    pub fn statistics(&self) -> Statistics {
        self.progress.statistics
    }

    /// Writes down all that the rest of the run depends on, or reads it back: into a run of the same model by the same method that
    /// was set up in the same way, whose systems have begun.
    pub fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_method(self.method, archive)?;
        archive.field(&mut self.progress.statistics)?;
        archive.field(&mut self.progress.growth)?;
        self.progress.past.visit(archive)?;
        self.workers.checkpoint(archive)
    }

    /// Runs from `start`, the consistent start values as tasks of size zero, to `until`.
    pub fn run(&mut self, start: Vec<Task>, until: f64) -> Result<Ending, Error> {
        let ends = start
            .iter()
            .find(|task| task.response.ends)
            .map(|task| task.system);
        let begun = self.progress.begin(&start);
        drop(start); // as much memory as the tasks of the method
        let ended = begun.and_then(|()| match ends {
            Some(system) => Ok(Ending::Requested { system }),
            None => self.proceed(until),
        });
        self.progress.finish(ended)
    }

    /// Goes on from where a checkpoint was taken.
    pub fn resume(&mut self, until: f64) -> Result<Ending, Error> {
        let ended = self.proceed(until);
        self.progress.finish(ended)
    }

    fn proceed(&mut self, until: f64) -> Result<Ending, Error> {
        while self.progress.past.reached() < until {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            if self.flat.is_due(self.progress.statistics.steps) {
                if let Some(ending) = self.proceed_flat(until)? {
                    return Ok(ending);
                }
                continue;
            }
            match self.method.attempt(&self.progress.past, self.workers)? {
                Outcome::Accepted(exchange) => {
                    if let Some(ending) = self.progress.accept(exchange)? {
                        return Ok(ending);
                    }
                }
                Outcome::Rejected(step) => {
                    self.progress.statistics.rejected += 1;
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
        self.past.record(start);
        self.growth.note(&self.past);
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
        self.past.record(exchange.tasks);
        self.growth.note(&self.past);
        self.statistics.steps += 1;
        self.statistics.iterations += exchange.iterations;
        let mut tasks = exchange.tasks.iter();
        let ends = tasks.find(|task| task.due && task.response.ends);
        let ending = ends.map(|task| Ending::Requested {
            system: task.system,
        });
        let mut observers = self.observers.iter_mut();
        observers.try_for_each(|o| o.accepted(exchange))?;
        Ok(ending)
    }

    fn explain(&self, ended: Result<Ending, Error>) -> Result<Ending, Error> {
        ended.map_err(|error| self.growth.explain(error, self.connections, &self.past))
    }

    fn finish(&mut self, ended: Result<Ending, Error>) -> Result<Ending, Error> {
        let ended = self.explain(ended);
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
