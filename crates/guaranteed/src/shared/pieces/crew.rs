//! Pieces enclosed side by side.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::grid::GridRows;
use super::{MOST_WORK, Piece};
use crate::api::{EnclosureObserver, Options, Pieces, StopReason};
use crate::distribution::Distribution;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::requirements::Place;
use crate::shared::{Enclosed, in_one_piece};

/// The grid of times, where nobody asks for another: so many in all.
const INSTANTS: f64 = 256.0;

/// How often the watcher is asked whether to go on.
const ASKING: Duration = Duration::from_millis(50);

/// A piece may take so many steps, however little each costs.
const MOST_STEPS: f64 = 200_000.0;

/// What all pieces are enclosed with.
pub(super) struct Crew<'c> {
    pub problem: &'c Problem,
    pub options: &'c Options,
    pub distribution: &'c Distribution,
    pub wants_tubes: bool,
    /// What a step costs.
    pub cost: f64,
}

/// A watcher of a piece that is told when all is to end.
struct Interruptible<'i> {
    rows: GridRows,
    interrupted: &'i AtomicBool,
}

impl EnclosureObserver for Interruptible<'_> {
    fn instant(&mut self, time: f64, row: &[Interval]) {
        self.rows.instant(time, row);
    }

    fn tube(&mut self, from: f64, to: f64, row: &[Interval]) {
        self.rows.tube(from, to, row);
    }

    fn wants_tubes(&self) -> bool {
        self.rows.wants_tubes()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.rows.proceed(reached) && !self.interrupted.load(Ordering::Relaxed)
    }
}

/// A part of a problem's boxes, on its way.
struct Task {
    problem: Problem,
    place: Place,
    cuts: usize,
}

impl Crew<'_> {
    /// Encloses these places, each with how often it was cut; nothing where the watcher does not want to go on.
    pub fn enclose(
        &self,
        places: Vec<(Place, usize)>,
        watcher: &mut dyn EnclosureObserver,
    ) -> Option<Vec<Piece>> {
        let tasks = places.into_iter().map(|(place, cuts)| Task {
            problem: self.problem.narrowed(
                place.states.clone(),
                place.parameters.clone(),
                self.problem.stop_time,
            ),
            place,
            cuts,
        });
        let tasks: Vec<Task> = tasks.collect();
        match self.distribution.is_here() {
            true => self.side_by_side(tasks, watcher),
            false => self.one_by_one(tasks, watcher),
        }
    }

    /// Systems that are computed elsewhere are so for one piece after the other.
    fn one_by_one(
        &self,
        tasks: Vec<Task>,
        watcher: &mut dyn EnclosureObserver,
    ) -> Option<Vec<Piece>> {
        let interrupted = AtomicBool::new(false);
        let mut pieces = Vec::with_capacity(tasks.len());
        for task in tasks {
            if !watcher.proceed(self.problem.start_time) {
                return None;
            }
            pieces.push(self.piece(task, self.distribution, &interrupted));
        }
        Some(pieces)
    }

    fn side_by_side(
        &self,
        tasks: Vec<Task>,
        watcher: &mut dyn EnclosureObserver,
    ) -> Option<Vec<Piece>> {
        let count = tasks.len();
        let threads = self.options.threads.clamp(1, count);
        let interrupted = AtomicBool::new(false);
        let next = AtomicUsize::new(0);
        let tasks: Vec<_> = tasks
            .into_iter()
            .map(|task| std::sync::Mutex::new(Some(task)))
            .collect();
        let mut found: Vec<Option<Piece>> = (0..count).map(|_| None).collect();
        let (sender, receiver) = channel();
        let (problem, options) = (self.problem, self.options);
        let (wants_tubes, cost) = (self.wants_tubes, self.cost);

        thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                let (tasks, next, interrupted) = (&tasks, &next, &interrupted);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(task) = tasks.get(index) else {
                            return;
                        };
                        let task = task.lock().ok().and_then(|mut task| task.take());
                        let Some(task) = task else {
                            return;
                        };
                        let distribution = Distribution::here(&task.problem);
                        let crew = Crew {
                            problem,
                            options,
                            distribution: &distribution,
                            wants_tubes,
                            cost,
                        };
                        let piece = crew.piece(task, &distribution, interrupted);
                        if sender.send((index, piece)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);

            loop {
                match receiver.recv_timeout(ASKING) {
                    Ok((index, piece)) => found[index] = Some(piece),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                if !watcher.proceed(problem.start_time) {
                    interrupted.store(true, Ordering::Relaxed);
                }
            }
        });

        let complete = !interrupted.load(Ordering::Relaxed);
        let pieces: Option<Vec<Piece>> = found.into_iter().collect();
        pieces.filter(|_| complete)
    }

    fn piece(&self, task: Task, distribution: &Distribution, interrupted: &AtomicBool) -> Piece {
        let interval = self.options.output_interval;
        let options = Options {
            output_interval: interval.or(Some(self.problem.duration() / INSTANTS)),
            threads: 1,
            pieces: Pieces::ONE,
            ..self.options.clone()
        };
        let most_steps = (MOST_WORK / self.cost).clamp(1000.0, MOST_STEPS) as usize;
        let mut watcher = Interruptible {
            rows: GridRows::new(self.wants_tubes, most_steps),
            interrupted,
        };
        let mut found = in_one_piece(&task.problem, &options, distribution, &mut watcher);
        let mut rows = watcher.rows;
        if rows.is_spent() {
            found.outcome.stopped = Some(given_up(&found));
        }
        rows.close(found.outcome.stopped.is_none());

        Piece {
            place: task.place,
            cuts: task.cuts,
            rows,
            found,
        }
    }
}

/// Why a piece was not followed any further.
fn given_up(found: &Enclosed) -> StopReason {
    StopReason::BlownUp {
        time: found.outcome.reached,
        reason:
            "a piece of the boxes at the start takes too many steps; larger steps, or a smaller \
                 box at the start, may help"
                .to_owned(),
    }
}
