//! What linear operators miss, remembered and continued.
//!
//! Under the inputs that were used, an output came out by `d` differently than its linear operators
//! said. Within a step of size h that difference grows as `d(τ) = Σ_{j=1..r+1} ρ_j τ^{j+1}/(j+1)!`:
//! it begins with the square of the time, since value and slope are exact at the start. From d and
//! its derivatives at the end of a step the coefficients follow; they are properties of the
//! solution, not of the step, and change slowly in the course of time. So they are extrapolated
//! through 1, 2 or 3 steps, whichever number would have served best so far, and evaluated for the
//! size of the next step.
//!
//! What was still missed moved the states by an *impulse*, size times miss, and the sum of
//! all impulses is an error that stays. So it is returned with the next step: inputs end by as much
//! too far as they have been too short. After each step the impulses of the whole run then add up
//! to that of this one step alone, also over the first steps, which have nothing to remember.

use dovetail_core::Knot;
use serde::{Deserialize, Serialize};

use super::tuning::{DEPTH, HYSTERESIS, INERTIA, MOST_RETURNED_GROWTH, USUAL_POINTS};
use crate::interface_system::MOST_ORDERS;
use crate::interface_vector::Stacking;

type Coefficients = [f64; MOST_ORDERS];

/// The memory of all coupling variables.
#[derive(Serialize, Deserialize)]
pub(super) struct MissMemory {
    /// Starts of the remembered steps, newest first.
    times: [f64; DEPTH],
    kept: usize,
    /// The size of the newest step.
    size: f64,
    returns: bool,
    /// Where a step began that was tried and not taken.
    tried: f64,
    variables: Vec<Remembered>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Remembered {
    /// The coefficients of `τ², τ³, τ⁴` in each of these steps.
    past: [Coefficients; DEPTH],
    /// What extrapolations through 1, 2 and 3 points have missed, on average; NaN while nothing is
    /// known.
    missed: [f64; DEPTH],
    points: usize,
    /// The same of what a look ahead said, and whether that would have served better than any
    /// extrapolation.
    look_missed: f64,
    looks: bool,
    /// All impulses so far, of value, slope and curvature, in units of the newest step.
    impulse: Coefficients,
    /// The coefficients of a step that was tried and not taken; NaN where there are none.
    tried: Coefficients,
}

impl Remembered {
    const NOTHING: Self = Self {
        past: [[0.0; MOST_ORDERS]; DEPTH],
        missed: [f64::NAN; DEPTH],
        points: USUAL_POINTS,
        look_missed: f64::NAN,
        looks: false,
        impulse: [0.0; MOST_ORDERS],
        tried: [f64::NAN; MOST_ORDERS],
    };
}

impl MissMemory {
    /// For so many variables; whether impulses that have remained are returned. Where steps are
    /// chosen by the size of what they miss they are not: a returned impulse looks like a miss.
    pub fn new(variables: usize, returns: bool) -> Self {
        Self {
            times: [f64::NAN; DEPTH],
            kept: 0,
            size: f64::NAN,
            returns,
            tried: f64::NAN,
            variables: vec![Remembered::NOTHING; variables],
        }
    }

    /// An event: what was says nothing of what comes.
    pub fn forget(&mut self) {
        self.kept = 0;
        self.tried = f64::NAN;
        for variable in &mut self.variables {
            *variable = Remembered {
                past: variable.past,
                ..Remembered::NOTHING
            };
        }
    }

    /// How many steps are remembered.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Whether a look ahead knows better.
    pub fn prefers_look(&self, variable: usize) -> bool {
        self.kept == 0 || self.variables[variable].looks
    }

    fn stacking(&self) -> Stacking {
        Stacking {
            variables: self.variables.len(),
        }
    }

    /// Through how many points the variables are extrapolated, at most.
    pub fn points(&self) -> usize {
        self.variables
            .iter()
            .map(|variable| variable.points)
            .max()
            .unwrap_or(0)
            .min(self.kept)
    }

    /// The difference to expect at the end of a step: values, then slopes and so on, as far as
    /// there is scratch. With `more` points than served best, where there are any.
    pub fn predict(&self, start: f64, size: f64, more: usize, into: &mut [f64]) {
        let stacking = self.stacking();
        into.fill(0.0);
        if self.kept == 0 && self.tried != start {
            return;
        }

        for (v, variable) in self.variables.iter().enumerate() {
            let points = (variable.points.min(self.kept) + more).min(self.kept);
            let coefficients = match self.knows(v, start) {
                true => variable.tried,
                false => self.extrapolated(variable, points, start),
            };
            for (order, place) in stacking.places(v, into.len()).enumerate() {
                into[place] = evaluated(&coefficients, order, size);
            }
        }
    }

    /// Whether the difference of a variable is known from a trial of a step that began here.
    pub fn knows(&self, variable: usize, start: f64) -> bool {
        self.tried == start && !self.variables[variable].tried[0].is_nan()
    }

    /// A step was tried from `start` over `size` and is not taken; a variable came out differently
    /// by this at its end. Better than any extrapolation, for the next attempt.
    pub fn learn_trial(&mut self, start: f64, size: f64, variable: usize, difference: Knot) {
        if self.tried != start {
            self.tried = start;
            for variable in &mut self.variables {
                variable.tried = [f64::NAN; MOST_ORDERS];
            }
        }
        self.variables[variable].tried = coefficients(size, difference);
    }

    /// What has been missed so far, for a step of `size` to return: in value, slope and curvature.
    pub fn return_impulse(&self, variable: usize, size: f64) -> Coefficients {
        let remembered = &self.variables[variable];
        if !self.returns || self.kept == 0 {
            return [0.0; MOST_ORDERS];
        }

        let factor = self.returned_growth(size);
        [0, 1, 2].map(|order| factor * remembered.impulse[order] / size.powi(order as i32))
    }

    /// The coefficients at `time`, through so many points.
    fn extrapolated(&self, variable: &Remembered, points: usize, time: f64) -> Coefficients {
        let mut sum = [0.0; MOST_ORDERS];
        for i in 0..points {
            let others = (0..points).filter(|&j| j != i);
            let weight: f64 = others
                .map(|j| (time - self.times[j]) / (self.times[i] - self.times[j]))
                .product();
            sum.iter_mut()
                .zip(&variable.past[i])
                .for_each(|(sum, c)| *sum += weight * c);
        }
        sum
    }

    /// A step has been taken: from its start, over `size`, outputs came out differently by this:
    /// values, slopes and, if known, curvatures. By `missed` they differ from where inputs ended. A
    /// look ahead had said `looked`, if there was one.
    pub fn learn(
        &mut self,
        start: f64,
        size: f64,
        difference: &[f64],
        missed: &[f64],
        looked: Option<&[f64]>,
    ) {
        let stacking = self.stacking();
        let factor = self.returned_growth(size);

        for v in 0..self.variables.len() {
            let mut variable = self.variables[v];
            let value = difference[v];
            self.judge_extrapolations(&mut variable, start, size, value);
            if let Some(looked) = looked {
                let miss = (looked[v] - value).abs() / size.powi(3);
                average(&mut variable.look_missed, miss);
            }
            for (order, impulse) in variable.impulse.iter_mut().enumerate() {
                let miss = stacking.get(missed, order, v);
                let new = miss.map_or(0.0, |miss| miss * size.powi(order as i32));
                *impulse = factor * *impulse + new;
            }
            variable.choose();
            variable.past.rotate_right(1);
            variable.past[0] = coefficients(size, stacking.knot(difference, v));
            self.variables[v] = variable;
        }

        self.times.rotate_right(1);
        self.times[0] = start;
        self.size = size;

        self.kept = (self.kept + 1).min(DEPTH);
    }

    /// By how much an impulse of the newest step is larger in one of `size`.
    fn returned_growth(&self, size: f64) -> f64 {
        if self.kept == 0 {
            0.0
        } else {
            (self.size / size).min(MOST_RETURNED_GROWTH)
        }
    }

    /// How well each number of points would have foreseen a value.
    fn judge_extrapolations(&self, variable: &mut Remembered, start: f64, size: f64, value: f64) {
        for points in 1..=self.kept {
            let foreseen = self.extrapolated(variable, points, start);
            let missed = (evaluated(&foreseen, 0, size) - value).abs() / size.powi(3);
            average(&mut variable.missed[points - 1], missed);
        }
    }
}

impl Remembered {
    fn choose(&mut self) {
        let missed = |points: usize| self.missed[points - 1];
        if missed(self.points).is_nan() {
            return;
        }

        for points in 1..=DEPTH {
            if missed(points) * HYSTERESIS < missed(self.points) {
                self.points = points;
            }
        }

        let best = missed(self.points);
        let factor = if self.looks {
            1.0 / HYSTERESIS
        } else {
            HYSTERESIS
        };
        self.looks = self.look_missed * factor < best;
    }
}

/// Takes `new` into an average, if there is one already.
fn average(known: &mut f64, new: f64) {
    *known = if known.is_nan() {
        new
    } else {
        INERTIA * *known + (1.0 - INERTIA) * new
    };
}

/// The coefficients of `τ², τ³, τ⁴` of a difference, from its value, slope and curvature at the
/// end; without the curvature, of two.
fn coefficients(size: f64, end: Knot) -> Coefficients {
    let d = end.value;
    let e = size * end.slope;
    let f = size * size * end.curvature;
    let fourth = if f.is_nan() {
        0.0
    } else {
        0.5 * (f - 4.0 * e + 6.0 * d)
    };
    let third = e - 2.0 * d - 2.0 * fourth;
    let square = size * size;

    [
        (d - third - fourth) / square,
        third / (square * size),
        fourth / (square * square),
    ]
}

/// A derivative of the difference at the end of a step.
fn evaluated(coefficients: &Coefficients, order: usize, size: f64) -> f64 {
    let term = |(i, c): (usize, &f64)| {
        let power = i + 2;
        let falling: f64 = (power + 1 - order..=power).map(|k| k as f64).product();
        c * falling * size.powi((power - order) as i32)
    };
    coefficients.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_linearly_in_time_is_continued_over_steps_of_any_size() {
        let rho = |t: f64| [0.3 - 0.1 * t, 1.0 + 0.5 * t, -0.2 * t];
        let mut memory = MissMemory::new(1, false);
        let mut time = 0.0;
        let mut foreseen = [0.0; 3];
        for size in [0.1, 0.15, 0.08, 0.2] {
            let difference = [0, 1, 2].map(|order| evaluated(&rho(time), order, size));
            memory.predict(time, size, 0, &mut foreseen);
            let missed = [0, 1, 2].map(|order| difference[order] - foreseen[order]);
            memory.learn(time, size, &difference, &missed, None);
            time += size;
        }
        memory.predict(time, 0.3, 0, &mut foreseen);
        for (order, foreseen) in foreseen.iter().enumerate() {
            let expected = evaluated(&rho(time), order, 0.3);
            assert!(
                (foreseen - expected).abs() < 1e-12,
                "{order}: {foreseen} and {expected}"
            );
        }
    }

    #[test]
    fn what_was_missed_is_returned_and_then_forgotten() {
        let mut memory = MissMemory::new(1, true);
        memory.learn(0.0, 0.1, &[1.0, 3.0], &[0.5, 1.0], None);
        // With half the step by twice as much; slopes count times the step.
        let returned = memory.return_impulse(0, 0.05);
        assert!(
            (returned[0] - 1.0).abs() < 1e-12 && (returned[1] - 4.0).abs() < 1e-12,
            "{returned:?}"
        );
        memory.learn(0.1, 0.05, &[1.0, 3.0], &[-1.0, -4.0], None);
        assert!(
            memory
                .return_impulse(0, 0.05)
                .iter()
                .all(|left| left.abs() < 1e-12)
        );
    }
}
