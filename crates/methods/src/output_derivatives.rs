//! Slopes and curvatures of outputs, as linearizations know them.

use dovetail_core::{Knot, Linearization};

use crate::row_product::row_product;

/// `y' = C f + D u' + D' u'' + ∂g/∂t`.
pub(crate) fn slope_of(here: &Linearization, output: usize, input: impl Fn(usize) -> Knot) -> f64 {
    let by_states = row_product(&here.c, output, here.f.as_slice());
    let by_input = |i: usize| {
        let knot = input(i);
        here.d[(output, i)] * knot.slope + here.d_slope[(output, i)] * knot.curvature
    };
    let by_inputs: f64 = (0..here.u.len()).map(by_input).sum();

    by_states + by_inputs + here.g_time[output]
}

/// `y'' = C (A f + B u' + B' u'' + ∂f/∂t) + D u''`: what the slope changes by, C and D staying as
/// they are.
pub(crate) fn curvature_of(
    here: &Linearization,
    output: usize,
    input: impl Fn(usize) -> Knot,
) -> f64 {
    let by_state = |j: usize| here.c[(output, j)] * second_derivative(here, j, &input);
    let by_input = |i: usize| here.d[(output, i)] * input(i).curvature;
    let by_states: f64 = (0..here.f.len()).map(by_state).sum();
    let by_inputs: f64 = (0..here.u.len()).map(by_input).sum();
    by_states + by_inputs
}

/// `x'' = A f + B u' + B' u'' + ∂f/∂t` of one state.
fn second_derivative(here: &Linearization, state: usize, input: &impl Fn(usize) -> Knot) -> f64 {
    let by_states = row_product(&here.a, state, here.f.as_slice());
    let by_input = |i: usize| {
        let knot = input(i);
        here.b[(state, i)] * knot.slope + here.b_slope[(state, i)] * knot.curvature
    };
    let by_inputs: f64 = (0..here.u.len()).map(by_input).sum();

    by_states + by_inputs + here.f_time[state]
}
