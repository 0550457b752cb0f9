//! The orchestrator of algorithms 2 to 4.

use super::crew::Crew;
use super::cross_picard::Search;
use super::extrapolation::{Coefficients, Past};
use super::pace::Pace;
use super::picard::common;
use super::taylor::{self, exchange};
use super::unit::Job;
use crate::api::{Options, Outcome, Stopped, Watcher};
use crate::interval::Interval;
use crate::problem::Problem;

/// A run on its way.
pub(super) struct Run<'r> {
    problem: &'r Problem,
    crew: Crew<'r>,
    pace: Pace,
    past: Past,
    search: Search,
    /// The cross-Picard boxes of the last step.
    previous: Vec<Interval>,
    /// The conditions on time in the last step.
    switches: Vec<Interval>,
    steps: usize,
    rejected: usize,
    /// The fewest and the most iterations of cross-Picard in a step, and of all steps.
    iterations: (usize, usize, usize),
}

impl<'r> Run<'r> {
    pub fn new(
        problem: &'r Problem,
        options: &Options,
        extrapolation: Option<usize>,
        crew: Crew<'r>,
    ) -> Self {
        Self {
            problem,
            crew,
            pace: Pace::new(problem, options),
            past: Past::new(extrapolation, problem.start_time),
            search: Search::default(),
            previous: problem.start.clone(),
            switches: Vec::new(),
            steps: 0,
            rejected: 0,
            iterations: (usize::MAX, 0, 0),
        }
    }

    /// Steps to the end, or as far as it goes.
    pub fn finish(mut self, watcher: &mut dyn Watcher) -> Outcome {
        watcher.instant(self.problem.start_time, &self.problem.start);
        let mut stopped = None;
        while stopped.is_none() && self.crew.board().time < self.problem.stop_time {
            stopped = self.step(watcher);
        }
        let board = self.crew.board();
        Outcome {
            reached: board.time,
            steps: self.steps,
            rejected: self.rejected,
            states: board.start.clone(),
            stopped,
            remarks: self.remarks(),
        }
    }

    /// One macro-step, or one attempt at it.
    fn step(&mut self, watcher: &mut dyn Watcher) -> Option<Stopped> {
        let time = self.crew.board().time;
        let end = self.pace.end(time);
        match self.attempt(time, end) {
            Ok(coefficients) => {
                self.accept(coefficients);
                let board = self.crew.board();
                watcher.tube(time, end, &board.tubes);
                watcher.instant(end, &board.start);
                let worst = widest(&board.start);
                drop(board);
                let stuck = self.pace.is_stuck() && end < self.problem.stop_time;
                if watcher.proceed(end) {
                    stuck.then(|| self.blown_up(worst))
                } else {
                    Some(Stopped::Interrupted { time: end })
                }
            }
            Err(state) => {
                self.rejected += 1;
                self.pace.reject(time, end);
                self.pace.is_stuck().then(|| self.blown_up(state))
            }
        }
    }

    /// Proves boxes for the step and integrates over it; or names the state for which this failed.
    fn attempt(&mut self, time: f64, end: f64) -> Result<Coefficients, usize> {
        let switches = self.pace.switches(time, end);
        if switches != self.switches {
            self.past.restart(time);
            self.switches.clone_from(&switches);
        }
        self.crew.board_mut().set_step(end, switches);
        let iterations = self.search.run(&self.crew, &self.previous)?;
        let coefficients = self.tighten();
        self.tell_inputs(&coefficients);
        self.crew.perform(Job::Advance);
        let failed = self
            .crew
            .units()
            .find(|unit| unit.arrival.is_none())
            .map(|unit| unit.field.own.start);
        let (fewest, most, all) = self.iterations;
        self.iterations = (
            fewest.min(iterations),
            most.max(iterations),
            all + iterations,
        );
        failed.map_or(Ok(coefficients), Err)
    }

    /// Tightens the boxes by (8); gives the Taylor coefficients throughout the step.
    fn tighten(&self) -> Coefficients {
        let (time, span, elapsed, start, boxes) = {
            let board = self.crew.board();
            (
                board.time,
                board.span(),
                board.elapsed(),
                board.start.clone(),
                board.boxes.clone(),
            )
        };
        let at_start = exchange(&self.crew, Interval::point(time), &start, taylor::ORDER);
        let throughout = exchange(
            &self.crew,
            span,
            &boxes,
            self.past.orders().max(taylor::ORDER + 1),
        );
        self.crew.board_mut().tubes = taylor::tightened(&boxes, &at_start, &throughout, elapsed);
        throughout
    }

    /// Puts what every state is told to be on the board.
    fn tell_inputs(&self, coefficients: &Coefficients) {
        let board = self.crew.board();
        let mut inputs = Vec::with_capacity(board.start.len());
        for unit in self.crew.units() {
            for (i, state) in unit.field.own.clone().enumerate() {
                let tube = board.tubes[state];
                let mut differences = vec![board.start[state]];
                differences.extend(unit.set.differences_of(i));
                inputs.push(self.past.input(
                    state,
                    tube,
                    &differences,
                    coefficients,
                    board.size.hi,
                ));
            }
        }
        drop(board);
        self.crew.board_mut().inputs = inputs;
    }

    /// Goes on to the end of the step.
    fn accept(&mut self, coefficients: Coefficients) {
        self.crew.perform(Job::Accept);
        let mut arrived = Vec::with_capacity(self.problem.dimension());
        self.crew
            .units()
            .for_each(|unit| arrived.extend(unit.set.boxes()));
        let mut board = self.crew.board_mut();
        // The tube holds at the end of the step, too.
        board.start = common(&board.tubes, &arrived);
        board.time = board.end;
        self.previous.clone_from(&board.boxes);
        self.past.record(board.end, coefficients);
        self.pace.accept(board.end);
        self.steps += 1;
    }

    fn blown_up(&self, state: usize) -> Stopped {
        let (time, name) = (self.crew.board().time, self.problem.name(state));
        let reason = format!(
            "the bounds of `{name}` grow so fast that no step can be proved any more; try smaller boxes, a smaller \
             step, extrapolation, or the method shared-symbols, which knows how systems depend on one another"
        );
        Stopped::BlownUp { time, reason }
    }

    fn remarks(&self) -> Vec<String> {
        let (fewest, most, all) = self.iterations;
        if self.steps == 0 {
            return Vec::new();
        }
        let mean = all as f64 / (self.steps as f64);
        vec![format!(
            "cross-Picard took {fewest} to {most} iterations in a macro-step, {mean:.1} in the mean"
        )]
    }
}

fn widest(boxes: &[Interval]) -> usize {
    (0..boxes.len())
        .max_by(|&a, &b| boxes[a].width().total_cmp(&boxes[b].width()))
        .unwrap_or(0)
}
