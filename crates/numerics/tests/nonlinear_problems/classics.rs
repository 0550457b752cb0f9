//! Nonlinear problems of the literature: Moré, Garbow & Hillstrom (1981), *Testing unconstrained
//! optimization software*.

use dovetail_numerics::nonlinear::Equations;

use super::function;

/// `x_i = cos(x_{i+1}) / 2`: a contraction.
pub fn cosine(size: usize, tolerance: f64) -> impl Equations {
    function(size, tolerance, move |x: &[f64], residual: &mut [f64]| {
        for k in 0..size {
            residual[k] = x[k] - 0.5 * x[(k + 1) % size].cos();
        }
        true
    })
}

/// The gradient of Rosenbrock's valley with `strength` 100 as usual; zero at (1, 1).
pub fn rosenbrock_gradient(strength: f64, tolerance: f64) -> impl Equations {
    function(2, tolerance, move |x: &[f64], residual: &mut [f64]| {
        let height = x[1] - x[0] * x[0];
        residual[0] = -4.0 * strength * x[0] * height - 2.0 * (1.0 - x[0]);
        residual[1] = 2.0 * strength * height;
        true
    })
}

/// Broyden's tridiagonal function, problem 30; started at −1.
pub fn broyden_tridiagonal(size: usize, tolerance: f64) -> impl Equations {
    function(size, tolerance, move |x: &[f64], residual: &mut [f64]| {
        for k in 0..size {
            let before = if k > 0 { x[k - 1] } else { 0.0 };
            let after = if k + 1 < size { x[k + 1] } else { 0.0 };
            residual[k] = (3.0 - 2.0 * x[k]) * x[k] - before - 2.0 * after + 1.0;
        }
        true
    })
}

/// Powell's singular function, problem 13; started at (3, −1, 0, 1), its Jacobian at the solution
/// is singular.
pub fn powell_singular(tolerance: f64) -> impl Equations {
    function(4, tolerance, |x: &[f64], residual: &mut [f64]| {
        residual[0] = x[0] + 10.0 * x[1];
        residual[1] = 5.0_f64.sqrt() * (x[2] - x[3]);
        residual[2] = (x[1] - 2.0 * x[2]).powi(2);
        residual[3] = 10.0_f64.sqrt() * (x[0] - x[3]).powi(2);
        true
    })
}

/// `x² + 1 = 0`.
pub fn no_solution() -> impl Equations {
    function(1, 1e-8, |x: &[f64], residual: &mut [f64]| {
        residual[0] = x[0] * x[0] + 1.0;
        true
    })
}
