//! How accurate a step must be.

/// The error a step may make in a component of size `|x|`: `absolute + relative (|x| + size/1000)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<'a> {
    /// The part in proportion to the state, from 1e-3 to 1e-14.
    pub relative: f64,
    /// A part that is the same for all components, whatever their units.
    pub absolute: f64,
    /// How large each component usually is: a small part of that remains where it passes through
    /// zero. None where it is empty.
    pub sizes: &'a [f64],
    /// The largest number that the equations are made of, beside these sizes: what is smaller by
    /// many powers of ten may be its rounding.
    pub largest: f64,
}

/// The part of a component's usual size that counts where it passes through zero.
const AT_ZERO: f64 = 1e-3;
/// Components smaller than the largest by this factor may be nothing but rounding, and cannot be
/// followed any closer than this.
const DOUBTFUL: f64 = 1e-10;
const ROUNDING: f64 = 1e-15;
/// And nothing is followed closer than to this part of the largest, whatever the units: it starts
/// from zero, and must begin somewhere.
const NOTHING: f64 = 1e-24;

/// Below this an error estimate is rounding noise, and to ask for less only makes steps shorter.
const SMALLEST_RELATIVE: f64 = 4.0 * f64::EPSILON;

impl Tolerance<'_> {
    /// What can be asked for in double precision.
    pub(crate) fn attainable(self) -> Self {
        let absolute = self.absolute.max(0.0).max(NOTHING * self.largest());
        Self {
            relative: self.relative.max(SMALLEST_RELATIVE),
            absolute,
            ..self
        }
    }

    /// The largest number in sight.
    fn largest(self) -> f64 {
        self.sizes.iter().copied().fold(self.largest, f64::max)
    }

    /// The usual size of a component; zero where it is not known.
    pub(crate) fn size(self, component: usize) -> f64 {
        self.sizes.get(component).copied().unwrap_or(0.0)
    }

    /// The error allowed in a component of size `magnitude`; never zero.
    pub(crate) fn allows(self, component: usize, magnitude: f64) -> f64 {
        let relative = self.relative * (magnitude + AT_ZERO * self.size(component));
        (self.absolute + relative).max(f64::MIN_POSITIVE)
    }

    /// What can be asked for where a component, which is in the way, may be nothing but rounding of
    /// others.
    pub(crate) fn above_rounding(self, component: usize, magnitude: f64) -> Self {
        let largest = self.largest();
        let doubtful = magnitude.max(self.size(component)) < DOUBTFUL * largest;

        Self {
            absolute: if doubtful {
                self.absolute.max(ROUNDING * largest)
            } else {
                self.absolute
            },
            ..self
        }
    }
}

/// The root mean square of `errors`, each in units of what is allowed to it.
pub(crate) fn scaled_norm(errors: &[f64], allowed: &[f64]) -> f64 {
    let pairs = errors.iter().zip(allowed);
    let sum: f64 = pairs
        .map(|(error, allowed)| (error / allowed).powi(2))
        .sum();
    (sum / errors.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_not_asked() {
        let asked = Tolerance {
            relative: 0.0,
            absolute: f64::NAN,
            sizes: &[],
            largest: 0.0,
        };
        assert_eq!(
            asked.attainable(),
            Tolerance {
                relative: SMALLEST_RELATIVE,
                absolute: 0.0,
                sizes: &[],
                largest: 0.0
            }
        );
        assert!(asked.attainable().allows(0, 0.0) > 0.0);
    }
}
