//! One affine set for everything: the general case, with the choice of steps and orders.

use super::flowpipe::{Flowpipe, StartBoxes};
use super::stepper::{Spread, StepFailure, Stepper};
use super::time_loop::{Enclosed, run_time_loop};
use crate::api::{EnclosureObserver, Options};
use crate::distribution::Distribution;
use crate::interval::Interval;
use crate::problem::Problem;

/// Up to so many primary symbols their products are kept: there are half as many as the square of
/// this.
const MOST_SYMBOLS_SQUARED: usize = 24;

/// What part of a state's radius a step of a nonlinear problem may lose to truncation.
const TRUNCATION: f64 = 1e-7;

/// A set whose radius is a smaller part of its states counts as a point.
const NARROW: f64 = 1e-9;

/// States that are a smaller part of the largest one count by how far they get.
const AT_REST: f64 = 1e-3;

/// No state amounts to less than this part of the largest one, nor to less than the second number.
const LEAST_SCALE: (f64, f64) = (1e-12, 1e-30);

pub(super) fn enclose(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> Enclosed {
    let mut single = SingleSet::new(problem, distribution, &StartBoxes::of(problem));
    run_time_loop(problem, options, distribution, &mut single, watcher)
}

/// A set with the choice of its steps.
pub(super) struct SingleSet<'p> {
    flowpipe: Flowpipe<'p>,
    /// Whether the set is moved by a matrix, which loses nothing.
    affine: bool,
    duration: f64,
    /// The largest magnitude of each state so far, and how much of it a step may lose to
    /// truncation.
    scale: Vec<f64>,
    tolerances: Vec<f64>,
    /// How wide the set is at its widest, against what its states amount to.
    relative_radius: f64,
}

impl<'p> SingleSet<'p> {
    pub fn new(problem: &'p Problem, distribution: &'p Distribution, start: &StartBoxes) -> Self {
        let uncertain = start.has_uncertain_parameters();
        let nonlinear = !problem.affine || uncertain;
        let quadratic = nonlinear && start.open() <= MOST_SYMBOLS_SQUARED;

        Self {
            flowpipe: Flowpipe::new(problem, distribution, start, quadratic),
            affine: problem.affine && !uncertain,
            duration: problem.duration(),
            scale: Vec::new(),
            tolerances: Vec::new(),
            relative_radius: 0.0,
        }
    }

    pub fn flowpipe(&mut self) -> &mut Flowpipe<'p> {
        &mut self.flowpipe
    }
}

/// What each state amounts to.
impl SingleSet<'_> {
    fn measure(&mut self, time: f64, growth_rate: f64) {
        let boxes = self.flowpipe.boxes();
        self.update_scale(&boxes);
        let rest = AT_REST * largest(&self.scale);

        if self.scale.iter().any(|scale| *scale <= rest) {
            self.look_ahead(time, growth_rate, &boxes);
        }

        let floor = (LEAST_SCALE.0 * largest(&self.scale)).max(LEAST_SCALE.1);
        self.update_tolerances(&boxes, floor);
        let states = self.scale.iter().zip(&boxes);
        let relative = states.map(|(scale, range)| range.radius() / scale.max(floor));

        self.relative_radius = relative.fold(0.0, f64::max);
    }

    fn update_scale(&mut self, boxes: &[Interval]) {
        self.scale.resize(boxes.len(), 0.0);
        for (scale, range) in self.scale.iter_mut().zip(boxes) {
            *scale = scale.max(range.magnitude());
        }
    }

    /// A state at rest counts by how far it gets while errors grow.
    fn look_ahead(&mut self, time: f64, growth_rate: f64, boxes: &[Interval]) {
        let longest = 1.0 / growth_rate.max(1.0 / self.duration);
        let span = Interval::new(time, time + longest);
        let slopes = self.flowpipe.field.slopes(span, boxes);

        for (scale, slope) in self.scale.iter_mut().zip(slopes) {
            if slope.is_finite() {
                *scale = scale.max(slope.magnitude() * longest);
            }
        }
    }

    fn update_tolerances(&mut self, boxes: &[Interval], floor: f64) {
        let share = if self.affine { 0.0 } else { TRUNCATION };
        let tolerance = |(scale, range): (&f64, &Interval)| {
            let rounding = 0.25 * f64::EPSILON * scale.max(floor);
            rounding.max(share * range.radius())
        };
        self.tolerances = self.scale.iter().zip(boxes).map(tolerance).collect();
    }
}

/// How long a step may be.
impl SingleSet<'_> {
    /// In times in which errors grow by a factor of e. What a wide set loses to nonlinearity grows,
    /// too.
    fn part(&self) -> f64 {
        if self.affine || self.relative_radius < NARROW {
            1.0
        } else {
            0.25
        }
    }

    /// The length at which the series of a state loses as much as it may.
    fn longest_by_truncation(&self) -> f64 {
        let order = (self.flowpipe.polynomial.order + 1) as f64;
        let length = |(tolerance, top): (&f64, &f64)| {
            (order * tolerance / top.max(1e-300)).powf(1.0 / order)
        };
        let states = self.tolerances.iter().zip(&self.flowpipe.polynomial.top);

        states.map(length).fold(f64::INFINITY, f64::min)
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

impl Stepper for SingleSet<'_> {
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), StepFailure> {
        self.flowpipe.enter(time, switches)
    }

    fn propose(&mut self, time: f64, end: f64) -> Result<f64, StepFailure> {
        let growth_rate = self.flowpipe.growth_rate();
        self.measure(time, growth_rate);
        let tolerances = self.tolerances.iter().copied();
        let loss = tolerances.fold(f64::INFINITY, f64::min);
        self.flowpipe.freeze(end, loss);
        let reach = (self.part() / growth_rate.max(1e-300)).min(end - time);
        self.flowpipe.prepare(reach, &self.tolerances)?;

        Ok(self.longest_by_truncation().min(reach))
    }

    fn prove(&mut self, until: f64) -> Result<(), StepFailure> {
        self.flowpipe.prove(until, &self.tolerances)
    }

    fn boxes(&mut self) -> Vec<Interval> {
        self.flowpipe.boxes()
    }

    fn boxes_at(&mut self, time: f64) -> Vec<Interval> {
        self.flowpipe.boxes_at(time)
    }

    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval> {
        self.flowpipe.tube(from, to)
    }

    fn observed(&mut self, from: f64, to: f64) -> Option<Vec<Interval>> {
        self.flowpipe.observed(from, to)
    }

    fn spread(&mut self) -> Option<Spread> {
        // What disturbances do to a set, and errors of a linear flow, have no symbols that would tell.
        let told = !self.affine && !self.flowpipe.problem.is_disturbed();
        told.then(|| self.flowpipe.set.spread(&self.scale))
    }

    fn advance(&mut self) {
        self.flowpipe.advance();
    }

    fn cross(&mut self, until: f64, switches: &[Interval]) -> Result<Vec<Interval>, StepFailure> {
        self.flowpipe.cross(until, switches)
    }
}
