//! When an interface agrees with the outputs that it causes.

use crate::coupling::Coupling;
use crate::ranges::Ranges;

/// A guess beyond this has run away: there a residual vanishes in rounding.
const LARGEST_GUESS: f64 = 1e15;
/// And so has one that is so many times further from the start of the step than its variable has
/// ever moved.
const FARTHEST_GUESS: f64 = 1e9;

/// What residuals are measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// By the range of each variable so far, and slopes by what they make of a value within the
    /// step.
    #[default]
    Range,
    /// (27), `ε |z| + ε`, whatever the units are.
    Paper,
}

/// The criterion at work on one step.
#[derive(Clone, Copy)]
pub(super) struct Measure<'b> {
    pub criterion: Criterion,
    pub tolerance: f64,
    pub ranges: &'b Ranges,
}

impl Measure<'_> {
    /// What is allowed to the residual of an unknown, given its guess.
    pub fn allows(&self, coupling: &Coupling<'_>, unknown: usize, guess: f64) -> f64 {
        match self.criterion {
            Criterion::Paper => self.tolerance * guess.abs() + self.tolerance,
            Criterion::Range => self.tolerance * self.scale(coupling, unknown),
        }
    }

    /// The range of the variable of an unknown, or what one that has never moved is about to
    /// become.
    fn scale(&self, coupling: &Coupling<'_>, unknown: usize) -> f64 {
        let count = coupling.start.len();
        let value = self
            .ranges
            .scale(unknown % count)
            .max(self.ranges.least())
            .max(f64::MIN_POSITIVE);

        if unknown < count {
            value
        } else {
            value / coupling.step.size()
        }
    }

    /// The weight of a residual among others. One that nothing is known of yet counts as the
    /// largest does.
    pub fn weight(&self, coupling: &Coupling<'_>, unknown: usize, guess: f64) -> f64 {
        let count = coupling.start.len();
        if self.criterion == Criterion::Range && self.ranges.scale(unknown % count) == 0.0 {
            let largest = (0..count).map(|c| self.ranges.scale(c)).fold(0.0, f64::max);
            let largest = if largest > 0.0 { largest } else { 1.0 };
            return if unknown < count {
                1.0
            } else {
                coupling.step.size()
            } / (self.tolerance * largest);
        }
        1.0 / self.allows(coupling, unknown, guess)
    }

    /// Whether a guess has run away.
    pub fn has_run_away(&self, coupling: &Coupling<'_>, unknown: usize, guess: f64) -> bool {
        match self.criterion {
            Criterion::Paper => guess.abs() >= LARGEST_GUESS,
            Criterion::Range => {
                let count = coupling.start.len();
                let scale = self.ranges.scale(unknown % count);
                let moved = (guess - coupling.start[unknown % count].value).abs();
                unknown < count && scale > 0.0 && moved >= FARTHEST_GUESS * scale
            }
        }
    }

    /// A guess that runs away makes (27) true by its size alone, and so does one of a variable that
    /// has never moved. So a residual must also be small by the measure of the step's start, or
    /// smaller than those `before` it.
    pub fn has_fallen(
        &self,
        coupling: &Coupling<'_>,
        unknown: usize,
        residual: f64,
        before: f64,
    ) -> bool {
        let variable = unknown % coupling.start.len();
        let start = coupling.start[variable];
        let known = if unknown < coupling.start.len() {
            start.value
        } else {
            start.slope
        };
        let known = if known.is_finite() { known } else { 0.0 };
        let measured = self.criterion == Criterion::Paper || !self.ranges.rests(variable);

        residual.abs() <= 0.5 * before.abs()
            || measured && residual.abs() <= self.allows(coupling, unknown, known)
    }
}
