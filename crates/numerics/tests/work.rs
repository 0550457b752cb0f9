//! The amount of work is pinned: a change here is a change of method, to be looked at.

mod problems;

use dovetail_numerics::{Hint, Integrator, Outcome, Tolerance, from_fn};
use problems::{
    Problem, decay, driven, hires, oscillator, prothero_robinson, robertson, van_der_pol,
};

const TIGHT: Tolerance = Tolerance {
    relative: 1e-10,
    absolute: 1e-10,
    sizes: &[],
    largest: 0.0,
};

fn work(mut problem: Problem, tolerance: Tolerance<'_>) -> [usize; 4] {
    let (_, outcome) = problem.run(tolerance).unwrap();
    [
        outcome.steps,
        outcome.rejected,
        outcome.evaluations,
        outcome.jacobians,
    ]
}

#[test]
fn the_work_on_easy_problems_is_pinned() {
    assert_eq!(work(decay(), TIGHT), [16, 0, 193, 0]);
    assert_eq!(work(oscillator(), TIGHT), [62, 0, 745, 0]);
    assert_eq!(work(driven(), TIGHT), [44, 9, 628, 0]);
}

#[test]
fn the_work_on_stiff_problems_is_pinned() {
    let small = Tolerance {
        relative: 1e-8,
        absolute: 1e-16,
        sizes: &[],
        largest: 0.0,
    };
    assert_eq!(work(prothero_robinson(1e6), TIGHT), [24, 7, 358, 1]);
    assert_eq!(work(robertson(), small), [57, 2, 785, 20]);
    assert_eq!(work(hires(), small), [140, 9, 2388, 32]);
    assert_eq!(work(van_der_pol(), TIGHT), [561, 14, 8477, 344]);
}

#[test]
fn a_short_span_takes_one_step_and_a_known_one_the_fewest_evaluations() {
    let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = -x[0]);
    let mut integrator = Integrator::new(1);
    let mut state = [1.0];
    let cold = integrator
        .integrate(&mut rhs, 0.0, 1e-3, &mut state, TIGHT, Hint::default())
        .unwrap();
    assert_eq!((cold.steps, cold.evaluations), (1, 13));
    let warm = integrator
        .integrate(&mut rhs, 1e-3, 2e-3, &mut state, TIGHT, cold.hint)
        .unwrap();
    assert_eq!((warm.steps, warm.evaluations), (1, 12));
}

#[test]
fn a_hint_spares_a_stiff_problem_its_start() {
    let mut problem = prothero_robinson(1e6);
    let (_, cold) = problem.run(TIGHT).unwrap();
    assert!(cold.hint.stiff);
    let (_, warm) = problem.run_with(TIGHT, cold.hint).unwrap();
    assert!(warm.evaluations < 60 && warm.hint.stiff, "{warm:?}");
}

#[test]
fn short_stiff_calls_learn_from_one_another() {
    // Each call is too short to be certain of stiffness.
    let mut rhs = from_fn(1, |time, x: &[f64], dx: &mut [f64]| {
        dx[0] = -1e5 * (x[0] - time.cos())
    });
    let mut integrator = Integrator::new(1);
    let (mut state, mut hint) = ([1.0], Hint::default());
    let mut evaluations = Vec::new();
    for n in 0..10 {
        let (start, end) = (f64::from(n) * 1e-3, f64::from(n + 1) * 1e-3);
        let outcome = integrator
            .integrate(&mut rhs, start, end, &mut state, TIGHT, hint)
            .unwrap();
        hint = outcome.hint;
        evaluations.push(outcome.evaluations);
    }
    assert!(hint.stiff && evaluations[9] < 30, "{evaluations:?}");
}

#[test]
fn an_easy_problem_leaves_the_implicit_method() {
    for mut problem in [decay(), oscillator(), driven()] {
        let (_, outcome) = problem
            .run_with(
                TIGHT,
                Hint {
                    stiff: true,
                    step: 0.0,
                },
            )
            .unwrap();
        assert!(!outcome.hint.stiff && outcome.jacobians <= 2, "{outcome:?}");
    }
}

#[test]
fn results_do_not_depend_on_earlier_calls() {
    let mut integrator = Integrator::new(2);
    let mut run = |problem: &mut Problem, stiff: bool| -> (Vec<u64>, Outcome) {
        let mut state = problem.initial.clone();
        let hint = Hint { stiff, step: 0.0 };
        let outcome = integrator
            .integrate(&mut *problem.rhs, 0.0, problem.end, &mut state, TIGHT, hint)
            .unwrap();
        (state.iter().map(|value| value.to_bits()).collect(), outcome)
    };
    let first = (run(&mut van_der_pol(), false), run(&mut oscillator(), true));
    let again = (run(&mut van_der_pol(), false), run(&mut oscillator(), true));
    assert_eq!(first, again);
}
