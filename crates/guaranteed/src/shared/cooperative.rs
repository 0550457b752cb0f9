//! Cooperative systems: where no state slows another one down, two point runs bound everything.
//!
//! If every off-diagonal entry of the Jacobian is nonnegative, solutions keep their order (Müller, Kamke): the one from the lower
//! corner of the box stays below all, the one from the upper corner above. Both are trajectories of the model themselves, so that
//! the bounds are exact but for rounding. The sign is checked over the tube between the two, step by step.

use super::run::{Beginning, Failure};
use super::single::Single;
use super::walk::{Stepper, walk};
use crate::api::{Options, Outcome, Stopped, Watcher};
use crate::interval::Interval;
use crate::problem::Problem;

/// Bounds by two point runs, if the model is cooperative wherever it gets.
///
/// What is told is kept back until that is sure: a model that turns out otherwise has told nothing.
pub(super) fn enclose(
    problem: &Problem,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Option<Outcome> {
    let mut pair = Pair::new(problem)?;
    let mut kept = Kept {
        rows: Vec::new(),
        watcher,
    };
    let mut outcome = walk(problem, options, &mut pair, &mut kept);
    if pair.disordered || matches!(outcome.stopped, Some(Stopped::BlownUp { .. })) {
        return None;
    }
    kept.tell();
    outcome
        .remarks
        .push("cooperative: bounded by the runs from the lower and the upper corner".to_owned());
    Some(outcome)
}

/// Rows that are not told yet: beginning, end and boxes.
struct Kept<'w> {
    rows: Vec<(f64, f64, Vec<Interval>)>,
    watcher: &'w mut dyn Watcher,
}

impl Kept<'_> {
    fn tell(self) {
        for (from, to, states) in self.rows {
            if from == to {
                self.watcher.instant(from, &states);
            } else {
                self.watcher.tube(from, to, &states);
            }
        }
    }
}

impl Watcher for Kept<'_> {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.rows.push((time, time, states.to_vec()));
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.rows.push((from, to, states.to_vec()));
    }

    fn wants_tubes(&self) -> bool {
        self.watcher.wants_tubes()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }
}

/// The runs from the lower and from the upper corner.
struct Pair<'p> {
    problem: &'p Problem,
    lower: Single<'p>,
    upper: Single<'p>,
    /// A run with all boxes, which is asked for signs and not moved.
    whole: Single<'p>,
    /// The end of the prepared step.
    time: f64,
    /// Whether the order is known to hold until switches change: that of an affine problem depends on nothing else.
    settled: bool,
    /// Whether the order could not be proved somewhere.
    disordered: bool,
}

impl<'p> Pair<'p> {
    /// The runs, if there is something to bound and the order holds at the start.
    fn new(problem: &'p Problem) -> Option<Self> {
        let open = problem
            .start
            .iter()
            .chain(&problem.parameters)
            .any(|range| !range.is_point());
        if !open || problem.loops.is_some() {
            return None;
        }
        let whole = Beginning {
            states: problem.start.clone(),
            parameters: problem.parameters.clone(),
        };
        let mut whole = Single::new(problem, &whole);
        let switches: Vec<Interval> = problem
            .thresholds()
            .iter()
            .map(|threshold| threshold.throughout(problem.start_time, problem.start_time))
            .collect();
        let (time, start) = (Interval::point(problem.start_time), &problem.start);
        whole.run().enter(problem.start_time, &switches).ok()?;
        if !whole.run().is_ordered(time, start) {
            return None;
        }
        let (low, high) = corners(
            &whole.run().parameter_signs(time, start),
            &problem.parameters,
        )?;
        let ends = |pick: fn(&Interval) -> f64| {
            start
                .iter()
                .map(|range| Interval::point(pick(range)))
                .collect()
        };
        let lower = Beginning {
            states: ends(|range| range.lo),
            parameters: low,
        };
        let upper = Beginning {
            states: ends(|range| range.hi),
            parameters: high,
        };
        let (lower, upper) = (Single::new(problem, &lower), Single::new(problem, &upper));
        Some(Self {
            problem,
            lower,
            upper,
            whole,
            time: problem.start_time,
            settled: false,
            disordered: false,
        })
    }

    /// Whether solutions keep their order between the two runs, from now until `until`.
    fn keeps_order(&mut self, until: f64) -> bool {
        if self.settled {
            return true;
        }
        let tube = self.tube(self.time, until);
        let span = Interval::new(self.time, until);
        let whole = self.whole.run();
        let ordered = whole.is_ordered(span, &tube) && {
            let corners = corners(
                &whole.parameter_signs(span, &tube),
                &self.problem.parameters,
            );
            corners.is_some_and(|(low, _)| low == self.lower.run().parameters())
        };
        let uncertain = self
            .problem
            .parameters
            .iter()
            .any(|range| !range.is_point());
        self.settled = ordered && self.problem.affine && !uncertain;
        ordered
    }
}

/// The parameters of the lower and of the upper run, if every uncertain one acts on all states in one direction.
fn corners(
    signs: &[(usize, Interval)],
    parameters: &[Interval],
) -> Option<(Vec<Interval>, Vec<Interval>)> {
    let (mut low, mut high) = (parameters.to_vec(), parameters.to_vec());
    for &(index, effect) in signs {
        let (lo, hi) = (
            Interval::point(parameters[index].lo),
            Interval::point(parameters[index].hi),
        );
        (low[index], high[index]) = match effect {
            effect if effect.lo >= 0.0 => (lo, hi),
            effect if effect.hi <= 0.0 => (hi, lo),
            _ => return None,
        };
    }
    Some((low, high))
}

fn between(lower: Vec<Interval>, upper: Vec<Interval>) -> Vec<Interval> {
    lower
        .iter()
        .zip(&upper)
        .map(|(lower, upper)| lower.hull(*upper))
        .collect()
}

impl Stepper for Pair<'_> {
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), Failure> {
        self.settled = false;
        self.whole.enter(time, switches)?;
        self.lower.enter(time, switches)?;
        self.upper.enter(time, switches)
    }

    fn propose(&mut self, time: f64, freeze_until: f64) -> Result<f64, Failure> {
        self.time = time;
        Ok(self
            .lower
            .propose(time, freeze_until)?
            .min(self.upper.propose(time, freeze_until)?))
    }

    fn prove(&mut self, until: f64) -> Result<(), Failure> {
        self.lower.prove(until)?;
        self.upper.prove(until)?;
        if !self.keeps_order(until) {
            self.disordered = true;
            return Err(Failure::Disordered);
        }
        Ok(())
    }

    fn boxes(&mut self) -> Vec<Interval> {
        between(self.lower.boxes(), self.upper.boxes())
    }

    fn boxes_at(&mut self, time: f64) -> Vec<Interval> {
        between(self.lower.boxes_at(time), self.upper.boxes_at(time))
    }

    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval> {
        between(self.lower.tube(from, to), self.upper.tube(from, to))
    }

    fn advance(&mut self) {
        self.lower.advance();
        self.upper.advance();
    }

    fn cross(&mut self, _until: f64, _switches: &[Interval]) -> Result<Vec<Interval>, Failure> {
        // While a switch is open the two runs are not trajectories of one model.
        self.disordered = true;
        Err(Failure::Disordered)
    }
}
