//! The error that one step leaves in the states, as two vectors that cost no integration.
//!
//! *Interpolation*: inputs are Hermite polynomials, and differ from smooth ones by
//! `u^(2r+2) h^(2r+2)/(2r+2)! · W(s)`, with `W = (s(s−1))^(r+1)` on s in [0, 1] and r = 1 for
//! cubics, 2 for quintics. The high derivative is that of the polynomial that also meets value and
//! slope at the start of the step before. *Ends*: the integrated outputs minus the predicted ones
//! tell by how much the inputs ended at the wrong place, `(I − K)⁻¹ (Y − z)`. Both are pushed
//! through the linear operators and the coupling into the states. They are what is to be added to
//! the states, with its sign.

use dovetail_core::{Knot, Signal};
use serde::{Deserialize, Serialize};

use super::delayed_errors::{DelayedErrors, Part};
use crate::coupling::Coupling;
use crate::elementwise::add;
use crate::interface_system::hermite_error::{Before, Weight};
use crate::interface_system::{InterfaceSystem, MOST_ORDERS};
use crate::rates::Rates;
use crate::shape::Shape;

/// Coefficients of a disturbance, in elapsed time: up to the sixth power.
pub(super) const TERMS: usize = 7;

/// The two parts, with room to compute them in.
#[derive(Serialize, Deserialize)]
pub(super) struct LocalError {
    /// The interface at the start of the step before, and that step's size; none after an event.
    before: Vec<Knot>,
    before_size: Option<f64>,
    /// Values at the start of the step before that one, and its size.
    earlier: Vec<f64>,
    earlier_size: Option<f64>,
    /// By how much slopes at the start of the step are wrong that were kept from the end of the
    /// step before.
    kept_slopes: Vec<f64>,
    whole: Vec<Signal>,
    disturbance: Vec<[f64; TERMS]>,
    effect: Vec<f64>,
    /// Errors of all states, stacked.
    pub interpolation: Vec<f64>,
    pub ends: Vec<f64>,
    /// The same of ends that are only expected to be wrong.
    pub foreseen: Vec<f64>,
    /// The same three of inputs that systems delay: what is wrong with these leaves nothing in the
    /// states now, but comes back.
    pub delayed: DelayedErrors,
    /// Whether the interpolation error is known: not on a first step with quintics, nor where
    /// curvatures are not known.
    pub known: bool,
}

impl LocalError {
    pub fn new(coupling: &Coupling<'_>, states: usize) -> Self {
        let variables = coupling.variables.len();
        Self {
            delayed: DelayedErrors::of(coupling),
            before: vec![Knot::value_only(f64::NAN); variables],
            before_size: None,
            earlier: vec![f64::NAN; variables],
            earlier_size: None,
            kept_slopes: vec![0.0; variables],
            whole: vec![Signal::constant(0.0); variables],
            disturbance: vec![[0.0; TERMS]; variables],
            effect: vec![0.0; MOST_ORDERS * variables],
            interpolation: vec![0.0; states],
            ends: vec![0.0; states],
            foreseen: vec![0.0; states],
            known: false,
        }
    }

    /// An event: what was says nothing of what comes.
    pub fn forget(&mut self) {
        self.before_size = None;
        self.earlier_size = None;
        self.kept_slopes.fill(0.0);
    }

    /// The step has been taken.
    pub fn learn(&mut self, coupling: &Coupling<'_>) {
        for (earlier, before) in self.earlier.iter_mut().zip(&self.before) {
            *earlier = before.value;
        }
        self.earlier_size = self.before_size;
        self.before.copy_from_slice(&coupling.start);
        self.before_size = Some(coupling.step.size());
    }

    /// The slope of a variable that is now this, by values alone: of the parabola through the last
    /// three. None where there are not so many since the last event.
    pub fn slope_by_values(&self, variable: usize, now: f64) -> Option<f64> {
        let last = self.before_size?;
        let first = self.earlier_size?;
        let before = self.before[variable].value;
        let newer = (now - before) / last;
        let older = (before - self.earlier[variable]) / first;
        Some(newer + last * (newer - older) / (last + first))
    }

    /// The interpolation error of a step that has been solved; `rates` say how fast the systems
    /// are.
    pub fn interpolate(
        &mut self,
        coupling: &Coupling<'_>,
        solution: &[f64],
        rates: &Rates,
        interface_system: &mut InterfaceSystem,
    ) {
        let size = coupling.step.size();
        let shape = coupling.shape();
        self.known = true;

        for (c, start) in coupling.start.iter().enumerate() {
            let input = shape.between(size, *start, shape.knot_of(solution, c));
            let disturbance = self.missed_by(&input, c, coupling, rates);
            self.whole[c] = input;
            self.known &= disturbance.is_some();
            self.disturbance[c] = disturbance.unwrap_or_default();
        }

        let inputs = Some(&self.whole[..]);
        let effect = &mut self.effect[..solution.len()];
        interface_system.disturb(&self.disturbance, inputs, effect);
        interface_system.solve(effect);
        add_ends(shape, size, effect, &mut self.disturbance);
        self.delayed
            .note(Part::Interpolation, size, &self.disturbance);

        interface_system.disturb_states(&self.disturbance, inputs, &mut self.interpolation);
    }

    /// What the input that follows a variable misses of it within the step, as far as is known.
    fn missed_by(
        &self,
        input: &Signal,
        c: usize,
        coupling: &Coupling<'_>,
        rates: &Rates,
    ) -> Option<[f64; TERMS]> {
        let size = coupling.step.size();
        let shape = coupling.shape();
        let start = coupling.start[c];
        let system = coupling.variables[c].system;
        let height = match (self.before_size, shape) {
            (_, Shape::Parabola) => {
                let slope = start.slope - input.derivative(1, 0.0);
                return Some(missed_start(size, slope, rates.of(system)));
            }
            (Some(before_size), _) => {
                let mut knot = self.before[c];
                if rates.is_long(system, size) {
                    knot.slope = f64::NAN;
                }
                let before = Before {
                    size: before_size,
                    knot,
                };
                height(shape, size, input, &before)
            }
            // W'' is 2 at the start: what a cubic does not know of the curvature there.
            (None, Shape::Cubic) if start.curvature.is_finite() => {
                0.5 * size * size * (start.curvature - input.derivative(2, 0.0))
            }
            _ => return None,
        };

        Some(bump(shape, size, height))
    }

    /// What quintics, whose ends these are, and cubics between the same ends would leave in the
    /// states, but for the coupling: room for the errors of both.
    pub fn compare(
        &mut self,
        coupling: &Coupling<'_>,
        solution: &[f64],
        interface_system: &InterfaceSystem,
    ) -> Option<[&[f64]; 2]> {
        let size = coupling.step.size();
        let before_size = self.before_size?;

        for (shape, errors) in [
            (Shape::Cubic, &mut self.ends),
            (Shape::Quintic, &mut self.foreseen),
        ] {
            for (c, start) in coupling.start.iter().enumerate() {
                let input = shape.between(size, *start, Shape::Quintic.knot_of(solution, c));
                let before = Before {
                    size: before_size,
                    knot: self.before[c],
                };
                let height = height(shape, size, &input, &before);
                self.disturbance[c] = bump(shape, size, height);
            }
            interface_system.disturb_states(&self.disturbance, None, errors);
        }
        Some([&self.ends, &self.foreseen])
    }

    /// What wrong ends leave in the states, by how much integrated outputs miss the predicted ones.
    pub fn judge_ends(
        &mut self,
        coupling: &Coupling<'_>,
        misses: &[f64],
        interface_system: &mut InterfaceSystem,
    ) {
        self.push_ends(coupling, misses, interface_system);
        let size = coupling.step.size();
        self.delayed.note(Part::Ends, size, &self.disturbance);
        interface_system.disturb_states(&self.disturbance, None, &mut self.ends);
    }

    /// By how much the outputs, so judged, would end elsewhere.
    pub fn effect_of_ends(&self, variables: usize) -> &[f64] {
        &self.effect[..variables]
    }

    /// The same of a step that has been taken. Where its end slopes are kept, what is wrong with
    /// them is undone in the next step, which starts with them.
    pub fn judge_taken_ends(
        &mut self,
        coupling: &Coupling<'_>,
        misses: &[f64],
        rates: &Rates,
        interface_system: &mut InterfaceSystem,
    ) {
        self.push_ends(coupling, misses, interface_system);
        let size = coupling.step.size();
        let stacking = coupling.stacking();

        for (c, variable) in coupling.variables.iter().enumerate() {
            add_slope(size, self.kept_slopes[c], &mut self.disturbance[c]);
            self.kept_slopes[c] = if rates.is_long(variable.system, size) {
                self.effect[stacking.place(1, c)]
            } else {
                0.0
            };
        }
        self.delayed.note(Part::Ends, size, &self.disturbance);
        interface_system.disturb_states(&self.disturbance, None, &mut self.ends);
    }

    /// The same for misses that are only expected.
    pub fn foresee_ends(
        &mut self,
        coupling: &Coupling<'_>,
        misses: &[f64],
        interface_system: &mut InterfaceSystem,
    ) {
        self.push_ends(coupling, misses, interface_system);
        let size = coupling.step.size();
        self.delayed.note(Part::Foreseen, size, &self.disturbance);
        interface_system.disturb_states(&self.disturbance, None, &mut self.foreseen);
    }

    fn push_ends(
        &mut self,
        coupling: &Coupling<'_>,
        misses: &[f64],
        interface_system: &mut InterfaceSystem,
    ) {
        let effect = &mut self.effect[..misses.len()];
        effect.copy_from_slice(misses);
        interface_system.solve(effect);
        self.disturbance
            .iter_mut()
            .for_each(|disturbance| disturbance.fill(0.0));

        add_ends(
            coupling.shape(),
            coupling.step.size(),
            effect,
            &mut self.disturbance,
        );
    }
}

/// Inputs that end elsewhere by `effect`.
fn add_ends(shape: Shape, size: f64, effect: &[f64], disturbance: &mut [[f64; TERMS]]) {
    for (c, disturbance) in disturbance.iter_mut().enumerate() {
        let moved = shape.between(size, Knot::from(0.0), shape.knot_of(effect, c));
        add(disturbance, moved.coefficients());
    }
}

/// `u^(2r+2) h^(2r+2)/(2r+2)!` in the middle of the step, from value and slope at the start of the
/// step before.
fn height(shape: Shape, size: f64, input: &Signal, before: &Before) -> f64 {
    let s = before.place(size);
    let product = s * (s - 1.0);
    let product_slope = 2.0 * s - 1.0;
    let weight = match shape {
        Shape::Quintic => Weight {
            value: product.powi(3),
            slope: 3.0 * product * product * product_slope,
        },
        _ => Weight {
            value: product * product,
            slope: 2.0 * product * product_slope,
        },
    };

    before.height(size, input, weight)
}

/// What a parabola misses that knows nothing of the slope at its start, by that slope: as a cubic
/// would follow it, `s (1 − s)²`, or, where the system has forgotten it long before the end of the
/// step, with as much under the curve as it leaves in that time.
fn missed_start(size: f64, slope: f64, rate: f64) -> [f64; TERMS] {
    let mut disturbance = [0.0; TERMS];
    add_slope(
        size,
        slope * (12.0 / (size * rate).powi(2)).min(1.0),
        &mut disturbance,
    );
    disturbance
}

/// Inputs that start with another slope: `slope · h s (1 − s)²`.
fn add_slope(size: f64, slope: f64, disturbance: &mut [f64; TERMS]) {
    let added = [slope, -2.0 * slope / size, slope / (size * size)];
    add(&mut disturbance[1..], &added);
}

/// `height · W`, in elapsed time.
fn bump(shape: Shape, size: f64, height: f64) -> [f64; TERMS] {
    let mut coefficients = match shape {
        Shape::Quintic => [0.0, 0.0, 0.0, -1.0, 3.0, -3.0, 1.0],
        _ => [0.0, 0.0, 1.0, -2.0, 1.0, 0.0, 0.0],
    };
    let mut factor = height;

    for coefficient in &mut coefficients {
        *coefficient *= factor;
        factor /= size;
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(coefficients: &[f64], t: f64) -> f64 {
        coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
    }

    #[test]
    fn the_bump_is_the_error_of_a_cubic_on_a_quartic() {
        let exact = Signal::new(&[1.0, -0.5, 0.3, 0.2, -0.7]);
        let size = 0.4;
        let before = Before {
            size: 0.3,
            knot: exact.at(-0.3),
        };
        let cubic = Signal::hermite(size, exact.at(0.0), exact.at(size));
        let height = height(Shape::Cubic, size, &cubic, &before);
        let error = bump(Shape::Cubic, size, height);
        for elapsed in [0.1, 0.2, 0.35] {
            assert!(
                (value(&error, elapsed) - (exact.value(elapsed) - cubic.value(elapsed))).abs()
                    < 1e-14
            );
        }
    }

    #[test]
    fn the_bump_is_the_error_of_a_quintic_on_a_sextic() {
        let sextic = |t: f64| 1.0 - 0.5 * t + 0.3 * t.powi(3) - 0.7 * t.powi(6);
        let knot = |t: f64| Knot {
            value: sextic(t),
            slope: -0.5 + 0.9 * t * t - 4.2 * t.powi(5),
            curvature: 1.8 * t - 21.0 * t.powi(4),
        };
        let size = 0.4;
        let before = Before {
            size: 0.5,
            knot: knot(-0.5),
        };
        let quintic = Signal::quintic(size, knot(0.0), knot(size));
        let height = height(Shape::Quintic, size, &quintic, &before);
        let error = bump(Shape::Quintic, size, height);
        for elapsed in [0.1, 0.2, 0.35] {
            assert!(
                (value(&error, elapsed) - (sextic(elapsed) - quintic.value(elapsed))).abs() < 1e-13
            );
        }
    }
}
