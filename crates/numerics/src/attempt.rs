//! The result of one attempted step.

/// The outcome of an attempted step and the size to try next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub verdict: AttemptVerdict,
    /// A magnitude, without the direction of time.
    pub next: f64,
}

/// Whether the step is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptVerdict {
    /// The state has moved.
    Accepted,
    /// The state has not moved.
    Rejected,
    /// The state has not moved, and `component` was not finite at the end of it or within.
    NotFinite { component: usize },
}

/// The first component that is not finite in any of the vectors that `values` holds one after
/// another.
pub(crate) fn not_finite(values: &[f64], size: usize) -> Option<usize> {
    values
        .iter()
        .position(|value| !value.is_finite())
        .map(|position| position % size)
}

/// The component, of so many, whose `error` is the largest in magnitude; 0 if there is none.
pub(crate) fn index_of_largest(components: usize, error: impl Fn(usize) -> f64) -> usize {
    let larger = |&a: &usize, &b: &usize| error(a).abs().total_cmp(&error(b).abs());
    (0..components).max_by(larger).unwrap_or(0)
}
