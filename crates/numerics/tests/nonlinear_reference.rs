//! The work on the test case of IFOSMONDI-JFM, section 5: a body and a plate, 1000 macro-steps, `ε
//! = 1e-4`.
//!
//! Counts are evaluations with the first of each step, which comes before the solver. The last one
//! is always at the solution, so that no step needs another integration.

mod nonlinear_problems;

use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres,
    NgmresOptions, NonlinearSolver, Selection,
};
use nonlinear_problems::{BodyAndPlate, Count, DAMPINGS, Linear, coupling};

/// Simulates for every damping, with and without weights.
fn counts(solver: &mut dyn NonlinearSolver) -> Vec<Count> {
    let problems = DAMPINGS
        .into_iter()
        .flat_map(|damping| [(damping, true), (damping, false)]);
    let count = |(damping, weighted)| {
        let mut problem = BodyAndPlate::new(damping);
        problem.weighted = weighted;
        problem.simulate(solver, 1000)
    };
    problems.map(count).collect()
}

fn all_take(solver: &mut dyn NonlinearSolver, evaluations: usize) {
    for count in counts(solver) {
        assert_eq!(
            count,
            Count {
                evaluations,
                failures: 0
            },
            "{}",
            solver.name()
        );
    }
}

#[test]
fn anderson_takes_four_evaluations_a_step() {
    all_take(&mut Anderson::new(6, AndersonOptions::default()), 5000);
}

#[test]
fn newton_takes_four_evaluations_a_step() {
    all_take(&mut Newton::new(6, NewtonOptions::default()), 5000);
}

#[test]
fn nonlinear_gmres_takes_five_evaluations_a_step() {
    all_take(&mut Ngmres::new(6, NgmresOptions::default()), 6000);
    let line_search = NgmresOptions {
        selection: Selection::LineSearch,
        ..NgmresOptions::default()
    };
    all_take(&mut Ngmres::new(6, line_search), 6000);
}

#[test]
fn the_fixed_point_fails_where_its_map_expands() {
    let mut solver = FixedPoint::new(6, FixedPointOptions::default());
    let count = |damping| BodyAndPlate::new(damping).simulate(&mut solver, 1000);
    let [contracting @ .., _, _, _, _, _] = DAMPINGS.map(count);
    let expected = [13616, 84107].map(|evaluations| Count {
        evaluations,
        failures: 0,
    });
    assert_eq!(contracting, expected);
    let expanding = |damping: f64| BodyAndPlate::new(damping).simulate(&mut solver, 1000);
    for count in [0.999, 0.64, 0.25, 0.04, 0.01].map(expanding) {
        assert!(count.failures == 1 && count.evaluations < 100, "{count:?}");
    }
}

#[test]
fn all_methods_simulate_the_same_motion() {
    let end = |solver: &mut dyn NonlinearSolver| {
        let mut problem = BodyAndPlate::new(4.0);
        problem.simulate(solver, 1000);
        problem.position()
    };
    let reference = end(&mut Newton::new(6, NewtonOptions::default()));
    for solver in [
        &mut FixedPoint::new(6, FixedPointOptions::default()) as &mut dyn NonlinearSolver,
        &mut Anderson::new(6, AndersonOptions::default()),
        &mut Ngmres::new(6, NgmresOptions::default()),
    ] {
        assert!((end(solver) - reference).abs() < 1e-4);
    }
}

/// Evaluations for the coupling whose slopes come from differences: no start annihilates any of its
/// directions.
fn linear_evaluations(solver: &mut dyn NonlinearSolver, damping: f64, weighted: bool) -> usize {
    let mut problem = Linear::new(
        coupling(damping, 0.01),
        vec![1.0, 2.0, -0.5, 3.0, -1.0, 2.0],
        1e-4,
    );
    problem.weighted = weighted;
    let mut x: Vec<f64> = problem
        .solution
        .iter()
        .map(|value| 1.01 * value + 0.01)
        .collect();
    let outcome = solver.solve(&mut problem, &mut x, &mut [0.0; 6]);
    assert!(outcome.converged() && outcome.at_last_evaluation);
    assert_eq!(outcome.evaluations, problem.evaluations);
    outcome.evaluations
}

#[test]
fn slopes_by_differences_take_one_evaluation_for_each_direction() {
    for damping in DAMPINGS {
        for weighted in [true, false] {
            let evaluations =
                |solver: &mut dyn NonlinearSolver| linear_evaluations(solver, damping, weighted);
            assert!(evaluations(&mut Anderson::new(6, AndersonOptions::default())) <= 7);
            assert!(evaluations(&mut Newton::new(6, NewtonOptions::default())) <= 7);
            assert!(evaluations(&mut Ngmres::new(6, NgmresOptions::default())) <= 11);
        }
    }
}
