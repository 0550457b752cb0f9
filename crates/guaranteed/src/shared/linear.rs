//! The flow of an affine problem without uncertain parameters: `x' = A x + b` between switching
//! times.
//!
//! Taylor coefficients are then products with the rows of `A`, `x_{k+1} = A x_k / (k + 1)`; each
//! system has the rows of its states.

use serde::{Deserialize, Serialize};

use super::jacobian::SparseRow;
use crate::forms::FormShape;
use crate::forms::linear::Term;
use crate::interval::Interval;
use crate::system_part::ProblemPart;

/// The rows of `A`, each as `(column, entry)`, and `b`; as intervals, since their computation is
/// rounded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Linear {
    pub rows: Vec<SparseRow>,
    pub constants: Vec<Interval>,
}

impl Linear {
    /// The rows of the states of some systems, one after the other.
    pub fn part(&self, part: &ProblemPart) -> Self {
        let states = || part.systems.iter().flat_map(|system| system.states.clone());
        Self {
            rows: states().map(|state| self.rows[state].clone()).collect(),
            constants: states().map(|state| self.constants[state]).collect(),
        }
    }

    /// `f_k` of the state of a row: the row times coefficient `k` of all states, which `coefficient`
    /// gives with the sum of its magnitudes.
    pub fn derivative<'f>(
        &self,
        row: usize,
        k: usize,
        shape: FormShape,
        coefficient: impl Fn(usize) -> (&'f [f64], f64),
        out: &mut [f64],
    ) {
        let term = |&(column, scale): &(usize, Interval)| {
            let (form, magnitude) = coefficient(column);
            Term {
                scale,
                form,
                magnitude,
            }
        };
        shape.set_combination(out, self.rows[row].iter().map(term));

        if k == 0 {
            shape.add_constant(out, self.constants[row]);
        }
    }
}
