//! Taylor coefficients of all systems over boxes, and the Taylor form (8) of the Picard operator.
//!
//! (8) as printed holds the inputs constant while it differentiates. Inputs of co-simulation move:
//! here a coefficient of a system is computed from lower ones of all states that it is coupled to,
//! so that the systems exchange boxes once for every order.

use super::extrapolation::Coefficients;
use super::picard::common;
use super::subsystems::Subsystems;
use crate::interval::Interval;

/// `N` of (8).
pub(super) const ORDER: usize = 1;

/// Coefficients 0 to `orders` of all states, where they are in `states` at any of the times `at`.
pub(super) fn exchange(
    subsystems: &Subsystems<'_>,
    at: Interval,
    states: &[Interval],
    orders: usize,
) -> Coefficients {
    let mut known = vec![states.to_vec()];
    for order in 0..orders {
        {
            let mut shared = subsystems.step_mut();
            shared.expansion_time = at;
            shared.coefficients.clone_from(&known[order]);
            shared.order = order;
        }
        known.push(subsystems.coefficients(orders));
    }
    known
}

/// What `boxes` and (8) have in common: `x₀ + Σ_{k≤N} x_k(x₀) [0, H]^k + x_{N+1}(r) [0, H]^{N+1}`,
/// with coefficients `at_start`, and `throughout` the step.
pub(super) fn tightened(
    boxes: &[Interval],
    at_start: &Coefficients,
    throughout: &Coefficients,
    elapsed: Interval,
) -> Vec<Interval> {
    let form = |state: usize| {
        let mut sum = at_start[0][state];
        let mut power = elapsed;
        for coefficients in at_start.iter().skip(1).take(ORDER) {
            sum = sum + coefficients[state] * power;
            power = Interval::new(0.0, (power * elapsed).hi);
        }
        sum + throughout[ORDER + 1][state] * power
    };
    let forms: Vec<Interval> = (0..boxes.len()).map(form).collect();
    common(boxes, &forms)
}
