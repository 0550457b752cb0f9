//! Systems in a single thread, and in several as soon as that is found to be faster.
//!
//! The first calls are made in a single thread and watched. Where threads would pay, the systems
//! move into them; if the calls are then not faster (cores that were thought to be free are not),
//! they move back. Systems that were light may become heavy, and cores that were busy free: after
//! ever longer whiles the watch is repeated. Answers do not depend on any of this, to the last bit.

mod measurement;

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Instant;

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, FlatWorkers, Interface, LinearizeTask,
    OperatorTask, System, Task, Work, Workers,
};

use crate::assignment::Assignment;
use crate::single_thread::SingleThread;
use crate::slot::{Known, Slot};
use crate::threads::Threads;
use measurement::{Finding, Measurement, median};

/// A single thread is watched again after so many calls; every later while is longer by a factor.
const FIRST_WHILE: u64 = 1000;
/// The same where threads should have been faster, and were not.
const FIRST_WHILE_AFTER_TRY: u64 = 100;
const LONGER: u64 = 4;
/// So many calls are made in threads before they are judged,
const CALLS_IN_THREADS: usize = 24;
/// and they stay if these take less than this part of the time that they took before.
const FASTER: f64 = 0.95;
/// A shorter time in seconds would be shown as none.
const SHORTEST_SHOWN: f64 = 50e-9;

/// What [`Auto`] is to know beforehand.
#[derive(Clone, Debug)]
pub struct AutoOptions {
    /// For each system a group, numbered from zero: systems of one group are never asked at the
    /// same time, since they may share memory.
    pub groups: Vec<usize>,
    /// The method asks one system at a time: threads can bring nothing.
    pub one_at_a_time: bool,
    /// How many threads there may be; none: one for each core.
    pub threads: Option<NonZeroUsize>,
}

impl AutoOptions {
    /// Systems that share nothing.
    pub fn independent(systems: usize) -> Self {
        Self {
            groups: (0..systems).collect(),
            one_at_a_time: false,
            threads: None,
        }
    }

    fn most_threads(&self) -> usize {
        let cores = self.threads.or_else(|| available_parallelism().ok());
        let groups = self.groups.iter().max().map_or(0, |last| last + 1);
        cores.map_or(1, NonZeroUsize::get).min(groups)
    }
}

/// Systems in a single thread or in several, whichever is faster.
pub struct Auto {
    place: Place,
    groups: Vec<usize>,
    threads: usize,
    phase: Phase,
    /// How many calls the next while without a watch has.
    next_while: u64,
    /// And the next one after threads were tried in vain.
    next_while_after_try: u64,
    reason: Reason,
}

/// Why the systems are where they are.
enum Reason {
    /// More than one thread is out of the question.
    Obstacle(&'static str),
    TooFewSteps,
    /// What a step takes in a single thread, and would take in several.
    SingleIsFaster(Finding),
    ThreadsAreFaster(Finding),
    TriedInVain,
    NotStarted(std::io::Error),
}

/// Where the systems are.
enum Place {
    Single(SingleThread),
    Threads(Threads),
    /// On their way from one to the other.
    Moving,
}

/// What is being found out.
enum Phase {
    /// The calls of a single thread are watched.
    Watching(Box<Measurement>),
    /// Calls are made in threads, which are then judged by what they took; before, a call took so
    /// long.
    Trying { seconds: Vec<f64>, before: f64 },
    /// Nothing, for so many calls.
    Settled { left: u64 },
    /// Nothing any more.
    Decided,
}

impl Auto {
    /// Takes the systems over.
    pub fn new(systems: Vec<Box<dyn System>>, options: AutoOptions) -> Self {
        let threads = options.most_threads();
        let obstacle = obstacle(&options, threads);
        let decided = obstacle.is_some();
        let mut auto = Self {
            place: Place::Single(SingleThread::new(systems)),
            groups: options.groups,
            threads,
            phase: Phase::Decided,
            next_while: FIRST_WHILE,
            next_while_after_try: FIRST_WHILE_AFTER_TRY,
            reason: obstacle.map_or(Reason::TooFewSteps, Reason::Obstacle),
        };

        if !decided {
            auto.watch();
        }
        auto
    }

    fn workers(&self) -> &dyn Workers {
        match &self.place {
            Place::Single(single) => single,
            Place::Threads(threads) => threads,
            Place::Moving => unreachable!("BUG: systems are asked on their way"),
        }
    }

    fn workers_mut(&mut self) -> &mut dyn Workers {
        match &mut self.place {
            Place::Single(single) => single,
            Place::Threads(threads) => threads,
            Place::Moving => unreachable!("BUG: systems are asked on their way"),
        }
    }

    /// Makes a call that all systems may have a part in, and learns from it.
    fn call(
        &mut self,
        tasks: &mut [Task],
        call: fn(&mut dyn Workers, &mut [Task]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &mut self.phase {
            Phase::Decided => call(self.workers_mut(), tasks),
            Phase::Settled { left } if *left > 0 => {
                *left -= 1;
                call(self.workers_mut(), tasks)
            }
            _ => self.learn_from(tasks, call),
        }
    }

    #[cold]
    fn learn_from(
        &mut self,
        tasks: &mut [Task],
        call: fn(&mut dyn Workers, &mut [Task]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        call(self.workers_mut(), tasks)?;
        // Questions about the present say nothing of what steps cost.
        let mut due = tasks.iter().filter(|task| task.due);
        if due.any(|task| !task.step.is_instant()) {
            self.note_call(began.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn note_call(&mut self, took: f64) {
        match &mut self.phase {
            Phase::Watching(measurement) => {
                let work = match &self.place {
                    Place::Single(single) => single.work(),
                    _ => unreachable!("BUG: only a single thread is watched"),
                };
                if let Some(finding) = measurement.note_call(work, took) {
                    self.decide(finding);
                }
            }
            Phase::Trying { seconds, before } => {
                seconds.push(took);
                if seconds.len() == CALLS_IN_THREADS {
                    let faster = median(seconds) < FASTER * *before;
                    self.judge(faster);
                }
            }
            Phase::Settled { .. } => self.watch(),
            Phase::Decided => {}
        }
    }

    /// A single thread is watched from here on.
    fn watch(&mut self) {
        let work = self.workers().work();
        let measurement = Measurement::new(&self.groups, self.threads, work);
        self.phase = Phase::Watching(Box::new(measurement));
    }

    fn decide(&mut self, finding: Finding) {
        if !finding.pays() {
            self.reason = Reason::SingleIsFaster(finding);
            self.phase = settle(&mut self.next_while);
            return;
        }

        match self.move_to_threads(finding.assignment.clone()) {
            Ok(()) => {
                self.phase = Phase::Trying {
                    seconds: Vec::with_capacity(CALLS_IN_THREADS),
                    before: finding.elapsed,
                };
                self.reason = Reason::ThreadsAreFaster(finding);
            }
            Err(error) => {
                self.reason = Reason::NotStarted(error);
                self.phase = Phase::Decided;
            }
        }
    }

    /// Threads have been tried: they stay if they are faster.
    fn judge(&mut self, faster: bool) {
        if faster {
            self.phase = Phase::Decided;
        } else {
            self.move_to_single();
            self.reason = Reason::TriedInVain;
            self.phase = settle(&mut self.next_while_after_try);
        }
    }

    fn explain(&self) -> String {
        match &self.reason {
            Reason::Obstacle(obstacle) => (*obstacle).to_owned(),
            Reason::TooFewSteps => "too few steps to find out whether more would be faster".into(),
            Reason::SingleIsFaster(found) if found.single < SHORTEST_SHOWN => {
                "most calls of systems are too short to be measured".into()
            }
            Reason::SingleIsFaster(found) => format!(
                "a step of all systems takes {}, and would take {} in {}",
                readable_seconds(found.single),
                readable_seconds(found.parallel),
                self.threads
            ),
            Reason::ThreadsAreFaster(found) => format!(
                "a step of all systems takes {} in one, and about {} so",
                readable_seconds(found.single),
                readable_seconds(found.parallel)
            ),
            Reason::TriedInVain => format!("{} were tried, and were no faster", self.threads),
            Reason::NotStarted(error) => format!("more could not be started: {error}"),
        }
    }

    fn move_to_threads(&mut self, assignment: Assignment) -> std::io::Result<()> {
        let (slots, known) = self.take_slots();
        let mut threads = Threads::of_slots(slots, known, assignment);
        let started = threads.start_threads();
        self.place = Place::Threads(threads);
        if started.is_err() {
            self.move_to_single();
        }
        started
    }

    fn move_to_single(&mut self) {
        let (slots, known) = self.take_slots();
        self.place = Place::Single(SingleThread::of_slots(slots, known));
    }

    fn take_slots(&mut self) -> (Vec<Slot>, Known) {
        match std::mem::replace(&mut self.place, Place::Moving) {
            Place::Single(single) => single.into_slots(),
            Place::Threads(threads) => threads.into_slots(),
            Place::Moving => unreachable!("BUG: systems are on their way already"),
        }
    }
}

/// Nothing is watched for a while; the next one is longer.
fn settle(next_while: &mut u64) -> Phase {
    let left = *next_while;
    *next_while = left.saturating_mul(LONGER);
    Phase::Settled { left }
}

/// Why there is no need to look whether threads would pay, if there is none.
fn obstacle(options: &AutoOptions, threads: usize) -> Option<&'static str> {
    let groups = options.groups.iter().max().map_or(0, |last| last + 1);
    if options.groups.len() < 2 {
        Some("there is only one system")
    } else if options.one_at_a_time {
        Some("the method asks one system at a time")
    } else if groups < 2 {
        Some("all systems are of one FMU, and may share its memory")
    } else if threads < 2 {
        Some("there is only one core")
    } else {
        None
    }
}

/// Seconds with the usual prefix and two digits.
fn readable_seconds(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 1e-3 => (1e6 * s, "µs"),
        s if s < 1.0 => (1e3 * s, "ms"),
        s => (s, "s"),
    };
    if number < 10.0 {
        format!("{number:.1} {unit}")
    } else {
        format!("{number:.0} {unit}")
    }
}

impl Workers for Auto {
    fn interfaces(&self) -> &[Interface] {
        self.workers().interfaces()
    }

    fn capabilities(&self) -> &[Capabilities] {
        self.workers().capabilities()
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.workers_mut().begin(tasks)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, |workers, tasks| workers.advance(tasks))
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, |workers, tasks| workers.trial(tasks))
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.workers_mut().linearize(tasks)
    }

    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error> {
        self.workers_mut().evaluate(tasks)
    }

    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error> {
        self.workers_mut().operators(tasks)
    }

    /// A single thread that is not being watched.
    fn flat(&mut self) -> Option<&mut dyn FlatWorkers> {
        match (&mut self.place, &self.phase) {
            (Place::Single(single), Phase::Settled { .. } | Phase::Decided) => single.flat(),
            _ => None,
        }
    }

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.workers_mut().checkpoint(archive)
    }

    fn work(&self) -> &[Work] {
        self.workers().work()
    }

    fn choice(&self) -> Option<String> {
        let place = match &self.place {
            Place::Threads(threads) => format!("{} threads", threads.threads()),
            _ => "a single thread".to_owned(),
        };
        Some(format!("{place}: {}", self.explain()))
    }
}

#[cfg(test)]
mod tests;
