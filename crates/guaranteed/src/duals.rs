//! Numbers with a derivative, none of which varies yet.

use dovetail_equations::{Dual, Number};

/// Constants, as duals.
pub(crate) fn constants<N: Number>(values: &[N]) -> Vec<Dual<N>> {
    values.iter().cloned().map(Dual::constant).collect()
}
