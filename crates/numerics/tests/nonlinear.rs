//! What each solver does on problems that are easy, hard or impossible, and how much work it takes.

mod nonlinear_problems;

use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, Ending, Equations, FixedPoint, FixedPointOptions, Newton,
    NewtonOptions, Ngmres, NgmresOptions, NonlinearSolver, Selection, SolveOutcome,
};
use nonlinear_problems::{
    DAMPINGS, Linear, broyden_tridiagonal, cosine, coupling, function, no_solution,
    powell_singular, random_matrix, rosenbrock_gradient, rotation,
};
use proptest::prelude::*;

/// Anderson, Newton and both kinds of nonlinear GMRES.
fn accelerated(size: usize) -> [Box<dyn NonlinearSolver>; 4] {
    let line_search = NgmresOptions {
        selection: Selection::LineSearch,
        ..NgmresOptions::default()
    };
    [
        Box::new(Anderson::new(size, AndersonOptions::default())),
        Box::new(Newton::new(size, NewtonOptions::default())),
        Box::new(Ngmres::new(size, NgmresOptions::default())),
        Box::new(Ngmres::new(size, line_search)),
    ]
}

/// The four above and the fixed point.
fn all(size: usize) -> Vec<Box<dyn NonlinearSolver>> {
    let fixed_point = Box::new(FixedPoint::new(size, FixedPointOptions::default()));
    std::iter::once(fixed_point as Box<dyn NonlinearSolver>)
        .chain(accelerated(size))
        .collect()
}

fn solve(
    solver: &mut dyn NonlinearSolver,
    equations: &mut dyn Equations,
    start: &[f64],
) -> (SolveOutcome, Vec<f64>) {
    let (mut x, mut residual) = (start.to_vec(), vec![0.0; start.len()]);
    let outcome = solver.solve(equations, &mut x, &mut residual);
    assert!(
        !outcome.converged() || outcome.at_last_evaluation && equations.converged(&x, &residual)
    );
    (outcome, x)
}

/// The evaluations each accelerated solver needs, all of them converging.
fn evaluations<E: Equations>(mut make: impl FnMut() -> E, start: &[f64]) -> [usize; 4] {
    accelerated(start.len()).map(|mut solver| {
        let (outcome, _) = solve(&mut *solver, &mut make(), start);
        assert!(outcome.converged(), "{} {outcome:?}", solver.name());
        outcome.evaluations
    })
}

fn rotating(size: usize, radius: f64) -> Linear {
    Linear::new(
        rotation(size, radius),
        (0..size).map(|k| 1.0 + k as f64).collect(),
        1e-6,
    )
}

#[test]
fn rotations_take_as_many_evaluations_as_they_have_eigenvalues() {
    for radius in [0.5, 1.25, 2.0, 5.0, 10.0] {
        for size in [2, 10, 50] {
            assert_eq!(
                evaluations(|| rotating(size, radius), &vec![0.0; size]),
                [4, 4, 5, 5],
                "{size} {radius}"
            );
        }
        assert_eq!(
            evaluations(|| rotating(1, radius), &[0.0]),
            [3, 3, 3, 3],
            "{radius}"
        );
        assert_eq!(
            evaluations(|| rotating(5, radius), &[0.0; 5]),
            [5, 5, 7, 7],
            "{radius}"
        );
    }
}

#[test]
fn the_fixed_point_converges_where_its_map_contracts() {
    let mut solver = FixedPoint::new(10, FixedPointOptions::default());
    for (radius, expected) in [(0.1, 7), (0.5, 22), (0.9, 138)] {
        let (outcome, _) = solve(&mut solver, &mut rotating(10, radius), &[0.0; 10]);
        assert!(outcome.converged());
        assert_eq!(
            (outcome.evaluations, outcome.iterations),
            (expected, expected - 1),
            "{radius}"
        );
    }
}

#[test]
fn the_fixed_point_gives_up_where_its_map_does_not_contract() {
    let mut solver = FixedPoint::new(2, FixedPointOptions::default());
    let mut ending = |radius| solve(&mut solver, &mut rotating(2, radius), &[0.0; 2]).0;
    assert_eq!(ending(1.0).ending, Ending::Stagnated);
    for radius in [1.01, 1.25, 10.0] {
        let outcome = ending(radius);
        assert_eq!(outcome.ending, Ending::Diverged);
        assert!(outcome.evaluations <= 30);
    }
}

#[test]
fn mild_nonlinearity_costs_little() {
    for size in [1, 2, 10, 50] {
        assert_eq!(
            evaluations(|| cosine(size, 1e-8), &vec![1.0; size]),
            [6, 7, 7, 7],
            "{size}"
        );
    }
}

/// How each accelerated solver ends, and after how many evaluations.
fn records<E: Equations>(mut make: impl FnMut() -> E, start: &[f64]) -> [(Ending, usize); 4] {
    accelerated(start.len()).map(|mut solver| {
        let (outcome, _) = solve(&mut *solver, &mut make(), start);
        (outcome.ending, outcome.evaluations)
    })
}

#[test]
fn broyden_tridiagonal_is_too_much_for_anderson_alone() {
    use Ending::{Converged, IterationLimit};
    let records = |size| records(|| broyden_tridiagonal(size, 1e-8), &vec![-1.0; size]);
    assert_eq!(
        records(10),
        [
            (IterationLimit, 51),
            (Converged, 45),
            (Converged, 29),
            (Converged, 30)
        ]
    );
    assert_eq!(
        records(50),
        [
            (IterationLimit, 51),
            (Converged, 48),
            (Converged, 41),
            (Converged, 40)
        ]
    );
}

#[test]
fn rosenbrocks_valley_is_found_where_it_is_not_too_narrow() {
    use Ending::{Converged, IterationLimit, Stagnated};
    let records = |strength| records(|| rosenbrock_gradient(strength, 1e-8), &[-1.2, 1.0]);
    assert_eq!(
        records(0.2),
        [
            (Stagnated, 46),
            (Converged, 16),
            (Converged, 29),
            (Converged, 25)
        ]
    );
    assert_eq!(
        records(100.0).map(|record| record.0),
        [Stagnated, IterationLimit, IterationLimit, IterationLimit]
    );
}

#[test]
fn a_singular_solution_is_approached_by_all() {
    let start = [3.0, -1.0, 0.0, 1.0];
    assert_eq!(
        evaluations(|| powell_singular(1e-8), &start),
        [19, 80, 67, 67]
    );
}

#[test]
fn newton_backs_away_from_where_nothing_can_be_evaluated() {
    let mut logarithm = function(1, 1e-10, |x: &[f64], residual: &mut [f64]| {
        residual[0] = x[0].ln();
        x[0] > 0.0
    });
    let (outcome, x) = solve(
        &mut Newton::new(1, NewtonOptions::default()),
        &mut logarithm,
        &[5.0],
    );
    assert!(
        outcome.converged() && (x[0] - 1.0).abs() < 1e-9,
        "{outcome:?}"
    );
}

#[test]
fn equations_without_a_solution_end() {
    for (ending, _) in records(no_solution, &[3.0]) {
        assert!(
            matches!(
                ending,
                Ending::Stagnated | Ending::IterationLimit | Ending::Diverged
            ),
            "{ending:?}"
        );
    }
    let (outcome, _) = solve(
        &mut FixedPoint::new(1, FixedPointOptions::default()),
        &mut no_solution(),
        &[3.0],
    );
    assert_eq!(outcome.ending, Ending::Diverged);
}

#[test]
fn what_is_not_finite_or_refused_fails() {
    for mut solver in all(2) {
        for allowed in 0..4 {
            let mut left = allowed;
            let mut blank = function(2, 1e-12, move |x: &[f64], residual: &mut [f64]| {
                left -= 1;
                residual[0] = if left >= 0 {
                    x[0] - x[1].cos()
                } else {
                    f64::NAN
                };
                residual[1] = x[1].exp();
                true
            });
            assert_eq!(
                solve(&mut *solver, &mut blank, &[1.0; 2]).0.ending,
                Ending::Failed,
                "{}",
                solver.name()
            );
        }
        let mut refusing = function(2, 1e-8, |_: &[f64], _: &mut [f64]| false);
        let (outcome, _) = solve(&mut *solver, &mut refusing, &[1.0; 2]);
        assert_eq!(
            (outcome.ending, outcome.evaluations),
            (Ending::Failed, 1),
            "{}",
            solver.name()
        );
    }
}

#[test]
fn no_unknowns_are_solved_by_one_evaluation() {
    for mut solver in all(0) {
        let (outcome, _) = solve(
            &mut *solver,
            &mut function(0, 1.0, |_: &[f64], _: &mut [f64]| true),
            &[],
        );
        assert_eq!(
            (outcome.ending, outcome.iterations, outcome.evaluations),
            (Ending::Converged, 0, 1)
        );
    }
}

/// Equations that are never content.
struct Insatiable;

impl Equations for Insatiable {
    fn size(&self) -> usize {
        1
    }

    fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
        residual[0] = x[0];
        true
    }

    fn converged(&self, _: &[f64], _: &[f64]) -> bool {
        false
    }
}

#[test]
fn a_criterion_that_cannot_be_met_ends_the_search() {
    for mut solver in all(1) {
        let (outcome, _) = solve(&mut *solver, &mut Insatiable, &[1.0]);
        assert_eq!(outcome.ending, Ending::Stagnated, "{}", solver.name());
        assert!(outcome.evaluations < 50, "{}", solver.name());
    }
}

#[test]
fn a_known_residual_saves_its_evaluation() {
    for mut solver in all(3) {
        let (cold, _) = solve(&mut *solver, &mut cosine(3, 1e-8), &[1.0; 3]);
        let (mut x, mut residual) = ([1.0; 3], [0.0; 3]);
        cosine(3, 1e-8).evaluate(&x, &mut residual);
        let warm = solver.solve_from(&mut cosine(3, 1e-8), &mut x, &mut residual, true);
        assert_eq!(
            SolveOutcome {
                evaluations: warm.evaluations + 1,
                ..warm
            },
            cold,
            "{}",
            solver.name()
        );
        let again = solver.solve_from(&mut cosine(3, 1e-8), &mut x, &mut residual, true);
        assert!(again.converged() && again.evaluations == 0 && again.iterations == 0);
    }
}

#[test]
fn the_last_evaluation_is_at_the_solution_and_none_is_repeated() {
    for mut solver in all(2) {
        let mut visited: Vec<Vec<f64>> = Vec::new();
        let mut recording = function(2, 1e-8, |x: &[f64], residual: &mut [f64]| {
            assert!(
                !visited.iter().any(|earlier| earlier == x),
                "evaluated twice"
            );
            visited.push(x.to_vec());
            residual.copy_from_slice(&[x[0] - 0.3 * x[1].sin() - 1.0, x[1] + 0.4 * x[0]]);
            true
        });
        let (outcome, x) = solve(&mut *solver, &mut recording, &[0.0; 2]);
        assert!(outcome.converged() && outcome.evaluations == visited.len());
        assert_eq!(visited.last(), Some(&x));
    }
}

#[test]
fn iteration_limits_are_kept() {
    let newton = NewtonOptions {
        iteration_limit: 2,
        ..NewtonOptions::default()
    };
    let anderson = AndersonOptions {
        iteration_limit: 2,
        ..AndersonOptions::default()
    };
    let ngmres = NgmresOptions {
        iteration_limit: 2,
        ..NgmresOptions::default()
    };
    let limited: [Box<dyn NonlinearSolver>; 4] = [
        Box::new(FixedPoint::new(
            10,
            FixedPointOptions { iteration_limit: 2 },
        )),
        Box::new(Anderson::new(10, anderson)),
        Box::new(Ngmres::new(10, ngmres)),
        Box::new(Newton::new(10, newton)),
    ];
    for mut solver in limited {
        let (outcome, _) = solve(
            &mut *solver,
            &mut broyden_tridiagonal(10, 1e-12),
            &[-1.0; 10],
        );
        assert_eq!(
            (outcome.ending, outcome.iterations),
            (Ending::IterationLimit, 2),
            "{}",
            solver.name()
        );
    }
}

#[test]
fn earlier_solves_leave_no_trace() {
    for mut solver in all(2) {
        let fresh = solve(&mut *solver, &mut cosine(2, 1e-8), &[1.0; 2]);
        solve(
            &mut *solver,
            &mut rosenbrock_gradient(100.0, 1e-8),
            &[-1.2, 1.0],
        );
        assert_eq!(
            solve(&mut *solver, &mut cosine(2, 1e-8), &[1.0; 2]),
            fresh,
            "{}",
            solver.name()
        );
    }
}

#[test]
fn units_that_differ_by_many_orders_are_bridged_by_weights() {
    // The same rotation with one unknown in units a thousand million times smaller.
    let mut matrix = rotation(2, 5.0);
    (matrix[0][1], matrix[1][0]) = (1e9 * matrix[0][1], 1e-9 * matrix[1][0]);
    let scaled = || Linear {
        weighted: true,
        ..Linear::new(matrix.clone(), vec![1e9, 1.0], 1e-6)
    };
    assert_eq!(evaluations(scaled, &[0.9e9, 0.9]), [4, 4, 5, 5]);
}

#[test]
fn noise_well_below_the_tolerance_does_no_harm() {
    for damping in DAMPINGS {
        for mut solver in accelerated(6) {
            let solution = vec![1.0, 2.0, -0.5, 3.0, -1.0, 2.0];
            let start: Vec<f64> = solution.iter().map(|value| 1.01 * value + 0.01).collect();
            let mut exact = Linear::new(coupling(damping, 0.01), solution, 1e-4);
            let mut noise = random_matrix(200, 7).into_iter();
            let mut noisy = function(6, 1e-4, |x: &[f64], residual: &mut [f64]| {
                let noise = noise.next().unwrap();
                let evaluated = exact.evaluate(x, residual);
                residual
                    .iter_mut()
                    .zip(noise)
                    .for_each(|(residual, noise)| *residual += 1e-7 * noise);
                evaluated
            });
            let (outcome, _) = solve(&mut *solver, &mut noisy, &start);
            assert!(
                outcome.converged() && outcome.evaluations <= 25,
                "{} {damping} {outcome:?}",
                solver.name()
            );
        }
    }
}

proptest! {
    #[test]
    fn well_conditioned_linear_problems_take_one_evaluation_per_unknown(
        size in 1..13_usize,
        seed: u64,
    ) {
        // Row sums below one half keep `1 − M` between one half and three halves.
        let mut matrix = random_matrix(size, seed);
        for entry in matrix.iter_mut().flatten() {
            *entry = 0.5 * *entry / size as f64;
        }
        let solution: Vec<f64> = random_matrix(size, !seed).swap_remove(0);
        for mut solver in accelerated(size) {
            let mut problem = Linear::new(matrix.clone(), solution.clone(), 1e-9);
            let (outcome, x) = solve(&mut *solver, &mut problem, &vec![0.0; size]);
            prop_assert!(outcome.converged(), "{} {outcome:?}", solver.name());
            prop_assert!(outcome.evaluations <= 2 * size + 3, "{} {outcome:?}", solver.name());
            prop_assert!(x.iter().zip(&solution).all(|(x, solution)| (x - solution).abs() < 1e-8));
        }
    }

    #[test]
    fn expanding_linear_problems_are_solved_too(
        size in 2..9_usize,
        seed: u64,
        radius in 1.5..10.0_f64,
    ) {
        // A rotation seen along random axes close to the original ones.
        let tilt = random_matrix(size, seed);
        let turn = rotation(size, radius);
        let entry = |row: usize, column: usize| turn[row][column] + 0.1 * tilt[row][column];
        let matrix: Vec<Vec<f64>> =
            (0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect();
        for mut solver in accelerated(size) {
            let mut problem = Linear::new(matrix.clone(), vec![1.0; size], 1e-6);
            let (outcome, _) = solve(&mut *solver, &mut problem, &vec![0.0; size]);
            prop_assert!(outcome.converged(), "{} {outcome:?}", solver.name());
            prop_assert!(outcome.evaluations <= 2 * size + 5, "{} {outcome:?}", solver.name());
        }
    }
}
