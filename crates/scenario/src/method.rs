//! From names to methods.

use dovetail_core::{Capabilities, Grid, Method, StepRule, System};
use dovetail_equations::Monolithic;
use dovetail_methods::{
    Costarica, Criterion, Dovetail, DovetailOptions, EstimatorOptions, F3ornits, F3ornitsOptions,
    Fallback, GaussSeidel, Ifosmondi, IfosmondiOptions, Jacobi, Missiles, MissilesOptions,
    StepBounds,
};
use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres,
    NgmresOptions, NonlinearSolver, QuasiNewton, QuasiNewtonOptions, Selection,
};

use crate::diagnostic::Problem;
use crate::f3ornits;
use crate::monolithic::MonolithicRun;
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// Of methods that iterate or choose their steps, unless the user says otherwise.
pub(crate) const DEFAULT_TOLERANCE: f64 = 1e-6;

/// The solver of an FMU is asked for this part of the coupling tolerance.
const FMU_SHARE: f64 = 0.01;

/// A solver that remembers keeps a matrix of so many rows at most, unless it is asked for.
const MOST_REMEMBERED: usize = 1000;

/// The name of the method that the options ask for, and why where `auto` chose it from what the systems can do. `jumping` is a
/// system whose equations jump where nothing announces it: the engine's own method would predict beyond the jump.
pub(crate) fn choose<'o>(
    options: &'o RunOptions,
    capabilities: &[Capabilities],
    coupled: bool,
    jumping: Option<&str>,
) -> (&'o str, Option<String>) {
    if options.method != "auto" {
        return (&options.method, None);
    }
    let free = capabilities.iter().all(|c| c.step_rule == StepRule::Free);
    let (name, reason) = if !coupled {
        (
            "jacobi",
            "no system feeds another, so that there is nothing to couple",
        )
    } else if let (true, Some(system)) = (free && capabilities.iter().all(|c| c.linearize), jumping)
    {
        let reason = format!(
            "every system can be linearised, and `{system}` has conditions or jumps that depend on more than time: their steps are \
             cut where they are met"
        );
        return ("missiles", Some(reason));
    } else if free && capabilities.iter().all(|c| c.linearize) {
        let all = capabilities.iter().all(|c| c.trial);
        let corrected = if all {
            ", and corrected, since all can roll back"
        } else {
            ""
        };
        let reason =
            "every system can be linearised, so that the interface of a step can be predicted";
        return ("dovetail", Some(format!("{reason}{corrected}")));
    } else if free && capabilities.iter().all(|c| c.trial) {
        (
            "ifosmondi",
            "every system can roll back, so that the interfaces can be made to agree",
        )
    } else if free && capabilities.iter().all(|c| c.trial || c.linearize) {
        (
            "ifosmondi",
            "every system can roll back or be linearised: what the latter would answer is estimated",
        )
    } else {
        (
            "f3ornits",
            "not every system can roll back or be linearised and take any step, and this method needs neither",
        )
    };
    (name, Some(reason.to_owned()))
}

/// Which systems are put behind COSTARICA, because the options or their lack of rollback ask for it; and what to say of it.
pub(crate) fn estimated(
    names: &[&str],
    capabilities: &[Capabilities],
    options: &RunOptions,
) -> Result<(Vec<bool>, Vec<String>), Problem> {
    let (mut chosen, mut warnings) = (Vec::new(), Vec::new());
    for (name, found) in names.iter().zip(capabilities) {
        let poor = !found.trial;
        let wanted = options.rollback_free.unwrap_or(poor);
        // The method itself refuses a system that can do neither; one that can roll back was asked for what it cannot do.
        if wanted && !found.linearize && !poor {
            let message = format!(
                "rollback-free=true needs systems that can be linearised, and `{name}` cannot be"
            );
            return Err(Problem::general(message).help("it can roll back: leave the option out"));
        }
        chosen.push(wanted && found.linearize);
        if wanted && found.linearize && poor {
            warnings.push(format!(
                "`{name}` cannot roll back: what it would answer was estimated (COSTARICA), and only accepted steps were \
                 integrated"
            ));
        }
    }
    let keys = ["control", "form", "laplace"].into_iter();
    let any = chosen.contains(&true);
    let unused = keys.filter(|key| !any && options.given.iter().any(|given| given == key));
    warnings.extend(unused.map(|key| {
        format!("nothing was estimated, so that the option {key} was not used: see rollback-free")
    }));
    Ok((chosen, warnings))
}

/// A system behind COSTARICA, if it can be linearised.
pub(crate) fn estimate(system: Box<dyn System>, options: EstimatorOptions) -> Box<dyn System> {
    match Costarica::new(system, options) {
        Ok(wrapped) => Box::new(wrapped),
        Err(system) => system,
    }
}

/// The method of this name, watched: where `auto` has chosen it, another one takes over when it should be left; otherwise a run that
/// makes no headway ends.
pub(crate) fn make<'a>(
    scenario: &'a Scenario,
    options: &RunOptions,
    name: &str,
    step: f64,
    capabilities: &[Capabilities],
) -> Result<Box<dyn Method + 'a>, Problem> {
    let own = unwatched(scenario, options, name, step, capabilities)?;
    if ["jacobi", "gauss-seidel", "monolithic"].contains(&name) {
        return Ok(own); // they keep to their grid
    }
    let (options, capabilities) = (options.clone(), capabilities.to_vec());
    let auto = options.method == "auto";
    let other = move |name: &str| unwatched(scenario, &options, name, step, &capabilities).ok();
    Ok(Box::new(Fallback::new(
        own,
        step,
        scenario.stop_time,
        auto.then(|| Box::new(other) as _),
    )))
}

/// The method of this name on steps of `step`, for systems with these capabilities; or why it is not to be had.
fn unwatched<'a>(
    scenario: &'a Scenario,
    options: &RunOptions,
    name: &str,
    step: f64,
    capabilities: &[Capabilities],
) -> Result<Box<dyn Method + 'a>, Problem> {
    let grid = Grid::new(scenario.start_time, scenario.stop_time, step);
    let connections = &scenario.connections;
    let tolerance = options.tolerance.unwrap_or(DEFAULT_TOLERANCE);
    let limits = Limits::of(capabilities, scenario.stop_time - scenario.start_time);
    Ok(match name {
        "jacobi" => Box::new(Jacobi::new(connections, grid)),
        "ifosmondi" => {
            let unknowns = Ifosmondi::unknowns(connections);
            let default = if unknowns <= MOST_REMEMBERED {
                "quasi-newton"
            } else {
                "anderson"
            };
            let solver = options.solver.as_deref().unwrap_or(default);
            let chosen = is_adaptive(name, options).then_some(limits.steps);
            let tolerance = if chosen.is_some() {
                tolerance.max(limits.tolerance)
            } else {
                tolerance
            };
            let extrapolate = solver == "quasi-newton";
            let chosen = IfosmondiOptions {
                tolerance,
                extrapolate,
                criterion: options.criterion,
                chosen,
            };
            let solver = nonlinear_solver(solver, options, unknowns)?;
            Box::new(Ifosmondi::new(
                connections,
                grid,
                chosen,
                solver,
                capabilities,
            ))
        }
        "f3ornits" => {
            let span = (scenario.start_time, scenario.stop_time);
            let longest = limits.steps.longest;
            let mut chosen = f3ornits::options(options, span.1 - span.0, capabilities);
            if !options.given.iter().any(|key| key == "max-step") {
                chosen.max_step = chosen.max_step.min(longest.max(chosen.min_step));
                chosen.first_step = chosen.first_step.min(chosen.max_step);
            }
            Box::new(F3ornits::new(connections, span, chosen, capabilities))
        }
        "missiles" => {
            let tolerance = is_adaptive(name, options).then_some(tolerance.max(limits.tolerance));
            let chosen = MissilesOptions {
                estimator: options.estimator,
                tolerance,
                bounds: limits.steps,
            };
            Box::new(Missiles::new(connections, grid, chosen, capabilities))
        }
        "dovetail" => {
            let tolerance = is_adaptive(name, options).then_some(tolerance.max(limits.tolerance));
            let chosen = DovetailOptions {
                tolerance,
                bounds: limits.steps,
                ..options.dovetail
            };
            Box::new(Dovetail::new(connections, grid, chosen, capabilities))
        }
        "monolithic" => {
            let refuse = |error: String| {
                Problem::general(format!("--method monolithic is for models of equations: {error}")).help(
                    "the other methods couple whatever there is; dovetail check lists those that this model permits",
                )
            };
            let definitions = scenario
                .definitions()
                .map_err(|error| refuse(error.to_string()))?;
            let equations = Monolithic::new(&definitions, connections)
                .map_err(|error| refuse(error.to_string()))?;
            Box::new(MonolithicRun::new(connections, grid, equations))
        }
        _ => Box::new(GaussSeidel::new(connections, grid)),
    })
}

/// What can be asked of systems whose answers come from solvers of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Errors smaller than this cannot be told from noise.
    pub tolerance: f64,
    /// Shorter steps move systems by chance; in longer ones a system that cannot report what happens in them may miss it.
    pub steps: StepBounds,
}

impl Limits {
    /// For these systems, over a run of length `span`.
    pub fn of(capabilities: &[Capabilities], span: f64) -> Self {
        let noise = capabilities
            .iter()
            .map(|c| c.precision.noise)
            .fold(0.0, f64::max);
        let resolution = capabilities
            .iter()
            .map(|c| c.precision.resolution)
            .fold(0.0, f64::max);
        // Co-Simulation FMUs without event mode: their solvers are not made for next to nothing, and what switches in them goes unsaid.
        let silent = capabilities.iter().any(|c| !c.presence.responds);
        let [least, longest] = if silent {
            [LEAST_STEP * span, LONGEST_STEP * span]
        } else {
            [0.0, f64::INFINITY]
        };
        let steps = StepBounds {
            shortest: (ABOVE_RESOLUTION * resolution).max(least),
            longest,
        };
        Self {
            tolerance: ABOVE_NOISE * noise,
            steps,
        }
    }
}

/// A tolerance that a step can keep is so many times the noise of what it is judged by; a step so many times what moves a system.
const ABOVE_NOISE: f64 = 100.0;
const ABOVE_RESOLUTION: f64 = 10.0;
/// The shortest step that Co-Simulation FMUs are asked for, as a part of the run.
const LEAST_STEP: f64 = 1e-8;
/// The longest step that they are asked for: that of methods with a fixed step, by default.
const LONGEST_STEP: f64 = 1.0 / 500.0;

/// What the solvers inside FMUs are asked for: far less than what the coupling is allowed to be off by, where a method of this name
/// knows that; none: what an FMU itself proposes.
pub(crate) fn fmu_tolerance(name: &str, options: &RunOptions) -> Option<f64> {
    if options
        .given
        .iter()
        .any(|key| key == "integrator-tolerance")
    {
        return Some(options.integrator_tolerance);
    }
    let default = match name {
        "f3ornits" => F3ornitsOptions::TOLERANCE,
        "ifosmondi" => DEFAULT_TOLERANCE,
        _ if is_adaptive(name, options) => DEFAULT_TOLERANCE,
        _ => return None,
    };
    Some((FMU_SHARE * options.tolerance.unwrap_or(default)).clamp(1e-12, 1e-4))
}

/// The tolerance that the method of this name keeps to, where it has one.
pub(crate) fn tolerance(name: &str, options: &RunOptions) -> Option<f64> {
    let default = match name {
        "f3ornits" => F3ornitsOptions::TOLERANCE,
        "ifosmondi" | "missiles" | "dovetail" => DEFAULT_TOLERANCE,
        _ => return None,
    };
    is_adaptive(name, options).then(|| options.tolerance.unwrap_or(default))
}

/// Whether the method of this name chooses its steps.
pub(crate) fn is_adaptive(name: &str, options: &RunOptions) -> bool {
    match name {
        "f3ornits" => true,
        "missiles" | "dovetail" => options.step.is_none(),
        // The paper's criterion goes with the paper's steps.
        "ifosmondi" => options.step.is_none() && options.criterion == Criterion::Range,
        _ => false,
    }
}

fn nonlinear_solver(
    name: &str,
    options: &RunOptions,
    size: usize,
) -> Result<Box<dyn NonlinearSolver>, Problem> {
    let line_search = NgmresOptions {
        selection: Selection::LineSearch,
        ..NgmresOptions::default()
    };
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
    solver
        .map(|solver| Box::new(solver) as Box<dyn NonlinearSolver>)
        .map_err(refused)
}

#[cfg(not(feature = "petsc"))]
fn petsc(_options: &str, _size: usize) -> Result<Box<dyn NonlinearSolver>, Problem> {
    Err(Problem::general("--solver petsc: this program was built without PETSc")
        .help("build it with --features petsc (on Debian that needs libpetsc-real-dev), or take another solver"))
}
