//! Sums of vectors, element by element.

/// `sum += added`, as far as both go.
pub(crate) fn add(sum: &mut [f64], added: &[f64]) {
    for (sum, added) in sum.iter_mut().zip(added) {
        *sum += added;
    }
}

/// `rest -= taken`, as far as both go.
pub(crate) fn subtract(rest: &mut [f64], taken: &[f64]) {
    for (rest, taken) in rest.iter_mut().zip(taken) {
        *rest -= taken;
    }
}
