//! How a linear system answers polynomial inputs at the end of a step: the operators G, P, R of
//! COSTARICA.
//!
//! For `x' = A x + B u + B' u' + f_C`, `y = C x + D u + D' u' + y_C` and inputs `Σ_p Ξ_p τ^p`, the
//! output after δ and its derivatives are linear in the coefficients, in the state at the start and
//! in `f_C`:
//!
//! ```text
//! y^(k)(δ) = Σ_p G_k[p] Ξ_p + P_k x(0) + R_k f_C + y_C^(k)
//! ```
//!
//! So they are in a forcing that grows with time, `f_C + f_C' τ`.
//!
//! All of them follow from the exponential `E` and the moments `M_p = ∫₀^δ e^{A(δ−s)} s^p ds`.
//! Derivatives by δ are taken on the moments themselves, `M_p' = p M_{p−1}` and `M_0' = E`: nothing
//! cancels, however stiff A is, and A may be singular.

use nalgebra::DMatrix;

use crate::gaver_stehfest::{GaverStehfest, Pole};
use crate::phi_rows::PhiRows;
use crate::product::{add_scaled, multiply, scale};
use crate::state_space::{Gains, StateSpace};

/// How [`Transfer`] is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Laplace {
    /// By matrix functions, exact to rounding.
    #[default]
    Exact,
    /// By numerical inversion of the Laplace transforms, as COSTARICA has it; for comparison.
    GaverStehfest,
}

/// The operators of value, slope and curvature of the outputs after one step, for inputs up to a
/// degree.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Value, slope and curvature.
    pub orders: [Gains; 3],
    functions: PhiRows,
    scaled: DMatrix<f64>,
    /// `C A² E`, `C A E`, `C E`, `C M_0`, `C M_1` and on: each but for a factor the derivative of
    /// the next.
    derivatives: Vec<DMatrix<f64>>,
    product: DMatrix<f64>,
    /// One of these times `B` or `B'`.
    driven: DMatrix<f64>,
    gaver_stehfest: GaverStehfest,
}

/// Where `C E` is among the derivatives.
const EXPONENTIAL: usize = 2;

impl Transfer {
    /// Allocates the workspace for a system of so many states, inputs and outputs, and inputs of
    /// `degree`.
    pub fn new(states: usize, inputs: usize, outputs: usize, degree: usize) -> Self {
        let gains = Gains::zeros(states, inputs, outputs, degree);
        let rows = DMatrix::zeros(outputs, states);
        let moments = degree.max(1) + 1;

        Self {
            orders: [gains.clone(), gains.clone(), gains],
            functions: PhiRows::new(states, outputs, moments),
            scaled: DMatrix::zeros(states, states),
            derivatives: vec![rows.clone(); EXPONENTIAL + 1 + moments],
            product: rows,
            driven: DMatrix::zeros(outputs, inputs),
            gaver_stehfest: GaverStehfest::new(states, inputs, outputs),
        }
    }

    /// The operators for a step of `delta`, exact to rounding.
    pub fn compute(&mut self, space: StateSpace<'_>, delta: f64) {
        self.compute_moments(space, delta);
        self.multiply_by_a(space);

        for (order, gains) in self.orders.iter_mut().enumerate() {
            let of_state = EXPONENTIAL - order;
            gains.state.copy_from(&self.derivatives[of_state]);
            gains.forcing.copy_from(&self.derivatives[of_state + 1]);
            gains.ramp.copy_from(&self.derivatives[of_state + 2]);
            set_feedthrough(&mut gains.inputs, order, space, delta);
        }
        for index in 1..self.derivatives.len() {
            self.add_driven(index, space);
        }
        if !is_zero(space.b_slope) {
            for index in 1..self.derivatives.len() {
                self.add_driven_by_slopes(index, space);
            }
        }
    }

    /// The operators for a step of `delta > 0`, evaluated by `laplace`; after an error they are of
    /// no use.
    pub fn compute_by(
        &mut self,
        laplace: Laplace,
        space: StateSpace<'_>,
        delta: f64,
    ) -> Result<(), Pole> {
        match laplace {
            Laplace::Exact => self.compute(space, delta),
            Laplace::GaverStehfest => {
                self.gaver_stehfest
                    .compute(space, delta, &mut self.orders)?
            }
        }
        Ok(())
    }

    /// `C E` and `C M_p`, with `M_p = p! δ^{p+1} φ_{p+1}(A δ)`.
    fn compute_moments(&mut self, space: StateSpace<'_>, delta: f64) {
        self.scaled.copy_from(space.a);
        scale(&mut self.scaled, delta);
        self.functions.compute(space.c, &self.scaled);
        let (below, moments) = self.derivatives.split_at_mut(EXPONENTIAL + 1);
        let exponential = &mut below[EXPONENTIAL];
        multiply(space.c, self.functions.exponential(), exponential);
        let mut weight = delta; // p! δ^{p+1}

        for (p, moment) in moments.iter_mut().enumerate() {
            moment.copy_from(&self.functions.rows[p]);
            scale(moment, weight);
            weight *= (p + 1) as f64 * delta;
        }
    }

    /// `C A E` and `C A² E`.
    fn multiply_by_a(&mut self, space: StateSpace<'_>) {
        let [twice, once, exponential, ..] = &mut self.derivatives[..] else {
            unreachable!("BUG: three matrices come before the moments");
        };
        let Some((fourth, square)) = self.functions.roots() else {
            multiply(exponential, space.a, once);
            multiply(once, space.a, twice);
            return;
        };
        // In a stiff system E has forgotten what A is largest on, and of a product A E little but
        // rounding is left. With a root of E on either side of A, the rounding of one factor is
        // forgotten by the other.
        let product = &mut self.product;
        multiply(space.c, square, product);
        multiply(product, space.a, twice);
        multiply(twice, square, once);
        multiply(space.c, fourth, product);
        multiply(product, space.a, twice);
        multiply(twice, square, product);
        multiply(product, space.a, twice);
        multiply(twice, fourth, product);

        std::mem::swap(twice, product);
    }

    /// Adds `C d^k M_q / dδ^k` times `B` to every operator of the inputs that it is part of: it is
    /// at `index`, `k` below `C M_q`.
    fn add_driven(&mut self, index: usize, space: StateSpace<'_>) {
        multiply(&self.derivatives[index], space.b, &mut self.driven);
        for (order, gains) in self.orders.iter_mut().enumerate() {
            let Some(q) = moment_of(index, order) else {
                continue;
            };
            if let Some(gain) = gains.inputs.get_mut(q) {
                add_scaled(gain, falling(q, order.min(q)), &self.driven);
            }
        }
    }

    /// The same times `B'`.
    fn add_driven_by_slopes(&mut self, index: usize, space: StateSpace<'_>) {
        multiply(&self.derivatives[index], space.b_slope, &mut self.driven);
        for (order, gains) in self.orders.iter_mut().enumerate() {
            let Some(q) = moment_of(index, order) else {
                continue;
            };
            if let Some(gain) = gains.inputs.get_mut(q + 1) {
                let factor = (q + 1) as f64 * falling(q, order.min(q));
                add_scaled(gain, factor, &self.driven);
            }
        }
    }
}

/// The `q` of the moment `M_q` whose derivative of that order is at `index`, if there is one.
fn moment_of(index: usize, order: usize) -> Option<usize> {
    (index + order).checked_sub(EXPONENTIAL + 1)
}

/// What `D` and `D'` contribute: the derivative of that order of `D τ^p + D' p τ^{p−1}`.
fn set_feedthrough(gains: &mut [DMatrix<f64>], order: usize, space: StateSpace<'_>, delta: f64) {
    for gain in gains.iter_mut() {
        gain.as_mut_slice().fill(0.0);
    }
    for (matrix, derivative) in [(space.d, order), (space.d_slope, order + 1)] {
        if is_zero(matrix) {
            continue;
        }
        for (p, gain) in gains.iter_mut().enumerate() {
            add_scaled(gain, power_derivative(delta, p, derivative), matrix);
        }
    }
}

/// Most systems have no feedthrough, and do not know the slopes of their inputs.
fn is_zero(matrix: &DMatrix<f64>) -> bool {
    matrix.as_slice().iter().all(|entry| *entry == 0.0)
}

/// `p (p − 1) ⋯ (p − k + 1)`.
fn falling(p: usize, k: usize) -> f64 {
    (p + 1 - k..=p).map(|i| i as f64).product()
}

/// `d^k δ^p / dδ^k`.
fn power_derivative(delta: f64, p: usize, order: usize) -> f64 {
    if order > p {
        0.0
    } else {
        falling(p, order) * delta.powi((p - order) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{Hint, Integrator};
    use crate::rhs::from_fn;
    use crate::tolerance::Tolerance;

    struct Example {
        matrices: [DMatrix<f64>; 6],
    }

    impl Example {
        fn new(a: DMatrix<f64>, inputs: usize, outputs: usize) -> Self {
            let n = a.nrows();
            let entry = |seed: f64| move |i: usize, j: usize| ((i * 7 + j * 3) as f64 + seed).sin();
            let matrix = |rows, columns, seed| DMatrix::from_fn(rows, columns, entry(seed));
            let matrices = [
                a,
                matrix(n, inputs, 1.0),
                matrix(outputs, n, 2.0),
                matrix(outputs, inputs, 3.0),
                matrix(n, inputs, 4.0),
                matrix(outputs, inputs, 5.0),
            ];
            Self { matrices }
        }

        fn space(&self) -> StateSpace<'_> {
            let [a, b, c, d, b_slope, d_slope] = &self.matrices;
            StateSpace {
                a,
                b,
                c,
                d,
                b_slope,
                d_slope,
            }
        }
    }

    fn power(t: f64, p: usize, order: usize) -> f64 {
        power_derivative(t, p, order)
    }

    /// The output of a single input power, and its first two derivatives, by tight integration.
    fn integrated(
        example: &Example,
        p: usize,
        delta: f64,
        start: &[f64],
        forcing: &[f64],
    ) -> [Vec<f64>; 3] {
        let s = example.space();
        let n = start.len();
        let rate = |t: f64, x: &nalgebra::DVector<f64>, order: usize| {
            // x^(order + 1) along the solution, for order 0 and 1.
            let forced = |k: usize| {
                s.b.column(0) * power(t, p, k) + s.b_slope.column(0) * power(t, p, k + 1)
            };
            let first = s.a * x + forced(0) + nalgebra::DVector::from_column_slice(forcing);
            if order == 0 {
                first
            } else {
                s.a * first + forced(1)
            }
        };
        let mut rhs = from_fn(n, |t, x: &[f64], dx: &mut [f64]| {
            dx.copy_from_slice(rate(t, &nalgebra::DVector::from_column_slice(x), 0).as_slice());
        });
        let mut x = start.to_vec();
        let tolerance = Tolerance {
            relative: 1e-13,
            absolute: 1e-15,
            sizes: &[],
            largest: 0.0,
        };
        Integrator::new(n)
            .integrate(&mut rhs, 0.0, delta, &mut x, tolerance, Hint::default())
            .unwrap();
        let x = nalgebra::DVector::from_vec(x);
        let direct = |k: usize| {
            s.d.column(0) * power(delta, p, k) + s.d_slope.column(0) * power(delta, p, k + 1)
        };
        let y = s.c * &x + direct(0);
        let slope = s.c * rate(delta, &x, 0) + direct(1);
        let curvature = s.c * rate(delta, &x, 1) + direct(2);
        [y, slope, curvature].map(|v| v.as_slice().to_vec())
    }

    fn check(a: DMatrix<f64>, delta: f64, tolerance: f64) {
        let example = Example::new(a, 2, 2);
        let n = example.matrices[0].nrows();
        let start: Vec<f64> = (0..n).map(|i| 1.0 - 0.3 * i as f64).collect();
        let forcing: Vec<f64> = (0..n).map(|i| 0.2 + 0.1 * i as f64).collect();
        let mut transfer = Transfer::new(n, 2, 2, 5);
        transfer.compute(example.space(), delta);
        for p in 0..=5 {
            let expected = integrated(&example, p, delta, &start, &forcing);
            for (order, gains) in transfer.orders.iter().enumerate() {
                let x = nalgebra::DVector::from_column_slice(&start);
                let f = nalgebra::DVector::from_column_slice(&forcing);
                let found = gains.inputs[p].column(0) + &gains.state * x + &gains.forcing * f;
                for (a, b) in found.iter().zip(&expected[order]) {
                    assert!(
                        (a - b).abs() < tolerance * (1.0 + b.abs()),
                        "p {p}, order {order}: {a} and {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn operators_agree_with_integration() {
        check(
            DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -9.0, -0.4]),
            0.7,
            1e-10,
        );
        check(
            DMatrix::from_row_slice(3, 3, &[-1.0, 2.0, 0.0, 0.0, -3.0, 1.0, 0.5, 0.0, -0.2]),
            1.3,
            1e-10,
        );
    }

    #[test]
    fn singular_nilpotent_and_nearly_defective_systems_are_no_exception() {
        check(DMatrix::zeros(2, 2), 0.5, 1e-11);
        check(
            DMatrix::from_row_slice(3, 3, &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
            0.5,
            1e-11,
        );
        check(
            DMatrix::from_row_slice(2, 2, &[-1.0, 1.0, 1e-12, -1.0]),
            2.0,
            1e-10,
        );
    }

    #[test]
    fn stiff_systems_lose_nothing_to_cancellation() {
        check(
            DMatrix::from_row_slice(2, 2, &[-1e4, 1.0, 0.0, -1.0]),
            0.5,
            1e-8,
        );
    }
}
