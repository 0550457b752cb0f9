//! The right-hand side of `x' = f(t, x)`, as a black box.

use std::ops::ControlFlow;

use nalgebra::DMatrix;

/// Up to this many states, [`finite_differences`] keeps its scratch on the stack.
const STATES_ON_THE_STACK: usize = 256;

/// `x' = f(t, x)`, with `t` counted as in the call that integrates (usually elapsed since its
/// start).
///
/// Two methods are required. An exact Jacobian is a help to stiff problems, never a need; whoever
/// watches for events is notified of every step.
pub trait Rhs {
    /// The number of states.
    fn size(&self) -> usize;

    /// Writes `f(time, state)` to `derivative`.
    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]);

    /// Writes `∂f/∂x` to `jacobian`; the default takes finite differences.
    fn jacobian(&mut self, time: f64, state: &[f64], jacobian: &mut DMatrix<f64>) {
        finite_differences(self, time, state, jacobian);
    }

    /// The integration has come to `time`; breaking ends it there. The default goes on.
    fn arrived(&mut self, _time: f64, _state: &[f64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<R: Rhs + ?Sized> Rhs for &mut R {
    fn size(&self) -> usize {
        (**self).size()
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        (**self).derivative(time, state, derivative);
    }

    fn jacobian(&mut self, time: f64, state: &[f64], jacobian: &mut DMatrix<f64>) {
        (**self).jacobian(time, state, jacobian);
    }

    fn arrived(&mut self, time: f64, state: &[f64]) -> ControlFlow<()> {
        (**self).arrived(time, state)
    }
}

/// The Jacobian by forward differences: `n + 1` evaluations, and no allocation up to 256 states.
pub fn finite_differences<R: Rhs + ?Sized>(
    rhs: &mut R,
    time: f64,
    state: &[f64],
    jacobian: &mut DMatrix<f64>,
) {
    let size = state.len();
    let mut stack = [0.0; 2 * STATES_ON_THE_STACK];
    let mut heap = Vec::new();
    let scratch = if size <= STATES_ON_THE_STACK {
        &mut stack[..2 * size]
    } else {
        heap.resize(2 * size, 0.0);
        &mut heap[..]
    };
    let (moved, base) = scratch.split_at_mut(size);
    moved.copy_from_slice(state);
    rhs.derivative(time, state, base);

    for k in 0..size {
        let distance = difference_from(state[k], base[k]);
        let column = &mut jacobian.as_mut_slice()[k * size..][..size];
        moved[k] = state[k] + distance;
        rhs.derivative(time, moved, column);
        moved[k] = state[k];
        set_quotients(column, base, distance);
    }
}

/// `column = (column − base) / distance`.
fn set_quotients(column: &mut [f64], base: &[f64], distance: f64) {
    for (entry, base) in column.iter_mut().zip(base) {
        *entry = (*entry - base) / distance;
    }
}

/// Half the digits of `value`, along its motion (a solution is more likely to be defined where it
/// goes), and exactly representable. Hairer & Wanner (1996), code RADAU5.
fn difference_from(value: f64, derivative: f64) -> f64 {
    let size = (f64::EPSILON * value.abs().max(1e-5)).sqrt();
    let wanted = if derivative < 0.0 { -size } else { size };
    (value + wanted) - value
}

/// A right-hand side made of a closure; see [`from_fn`].
#[derive(Clone, Debug)]
pub struct FromFn<F> {
    size: usize,
    function: F,
}

/// Makes a right-hand side of `function(time, state, derivative)` with `size` states.
///
/// ```
/// use dovetail_numerics::{Hint, Integrator, Tolerance, from_fn};
///
/// let mut decay = from_fn(1, |_time, x: &[f64], dx: &mut [f64]| dx[0] = -x[0]);
/// let tolerance = Tolerance { relative: 1e-10, absolute: 1e-12, sizes: &[], largest: 0.0 };
/// let mut state = [1.0];
/// let mut integrator = Integrator::new(1);
/// integrator.integrate(&mut decay, 0.0, 1.0, &mut state, tolerance, Hint::default()).unwrap();
/// assert!((state[0] - (-1.0f64).exp()).abs() < 1e-10);
/// ```
pub fn from_fn<F: FnMut(f64, &[f64], &mut [f64])>(size: usize, function: F) -> FromFn<F> {
    FromFn { size, function }
}

impl<F: FnMut(f64, &[f64], &mut [f64])> Rhs for FromFn<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        (self.function)(time, state, derivative);
    }
}

/// Counts what an integration asks of its right-hand side.
pub(crate) struct Counted<'a, R: ?Sized> {
    pub rhs: &'a mut R,
    pub evaluations: usize,
    pub jacobians: usize,
}

impl<'a, R: Rhs + ?Sized> Counted<'a, R> {
    pub fn new(rhs: &'a mut R) -> Self {
        Self {
            rhs,
            evaluations: 0,
            jacobians: 0,
        }
    }

    /// The work so far in evaluations, as if Jacobians were finite differences.
    pub fn cost(&self) -> usize {
        self.evaluations + self.jacobians * (self.size() + 1)
    }
}

impl<R: Rhs + ?Sized> Rhs for Counted<'_, R> {
    fn size(&self) -> usize {
        self.rhs.size()
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        self.evaluations += 1;
        self.rhs.derivative(time, state, derivative);
    }

    fn jacobian(&mut self, time: f64, state: &[f64], jacobian: &mut DMatrix<f64>) {
        self.jacobians += 1;
        self.rhs.jacobian(time, state, jacobian);
    }

    fn arrived(&mut self, time: f64, state: &[f64]) -> ControlFlow<()> {
        self.rhs.arrived(time, state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_approach_the_jacobian() {
        let mut rhs = from_fn(2, |time, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[0] * x[1];
            dx[1] = x[0].sin() + time;
        });
        let mut jacobian = DMatrix::zeros(2, 2);
        rhs.jacobian(0.0, &[2.0, -3.0], &mut jacobian);
        let exact = DMatrix::from_row_slice(2, 2, &[-3.0, 2.0, 2.0f64.cos(), 0.0]);
        assert!((jacobian - exact).amax() < 1e-7);
    }

    #[test]
    fn many_states_are_differenced_too() {
        let size = STATES_ON_THE_STACK + 1;
        let mut rhs = from_fn(size, |_, x: &[f64], dx: &mut [f64]| dx.copy_from_slice(x));
        let mut jacobian = DMatrix::zeros(size, size);
        rhs.jacobian(0.0, &vec![0.0; size], &mut jacobian);
        assert_eq!(jacobian, DMatrix::identity(size, size));
    }
}
