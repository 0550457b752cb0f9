//! The integrator meets its tolerance on problems with known solutions, and ends where there is
//! none.

mod problems;

use dovetail_numerics::{Hint, IntegrationError, Integrator, Tolerance, from_fn};
use problems::{
    Problem, decay, driven, hires, oscillator, prothero_robinson, robertson, robertson_late,
    van_der_pol, van_der_pol_with,
};

const TIGHT: Tolerance = Tolerance {
    relative: 1e-10,
    absolute: 1e-10,
    sizes: &[],
    largest: 0.0,
};

/// The error stays within a hundred tolerances, with `absolute` in proportion to the relative
/// tolerance.
fn assert_proportional(
    name: &str,
    make: fn() -> Problem,
    exponents: std::ops::RangeInclusive<i32>,
    absolute: f64,
) {
    for exponent in exponents {
        for stiff in [false, true] {
            let relative = 10f64.powi(-exponent);
            let mut problem = make();
            let tolerance = Tolerance {
                relative,
                absolute: absolute * relative,
                sizes: &[],
                largest: 0.0,
            };
            let (state, _) = problem
                .run_with(tolerance, Hint { stiff, step: 0.0 })
                .unwrap();
            let error = problem.relative_error(&state);
            assert!(
                error < 100.0 * relative,
                "{name}, stiff = {stiff}: {error:e} at a tolerance of {relative:e}"
            );
        }
    }
}

#[test]
fn errors_follow_the_tolerance_on_easy_problems() {
    assert_proportional("decay", decay, 3..=14, 1.0);
    assert_proportional("oscillator", oscillator, 3..=14, 1.0);
    assert_proportional("driven", driven, 3..=14, 1.0);
}

#[test]
fn errors_follow_the_tolerance_on_stiff_problems() {
    assert_proportional("Van der Pol", van_der_pol, 3..=14, 1.0);
    assert_proportional("Robertson", robertson, 3..=12, 1e-8);
    assert_proportional("Robertson, late", robertson_late, 3..=13, 1e-8);
    assert_proportional("HIRES", hires, 3..=14, 1e-8);
    assert_proportional(
        "Prothero and Robinson, 1e3",
        || prothero_robinson(1e3),
        3..=13,
        1.0,
    );
    assert_proportional(
        "Prothero and Robinson, 1e6",
        || prothero_robinson(1e6),
        3..=13,
        1.0,
    );
}

#[test]
fn van_der_pol_jumps_on_time_when_extremely_stiff() {
    // ε = 1e-12 (μ = 1e6): between jumps ln y − y²/2 grows with t; at |y| = 1 it jumps to |y| = 2.
    // The leading correction is O(ε^{2/3}): Grasman, Asymptotic Methods for Relaxation Oscillations
    // (1987), section 2.1.
    let mut rhs = from_fn(2, van_der_pol_with(1e-12));
    let mut state = [2.0, 0.0];
    Integrator::new(2)
        .integrate(&mut rhs, 0.0, 2.0, &mut state, TIGHT, Hint::default())
        .unwrap();
    let branch = |y: f64| y.ln() - 0.5 * y * y;
    let slow_time = branch(1.0) - branch(2.0);
    let since_jump = branch(state[0]) - branch(2.0);
    assert!(
        (since_jump - (2.0 - 2.0 * slow_time)).abs() < 1e-6,
        "{state:?}"
    );
}

#[test]
fn lotka_and_volterra_keep_their_invariant() {
    let mut rhs = from_fn(2, |_, x: &[f64], dx: &mut [f64]| {
        dx[0] = x[0] * (1.0 - x[1]);
        dx[1] = x[1] * (x[0] - 1.0);
    });
    let invariant = |x: &[f64; 2]| x[0] - x[0].ln() + x[1] - x[1].ln();
    let mut state = [0.5, 2.0];
    let before = invariant(&state);
    Integrator::new(2)
        .integrate(&mut rhs, 0.0, 100.0, &mut state, TIGHT, Hint::default())
        .unwrap();
    assert!((invariant(&state) - before).abs() < 1e-8);
}

#[test]
fn there_and_back_again_is_where_it_began() {
    let mut rhs = from_fn(2, |_, x: &[f64], dx: &mut [f64]| {
        (dx[0], dx[1]) = (x[1], -x[0].sin())
    });
    let mut integrator = Integrator::new(2);
    let mut state = [1.0, 0.0];
    integrator
        .integrate(&mut rhs, 3.0, 10.0, &mut state, TIGHT, Hint::default())
        .unwrap();
    integrator
        .integrate(&mut rhs, 10.0, 3.0, &mut state, TIGHT, Hint::default())
        .unwrap();
    assert!(
        (state[0] - 1.0).abs() < 1e-8 && state[1].abs() < 1e-8,
        "{state:?}"
    );
}

#[test]
fn a_short_span_late_in_time_is_integrated() {
    let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = -x[0]);
    let (start, end) = (1e9, 1e9 + 1e-6);
    let mut state = [1.0];
    Integrator::new(1)
        .integrate(&mut rhs, start, end, &mut state, TIGHT, Hint::default())
        .unwrap();
    assert!((state[0] - (start - end).exp()).abs() < 1e-15);
}

#[test]
fn a_start_at_zero_without_absolute_tolerance_is_no_trouble() {
    let mut rhs = from_fn(2, |_, x: &[f64], dx: &mut [f64]| {
        (dx[0], dx[1]) = (1.0, 0.0 * x[1])
    });
    let mut state = [0.0, 0.0];
    let tolerance = Tolerance {
        relative: 1e-10,
        absolute: 0.0,
        sizes: &[],
        largest: 0.0,
    };
    Integrator::new(2)
        .integrate(&mut rhs, 0.0, 1.0, &mut state, tolerance, Hint::default())
        .unwrap();
    assert!((state[0] - 1.0).abs() < 1e-13 && state[1] == 0.0);
}

#[test]
fn not_a_number_is_an_error_that_names_time_and_component() {
    for stiff in [false, true] {
        let mut rhs = from_fn(2, |_, _: &[f64], dx: &mut [f64]| {
            (dx[0], dx[1]) = (1.0, f64::NAN)
        });
        let hint = Hint { stiff, step: 0.0 };
        let result = Integrator::new(2).integrate(&mut rhs, 1.0, 2.0, &mut [0.0, 0.0], TIGHT, hint);
        assert_eq!(
            result,
            Err(IntegrationError::NotFinite {
                time: 1.0,
                component: 1
            })
        );
    }
}

#[test]
fn a_wall_in_the_domain_is_approached_and_reported() {
    for stiff in [false, true] {
        let mut rhs = from_fn(1, |time, _: &[f64], dx: &mut [f64]| {
            dx[0] = if time > 0.5 { f64::NAN } else { 1.0 }
        });
        let hint = Hint { stiff, step: 0.0 };
        let result = Integrator::new(1).integrate(&mut rhs, 0.0, 1.0, &mut [0.0], TIGHT, hint);
        let Err(IntegrationError::NotFinite { time, component: 0 }) = result else {
            panic!("{result:?}")
        };
        assert!((0.49..=0.500_001).contains(&time), "{time}");
    }
}

#[test]
fn a_pole_ends_in_an_error_before_it() {
    for (stiff, relative) in [
        (false, 1e-3),
        (false, 1e-10),
        (false, 1e-14),
        (true, 1e-3),
        (true, 1e-10),
        (true, 1e-14),
    ] {
        let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = x[0] * x[0]);
        let tolerance = Tolerance {
            relative,
            absolute: relative,
            sizes: &[],
            largest: 0.0,
        };
        let hint = Hint { stiff, step: 0.0 };
        let result = Integrator::new(1).integrate(&mut rhs, 0.0, 2.0, &mut [1.0], tolerance, hint);
        let time = match result.unwrap_err() {
            IntegrationError::NotFinite { time, .. }
            | IntegrationError::StepTooSmall { time, .. } => time,
            other => panic!("{other}"),
        };
        assert!((time - 1.0).abs() < 0.01, "{time}");
    }
}

#[test]
fn the_limit_of_steps_is_kept() {
    let mut integrator = Integrator::new(1);
    integrator.step_limit = 10;
    let mut rhs = from_fn(1, |time, _: &[f64], dx: &mut [f64]| {
        dx[0] = (1e3 * time).sin()
    });
    let result = integrator.integrate(&mut rhs, 0.0, 10.0, &mut [0.0], TIGHT, Hint::default());
    assert!(
        matches!(
            result,
            Err(IntegrationError::TooManySteps { limit: 10, .. })
        ),
        "{result:?}"
    );
}

#[test]
fn strange_hints_and_tolerances_do_no_harm() {
    for step in [f64::NAN, f64::INFINITY, -1.0, 1e300, 1e-300] {
        for relative in [0.0, f64::NAN, -1.0, 1e-6] {
            let tolerance = Tolerance {
                relative,
                absolute: 0.0,
                sizes: &[],
                largest: 0.0,
            };
            let mut problem = decay();
            let (state, _) = problem
                .run_with(tolerance, Hint { stiff: false, step })
                .unwrap();
            assert!(
                problem.relative_error(&state) < 1e-5,
                "step {step}, tolerance {relative}"
            );
        }
    }
}

#[test]
fn times_that_are_not_finite_end_in_an_error() {
    for (start, end) in [
        (0.0, f64::NAN),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
        (f64::NEG_INFINITY, 0.0),
    ] {
        let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = -x[0]);
        let result =
            Integrator::new(1).integrate(&mut rhs, start, end, &mut [1.0], TIGHT, Hint::default());
        assert!(result.is_err(), "{start} to {end}: {result:?}");
    }
}

#[test]
fn nothing_to_integrate_is_nothing_to_do() {
    let mut empty = from_fn(0, |_, _: &[f64], _: &mut [f64]| {});
    let outcome = Integrator::new(0)
        .integrate(&mut empty, 0.0, 1.0, &mut [], TIGHT, Hint::default())
        .unwrap();
    assert_eq!((outcome.steps, outcome.evaluations), (0, 0));
    let mut problem = Problem {
        end: 0.0,
        ..decay()
    };
    let hint = Hint {
        stiff: true,
        step: 0.25,
    };
    let (state, outcome) = problem.run_with(TIGHT, hint).unwrap();
    assert_eq!(
        (state[0], outcome.hint, outcome.evaluations),
        (1.0, hint, 0)
    );
}
