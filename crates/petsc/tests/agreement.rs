//! Our solvers and PETSc's on the same problems: the same solutions, and no more evaluations.

#![cfg(feature = "petsc")]

#[path = "../../numerics/tests/nonlinear_problems/mod.rs"]
mod nonlinear_problems;

use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, Ending, Equations, Newton, NewtonOptions, Ngmres, NgmresOptions,
    NonlinearSolver, Selection, SolveOutcome,
};
use dovetail_petsc::{Petsc, PetscError};
use nonlinear_problems::{
    BodyAndPlate, Count, DAMPINGS, Linear, broyden_tridiagonal, cosine, coupling, function,
    no_solution, powell_singular,
};

/// IFOSMONDI-JFM, tables 3 to 6.
const NEWTON: &str = "-snes_type newtonls -snes_linesearch_type bt -snes_linesearch_order 3";
const ANDERSON: &str = "-snes_type anderson -snes_anderson_m 30 -snes_anderson_beta 1";
const NGMRES: &str =
    "-snes_type ngmres -snes_ngmres_select_type difference -snes_ngmres_restart_type difference";
const NGMRES_LINE_SEARCH: &str =
    "-snes_type ngmres -snes_ngmres_select_type linesearch -snes_ngmres_restart_type difference";

/// Each of our solvers beside PETSc's of the same kind.
fn pairs(size: usize) -> Vec<(Box<dyn NonlinearSolver>, Petsc)> {
    let line_search = NgmresOptions {
        selection: Selection::LineSearch,
        ..NgmresOptions::default()
    };
    let ours: [Box<dyn NonlinearSolver>; 4] = [
        Box::new(Anderson::new(size, AndersonOptions::default())),
        Box::new(Newton::new(size, NewtonOptions::default())),
        Box::new(Ngmres::new(size, NgmresOptions::default())),
        Box::new(Ngmres::new(size, line_search)),
    ];
    let theirs = [ANDERSON, NEWTON, NGMRES, NGMRES_LINE_SEARCH];
    ours.into_iter()
        .zip(theirs.map(|options| Petsc::new(size, options).unwrap()))
        .collect()
}

fn simulated(solver: &mut dyn NonlinearSolver, damping: f64) -> (Count, f64) {
    let mut problem = BodyAndPlate::new(damping);
    (problem.simulate(solver, 1000), problem.position())
}

#[test]
fn body_and_plate_take_us_no_more_evaluations_than_petsc() {
    println!(
        "{:<20} {:>8} {:>8} {:>8}",
        "method", "damping", "ours", "PETSc"
    );
    for (mut ours, mut petsc) in pairs(6) {
        for damping in DAMPINGS {
            let (our_count, our_position) = simulated(&mut *ours, damping);
            let (count, position) = simulated(&mut petsc, damping);
            let note = if count.failures > 0 { " (fails)" } else { "" };
            println!(
                "{:<20} {damping:>8} {:>8} {:>8}{note}",
                ours.name(),
                our_count.evaluations,
                count.evaluations
            );
            assert_eq!(our_count.failures, 0, "{} at {damping}", ours.name());
            if count.failures == 0 {
                assert!(
                    our_count.evaluations <= count.evaluations,
                    "{} at {damping}",
                    ours.name()
                );
                assert!(
                    (our_position - position).abs() < 1e-2,
                    "{} at {damping}: {position}",
                    ours.name()
                );
            }
        }
    }
}

/// Solves from `start` with both and prints what it took.
fn both(
    ours: &mut dyn NonlinearSolver,
    petsc: &mut Petsc,
    mut make: impl FnMut() -> Box<dyn Equations>,
    start: &[f64],
) {
    let (mut x, mut y) = (start.to_vec(), start.to_vec());
    let mut residual = vec![0.0; start.len()];
    let our_outcome = ours.solve(&mut *make(), &mut x, &mut residual);
    let outcome = petsc.solve(&mut *make(), &mut y, &mut residual);
    println!("{:<20} {our_outcome:?} {outcome:?}", ours.name());
    assert!(our_outcome.converged(), "{our_outcome:?}");
    if outcome.converged() {
        assert!(our_outcome.evaluations <= outcome.evaluations);
        assert!(
            x.iter()
                .zip(&y)
                .all(|(x, y)| (x - y).abs() < 1e-3 * (1.0 + y.abs())),
            "{x:?} {y:?}"
        );
    }
}

#[test]
fn linear_couplings_have_the_same_solutions() {
    let solution = vec![1.0, 2.0, -0.5, 3.0, -1.0, 2.0];
    let start: Vec<f64> = solution.iter().map(|value| 1.01 * value + 0.01).collect();
    for (mut ours, mut petsc) in pairs(6) {
        for damping in DAMPINGS {
            let make = || {
                Box::new(Linear::new(coupling(damping, 0.01), solution.clone(), 1e-6))
                    as Box<dyn Equations>
            };
            both(&mut *ours, &mut petsc, make, &start);
        }
    }
}

#[test]
fn mildly_nonlinear_problems_have_the_same_solutions() {
    for size in [1, 2, 10, 50] {
        for (mut ours, mut petsc) in pairs(size) {
            both(
                &mut *ours,
                &mut petsc,
                || Box::new(cosine(size, 1e-8)),
                &vec![1.0; size],
            );
        }
    }
    let (mut newton, mut petsc) = pairs(10).swap_remove(1);
    both(
        &mut *newton,
        &mut petsc,
        || Box::new(broyden_tridiagonal(10, 1e-8)),
        &[-1.0; 10],
    );
}

fn solve(options: &str, equations: &mut dyn Equations, start: &[f64]) -> SolveOutcome {
    let (mut x, mut residual) = (start.to_vec(), vec![0.0; start.len()]);
    Petsc::new(start.len(), options)
        .unwrap()
        .solve(equations, &mut x, &mut residual)
}

#[test]
fn failures_are_outcomes() {
    for options in [ANDERSON, NEWTON, NGMRES, NGMRES_LINE_SEARCH] {
        let outcome = solve(options, &mut no_solution(), &[3.0]);
        assert!(!outcome.converged(), "{options}: {outcome:?}");
        let mut refusing = function(2, 1e-8, |_: &[f64], _: &mut [f64]| false);
        assert_eq!(
            solve(options, &mut refusing, &[1.0, 2.0]).ending,
            Ending::Failed,
            "{options}"
        );
        let mut blank = function(1, 1e-8, |x: &[f64], residual: &mut [f64]| {
            residual[0] = if x[0] == 1.0 { 0.5 } else { f64::NAN };
            true
        });
        assert_eq!(
            solve(options, &mut blank, &[1.0]).ending,
            Ending::Failed,
            "{options}"
        );
    }
}

#[test]
fn a_solver_survives_its_own_errors() {
    // PETSc's nonlinear GMRES runs into an error of LAPACK here, in the middle of a solve.
    let mut solver = Petsc::new(4, NGMRES).unwrap();
    let (mut x, mut residual) = ([3.0, -1.0, 0.0, 1.0], [0.0; 4]);
    let outcome = solver.solve(&mut powell_singular(1e-8), &mut x, &mut residual);
    assert_eq!(outcome.ending, Ending::Failed);
    println!("{}", solver.last_error().unwrap());
    for _ in 0..2 {
        let mut again = [1.0; 4];
        assert!(
            solver
                .solve(&mut cosine(4, 1e-8), &mut again, &mut residual)
                .converged()
        );
        assert!(solver.last_error().is_none());
    }
}

#[test]
fn no_unknowns_are_solved_by_one_evaluation() {
    for options in [ANDERSON, NEWTON, NGMRES] {
        let outcome = solve(
            options,
            &mut function(0, 1.0, |_: &[f64], _: &mut [f64]| true),
            &[],
        );
        assert!(
            outcome.converged() && outcome.evaluations == 1,
            "{options}: {outcome:?}"
        );
    }
}

#[test]
fn a_known_residual_is_not_evaluated_again() {
    let mut equations = cosine(2, 1e-8);
    let (mut x, mut residual) = ([1.0; 2], [0.0; 2]);
    let mut solver = Petsc::new(2, ANDERSON).unwrap();
    let cold = solver.solve(&mut equations, &mut x, &mut residual);
    x = [1.0; 2];
    equations.evaluate(&x, &mut residual);
    let warm = solver.solve_from(&mut equations, &mut x, &mut residual, true);
    assert!(warm.converged());
    assert_eq!(warm.evaluations + 1, cold.evaluations);
}

#[test]
fn unknown_methods_are_refused_in_words() {
    let refusal = Petsc::new(1, "-snes_type nonsense").err().unwrap();
    assert!(matches!(refusal, PetscError::Refused { .. }), "{refusal}");
    assert!(refusal.to_string().contains("nonsense"), "{refusal}");
    assert!(matches!(
        Petsc::new(1, "a\0").err(),
        Some(PetscError::ZeroByte { .. })
    ));
}

#[test]
fn panics_of_the_equations_reach_the_caller() {
    let panicked = std::panic::catch_unwind(|| {
        solve(
            ANDERSON,
            &mut function(1, 1e-8, |_: &[f64], _: &mut [f64]| panic!("on purpose")),
            &[1.0],
        )
    });
    assert_eq!(
        panicked.unwrap_err().downcast_ref::<&str>(),
        Some(&"on purpose")
    );
}

#[test]
fn threads_take_turns() {
    let solve_one = || solve(ANDERSON, &mut cosine(3, 1e-8), &[1.0; 3]);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(solve_one)).collect();
    let outcomes: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.converged() && *outcome == outcomes[0])
    );
}
