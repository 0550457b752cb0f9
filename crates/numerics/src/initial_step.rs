//! A first step from nothing but the right-hand side.
//!
//! Hairer, Nørsett & Wanner, *Solving ODEs I* (1993), section II.4, cited as "HNW". Departure:
//! where a state or its derivative is nil, HNW try 1e-6; a number without units is of no use here,
//! so we try a hundredth of the span.

use crate::rhs::Rhs;
use crate::tolerance::{Tolerance, scaled_norm};

/// A state or derivative below this, in units of what is allowed, is nil. HNW.
const NIL: f64 = 1e-5;
/// Below this speed and curvature nothing happens. HNW.
const STRAIGHT: f64 = 1e-15;

/// What is known where an integration begins.
pub(crate) struct IntegrationStart<'a> {
    pub time: f64,
    /// The distance to integrate over, negative if backwards.
    pub span: f64,
    pub state: &'a [f64],
    pub derivative: &'a [f64],
}

impl IntegrationStart<'_> {
    /// The size of a component; of one that starts at nil with nothing else to go by, what it may
    /// soon be.
    fn magnitude(&self, k: usize, tolerance: Tolerance<'_>) -> f64 {
        let unknown = tolerance.absolute == 0.0 && tolerance.size(k) == 0.0;
        if self.state[k] == 0.0 && unknown {
            (self.derivative[k] * 0.01 * self.span).abs()
        } else {
            self.state[k].abs()
        }
    }
}

/// Scratch for the Euler step that tries the second derivative.
pub(crate) struct InitialScratch<'a> {
    pub state: &'a mut [f64],
    pub derivative: &'a mut [f64],
    pub allowed: &'a mut [f64],
}

/// The size of a first step, at most the span, for a method whose error estimate is `O(h^order)`.
pub(crate) fn initial_step<R: Rhs + ?Sized>(
    rhs: &mut R,
    start: &IntegrationStart,
    scratch: InitialScratch,
    tolerance: Tolerance<'_>,
    order: i32,
) -> f64 {
    let longest = start.span.abs();
    for (k, allowed) in scratch.allowed.iter_mut().enumerate() {
        *allowed = tolerance.allows(k, start.magnitude(k, tolerance));
    }

    let speed = scaled_norm(start.derivative, scratch.allowed);
    let guess = cautious_guess(scaled_norm(start.state, scratch.allowed), speed, longest);
    let change = change_of_derivative(rhs, start, scratch, guess.copysign(start.span));
    let curvature = change / guess;
    let bend = speed.max(curvature);
    let accurate = if bend <= STRAIGHT {
        longest
    } else {
        (0.01 / bend).powf(1.0 / f64::from(order))
    };

    // A curvature that is not finite leaves the cautious guess.
    if accurate > 0.0 && accurate.is_finite() {
        longest.min(100.0 * guess).min(accurate)
    } else {
        guess
    }
}

/// A step over which the state changes by about a hundredth.
fn cautious_guess(position: f64, speed: f64, longest: f64) -> f64 {
    let nil = position < NIL || speed < NIL;
    if nil {
        0.01 * longest
    } else {
        longest.min(0.01 * position / speed)
    }
}

/// How much the derivative changes over an Euler step, in units of what is allowed.
fn change_of_derivative<R: Rhs + ?Sized>(
    rhs: &mut R,
    start: &IntegrationStart,
    scratch: InitialScratch,
    step: f64,
) -> f64 {
    for (k, moved) in scratch.state.iter_mut().enumerate() {
        *moved = start.state[k] + step * start.derivative[k];
    }

    rhs.derivative(start.time + step, scratch.state, scratch.derivative);
    for (change, before) in scratch.derivative.iter_mut().zip(start.derivative) {
        *change -= before;
    }
    scaled_norm(scratch.derivative, scratch.allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rhs::from_fn;

    fn first_step(initial: f64, slope: f64, absolute: f64) -> f64 {
        let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| {
            dx[0] = slope * (1.0 - x[0])
        });
        let mut derivative = [0.0];
        rhs.derivative(0.0, &[initial], &mut derivative);
        let start = IntegrationStart {
            time: 0.0,
            span: 1.0,
            state: &[initial],
            derivative: &derivative,
        };
        let scratch = InitialScratch {
            state: &mut [0.0],
            derivative: &mut [0.0],
            allowed: &mut [0.0],
        };
        initial_step(
            &mut rhs,
            &start,
            scratch,
            Tolerance {
                relative: 1e-10,
                absolute,
                sizes: &[],
                largest: 0.0,
            },
            8,
        )
    }

    #[test]
    fn the_first_step_follows_the_time_constant() {
        for slope in [1e2, 1e4, 1e6] {
            let step = slope * first_step(2.0, slope, 1e-10);
            assert!((1e-3..3.0).contains(&step), "{step}");
        }
    }

    #[test]
    fn a_state_at_rest_may_take_the_whole_span() {
        assert_eq!(first_step(1.0, 3.0, 1e-10), 1.0);
    }

    #[test]
    fn a_start_at_nil_is_not_taken_for_stiff() {
        assert!(first_step(0.0, 1.0, 0.0) > 1e-3);
        assert!(first_step(0.0, 1.0, 1e-12) > 1e-3);
    }
}
