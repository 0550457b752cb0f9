//! In what time things move.

use dovetail_core::Linearization;

use crate::coupling::Coupling;
use crate::interface_system::InterfaceSystem;
use crate::rates::Rates;
use crate::row_product::row_product;

/// In what time states move or turn by as much as they are large, or have moved in the run so far
/// (`moved`, of all states stacked), or, from rest, by as much as they will be.
pub(crate) fn time_scale(
    coupling: &Coupling<'_>,
    interface_system: &InterfaceSystem,
    rates: &Rates,
    moved: impl Fn(usize) -> f64,
) -> f64 {
    let mut shortest = f64::INFINITY;
    let mut stacked = 0..;
    for (system, here) in interface_system.linearizations().enumerate() {
        for (state, place) in (0..here.x.len()).zip(&mut stacked) {
            let size = match here.x[state].abs().max(moved(place)) {
                0.0 => scale_from_rest(here, state, rates.of(system)),
                size => size,
            };
            let turn = second_derivative(coupling, system, here, state);
            let scales = [size / here.f[state].abs(), (size / turn.abs()).sqrt()];
            // A state at zero that is not about to move says nothing.
            for scale in scales.into_iter().filter(|scale| *scale > 0.0) {
                shortest = shortest.min(scale);
            }
        }
    }
    shortest
}

/// `x'' = A f + B u' + ∂f/∂t` of one state.
fn second_derivative(
    coupling: &Coupling<'_>,
    system: usize,
    here: &Linearization,
    state: usize,
) -> f64 {
    let slopes = coupling.start_slopes(system).enumerate();
    let by_inputs: f64 = slopes.map(|(j, slope)| here.b[(state, j)] * slope).sum();
    by_states(here, state) + by_inputs + here.f_time[state]
}

/// `A f` of one state.
fn by_states(here: &Linearization, state: usize) -> f64 {
    row_product(&here.a, state, here.f.as_slice())
}

/// What a state that is zero will become: the largest of `|x'|/ρ` and `|x''|/ρ²`, where `rate`
/// bounds the eigenvalues of its system.
pub(crate) fn scale_from_rest(here: &Linearization, state: usize, rate: f64) -> f64 {
    let bend = by_states(here, state) + here.f_time[state];
    let scale = (here.f[state].abs() / rate).max(bend.abs() / (rate * rate));
    if rate > 0.0 { scale } else { 0.0 }
}
