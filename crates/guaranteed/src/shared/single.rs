//! One affine set for everything: the general case, with the choice of steps and orders.

use super::run::{Beginning, Failure, Run};
use super::walk::{Stepper, walk};
use crate::api::{Options, Outcome, Watcher};
use crate::interval::Interval;
use crate::problem::Problem;

/// Up to so many primary symbols their products are kept: there are half as many as the square of this.
const MOST_SYMBOLS_SQUARED: usize = 24;

/// What part of a state's radius a step of a nonlinear problem may lose to truncation.
const TRUNCATION: f64 = 1e-7;

/// A set whose radius is a smaller part of its states counts as a point.
const NARROW: f64 = 1e-9;

pub(super) fn enclose(problem: &Problem, options: &Options, watcher: &mut dyn Watcher) -> Outcome {
    let beginning = Beginning {
        states: problem.start.clone(),
        parameters: problem.parameters.clone(),
    };
    let mut single = Single::new(problem, &beginning);
    walk(problem, options, &mut single, watcher)
}

/// A set with the choice of its steps.
pub(super) struct Single<'p> {
    run: Run<'p>,
    /// Whether the set is moved by a matrix, which loses nothing.
    affine: bool,
    duration: f64,
    /// The largest magnitude of each state so far, and how much of it a step may lose to truncation.
    scale: Vec<f64>,
    tolerances: Vec<f64>,
    /// How wide the set is at its widest, against what its states amount to.
    relative_radius: f64,
}

impl<'p> Single<'p> {
    pub fn new(problem: &'p Problem, beginning: &Beginning) -> Self {
        let open = beginning
            .states
            .iter()
            .chain(&beginning.parameters)
            .filter(|range| !range.is_point())
            .count();
        let uncertain = beginning.parameters.iter().any(|range| !range.is_point());
        let quadratic = (!problem.affine || uncertain) && open <= MOST_SYMBOLS_SQUARED;
        Self {
            run: Run::new(problem, beginning, quadratic),
            affine: problem.affine && !uncertain,
            duration: problem.stop_time - problem.start_time,
            scale: Vec::new(),
            tolerances: Vec::new(),
            relative_radius: 0.0,
        }
    }

    pub fn run(&mut self) -> &mut Run<'p> {
        &mut self.run
    }

    /// What each state amounts to. One at rest counts by how far it gets while errors grow.
    fn measure(&mut self, time: f64, growth_rate: f64) {
        let boxes = self.run.set.boxes();
        self.scale.resize(boxes.len(), 0.0);
        self.scale
            .iter_mut()
            .zip(&boxes)
            .for_each(|(scale, range)| *scale = scale.max(range.magnitude()));
        let largest = self.scale.iter().copied().fold(0.0, f64::max);
        if self.scale.iter().any(|scale| *scale <= 1e-3 * largest) {
            let longest = 1.0 / growth_rate.max(1.0 / self.duration);
            let slopes = self.run.slopes(Interval::new(time, time + longest), &boxes);
            for (scale, slope) in self
                .scale
                .iter_mut()
                .zip(slopes)
                .filter(|(_, slope)| slope.is_finite())
            {
                *scale = scale.max(slope.magnitude() * longest);
            }
        }
        let floor = (1e-12 * self.scale.iter().copied().fold(0.0, f64::max)).max(1e-30);
        let share = if self.affine { 0.0 } else { TRUNCATION };
        let tolerance = |(scale, range): (&f64, &Interval)| {
            (0.25 * f64::EPSILON * scale.max(floor)).max(share * range.radius())
        };
        self.tolerances = self.scale.iter().zip(&boxes).map(tolerance).collect();
        let relative = |(scale, range): (&f64, &Interval)| range.radius() / scale.max(floor);
        self.relative_radius = self
            .scale
            .iter()
            .zip(&boxes)
            .map(relative)
            .fold(0.0, f64::max);
    }

    /// How long a step may be, in times in which errors grow by a factor of e. What a wide set loses to nonlinearity grows, too.
    fn part(&self) -> f64 {
        if self.affine || self.relative_radius < NARROW {
            1.0
        } else {
            0.25
        }
    }
}

impl Stepper for Single<'_> {
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), Failure> {
        self.run.enter(time, switches)
    }

    fn propose(&mut self, time: f64, end: f64) -> Result<f64, Failure> {
        let growth_rate = self.run.growth_rate();
        self.measure(time, growth_rate);
        let loss = self
            .tolerances
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        self.run.freeze(end, loss);
        let reach = (self.part() / growth_rate.max(1e-300)).min(end - time);
        self.run.prepare(reach, &self.tolerances)?;
        let order = (self.run.order + 1) as f64;
        let by_truncation = |(tolerance, top): (&f64, &f64)| {
            (order * tolerance / top.max(1e-300)).powf(1.0 / order)
        };
        let longest = self
            .tolerances
            .iter()
            .zip(&self.run.top)
            .map(by_truncation)
            .fold(f64::INFINITY, f64::min);
        Ok(longest.min(reach))
    }

    fn prove(&mut self, until: f64) -> Result<(), Failure> {
        self.run.prove(until, &self.tolerances)
    }

    fn boxes(&mut self) -> Vec<Interval> {
        self.run.set.boxes()
    }

    fn boxes_at(&mut self, time: f64) -> Vec<Interval> {
        self.run.boxes_at(time)
    }

    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval> {
        self.run.tube(from, to)
    }

    fn advance(&mut self) {
        self.run.advance();
    }

    fn cross(&mut self, until: f64, switches: &[Interval]) -> Result<Vec<Interval>, Failure> {
        self.run.cross(until, switches)
    }
}
