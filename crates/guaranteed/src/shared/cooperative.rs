//! Cooperative systems: where no state slows another one down, two point runs bound everything.
//!
//! If every off-diagonal entry of the Jacobian is nonnegative, solutions keep their order (Müller,
//! Kamke): the one from the lower corner of the box stays below all, the one from the upper corner
//! above. Both are trajectories of the model themselves, so that the bounds are exact but for
//! rounding. The sign is checked over the tube between the two, step by step.

use super::flowpipe::{Flowpipe, StartBoxes};
use super::single::SingleSet;
use super::stepper::{StepFailure, Stepper};
use super::time_loop::run_time_loop;
use crate::api::{EnclosureObserver, EnclosureOutcome, Options, StopReason};
use crate::distribution::Distribution;
use crate::interval::Interval;
use crate::problem::Problem;

/// What is remarked of such a run.
const REMARK: &str = "monotone model: the two corner runs bound all others";

/// Bounds by two point runs, if the model is cooperative wherever it gets.
///
/// Reports are buffered until that is sure: for a model that turns out otherwise nothing has been
/// reported.
pub(super) fn enclose(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> Option<EnclosureOutcome> {
    let mut pair = CooperativePair::new(problem, distribution)?;
    let mut buffered = BufferedRows {
        rows: Vec::new(),
        watcher,
    };
    let mut outcome = run_time_loop(problem, options, distribution, &mut pair, &mut buffered);
    let blown_up = matches!(outcome.stopped, Some(StopReason::BlownUp { .. }));
    // Once a place is lost nothing more can be found out, by a single set neither.
    if distribution.lost().is_none() && (pair.disordered || blown_up) {
        return None;
    }

    buffered.report();
    outcome.remarks.push(REMARK.to_owned());
    Some(outcome)
}

/// Rows that are not reported yet.
struct BufferedRows<'w> {
    rows: Vec<BufferedRow>,
    watcher: &'w mut dyn EnclosureObserver,
}

enum BufferedRow {
    Instant(f64, Vec<Interval>),
    Tube(f64, f64, Vec<Interval>),
    Part(f64, f64, Vec<Interval>),
}

impl BufferedRows<'_> {
    fn report(self) {
        for row in self.rows {
            match row {
                BufferedRow::Instant(time, row) => self.watcher.instant(time, &row),
                BufferedRow::Tube(from, to, row) => self.watcher.tube(from, to, &row),
                BufferedRow::Part(from, to, row) => self.watcher.part(from, to, &row),
            }
        }
    }
}

impl EnclosureObserver for BufferedRows<'_> {
    fn instant(&mut self, time: f64, row: &[Interval]) {
        self.rows.push(BufferedRow::Instant(time, row.to_vec()));
    }

    fn tube(&mut self, from: f64, to: f64, row: &[Interval]) {
        self.rows.push(BufferedRow::Tube(from, to, row.to_vec()));
    }

    fn part(&mut self, from: f64, to: f64, row: &[Interval]) {
        if self.watcher.wants_parts() {
            self.rows.push(BufferedRow::Part(from, to, row.to_vec()));
        }
    }

    fn wants_parts(&self) -> bool {
        self.watcher.wants_parts()
    }

    fn wants_tubes(&self) -> bool {
        self.watcher.wants_tubes()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }
}

/// The runs from the lower and from the upper corner.
struct CooperativePair<'p> {
    problem: &'p Problem,
    lower: SingleSet<'p>,
    upper: SingleSet<'p>,
    /// A run with all boxes, which is asked for signs and not moved.
    whole: SingleSet<'p>,
    /// The end of the prepared step.
    time: f64,
    /// Whether the order is known to hold until switches change: that of an affine problem depends
    /// on nothing else.
    settled: bool,
    /// Whether the order could not be proved somewhere.
    disordered: bool,
}

impl<'p> CooperativePair<'p> {
    /// The runs, if there is something to bound and the order holds at the start.
    fn new(problem: &'p Problem, distribution: &'p Distribution) -> Option<Self> {
        let start = StartBoxes::of(problem);
        if problem.observed.is_some() && !problem.is_disturbed() {
            // Boxes do not say what states have in common, of which expressions make use.
            return None;
        }
        if start.open() == 0 || problem.loops.is_some() {
            return None;
        }

        let mut whole = SingleSet::new(problem, distribution, &start);
        let corners = corners_at_start(problem, whole.flowpipe())?;
        let run = |states: fn(&Interval) -> f64, parameters: Vec<Interval>| {
            let start = StartBoxes {
                states: points(&problem.start, states),
                parameters,
            };
            SingleSet::new(problem, distribution, &start)
        };

        Some(Self {
            problem,
            lower: run(|range| range.lo, corners.lower),
            upper: run(|range| range.hi, corners.upper),
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
        let corners = ordered_corners(self.whole.flowpipe(), span, &tube);
        let lower = self.lower.flowpipe().parameters();
        let ordered = corners.is_some_and(|corners| corners.lower == lower);
        let certain = !self.problem.has_uncertain_parameters();
        self.settled = ordered && self.problem.affine && certain;

        ordered
    }
}

/// The corners of the parameters, if the order holds at the start.
fn corners_at_start(problem: &Problem, whole: &mut Flowpipe<'_>) -> Option<Corners> {
    let start = problem.start_time;
    let thresholds = problem.thresholds();
    let switches: Vec<Interval> = thresholds
        .iter()
        .map(|threshold| threshold.throughout(start, start))
        .collect();
    whole.enter(start, &switches).ok()?;

    ordered_corners(whole, Interval::point(start), &problem.start)
}

/// The corners of the parameters, if the order holds over a box and a span of time.
fn ordered_corners(
    whole: &mut Flowpipe<'_>,
    span: Interval,
    boxes: &[Interval],
) -> Option<Corners> {
    if !whole.is_ordered(span, boxes) {
        return None;
    }

    let signs = whole.parameter_signs(span, boxes);
    Corners::of(&signs, &whole.problem.parameters)
}

/// One number of each box.
fn points(boxes: &[Interval], pick: fn(&Interval) -> f64) -> Vec<Interval> {
    boxes
        .iter()
        .map(|range| Interval::point(pick(range)))
        .collect()
}

/// The parameters of the lower and of the upper run.
struct Corners {
    lower: Vec<Interval>,
    upper: Vec<Interval>,
}

impl Corners {
    /// If every uncertain parameter acts on all states in one direction.
    fn of(signs: &[(usize, Interval)], parameters: &[Interval]) -> Option<Self> {
        let mut lower = parameters.to_vec();
        let mut upper = parameters.to_vec();

        for &(index, effect) in signs {
            let least = Interval::point(parameters[index].lo);
            let greatest = Interval::point(parameters[index].hi);
            if effect.lo >= 0.0 {
                lower[index] = least;
                upper[index] = greatest;
            } else if effect.hi <= 0.0 {
                lower[index] = greatest;
                upper[index] = least;
            } else {
                return None;
            }
        }
        Some(Self { lower, upper })
    }
}

fn between(lower: Vec<Interval>, upper: Vec<Interval>) -> Vec<Interval> {
    let pairs = lower.iter().zip(&upper);
    pairs.map(|(lower, upper)| lower.hull(*upper)).collect()
}

impl Stepper for CooperativePair<'_> {
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), StepFailure> {
        self.settled = false;
        self.whole.enter(time, switches)?;
        self.lower.enter(time, switches)?;
        self.upper.enter(time, switches)
    }

    fn propose(&mut self, time: f64, freeze_until: f64) -> Result<f64, StepFailure> {
        self.time = time;
        let lower = self.lower.propose(time, freeze_until)?;
        let upper = self.upper.propose(time, freeze_until)?;
        Ok(lower.min(upper))
    }

    fn prove(&mut self, until: f64) -> Result<(), StepFailure> {
        self.lower.prove(until)?;
        self.upper.prove(until)?;

        if !self.keeps_order(until) {
            self.disordered = true;
            return Err(StepFailure::Disordered);
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

    fn cross(&mut self, _until: f64, _switches: &[Interval]) -> Result<Vec<Interval>, StepFailure> {
        // While a switch is open the two runs are not trajectories of one model.
        self.disordered = true;
        Err(StepFailure::Disordered)
    }
}
