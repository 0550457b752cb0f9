//! The matrices of a linearization by directional derivatives.

use dovetail_core::Linearization;

use crate::abilities::FmuCapabilities;
use crate::call_error::CallError;
use crate::instance::Derivatives;
use crate::layout::Layout;

/// All matrices are zero.
pub(crate) fn clear_matrices(into: &mut Linearization) {
    let Linearization {
        a,
        b,
        c,
        d,
        b_slope,
        d_slope,
        ..
    } = into;
    for matrix in [a, b, c, d, b_slope, d_slope] {
        matrix.fill(0.0);
    }
}

/// A column for each state and each continuous input; `seed` and `column` are scratch.
pub(crate) fn fill_directional_columns(
    instance: &mut impl Derivatives,
    layout: &Layout,
    abilities: &FmuCapabilities,
    seed: &mut [f64],
    column: &mut [f64],
    into: &mut Linearization,
) -> Result<(), CallError> {
    seed.fill(0.0);
    for known in 0..seed.len() {
        seed[known] = 1.0;
        instance.directional(&abilities.unknowns, &abilities.knowns, seed, column)?;
        seed[known] = 0.0;
        layout.place_column(known, column, into);
    }
    Ok(())
}
