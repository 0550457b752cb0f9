//! From names to methods.

use dovetail_core::{Capabilities, Grid, Method};
use dovetail_methods::{GaussSeidel, Ifosmondi, IfosmondiOptions, Jacobi};
use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres, NgmresOptions,
    NonlinearSolver, QuasiNewton, QuasiNewtonOptions, Selection,
};

use crate::options::RunOptions;
use crate::scenario::Scenario;

/// `ε` of iterative methods, unless the user says otherwise.
const DEFAULT_TOLERANCE: f64 = 1e-6;

/// A method, and why `auto` chose it.
pub(crate) struct Chosen<'a> {
    pub method: Box<dyn Method + 'a>,
    pub reason: Option<String>,
}

/// The method that the options name, on steps of `step`, for systems with these capabilities.
pub(crate) fn choose<'a>(
    scenario: &'a Scenario,
    options: &RunOptions,
    step: f64,
    capabilities: &[Capabilities],
) -> Chosen<'a> {
    let (name, reason) = match options.method.as_str() {
        "auto" => automatic(capabilities),
        name => (name, None),
    };
    let grid = Grid::new(scenario.start_time, scenario.stop_time, step);
    let connections = &scenario.connections;
    let method: Box<dyn Method + 'a> = match name {
        "jacobi" => Box::new(Jacobi::new(connections, grid)),
        "ifosmondi" => {
            let solver = options.solver.as_deref().unwrap_or("quasi-newton");
            let tolerance = options.tolerance.unwrap_or(DEFAULT_TOLERANCE);
            let chosen = IfosmondiOptions { tolerance, extrapolate: solver == "quasi-newton" };
            let solver = nonlinear_solver(solver, Ifosmondi::unknowns(connections));
            Box::new(Ifosmondi::new(connections, grid, chosen, solver, capabilities))
        }
        _ => Box::new(GaussSeidel::new(connections, grid)),
    };
    Chosen { method, reason }
}

fn automatic(capabilities: &[Capabilities]) -> (&'static str, Option<String>) {
    let iterates = capabilities.iter().all(|c| c.trial && c.step_rule == dovetail_core::StepRule::Free);
    let (name, reason) = if iterates {
        ("ifosmondi", "every system can roll back, so the interfaces can be made to agree")
    } else {
        ("gauss-seidel", "not every system can roll back, and of the methods without it this is the most accurate here")
    };
    (name, Some(reason.to_owned()))
}

fn nonlinear_solver(name: &str, size: usize) -> Box<dyn NonlinearSolver> {
    match name {
        "newton" => Box::new(Newton::new(size, NewtonOptions::default())),
        "anderson" => Box::new(Anderson::new(size, AndersonOptions::default())),
        "ngmres" => Box::new(Ngmres::new(size, NgmresOptions::default())),
        "ngmres-linesearch" => {
            Box::new(Ngmres::new(size, NgmresOptions { selection: Selection::LineSearch, ..NgmresOptions::default() }))
        }
        "fixed-point" => Box::new(FixedPoint::new(size, FixedPointOptions::default())),
        _ => Box::new(QuasiNewton::new(size, QuasiNewtonOptions::default())),
    }
}
