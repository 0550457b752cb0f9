//! `exp(h A_c)` on one vector.
//!
//! By Taylor series, over parts of the step that are short for the fastest eigenvalue. How fast
//! that is, is not known: systems by themselves tell, and series that do not converge. Where the
//! step is long for it, by a rational function of order six that vanishes at infinity, with all its
//! poles in one place: `Σ_j c_j (I − γ h A_c)^{−j}`. Reference: Hairer & Wanner, *Solving Ordinary
//! Differential Equations II*, section IV.6.

use super::assembled::AssembledLu;
use super::coupled_blocks::{Block, BlockLayout};
use super::coupled_operator::CoupledOperator;
use crate::ranges::Ranges;

/// Over so many units of the fastest eigenvalue a step is long: there the rational function is
/// cheaper, and what fast states do within the step does not matter.
const LONG: f64 = 10.0;
/// One series is summed over so many of them: then its terms hardly exceed what they add up to.
const SERIES: f64 = 2.0;
/// A series whose terms have not become negligible by now was summed over too long a time: over
/// [`SERIES`] units 23 would do.
const MOST_TERMS: usize = 30;
/// Terms below this part of the sum are negligible: about rounding, so that steps, which the
/// estimate steers, do not depend on where a series ends.
const NEGLIGIBLE: f64 = 1e-15;
/// What was learnt of the fastest eigenvalue fades by this factor from step to step. By trial.
const FADING: f64 = 0.98;
/// The rational function is applied to so many parts of a step: then states that oscillate once in
/// six steps are carried to six digits.
const PARTS: usize = 2;
/// The pole of the rational function, a root of the Laguerre polynomial `L_6(1/γ)`.
const POLE: f64 = 0.334_142_367_068_050_45;
/// Its coefficients, such that it agrees with the exponential up to the sixth power.
const COEFFICIENTS: [f64; 6] = [
    1.716_762_511_775_567,
    -9.726_931_981_275_02,
    19.251_077_523_567_19,
    -15.037_448_398_505_49,
    5.652_843_266_472_35,
    -0.856_302_922_034_595,
];

/// The action, with room for it.
pub(super) struct CoupledExponential {
    /// The fastest eigenvalue, as far as series have told.
    pub rate: f64,
    resolvent: Resolvent,
    start: Vec<f64>,
    term: Vec<f64>,
    product: Vec<f64>,
    /// One over what states are measured by.
    weights: Vec<f64>,
}

impl CoupledExponential {
    pub fn new(layout: &BlockLayout) -> Self {
        let states = || vec![0.0; layout.states];

        Self {
            rate: 0.0,
            resolvent: Resolvent::new(layout),
            start: states(),
            term: states(),
            product: states(),
            weights: states(),
        }
    }

    /// `exp(size A_c)`, in place. Systems by themselves have eigenvalues up to `rate`.
    pub fn apply(
        &mut self,
        layout: &BlockLayout,
        operator: &mut CoupledOperator,
        [size, rate]: [f64; 2],
        ranges: &Ranges,
        vector: &mut [f64],
    ) {
        if vector.iter().all(|entry| *entry == 0.0) {
            return;
        }

        self.weigh(ranges);
        self.start.copy_from_slice(vector);
        self.rate = rate.max(FADING * self.rate);
        while size * self.rate <= LONG {
            let parts = (size * self.rate / SERIES).ceil().max(1.0);
            let mut all = 0..parts as usize;
            if all.all(|_| self.sum_series(layout, operator, size / parts, vector)) {
                return;
            }
            vector.copy_from_slice(&self.start);
            self.rate = (2.0 * self.rate).max(SERIES / size);
        }

        self.resolvent
            .prepare(&operator.numbers, size / PARTS as f64);
        for _ in 0..PARTS {
            self.resolvent.apply(vector);
        }
    }

    /// States are measured by their ranges; not at all where they have none.
    fn weigh(&mut self, ranges: &Ranges) {
        let least = ranges.least();
        for (state, weight) in self.weights.iter_mut().enumerate() {
            let scale = ranges.scale(state).max(least);
            *weight = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        }
    }

    /// One series; false if it does not converge.
    fn sum_series(
        &mut self,
        layout: &BlockLayout,
        operator: &mut CoupledOperator,
        size: f64,
        vector: &mut [f64],
    ) -> bool {
        self.term.copy_from_slice(vector);
        for k in 1..=MOST_TERMS {
            operator.apply(layout, &self.term, &mut self.product);
            if self.add_term(size / k as f64, vector) {
                return true;
            }
        }
        false
    }

    /// The next term, `factor` times the product; true if it is negligible.
    fn add_term(&mut self, factor: f64, vector: &mut [f64]) -> bool {
        let mut largest = 0.0_f64;
        let mut whole = 0.0_f64;
        let terms = self.term.iter_mut().zip(&self.product);

        for (((term, product), weight), sum) in terms.zip(&self.weights).zip(vector) {
            *term = factor * product;
            *sum += *term;
            largest = largest.max(term.abs() * weight);
            whole = whole.max(sum.abs() * weight);
        }
        largest <= NEGLIGIBLE * whole
    }
}

/// The rational function: states and coupling variables are solved for together, so that what is
/// factored has the zeros of the blocks.
struct Resolvent {
    matrix: AssembledLu,
    blocks: Vec<Block>,
    unknowns: Vec<f64>,
}

impl Resolvent {
    fn new(layout: &BlockLayout) -> Self {
        let places = layout.places();
        let size = layout.states + layout.variables;

        Self {
            matrix: AssembledLu::new(size, places.iter().map(|&(_, row, column)| (row, column))),
            blocks: places.iter().map(|(block, ..)| *block).collect(),
            unknowns: vec![0.0; size],
        }
    }

    /// `I − γ h A_c` of these blocks, for a step of `size`.
    fn prepare(&mut self, numbers: &[f64], size: f64) {
        let scaled = |(number, block): (&f64, &Block)| match block {
            Block::Slope => -POLE * size * number,
            Block::Output | Block::Feedthrough => -number,
        };
        self.matrix
            .set(numbers.iter().zip(&self.blocks).map(scaled));
    }

    /// In place; not a number where there is none.
    fn apply(&mut self, vector: &mut [f64]) {
        if !self.matrix.is_regular() {
            vector.fill(f64::NAN);
            return;
        }

        let (states, variables) = self.unknowns.split_at_mut(vector.len());
        states.copy_from_slice(vector);
        variables.fill(0.0);
        vector.fill(0.0);

        for coefficient in COEFFICIENTS {
            self.matrix.solve(&mut self.unknowns);
            let (states, variables) = self.unknowns.split_at_mut(vector.len());
            for (sum, state) in vector.iter_mut().zip(states) {
                *sum += coefficient * *state;
            }
            variables.fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rational function of a number.
    fn rational(z: f64) -> f64 {
        let resolvent = 1.0 / (1.0 - POLE * z);
        let terms = COEFFICIENTS.iter().rev();
        terms.fold(0.0, |sum, coefficient| (sum + coefficient) * resolvent)
    }

    #[test]
    fn the_rational_function_agrees_with_the_exponential_up_to_the_sixth_power() {
        let error = |z: f64| (rational(z) - z.exp()).abs();
        for z in [-0.2, 0.2] {
            let order = (error(z) / error(z / 2.0)).log2();
            assert!((6.5..7.5).contains(&order), "{z}: {order}");
        }
    }

    #[test]
    fn what_is_fast_is_forgotten() {
        let parts = |z: f64| rational(z / PARTS as f64).powi(PARTS as i32);
        for z in [-10.0, -30.0, -100.0, -1e4, -1e8] {
            assert!(parts(z).abs() < 1e-2, "{z}: {}", parts(z));
        }
    }
}
