//! IFOSMONDI and IFOSMONDI-JFM on the papers' cases: counts, errors, order, smoothness, refusals.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{
    CAR, DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL, Measured, PUMP_AND_TANK, ROOMS, measure_run,
};
use dovetail_core::{Ending, Error, Exchange, Knot, Observer, Remedy};
use dovetail_scenario::{Choices, Scenario};

const STATES: [&str; 3] = ["body.v", "body.x", "plate.x"];
/// The papers' damper ratings, with the spectral radius √(1/D) of the fixed-point map.
const DAMPERS: [f64; 7] = [4.0, 1.2346, 1.0, 0.64, 0.25, 0.04, 0.01];

/// The test case of IFOSMONDI-JFM, section 5, as in its figure 8: ε = 1e-4, δt_ref = 1e-2.
fn figure_8(solver: &str, damper: f64) -> Measured {
    let scenario = DAMPING_REACTION.with(&[("plate.D", damper)]);
    let paper = [
        ("criterion", "paper"),
        ("step", "1e-2"),
        ("tolerance", "1e-4"),
    ];
    measure_run(
        &scenario,
        &[&[("method", "ifosmondi"), ("solver", solver)], &paper[..]].concat(),
    )
}

fn tight(scenario: &Scenario, solver: &str, step: &str, tolerance: &str) -> Measured {
    let choices = [
        ("method", "ifosmondi"),
        ("criterion", "paper"),
        ("solver", solver),
        ("step", step),
        ("tolerance", tolerance),
        ("integrator-tolerance", "1e-13"),
    ];
    measure_run(scenario, &choices)
}

fn integrations(done: &Measured) -> u64 {
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    assert_eq!(
        (done.end.statistics.steps, done.end.statistics.rejected),
        (1000, 0)
    );
    let counts: Vec<u64> = done.end.work.iter().map(|work| work.integrations).collect();
    assert_eq!(counts[0], counts[1], "every trial asks every system");
    counts[0]
}

#[test]
fn jacobian_free_solvers_converge_for_every_damper_within_their_counts() {
    // Measured elsewhere: Anderson 6000, Newton 6000 to 6700, NGMRES 7000, with the last
    // integration of a step not saved.
    for (solver, most) in [
        ("anderson", 5100),
        ("newton", 5700),
        ("ngmres", 6100),
        ("ngmres-linesearch", 13000),
    ] {
        for damper in DAMPERS {
            let done = figure_8(solver, damper);
            assert!(
                integrations(&done) <= most,
                "{solver}, D = {damper}: {}",
                integrations(&done)
            );
            let error = done.mean_l2(&STATES);
            assert!(
                damper < 0.64 || error <= 1.5e-5,
                "{solver}, D = {damper}: {error:e} %"
            );
        }
    }
}

#[test]
fn quasi_newton_needs_two_trials_a_step_and_is_no_less_accurate_than_newton() {
    for damper in DAMPERS {
        let (quasi, newton) = (figure_8("quasi-newton", damper), figure_8("newton", damper));
        assert!(
            integrations(&quasi) <= 2100,
            "D = {damper}: {}",
            integrations(&quasi)
        );
        let (ours, theirs) = (quasi.mean_l2(&STATES), newton.mean_l2(&STATES));
        assert!(
            ours <= theirs,
            "D = {damper}: {ours:e} % against {theirs:e} %"
        );
    }
}

#[test]
fn the_fixed_point_converges_where_its_map_contracts() {
    let count = integrations(&figure_8("fixed-point", 4.0));
    assert!((13_000..14_600).contains(&count), "{count}");
    assert!(integrations(&figure_8("fixed-point", 1.2346)) > 50_000);
}

#[test]
fn the_fixed_point_fails_where_its_map_expands_and_says_why() {
    for damper in [1.0, 0.64, 0.25, 0.01] {
        let done = figure_8("fixed-point", damper);
        let Err(error @ Error::NotConverged { .. }) = &done.end.ending else {
            panic!("{:?}", done.end.ending)
        };
        let text = error.to_string();
        assert!(text.contains("round the loop"), "D = {damper}: {text}");
        assert_eq!(error.remedies(), [Remedy::solver("quasi-newton")]);
        assert_eq!(done.end.reached, 0.0);
    }
}

#[test]
fn the_order_is_four() {
    let error = |step: &str| {
        tight(
            &DAMPING_REACTION.with(&[("plate.D", 0.64)]),
            "quasi-newton",
            step,
            "1e-10",
        )
        .mean_l2(&STATES)
    };
    let expected = [
        ("0.1", 9.4e-5),
        ("0.05", 5.9e-6),
        ("0.02", 1.5e-7),
        ("0.01", 9.4e-9),
    ];
    let errors: Vec<f64> = expected.iter().map(|(step, _)| error(step)).collect();
    for ((step, most), error) in expected.iter().zip(&errors) {
        assert!(error <= most, "step {step}: {error:e} %");
    }
    let order = (errors[0] / errors[3]).log10();
    assert!((order - 4.0).abs() < 0.1, "{order}");
}

#[test]
fn every_solver_finds_the_same_solution() {
    let scenario = DAMPING_REACTION.with(&[("plate.D", 0.25)]);
    let end = |solver: &str| {
        let done = tight(&scenario, solver, "0.1", "1e-11");
        *done.trajectory.column("body.x").unwrap().last().unwrap()
    };
    let reference = end("newton");
    for solver in ["quasi-newton", "anderson", "ngmres", "ngmres-linesearch"] {
        assert!((end(solver) - reference).abs() < 1e-9, "{solver}");
    }
}

#[test]
fn the_mechanical_case_and_predator_and_prey_reach_their_bars() {
    for solver in ["quasi-newton", "newton", "anderson"] {
        let mechanical =
            tight(&MECHANICAL.scenario(), solver, "1e-3", "1e-9").nrmse("left.position");
        assert!(mechanical <= 8e-7, "{solver}: {mechanical:e} %");
        let prey =
            tight(&LOTKA_VOLTERRA.scenario(), solver, "1e-3", "1e-9").nrmse("prey.population");
        assert!(prey <= 1e-10, "{solver}: {prey:e} %");
    }
}

#[test]
fn three_nonlinear_systems_with_a_loop_through_feedthrough_are_solved_with_order_four() {
    for solver in ["quasi-newton", "newton", "anderson", "ngmres"] {
        let error = |step: &str| {
            tight(&PUMP_AND_TANK.scenario(), solver, step, "1e-10").nrmse("valve.pressure")
        };
        let (coarse, fine) = (error("0.1"), error("0.05"));
        let order = (coarse / fine).log2();
        assert!(
            (order - 4.0).abs() < 0.1 && fine < 3e-6,
            "{solver}: {coarse:e}, {fine:e}, order {order}"
        );
    }
}

#[test]
fn the_controlled_car_keeps_its_speed() {
    let done = tight(&CAR.scenario(), "quasi-newton", "0.05", "1e-8");
    let speed = *done.trajectory.column("car.v").unwrap().last().unwrap();
    assert!((speed - 15.969_753_866).abs() < 1e-6, "{speed}");
}

/// Checks that every input leaves a communication time as it arrived there, in value and slope.
#[derive(Default)]
struct Smoothness {
    ends: Vec<Vec<Knot>>,
    worst: f64,
    steps: usize,
}

impl Observer for Smoothness {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        self.ends.resize(exchange.tasks.len(), vec![]);
        // The start of the run knows no slopes. A step that ends on an event is told as an instant
        // on its far side, with the values and slopes at which its inputs ended.
        let start = exchange.signals.is_empty();
        for task in exchange.tasks.iter().filter(|_| !start) {
            let gap = |a: f64, b: f64| (a - b).abs() / (1.0 + a.abs());
            for (end, signal) in self.ends[task.system]
                .iter()
                .zip(&task.inputs)
                .filter(|_| !task.step.is_instant())
            {
                let start = signal.at(0.0);
                self.worst = self
                    .worst
                    .max(gap(end.value, start.value))
                    .max(gap(end.slope, start.slope));
            }
            self.ends[task.system] = task
                .inputs
                .iter()
                .map(|signal| signal.at(task.step.size()))
                .collect();
            self.steps += 1;
        }
        Ok(())
    }
}

#[test]
fn inputs_are_smooth_at_every_communication_time() {
    for scenario in [
        DAMPING_REACTION.with(&[("plate.D", 0.64)]),
        LOTKA_VOLTERRA.scenario(),
        PUMP_AND_TANK.scenario(),
    ] {
        let mut choices = Choices::default();
        choices.set("method", "ifosmondi");
        choices.set("criterion", "paper");
        let options = scenario.options(&choices).unwrap();
        let (mut smoothness, never) = (Smoothness::default(), AtomicBool::new(false));
        scenario
            .run(&options, &mut [&mut smoothness], &never)
            .unwrap()
            .ending
            .unwrap();
        assert_eq!(smoothness.steps, 500 * scenario.connections.systems());
        assert!(
            smoothness.worst < 1e-9,
            "{}: {:e}",
            scenario.name,
            smoothness.worst
        );
    }
}

#[test]
fn a_system_without_rollback_is_refused_by_name() {
    let poor = MECHANICAL.edited(
        "[systems.right]\n",
        "[systems.right]\nrestrict = { rollback = false, linearization = false }\n",
    );
    let mut choices = Choices::default();
    choices.set("method", "ifosmondi");
    let refused = poor
        .check_method(&poor.options(&choices).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("`right`")
            && refused.contains("rollback")
            && refused.contains("gauss-seidel"),
        "{refused}"
    );
}

#[test]
fn what_a_system_lacks_is_substituted_and_said() {
    let restrict = "[systems.right]\nrestrict = { input-degree = 1, output-derivatives = false }\n";
    let poor = MECHANICAL.edited("[systems.right]\n", restrict);
    let done = tight(&poor, "quasi-newton", "1e-3", "1e-8");
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    let error = done.nrmse("left.position");
    assert!(
        error < 0.1,
        "{error} %: worse than with everything (8e-7 %), better than Jacobi (5.8 %)"
    );
    let said = done.end.warnings.iter().map(|w| format!("{w}\n"));
    let said: String = said.collect();
    assert!(
        said.contains("`right` takes inputs of degree 1 only")
            && said.contains("differences were used"),
        "{said}"
    );
}

#[test]
fn events_are_crossed_at_full_order() {
    let error =
        |step: &str| tight(&ROOMS.scenario(), "quasi-newton", step, "1e-11").nrmse("east.T6");
    let (coarse, fine) = (error("5"), error("2.5"));
    assert!((coarse / fine).log2() > 3.5, "{coarse:e}, {fine:e}");
}
