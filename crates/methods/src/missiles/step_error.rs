//! The error of a step, in units of what is allowed: what it will miss once it is solved, and what
//! it has missed once integrated.
//!
//! Two parts of the local error are known. The cubic inputs differ from smooth ones by
//! `u'''' h⁴/4! · (s(s−1))²` on s in [0, 1]; the fourth derivative is that of the quintic through
//! the previous start as well, and the quartic is pushed through operators and coupling before
//! anything is integrated. And the integrated outputs minus the solved ones tell by how much the
//! inputs ended at the wrong place; they are known after integrating, and reject a step only where
//! all systems can roll back.
//!
//! Each part is measured twice: as the error of the interface at the end of the step, which the
//! next step may repair, against the tolerance; and as what the states of all systems keep of it,
//! which adds up over the run, against a smaller target.

use dovetail_core::{Knot, MAX_DEGREE, MacroStep, Signal};
use serde::{Deserialize, Serialize};

use crate::coupling::Coupling;
use crate::elementwise::add;
use crate::interface_system::InterfaceSystem;
use crate::interface_system::hermite_error::{Before, Weight};
use crate::ranges::Ranges;
use crate::shape::Shape;
use crate::state_counts::total_states;

/// What the states may keep of a step's error, for a tolerance of 1. With equal local errors the
/// number of steps grows as `tol^(−1/4)` at order 4, so that what a step may leave goes with
/// `tol^(5/4)`.
const LASTING: f64 = 0.15;
/// By which part of the tolerance the interface may be wrong.
const PASSING: f64 = 0.2;

/// The measure of a step's error, with room to compute it in.
#[derive(Serialize, Deserialize)]
pub(super) struct StepError {
    /// What a step may leave in the states, and by how much its interface may be wrong; relative to
    /// the range of each variable.
    lasting: f64,
    passing: f64,
    /// The interface at the start of the step before, and that step's size.
    before: Vec<Knot>,
    before_size: Option<f64>,
    outputs: Ranges,
    states: Ranges,
    /// Room: the inputs, what disturbs them, and what that does to the interface.
    inputs: Vec<Signal>,
    disturbance: Vec<Signal>,
    effect: Vec<f64>,
}

impl StepError {
    pub fn new(tolerance: f64, coupling: &Coupling<'_>) -> Self {
        let variables = coupling.variables.len();
        let nothing = vec![Signal::constant(0.0); variables];

        Self {
            lasting: LASTING * tolerance.powf(1.25),
            passing: PASSING * tolerance,
            before: vec![Knot::value_only(f64::NAN); variables],
            before_size: None,
            outputs: Ranges::of(coupling),
            states: Ranges::new(total_states(coupling.connections)),
            inputs: nothing.clone(),
            disturbance: nothing,
            effect: vec![0.0; 2 * variables],
        }
    }

    /// The systems stand where the step is to begin.
    pub fn include(&mut self, coupling: &Coupling<'_>, interface_system: &InterfaceSystem) {
        self.outputs.include(coupling.start_values());
        self.states.include(interface_system.states());
    }

    /// What a step that is solved is going to miss.
    pub fn of_solved(
        &mut self,
        step: MacroStep,
        coupling: &Coupling<'_>,
        solution: &[f64],
        interface_system: &mut InterfaceSystem,
    ) -> f64 {
        let size = step.size();
        self.outputs.expect(coupling.moves_to(solution));
        let moves = interface_system.state_slopes().map(|slope| slope * size);
        self.states.expect(moves);

        for (c, start) in coupling.start.iter().enumerate() {
            let end = Shape::Cubic.knot_of(solution, c);
            self.disturb_input(c, coupling.smooth, size, *start, end);
        }

        interface_system.disturb(&self.disturbance, Some(&self.inputs), &mut self.effect);
        interface_system.solve(&mut self.effect);
        self.largest(size, 1.0, interface_system, true)
    }

    /// One input of a step, and what it misses of a smooth variable.
    fn disturb_input(&mut self, c: usize, smooth: bool, size: f64, start: Knot, end: Knot) {
        let parabola = Signal::parabola_to(size, start.value, end);
        let input = if smooth {
            Signal::hermite(size, start, end)
        } else {
            parabola
        };
        let before = self.before_size.filter(|_| smooth);
        self.disturbance[c] = match before {
            Some(before_size) => {
                let before = Before {
                    size: before_size,
                    knot: self.before[c],
                };
                quartic(size, &input, &before)
            }
            // A first step: what the known slope at its start has changed is at least what a cubic
            // misses.
            None => sum(&input, &parabola, -1.0),
        };

        self.inputs[c] = input;
    }

    /// What a step has missed, by what the integrated outputs miss the solved ones by.
    pub fn of_integrated(
        &mut self,
        step: MacroStep,
        discrepancy: &[f64],
        interface_system: &mut InterfaceSystem,
    ) -> f64 {
        self.effect.copy_from_slice(discrepancy);
        interface_system.solve(&mut self.effect);
        self.disturbance.fill(Signal::constant(0.0));
        // The inputs were wrong in this step at its end, and will be in the next at its start.
        self.largest(step.size(), 2.0, interface_system, false)
    }

    /// The largest error, in units of what is allowed: of the interface, whose end is wrong by
    /// `effect`, and of what the states keep of that and of the disturbance within the step, so
    /// many times.
    fn largest(
        &mut self,
        size: f64,
        times: f64,
        interface_system: &InterfaceSystem,
        reduced: bool,
    ) -> f64 {
        let count = self.before.len();
        let passing = self.outputs.largest_share(&self.effect[..count]) / self.passing;

        for (c, disturbance) in self.disturbance.iter_mut().enumerate() {
            let end = Shape::Cubic.knot_of(&self.effect, c);
            let moved = Signal::hermite(size, AT_REST, end);
            *disturbance = sum(disturbance, &moved, 1.0);
        }

        let inputs = reduced.then_some(&self.inputs[..]);
        interface_system.disturb_states(&self.disturbance, inputs, &mut self.states.errors);
        let lasting = times * self.states.largest_own_share() / self.lasting;

        passing.max(lasting)
    }

    /// The step has been taken.
    pub fn learn(&mut self, step: MacroStep, coupling: &Coupling<'_>) {
        self.before.copy_from_slice(&coupling.start);
        self.before_size = Some(step.size());
    }

    /// The interface has jumped: what was says nothing of what comes.
    pub fn forget(&mut self) {
        self.before_size = None;
    }
}

/// Neither value nor slope.
const AT_REST: Knot = Knot {
    value: 0.0,
    slope: 0.0,
    curvature: f64::NAN,
};

/// `one + factor · other`.
fn sum(one: &Signal, other: &Signal, factor: f64) -> Signal {
    let mut coefficients = [0.0; MAX_DEGREE + 1];
    add(&mut coefficients, one.coefficients());

    for (sum, coefficient) in coefficients.iter_mut().zip(other.coefficients()) {
        *sum += factor * coefficient;
    }
    Signal::new(&coefficients[..=one.degree().max(other.degree())])
}

/// By how much a smooth variable differs from its cubic on a step, given where it started the step
/// before.
fn quartic(size: f64, input: &Signal, before: &Before) -> Signal {
    let s = before.place(size);
    let weight = Weight {
        value: s * s * (s - 1.0) * (s - 1.0),
        slope: 2.0 * s * (s - 1.0) * (2.0 * s - 1.0),
    };
    let height = before.height(size, input, weight);
    let scaled = |factor: f64, power: i32| height * factor / size.powi(power);

    Signal::new(&[0.0, 0.0, scaled(1.0, 2), scaled(-2.0, 3), scaled(1.0, 4)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quartic_is_the_error_of_a_cubic_on_a_quartic() {
        let exact = Signal::new(&[1.0, -0.5, 0.3, 0.2, -0.7]);
        let size = 0.4;
        let cubic = Signal::hermite(size, exact.at(0.0), exact.at(size));
        let before = Before {
            size: 0.3,
            knot: exact.at(-0.3),
        };
        let error = quartic(size, &cubic, &before);
        for elapsed in [0.1, 0.2, 0.35] {
            let expected = exact.value(elapsed) - cubic.value(elapsed);
            assert!((error.value(elapsed) - expected).abs() < 1e-14);
        }
    }
}
