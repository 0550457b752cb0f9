//! Cooperative systems: where no state slows another one down, two point runs bound everything.
//!
//! If every off-diagonal entry of the Jacobian is nonnegative, solutions keep their order (Müller,
//! Kamke): the one from the lower corner of the box stays below all, the one from the upper corner
//! above. Both are trajectories of the model themselves, so that the bounds are exact but for
//! rounding. The sign is checked over the tube between the two, step by step.
//!
//! Boxes do not say what states have in common, of which expressions make use: where some are asked for, a set of
//! everything is moved along as far as it keeps up, and what both say is true.

use super::buffered::BufferedRows;
use super::flowpipe::{Flowpipe, StartBoxes};
use super::single::SingleSet;
use super::stepper::{StepFailure, Stepper};
use super::time_loop::{Enclosed, run_time_loop};
use crate::api::{EnclosureObserver, Options, StopReason};
use crate::distribution::Distribution;
use crate::interval::Interval;
use crate::problem::Problem;

/// A set that is moved along and wants steps so much shorter, or refuses a step so often, is left behind.
const MUCH_SHORTER: f64 = 1.0 / 32.0;
const MOST_REFUSALS: usize = 4;

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
) -> Option<Enclosed> {
    let mut pair = CooperativePair::new(problem, distribution)?;
    let mut buffered = BufferedRows::new(watcher);
    let mut found = run_time_loop(problem, options, distribution, &mut pair, &mut buffered);
    let blown_up = matches!(found.outcome.stopped, Some(StopReason::BlownUp { .. }));
    // Once a place is lost nothing more can be found out, by a single set neither.
    if distribution.lost().is_none() && (pair.disordered || blown_up) {
        return None;
    }

    buffered.report();
    found.outcome.remarks.push(REMARK.to_owned());
    Some(found)
}

/// The runs from the lower and from the upper corner.
struct CooperativePair<'p> {
    problem: &'p Problem,
    lower: SingleSet<'p>,
    upper: SingleSet<'p>,
    /// A run with all boxes, which is asked for signs and not moved.
    whole: SingleSet<'p>,
    /// A run with all boxes that is moved along, where expressions are asked for and as far as it keeps up.
    companion: Option<Companion<'p>>,
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
            companion: problem.observed.is_some().then(|| Companion {
                set: SingleSet::new(problem, distribution, &start),
                refusals: 0,
            }),
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

        let tube = self.tube_between(self.time, until);
        let span = Interval::new(self.time, until);
        let corners = ordered_corners(self.whole.flowpipe(), span, &tube);
        let lower = self.lower.flowpipe().parameters();
        let ordered = corners.is_some_and(|corners| corners.lower == lower);
        let certain = !self.problem.has_uncertain_parameters();
        self.settled = ordered && self.problem.affine && certain;

        ordered
    }
}

/// A set of everything beside the two runs.
struct Companion<'p> {
    set: SingleSet<'p>,
    /// How often it has refused the present step.
    refusals: usize,
}

/// The set that is moved along.
impl CooperativePair<'_> {
    /// Between the two runs alone.
    fn tube_between(&mut self, from: f64, to: f64) -> Vec<Interval> {
        between(self.lower.tube(from, to), self.upper.tube(from, to))
    }

    /// What the pair and its companion say of the same.
    fn with_companion(
        &mut self,
        pair: Vec<Interval>,
        ask: impl FnOnce(&mut SingleSet<'_>) -> Vec<Interval>,
    ) -> Vec<Interval> {
        let Some(companion) = &mut self.companion else {
            return pair;
        };
        let together = pair.iter().zip(ask(&mut companion.set));
        let together = together.map(|(pair, other)| pair.intersection(other).unwrap_or(*pair));
        together.collect()
    }

    /// How long a step may be for it, if that is long enough.
    fn propose_to_companion(&mut self, time: f64, freeze_until: f64, length: f64) -> f64 {
        let Some(companion) = &mut self.companion else {
            return length;
        };
        companion.refusals = 0;
        match companion.set.propose(time, freeze_until) {
            Ok(own) if own > MUCH_SHORTER * length => own.min(length),
            _ => {
                self.companion = None;
                length
            }
        }
    }

    fn prove_of_companion(&mut self, until: f64) -> Result<(), StepFailure> {
        let Some(companion) = &mut self.companion else {
            return Ok(());
        };
        let proved = companion.set.prove(until);
        companion.refusals += usize::from(proved.is_err());
        if companion.refusals > MOST_REFUSALS {
            self.companion = None;
            return Ok(());
        }
        proved
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
        self.upper.enter(time, switches)?;

        let companion = self.companion.as_mut();
        if companion.is_some_and(|companion| companion.set.enter(time, switches).is_err()) {
            self.companion = None;
        }
        Ok(())
    }

    fn propose(&mut self, time: f64, freeze_until: f64) -> Result<f64, StepFailure> {
        self.time = time;
        let lower = self.lower.propose(time, freeze_until)?;
        let upper = self.upper.propose(time, freeze_until)?;
        Ok(self.propose_to_companion(time, freeze_until, lower.min(upper)))
    }

    fn prove(&mut self, until: f64) -> Result<(), StepFailure> {
        self.lower.prove(until)?;
        self.upper.prove(until)?;

        if !self.keeps_order(until) {
            self.disordered = true;
            return Err(StepFailure::Disordered);
        }
        self.prove_of_companion(until)
    }

    fn boxes(&mut self) -> Vec<Interval> {
        let pair = between(self.lower.boxes(), self.upper.boxes());
        self.with_companion(pair, |set| set.boxes())
    }

    fn boxes_at(&mut self, time: f64) -> Vec<Interval> {
        let pair = between(self.lower.boxes_at(time), self.upper.boxes_at(time));
        self.with_companion(pair, |set| set.boxes_at(time))
    }

    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval> {
        let pair = self.tube_between(from, to);
        self.with_companion(pair, |set| set.tube(from, to))
    }

    fn observed(&mut self, from: f64, to: f64) -> Option<Vec<Interval>> {
        self.companion.as_mut()?.set.observed(from, to)
    }

    fn advance(&mut self) {
        self.lower.advance();
        self.upper.advance();
        if let Some(companion) = &mut self.companion {
            companion.set.advance();
        }
    }

    fn cross(&mut self, _until: f64, _switches: &[Interval]) -> Result<Vec<Interval>, StepFailure> {
        // While a switch is open the two runs are not trajectories of one model.
        self.disordered = true;
        Err(StepFailure::Disordered)
    }
}
