//! Does stability, rather than accuracy, limit an explicit method?
//!
//! Two evaluations at the end of a step, a little apart, give an estimate of the dominant
//! eigenvalue for nothing. Hairer & Wanner, *Solving ODEs II* (1996), section IV.2, and their code
//! DOP853.
//!
//! Departure: at tight tolerances a decayed stiff component, kept alive by rounding and by the
//! errors of the others, holds the steps well inside the stability domain, so the limit falls with
//! the tolerance. The constants are fitted: DOP853 resolves an oscillation with `h |λ| ≈ 5.6
//! tol^{1/8}` and drags a decayed component along with about `25 tol^{1/8}` (Prothero & Robinson's
//! problem, tolerances 1e-8 to 1e-14).

/// `h |λ|` on the boundary of the stability domain of DOP853.
const STABILITY_LIMIT: f64 = 6.1;

/// The `h |λ|` that an explicit method can be expected to attain with a decayed component.
pub(crate) fn expected_h_lambda(relative_tolerance: f64) -> f64 {
    STABILITY_LIMIT.min(25.0 * relative_tolerance.powf(0.125))
}

/// The `h |λ|` above which a step is suspicious: more than an active component would allow.
pub(crate) fn suspicious_h_lambda(relative_tolerance: f64) -> f64 {
    STABILITY_LIMIT.min(14.0 * relative_tolerance.powf(0.125))
}

/// So many steps at the limit, without relief between, make a problem stiff.
const STEPS_TO_BE_SURE: usize = 15;

/// So many steps within the limit clear the suspicion.
const STEPS_OF_RELIEF: usize = 6;

/// The evidence gathered in one integration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stiffness {
    suspicious: usize,
    relieved: usize,
    /// All steps looked at, and those of them at the limit.
    looked_at: usize,
    at_limit: usize,
}

impl Stiffness {
    /// Records one step's `h |λ|`, to be compared with [`suspicious_h_lambda`].
    pub fn record(&mut self, h_lambda: f64, limit: f64) {
        self.looked_at += 1;
        if h_lambda > limit {
            self.at_limit += 1;
            self.suspicious += 1;
            self.relieved = 0;
        } else {
            self.relieved += 1;
            if self.relieved == STEPS_OF_RELIEF {
                self.suspicious = 0;
            }
        }
    }

    /// The explicit method wastes its steps: change now. With `doubt`, more evidence is asked for.
    pub fn is_certain(&self, doubt: usize) -> bool {
        self.suspicious >= STEPS_TO_BE_SURE * doubt
    }

    /// Too short a run to be certain, but most of its steps were at the limit: change next time.
    pub fn is_likely(&self) -> bool {
        self.at_limit >= 3 && 2 * self.at_limit > self.looked_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_steps_convict_and_six_acquit() {
        let mut stiffness = Stiffness::default();
        (0..14).for_each(|_| stiffness.record(7.0, 6.1));
        assert!(!stiffness.is_certain(1) && stiffness.is_likely());
        (0..6).for_each(|_| stiffness.record(1.0, 6.1));
        stiffness.record(7.0, 6.1);
        assert!(!stiffness.is_certain(1));
        (0..14).for_each(|_| stiffness.record(7.0, 6.1));
        assert!(stiffness.is_certain(1));
    }
}
