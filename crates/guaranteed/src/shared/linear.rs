//! The flow of an affine problem without uncertain parameters: `x' = A x + b` between switching
//! times.
//!
//! Taylor coefficients are then products with the rows of `A`, `x_{k+1} = A x_k / (k + 1)`; each
//! system has the rows of its states.

use super::jacobian::SparseRow;
use crate::forms::FormShape;
use crate::forms::linear::Term;
use crate::interval::Interval;

/// The rows of `A`, each as `(column, entry)`, and `b`; as intervals, since their computation is
/// rounded.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub rows: Vec<SparseRow>,
    pub constants: Vec<Interval>,
}

impl Linear {
    /// `f_k` of a state: its row times coefficient `k` of all states, which `coefficient` gives
    /// with the sum of its magnitudes.
    pub fn derivative<'f>(
        &self,
        state: usize,
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
        shape.set_combination(out, self.rows[state].iter().map(term));

        if k == 0 {
            shape.add_constant(out, self.constants[state]);
        }
    }
}
