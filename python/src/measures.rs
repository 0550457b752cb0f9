//! How far a run is from a reference.

use dovetail::report::{ErrorMeasures, measure};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::misuse;

/// NRMSE and L2 error in percent, each None where it has no meaning, and the largest error.
type Measures = (Option<f64>, Option<f64>, f64);

/// Measures values against others at the same times.
#[pyfunction]
pub(crate) fn measured(
    py: Python<'_>,
    times: PyReadonlyArray1<'_, f64>,
    values: PyReadonlyArray1<'_, f64>,
    reference: PyReadonlyArray1<'_, f64>,
) -> PyResult<Measures> {
    let [times, values, reference] = [times.as_slice()?, values.as_slice()?, reference.as_slice()?];
    if times.len() != values.len() || values.len() != reference.len() {
        return Err(misuse(py, "times, values and reference differ in length"));
    }
    let ErrorMeasures { nrmse, l2, max } = measure(times, values, reference);
    Ok((nrmse, l2, max))
}
