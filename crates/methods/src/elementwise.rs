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

/// `sum += one − other`, as far as all go.
pub(crate) fn add_difference(sum: &mut [f64], one: &[f64], other: &[f64]) {
    for ((sum, one), other) in sum.iter_mut().zip(one).zip(other) {
        *sum += one - other;
    }
}

/// `rest -= one − other`, as far as all go.
pub(crate) fn subtract_difference(rest: &mut [f64], one: &[f64], other: &[f64]) {
    for ((rest, one), other) in rest.iter_mut().zip(one).zip(other) {
        *rest -= one - other;
    }
}

/// `into = one − other`, as far as all go.
pub(crate) fn set_difference(into: &mut [f64], one: &[f64], other: &[f64]) {
    for ((into, one), other) in into.iter_mut().zip(one).zip(other) {
        *into = one - other;
    }
}

/// `into = one + other`, as far as all go.
pub(crate) fn set_sum(into: &mut [f64], one: &[f64], other: &[f64]) {
    for ((into, one), other) in into.iter_mut().zip(one).zip(other) {
        *into = one + other;
    }
}
