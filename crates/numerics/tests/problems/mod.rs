//! Problems with known solutions.
//!
//! Stiff references: Mazzia & Magherini, *Test Set for Initial Value Problem Solvers* (2008), cited
//! as "IVP".

#![allow(dead_code)] // each test file uses its own selection

use dovetail_numerics::{Hint, IntegrationError, Integrator, Outcome, Rhs, Tolerance, from_fn};

/// A problem, its span and its solution at the end of it.
pub struct Problem {
    pub rhs: Box<dyn Rhs>,
    pub initial: Vec<f64>,
    pub end: f64,
    pub solution: Vec<f64>,
}

impl Problem {
    fn new(
        function: impl FnMut(f64, &[f64], &mut [f64]) + 'static,
        initial: &[f64],
        end: f64,
        solution: &[f64],
    ) -> Self {
        let rhs = Box::new(from_fn(initial.len(), function));
        Self {
            rhs,
            initial: initial.to_vec(),
            end,
            solution: solution.to_vec(),
        }
    }

    /// Integrates the problem from a cold start.
    pub fn run(
        &mut self,
        tolerance: Tolerance<'_>,
    ) -> Result<(Vec<f64>, Outcome), IntegrationError> {
        self.run_with(tolerance, Hint::default())
    }

    pub fn run_with(
        &mut self,
        tolerance: Tolerance<'_>,
        hint: Hint,
    ) -> Result<(Vec<f64>, Outcome), IntegrationError> {
        let mut state = self.initial.clone();
        let mut integrator = Integrator::new(state.len());
        let outcome =
            integrator.integrate(&mut *self.rhs, 0.0, self.end, &mut state, tolerance, hint)?;
        Ok((state, outcome))
    }

    /// The largest relative error of any component.
    pub fn relative_error(&self, state: &[f64]) -> f64 {
        let errors = state
            .iter()
            .zip(&self.solution)
            .map(|(x, exact)| ((x - exact) / exact).abs());
        errors.fold(0.0, f64::max)
    }
}

pub fn decay() -> Problem {
    Problem::new(|_, x, dx| dx[0] = -x[0], &[1.0], 5.0, &[(-5.0f64).exp()])
}

pub fn oscillator() -> Problem {
    let end = 20.0f64;
    let oscillate = |_, x: &[f64], dx: &mut [f64]| {
        dx[0] = x[1];
        dx[1] = -x[0];
    };
    Problem::new(oscillate, &[1.0, 0.0], end, &[end.cos(), -end.sin()])
}

/// `x' = x cos t`: the time counts.
pub fn driven() -> Problem {
    Problem::new(
        |time, x, dx| dx[0] = x[0] * time.cos(),
        &[1.0],
        10.0,
        &[10.0f64.sin().exp()],
    )
}

/// Prothero & Robinson: `x' = −λ (x − cos t) − sin t`, whose solution is `cos t` however stiff.
pub fn prothero_robinson(lambda: f64) -> Problem {
    let pull = move |time: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = -lambda * (x[0] - time.cos()) - time.sin()
    };
    Problem::new(pull, &[1.0], 1.0, &[1.0f64.cos()])
}

/// IVP, vdpol: `ε y'' = (1 − y²) y' − y` with ε = 1e-6, that is μ = 1e3 in the other common
/// scaling.
pub fn van_der_pol() -> Problem {
    let solution = [1.706_167_732_170_483, -0.892_809_701_024_797_5];
    Problem::new(van_der_pol_with(1e-6), &[2.0, 0.0], 2.0, &solution)
}

pub fn van_der_pol_with(epsilon: f64) -> impl FnMut(f64, &[f64], &mut [f64]) {
    move |_, x, dx| {
        dx[0] = x[1];
        dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / epsilon;
    }
}

/// Robertson's reaction at t = 40, with three rate constants over nine decades. HW section IV.1 and
/// IVP, rober.
pub fn robertson() -> Problem {
    let solution = [
        0.715_827_068_718_5,
        9.185_534_764_557e-6,
        0.284_163_745_746_6,
    ];
    Problem::new(react, &[1.0, 0.0, 0.0], 40.0, &solution)
}

/// Robertson's reaction at t = 1e11, IVP, rober.
pub fn robertson_late() -> Problem {
    let solution = [
        2.083_340_149_701_226e-8,
        8.333_360_770_334_713e-14,
        0.999_999_979_166_505,
    ];
    Problem::new(react, &[1.0, 0.0, 0.0], 1e11, &solution)
}

fn react(_: f64, y: &[f64], dy: &mut [f64]) {
    let (first, second, third) = (0.04 * y[0], 3e7 * y[1] * y[1], 1e4 * y[1] * y[2]);
    dy[0] = third - first;
    dy[1] = first - third - second;
    dy[2] = second;
}

/// IVP, hires: eight species of plant physiology.
pub fn hires() -> Problem {
    let initial = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
    let solution = [
        0.000_737_131_257_332_566_8,
        0.000_144_248_572_631_618_5,
        5.888_729_740_967_575e-5,
        0.001_175_651_343_283_149,
        0.002_386_356_198_831_331,
        0.006_238_968_252_742_796,
        0.002_849_998_395_185_769,
        0.002_850_001_604_814_231,
    ];
    Problem::new(grow, &initial, 321.8122, &solution)
}

fn grow(_: f64, y: &[f64], dy: &mut [f64]) {
    let meeting = 280.0 * y[5] * y[7];
    dy[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    dy[1] = 1.71 * y[0] - 8.75 * y[1];
    dy[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    dy[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
    dy[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
    dy[5] = -meeting + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    dy[6] = meeting - 1.81 * y[6];
    dy[7] = -meeting + 1.81 * y[6];
}
