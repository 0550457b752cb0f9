//! From names to methods.

use dovetail_core::{Capabilities, Grid, Method};
use dovetail_methods::{GaussSeidel, Ifosmondi, IfosmondiOptions, Jacobi};
use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres, NgmresOptions,
    NonlinearSolver, QuasiNewton, QuasiNewtonOptions, Selection,
};

use crate::diagnostic::Problem;
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// `ε` of iterative methods, unless the user says otherwise.
const DEFAULT_TOLERANCE: f64 = 1e-6;

/// A solver that remembers keeps a matrix of so many rows at most, unless it is asked for.
const MOST_REMEMBERED: usize = 1000;

/// A method, and why `auto` chose it.
pub(crate) struct Chosen<'a> {
    pub method: Box<dyn Method + 'a>,
    pub reason: Option<String>,
}

/// The method that the options name, on steps of `step`, for systems with these capabilities; or why it is not to be had.
pub(crate) fn choose<'a>(
    scenario: &'a Scenario,
    options: &RunOptions,
    step: f64,
    capabilities: &[Capabilities],
) -> Result<Chosen<'a>, Problem> {
    let (name, reason) = match options.method.as_str() {
        "auto" => automatic(capabilities),
        name => (name, None),
    };
    let grid = Grid::new(scenario.start_time, scenario.stop_time, step);
    let connections = &scenario.connections;
    let method: Box<dyn Method + 'a> = match name {
        "jacobi" => Box::new(Jacobi::new(connections, grid)),
        "ifosmondi" => {
            let unknowns = Ifosmondi::unknowns(connections);
            let default = if unknowns <= MOST_REMEMBERED { "quasi-newton" } else { "anderson" };
            let solver = options.solver.as_deref().unwrap_or(default);
            let tolerance = options.tolerance.unwrap_or(DEFAULT_TOLERANCE);
            let chosen = IfosmondiOptions { tolerance, extrapolate: solver == "quasi-newton" };
            let solver = nonlinear_solver(solver, options, unknowns)?;
            Box::new(Ifosmondi::new(connections, grid, chosen, solver, capabilities))
        }
        _ => Box::new(GaussSeidel::new(connections, grid)),
    };
    Ok(Chosen { method, reason })
}

fn automatic(capabilities: &[Capabilities]) -> (&'static str, Option<String>) {
    let iterates = capabilities.iter().all(|c| c.trial && c.step_rule == dovetail_core::StepRule::Free);
    let (name, reason) = if iterates {
        ("ifosmondi", "every system can roll back, so the interfaces can be made to agree")
    } else {
        ("gauss-seidel", "not every system can roll back and take any step, and this method needs neither")
    };
    (name, Some(reason.to_owned()))
}

fn nonlinear_solver(name: &str, options: &RunOptions, size: usize) -> Result<Box<dyn NonlinearSolver>, Problem> {
    let line_search = NgmresOptions { selection: Selection::LineSearch, ..NgmresOptions::default() };
    Ok(match name {
        "newton" => Box::new(Newton::new(size, NewtonOptions::default())),
        "anderson" => Box::new(Anderson::new(size, AndersonOptions::default())),
        "ngmres" => Box::new(Ngmres::new(size, NgmresOptions::default())),
        "ngmres-linesearch" => Box::new(Ngmres::new(size, line_search)),
        "fixed-point" => Box::new(FixedPoint::new(size, FixedPointOptions::default())),
        "petsc" => return petsc(options.petsc_options.as_deref().unwrap_or(""), size),
        _ => Box::new(QuasiNewton::new(size, QuasiNewtonOptions::default())),
    })
}

#[cfg(feature = "petsc")]
fn petsc(options: &str, size: usize) -> Result<Box<dyn NonlinearSolver>, Problem> {
    let solver = dovetail_petsc::Petsc::new(size, options);
    let refused = |error| Problem::general(format!("--solver petsc: {error}"));
    solver.map(|solver| Box::new(solver) as Box<dyn NonlinearSolver>).map_err(refused)
}

#[cfg(not(feature = "petsc"))]
fn petsc(_options: &str, _size: usize) -> Result<Box<dyn NonlinearSolver>, Problem> {
    Err(Problem::general("--solver petsc: this program was built without PETSc")
        .help("build it with --features petsc (on Debian that needs libpetsc-real-dev), or take another solver"))
}
