//! Jacobi and Gauss-Seidel on the papers' cases: the errors that the papers print, and the counts.

use dovetail_cases::{
    BEHAVIOUR_CHANGE, CAR, DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL, Measured, measure_run,
    ring,
};
use dovetail_core::{Ending, Error};
use dovetail_scenario::Scenario;

fn run(scenario: &Scenario, method: &str, step: &str) -> Measured {
    measure_run(
        scenario,
        &[
            ("method", method),
            ("step", step),
            ("integrator-tolerance", "1e-12"),
        ],
    )
}

fn assert_within(percent: f64, value: f64, expected: f64) {
    assert!(
        (value - expected).abs() <= percent / 100.0 * expected,
        "{value} is not {expected} to {percent} %"
    );
}

#[test]
fn jacobi_has_the_printed_error_on_the_mechanical_case() {
    // MISSILES, table 4: 5.80 and 0.293 %.
    assert_within(
        0.1,
        run(&MECHANICAL.scenario(), "jacobi", "1e-3").nrmse("left.position"),
        5.801,
    );
    assert_within(
        0.1,
        run(&MECHANICAL.scenario(), "jacobi", "1e-4").nrmse("left.position"),
        0.2933,
    );
}

#[test]
fn gauss_seidel_is_five_times_better_there() {
    assert_within(
        0.5,
        run(&MECHANICAL.scenario(), "gauss-seidel", "1e-3").nrmse("left.position"),
        1.132,
    );
    assert_within(
        0.5,
        run(&MECHANICAL.scenario(), "gauss-seidel", "1e-4").nrmse("left.position"),
        0.0972,
    );
}

#[test]
fn jacobi_has_the_printed_error_on_predator_and_prey() {
    // MISSILES, table 6: 0.138 and 0.0138 %.
    assert_within(
        0.1,
        run(&LOTKA_VOLTERRA.scenario(), "jacobi", "1e-3").nrmse("prey.population"),
        0.1376,
    );
    assert_within(
        0.1,
        run(&LOTKA_VOLTERRA.scenario(), "jacobi", "1e-4").nrmse("prey.population"),
        0.01372,
    );
}

#[test]
fn both_are_of_order_one() {
    for method in ["jacobi", "gauss-seidel"] {
        let error = |step: &str| run(&BEHAVIOUR_CHANGE.scenario(), method, step).nrmse("left.x");
        let order = (error("0.02") / error("0.01")).log2();
        assert!((order - 1.0).abs() < 0.05, "{method}: order {order}");
    }
}

#[test]
fn every_system_is_integrated_once_a_step() {
    for method in ["jacobi", "gauss-seidel"] {
        let done = run(&LOTKA_VOLTERRA.scenario(), method, "0.01");
        assert_eq!(done.end.statistics.steps, 2000);
        assert_eq!(done.end.statistics.rejected, 0);
        assert!(done.end.work.iter().all(|work| (
            work.integrations,
            work.trials,
            work.linearizations
        ) == (2000, 0, 0)));
        assert_eq!(done.end.reached, 20.0);
    }
}

#[test]
fn the_controlled_car_runs_away_because_a_held_position_has_no_slope() {
    let done = run(&CAR.scenario(), "jacobi", "0.01");
    let speed = done.trajectory.column("car.v").unwrap();
    assert!(matches!(done.end.ending, Ok(Ending::Finished)));
    assert!(*speed.last().unwrap() > 200.0);
}

#[test]
fn damping_reaction_converges_for_a_strong_damper_and_diverges_for_a_weak_one() {
    let done = run(
        &DAMPING_REACTION.with(&[("plate.D", 4.0)]),
        "jacobi",
        "0.01",
    );
    assert!(matches!(done.end.ending, Ok(Ending::Finished)));
    assert!(done.nrmse("body.x") < 0.5);
    for step in ["0.02", "0.01", "0.001"] {
        let done = run(&DAMPING_REACTION.with(&[("plate.D", 0.64)]), "jacobi", step);
        let Err(Error::Diverged { growth, time, .. }) = done.end.ending else {
            panic!("{:?}", done.end.ending)
        };
        assert!(
            (growth - 1.25).abs() < 0.05,
            "the spectral radius is 1.25, the growth {growth}"
        );
        assert!(
            time < 2.0 && done.trajectory.times().len() > 50,
            "what was computed is kept"
        );
    }
}

#[test]
fn a_ring_conserves_its_sum_to_rounding_under_jacobi() {
    for n in [2, 10, 100] {
        let done = run(&ring(n), "jacobi", "0.01");
        let last = done.trajectory.times().len() - 1;
        let sum: f64 = (0..n)
            .map(|i| done.trajectory.column(&format!("s{i}.x")).unwrap()[last])
            .sum();
        assert!((sum - 1.0).abs() < 1e-13, "n = {n}: {sum}");
    }
}

#[test]
fn equal_runs_give_equal_bits() {
    for (scenario, step) in [
        (LOTKA_VOLTERRA.scenario(), "0.013"),
        (DAMPING_REACTION.scenario(), "0.0127"),
    ] {
        let (one, other) = (
            run(&scenario, "jacobi", step),
            run(&scenario, "jacobi", step),
        );
        for (name, column) in one.trajectory.columns() {
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(column), bits(other.trajectory.column(name).unwrap()));
        }
    }
}

#[test]
fn a_known_event_between_grid_times_is_met() {
    let done = run(&BEHAVIOUR_CHANGE.scenario(), "jacobi", "0.3");
    let times = done.trajectory.times();
    assert!(times.contains(&100.0));
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(
        done.end.statistics.steps, 668,
        "667 of the grid, and one cut in two"
    );
}
