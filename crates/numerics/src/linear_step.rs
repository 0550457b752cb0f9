//! The exact response of a linear system to polynomial inputs.
//!
//! For `x' = A x + Σ_p b_p τ^p`, variation of constants gives `x(δ) = e^{Aδ} x(0) + Σ_p M_p b_p`
//! with `M_p = ∫₀^δ e^{A(δ−τ)} τ^p dτ = p! δ^{p+1} φ_{p+1}(A δ)` (Hochbruck & Ostermann,
//! *Exponential integrators*, Acta Numerica 2010, section 2.1). `A` may be singular.

use nalgebra::DMatrix;

use crate::phi::PhiFunctions;
use crate::product::add_multiple;

/// What one step of given size does to the states and to each power of the inputs.
#[derive(Clone, Debug)]
pub struct LinearStep {
    /// `e^{Aδ}`.
    pub exponential: DMatrix<f64>,
    /// `M_p`, for `p` from 0 to the degree.
    pub moments: Vec<DMatrix<f64>>,
    functions: PhiFunctions,
    scaled: DMatrix<f64>,
}

impl LinearStep {
    /// Allocates the workspace for `size` states and inputs of `degree`; holds the step of size
    /// zero.
    pub fn new(size: usize, degree: usize) -> Self {
        Self {
            exponential: DMatrix::identity(size, size),
            moments: vec![DMatrix::zeros(size, size); degree + 1],
            functions: PhiFunctions::new(size, degree + 1),
            scaled: DMatrix::zeros(size, size),
        }
    }

    /// Computes the step of size `delta` of the system with matrix `a`.
    pub fn compute(&mut self, a: &DMatrix<f64>, delta: f64) {
        self.scaled.copy_from(a);
        self.scaled *= delta;
        self.functions.compute(&self.scaled);
        self.exponential.copy_from(&self.functions.phi[0]);
        let mut weight = delta; // p! δ^{p+1}

        for (p, moment) in self.moments.iter_mut().enumerate() {
            moment.copy_from(&self.functions.phi[p + 1]);
            *moment *= weight;
            weight *= (p + 1) as f64 * delta;
        }
    }

    /// `x(δ)` from `initial = x(0)` and the coefficients `forcing[p] = b_p`, written to `response`.
    ///
    /// `forcing` may be shorter than the degree allows.
    pub fn respond(&self, initial: &[f64], forcing: &[&[f64]], response: &mut [f64]) {
        response.fill(0.0);
        add_image(&self.exponential, initial, response);

        for (moment, coefficients) in self.moments.iter().zip(forcing) {
            add_image(moment, coefficients, response);
        }
    }
}

/// `target += matrix · vector`.
fn add_image(matrix: &DMatrix<f64>, vector: &[f64], target: &mut [f64]) {
    let columns = matrix.as_slice().chunks_exact(vector.len().max(1));
    for (column, &weight) in columns.zip(vector) {
        add_multiple(target, weight, column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_dynamics_the_inputs_are_integrated() {
        let mut step = LinearStep::new(1, 5);
        step.compute(&DMatrix::zeros(1, 1), 0.5);
        assert_eq!(step.exponential[(0, 0)], 1.0);
        for (p, moment) in step.moments.iter().enumerate() {
            let exact = 0.5f64.powi(p as i32 + 1) / (p + 1) as f64;
            assert!((moment[(0, 0)] - exact).abs() < 4e-16 * exact);
        }
    }

    #[test]
    fn a_driven_oscillator_follows_its_polynomial_solution() {
        // x = (τ⁵, 5 τ⁴) solves x₁' = x₂, x₂' = −ω² x₁ + 20 τ³ + ω² τ⁵.
        let omega = 30.0f64;
        let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -omega * omega, 0.0]);
        let mut step = LinearStep::new(2, 5);
        step.compute(&matrix, 0.8);
        let none = [0.0, 0.0];
        let forcing: [&[f64]; 6] = [
            &none,
            &none,
            &none,
            &[0.0, 20.0],
            &none,
            &[0.0, omega * omega],
        ];
        let mut response = [0.0; 2];
        step.respond(&none, &forcing, &mut response);
        assert!((response[0] - 0.8f64.powi(5)).abs() < 1e-14);
        assert!((response[1] - 5.0 * 0.8f64.powi(4)).abs() < 1e-12);
    }

    #[test]
    fn a_very_stiff_state_follows_its_input() {
        // x' = −λ (x − τ²): past the transient, x = τ² − 2τ/λ + 2/λ².
        let lambda = 1e9;
        let mut step = LinearStep::new(1, 2);
        step.compute(&DMatrix::from_element(1, 1, -lambda), 0.7);
        let mut response = [0.0];
        step.respond(&[5.0], &[&[0.0], &[0.0], &[lambda]], &mut response);
        let exact = 0.49 - 1.4 / lambda + 2.0 / (lambda * lambda);
        assert!(
            (response[0] - exact).abs() < 1e-14,
            "{} {exact}",
            response[0]
        );
    }

    #[test]
    fn two_half_steps_make_one() {
        let matrix =
            DMatrix::from_row_slice(3, 3, &[-1.0, 2.0, 0.0, 0.5, -3.0, 1.0, 4.0, 0.0, 0.0]);
        let mut half = LinearStep::new(3, 0);
        let mut whole = LinearStep::new(3, 0);
        half.compute(&matrix, 0.6);
        whole.compute(&matrix, 1.2);
        assert!((&half.exponential * &half.exponential - &whole.exponential).amax() < 1e-13);
        let moment = &half.exponential * &half.moments[0] + &half.moments[0];
        assert!((moment - &whole.moments[0]).amax() < 1e-13);
    }
}
