//! Errors of a linear flow in coordinates of its modes: one radius for each.
//!
//! Where an error obeys `e' = A e + defect` with a constant `A`, symbols of errors are of no use:
//! boxed again and again, along whatever directions, they grow although the flow damps them. In the
//! coordinates `z = P⁻¹ e`, in which every mode of `A` has a block of one or two to itself, the
//! length of each block obeys
//!
//! ```text
//! |z_I|' ≤ μ_I |z_I| + Σ_J c_IJ |z_J| + ‖(P⁻¹)_I‖ · defect
//! ```
//!
//! where `μ_I`, with its sign, is the logarithmic norm of block `I` of `P⁻¹ A P` and `c_IJ` a bound
//! of the block beside it: hardly more than rounding, where `P` holds eigenvectors. What is proved
//! needs no eigenvector to be exact; see [`frame`].

mod basis;
mod frame;

use std::sync::Arc;

use nalgebra::DMatrix;

use super::jacobian::SparseRow;
use crate::interval::Interval;
use crate::rounding::{UNIT, above};

use frame::ModalFrame;

/// How often the bound over a step is guessed.
const MOST_GUESSES: usize = 30;

/// By how much a guess is larger than what the last one led to.
const INFLATION: f64 = 1.0 + 1e-6;

/// Errors as one radius for each mode.
pub(super) struct ModalErrors {
    /// The flow that the modes belong to.
    rows: Vec<SparseRow>,
    frame: Arc<ModalFrame>,
    radii: Vec<f64>,
}

/// What the modes of a step are bounded by.
#[derive(Clone, Debug)]
pub(super) struct ModalStep {
    /// At its end.
    pub end: Vec<f64>,
    /// For each state, throughout.
    pub throughout: Vec<f64>,
}

impl ModalErrors {
    /// No errors yet, in the modes of a constant flow; `None` where it has none that would bound
    /// them over a run of this duration. States are measured in `units`, powers of two.
    pub fn of(rows: Vec<SparseRow>, units: &[f64], duration: f64) -> Option<Self> {
        let frame = Arc::new(ModalFrame::of(&rows, units, duration)?);
        let radii = vec![0.0; frame.modes()];
        Some(Self { rows, frame, radii })
    }

    /// Whether they are errors of this flow.
    pub fn belong_to(&self, rows: &[SparseRow]) -> bool {
        self.rows == rows
    }

    /// How far each state can be from where it would be without errors.
    pub fn reach(&self) -> Vec<f64> {
        self.frame.read_out(&self.radii)
    }

    /// Adds boxes of these radii.
    pub fn add(&mut self, radii: &[f64]) {
        if radii.iter().all(|radius| *radius == 0.0) {
            return;
        }
        let more = self.frame.take_in(radii);
        for (radius, more) in self.radii.iter_mut().zip(more) {
            *radius = above(*radius + more);
        }
    }

    /// The errors of a step of length `h` at most, if they are found; `defect` is integrated over
    /// the step.
    ///
    /// With `R` a bound of all radii throughout the step the coupling of modes adds at most `h c R`,
    /// so that `g (r + h c R + d) ≤ R` for all modes, `g = max(1, exp(μ h))`, proves the guess.
    pub fn after(&self, h: f64, defect: &[f64]) -> Option<ModalStep> {
        let growth: Vec<f64> = self.frame.growth(h);
        let received = self.frame.take_in(defect);
        let largest = |factor: f64| factor.max(1.0);
        let pushed = |coupled: &[f64], mode: usize| above(h * coupled[mode] + received[mode]);
        let highest = |coupled: &[f64]| -> Vec<f64> {
            let modes = 0..self.radii.len();
            modes
                .map(|mode| largest(growth[mode]) * (self.radii[mode] + pushed(coupled, mode)))
                .map(above)
                .collect()
        };

        let mut guess = inflated(&highest(&vec![0.0; self.radii.len()]));
        for _ in 0..MOST_GUESSES {
            let coupled = self.frame.couple(&guess);
            let reached = highest(&coupled);
            if reached
                .iter()
                .zip(&guess)
                .all(|(reached, guess)| reached <= guess)
            {
                let end = (0..self.radii.len())
                    .map(|mode| {
                        let pushed = largest(growth[mode]) * pushed(&coupled, mode);
                        above(growth[mode] * self.radii[mode] + pushed)
                    })
                    .collect();
                let throughout = self.frame.read_out(&reached);
                return Some(ModalStep { end, throughout });
            }
            guess = inflated(&reached);
        }
        None
    }

    /// Takes the errors at the end of a step.
    pub fn set_radii(&mut self, radii: Vec<f64>) {
        self.radii = radii;
    }

    /// The same errors as columns of symbols, and what their rounding may lose, for each state.
    pub fn columns(&self) -> (DMatrix<f64>, Vec<f64>) {
        let columns = self.frame.columns(&self.radii);
        let lost = (0..columns.nrows())
            .map(|state| {
                let row = columns.row(state);
                let size: f64 = row.iter().map(|entry| entry.abs()).sum();
                above(4.0 * UNIT * size)
            })
            .collect();
        (columns, lost)
    }
}

/// Whether the entries of a Jacobian are constants but for rounding, and finite.
pub(super) fn is_constant(rows: &[SparseRow]) -> bool {
    const ROUNDING: f64 = 1e-12;
    let constant =
        |range: &Interval| range.is_finite() && range.radius() <= ROUNDING * range.magnitude();
    rows.iter().flatten().all(|(_, range)| constant(range))
}

fn inflated(radii: &[f64]) -> Vec<f64> {
    radii
        .iter()
        .map(|radius| above(INFLATION * radius))
        .collect()
}
