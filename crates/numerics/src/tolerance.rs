//! How accurate a step must be.

/// The error a step may make in a component of size `|x|`: `absolute + relative |x|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The part in proportion to the state, from 1e-3 to 1e-14.
    pub relative: f64,
    /// The part that remains where a state passes through zero.
    pub absolute: f64,
}

/// Below this an error estimate is rounding noise, and to ask for less only makes steps shorter.
const SMALLEST_RELATIVE: f64 = 4.0 * f64::EPSILON;

impl Tolerance {
    /// What can be asked for in double precision.
    pub(crate) fn attainable(self) -> Self {
        Self { relative: self.relative.max(SMALLEST_RELATIVE), absolute: self.absolute.max(0.0) }
    }

    /// The error allowed in a component of size `magnitude`; never zero.
    pub(crate) fn allows(self, magnitude: f64) -> f64 {
        (self.absolute + self.relative * magnitude).max(f64::MIN_POSITIVE)
    }
}

/// The root mean square of `errors`, each in units of what is allowed to it.
pub(crate) fn scaled_norm(errors: &[f64], allowed: &[f64]) -> f64 {
    let sum: f64 = errors.iter().zip(allowed).map(|(error, allowed)| (error / allowed).powi(2)).sum();
    (sum / errors.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_not_asked() {
        let asked = Tolerance { relative: 0.0, absolute: f64::NAN };
        assert_eq!(asked.attainable(), Tolerance { relative: SMALLEST_RELATIVE, absolute: 0.0 });
        assert!(asked.attainable().allows(0.0) > 0.0);
    }
}
