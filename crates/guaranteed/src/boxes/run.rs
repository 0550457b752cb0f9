//! The orchestrator of algorithms 2 to 4.

use super::cross_picard::WindowSearch;
use super::extrapolation::{BoxHistory, Coefficients};
use super::picard::common;
use super::step_size::StepSizeControl;
use super::subsystems::Subsystems;
use super::taylor::{self, exchange};
use crate::api::{EnclosureObserver, EnclosureOutcome, Options, StopReason};
use crate::interval::{Interval, widest};
use crate::observed::BoxObserver;
use crate::problem::Problem;

/// A run on its way.
pub(super) struct BoxRun<'r> {
    problem: &'r Problem,
    subsystems: Subsystems<'r>,
    observer: BoxObserver,
    step_size: StepSizeControl,
    past: BoxHistory,
    search: WindowSearch,
    /// The divided differences of each state over past steps, from order 1 on.
    differences: Vec<Vec<Interval>>,
    /// The cross-Picard boxes of the last step.
    previous: Vec<Interval>,
    /// The conditions on time in the last step.
    switches: Vec<Interval>,
    steps: usize,
    rejected: usize,
    iterations: Iterations,
}

impl<'r> BoxRun<'r> {
    pub fn new(
        problem: &'r Problem,
        options: &Options,
        extrapolation: Option<usize>,
        subsystems: Subsystems<'r>,
    ) -> Self {
        Self {
            problem,
            subsystems,
            observer: BoxObserver::new(problem.observed.as_ref(), &problem.parameters),
            step_size: StepSizeControl::new(problem, options),
            past: BoxHistory::new(extrapolation, problem.start_time),
            search: WindowSearch::default(),
            differences: vec![Vec::new(); problem.start.len()],
            previous: problem.start.clone(),
            switches: Vec::new(),
            steps: 0,
            rejected: 0,
            iterations: Iterations::default(),
        }
    }

    /// Steps to the end, or as far as it goes.
    pub fn finish(mut self, watcher: &mut dyn EnclosureObserver) -> EnclosureOutcome {
        let start = self.problem.start_time;
        let switches = self.step_size.switches(start.next_down(), start.next_up());
        let row = self.row(start, start, &switches, &self.problem.start);
        watcher.instant(start, &row);
        let mut stopped = None;

        while stopped.is_none() && self.subsystems.step().time < self.problem.stop_time {
            stopped = self.step(watcher);
        }

        let shared = self.subsystems.step();
        let (reached, states) = (shared.time, shared.start.clone());
        drop(shared);
        let switches = self.switches.clone();
        let mut row = self.row(reached, reached, &switches, &states);
        EnclosureOutcome {
            reached,
            steps: self.steps,
            rejected: self.rejected,
            observed: row.split_off(states.len()),
            states,
            stopped,
            useful_until: None,
            pieces: 1,
            remarks: self.remarks(),
        }
    }

    /// One macro-step, or one attempt at it.
    fn step(&mut self, watcher: &mut dyn EnclosureObserver) -> Option<StopReason> {
        let time = self.subsystems.step().time;
        let end = self.step_size.end(time);

        match self.attempt(time, end) {
            Ok(coefficients) => {
                self.accept(coefficients);
                self.report(time, end, watcher)
            }
            Err(state) => {
                self.rejected += 1;
                self.step_size.reject(time, end);
                let given_up = self.step_size.is_stuck() || self.subsystems.has_lost_a_place();
                given_up.then(|| self.blown_up(state))
            }
        }
    }

    /// Reports an accepted step; why not to go on, if there is a reason.
    fn report(
        &mut self,
        time: f64,
        end: f64,
        watcher: &mut dyn EnclosureObserver,
    ) -> Option<StopReason> {
        let shared = self.subsystems.step();
        let (tubes, arrived) = (shared.tubes.clone(), shared.start.clone());
        drop(shared);
        let switches = self.switches.clone();
        let tube = self.row(time, end, &switches, &tubes);
        watcher.part(time, end, &tube);
        watcher.tube(time, end, &tube);
        let row = self.row(end, end, &switches, &arrived);
        watcher.instant(end, &row);
        let worst = widest(&arrived);
        if !watcher.proceed(end) {
            return Some(StopReason::Interrupted { time: end });
        }

        let stuck = self.step_size.is_stuck() && end < self.problem.stop_time;
        stuck.then(|| self.blown_up(worst))
    }

    /// The states, and what is asked for beside them.
    fn row(
        &mut self,
        from: f64,
        to: f64,
        switches: &[Interval],
        states: &[Interval],
    ) -> Vec<Interval> {
        let span = Interval::new(from, to);
        let mut row = states.to_vec();
        row.extend(self.observer.observe(span, switches, states));
        row
    }

    /// Proves boxes for the step and integrates over it; or names the state for which this failed.
    fn attempt(&mut self, time: f64, end: f64) -> Result<Coefficients, usize> {
        let switches = self.step_size.switches(time, end);
        if switches != self.switches {
            self.past.restart(time);
            self.switches.clone_from(&switches);
        }

        self.subsystems.step_mut().set_step(end, switches);
        let iterations = self.search.run(&self.subsystems, &self.previous)?;
        let coefficients = self.tighten();
        self.publish_inputs(&coefficients);
        let advanced = self.subsystems.advance();
        self.iterations.record(iterations);
        advanced.map(|()| coefficients)
    }

    /// Tightens the boxes by (8); gives the Taylor coefficients throughout the step.
    fn tighten(&self) -> Coefficients {
        let shared = self.subsystems.step().clone();
        let now = Interval::point(shared.time);
        let at_start = exchange(&self.subsystems, now, &shared.start, taylor::ORDER);
        let orders = self.past.orders().max(taylor::ORDER + 1);
        let throughout = exchange(&self.subsystems, shared.span(), &shared.boxes, orders);
        let elapsed = shared.elapsed();
        let tubes = taylor::tightened(&shared.boxes, &at_start, &throughout, elapsed);
        self.subsystems.step_mut().tubes = tubes;

        throughout
    }

    /// Puts what is known of every state into the shared step.
    fn publish_inputs(&self, coefficients: &Coefficients) {
        let shared = self.subsystems.step();
        let size = shared.size.hi;
        let input = |state: usize| {
            let mut differences = vec![shared.start[state]];
            differences.extend(&self.differences[state]);
            let tube = shared.tubes[state];
            let past = &self.past;
            past.input(state, tube, &differences, coefficients, size)
        };
        let inputs = (0..shared.start.len()).map(input).collect();

        drop(shared);
        self.subsystems.step_mut().inputs = inputs;
    }

    /// Goes on to the end of the step.
    fn accept(&mut self, coefficients: Coefficients) {
        let reports = self.subsystems.accept();
        let arrived: Vec<Interval> = reports.iter().map(|state| state.range).collect();
        let differences = reports.into_iter().map(|state| state.differences);
        self.differences = differences.collect();

        let mut shared = self.subsystems.step_mut();
        // The tube holds at the end of the step, too.
        shared.start = common(&shared.tubes, &arrived);
        shared.time = shared.end;
        self.previous.clone_from(&shared.boxes);
        self.past.record(shared.end, coefficients);
        self.step_size.accept(shared.end);

        self.steps += 1;
    }

    fn blown_up(&self, state: usize) -> StopReason {
        let name = self.problem.name(state);
        let reason = format!(
            "the bounds of `{name}` grow so fast that no step can be proved any more; try smaller \
             boxes, a smaller step, extrapolation, or the method shared-symbols, which knows how \
             systems depend on one another"
        );

        StopReason::BlownUp {
            time: self.subsystems.step().time,
            reason,
        }
    }

    fn remarks(&self) -> Vec<String> {
        if self.steps == 0 {
            return Vec::new();
        }

        let Iterations { fewest, most, all } = self.iterations;
        let mean = all as f64 / (self.steps as f64);
        vec![format!(
            "cross-Picard took {fewest} to {most} iterations in a macro-step, {mean:.1} in the mean"
        )]
    }
}

/// The fewest and the most iterations of cross-Picard in a step, and of all steps.
#[derive(Clone, Copy)]
struct Iterations {
    fewest: usize,
    most: usize,
    all: usize,
}

impl Default for Iterations {
    fn default() -> Self {
        Self {
            fewest: usize::MAX,
            most: 0,
            all: 0,
        }
    }
}

impl Iterations {
    fn record(&mut self, iterations: usize) {
        self.fewest = self.fewest.min(iterations);
        self.most = self.most.max(iterations);
        self.all += iterations;
    }
}
