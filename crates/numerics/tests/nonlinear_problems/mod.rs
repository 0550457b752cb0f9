//! Equations with known difficulties, and a count of how often they were evaluated.

#![allow(dead_code, unused_imports)] // each test program uses some of it

mod body_and_plate;
mod classics;
mod linear;

pub use body_and_plate::{BodyAndPlate, Count};
pub use classics::{
    broyden_tridiagonal, cosine, no_solution, powell_singular, rosenbrock_gradient,
};
pub use linear::{Linear, coupling, random_matrix, rotation};

use dovetail_numerics::nonlinear::Equations;

/// The spectral radius squared is `1 / D_D`: from 0.5 to 10.
pub const DAMPINGS: [f64; 7] = [4.0, 1.2346, 1.0, 0.64, 0.25, 0.04, 0.01];

/// The criterion of IFOSMONDI-JFM (27) with one `ε` for both tolerances.
pub fn small(tolerance: f64, x: &[f64], residual: &[f64]) -> bool {
    x.iter()
        .zip(residual)
        .all(|(x, residual)| residual.abs() < tolerance * x.abs() + tolerance)
}

/// Equations given by a function, which may refuse.
pub struct Function<F> {
    size: usize,
    tolerance: f64,
    function: F,
    /// Evaluations so far.
    pub evaluations: usize,
}

/// Makes equations of a function that writes the residual and tells whether it could.
pub fn function<F: FnMut(&[f64], &mut [f64]) -> bool>(
    size: usize,
    tolerance: f64,
    function: F,
) -> Function<F> {
    Function {
        size,
        tolerance,
        function,
        evaluations: 0,
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> bool> Equations for Function<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
        self.evaluations += 1;
        (self.function)(x, residual)
    }

    fn converged(&self, x: &[f64], residual: &[f64]) -> bool {
        small(self.tolerance, x, residual)
    }
}
