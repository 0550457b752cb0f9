//! Where the engine's own method could break: eleven rough problems beside IFOSMONDI-JFM, and the
//! limits of stability.

use dovetail_cases::{Measured, ROUGH, Rough, connections, measure_run, model};
use dovetail_core::{Ending, Remedy};
use dovetail_scenario::Scenario;

fn worst(scenario: &Scenario, done: &Measured) -> f64 {
    let states = scenario
        .connections
        .interfaces()
        .iter()
        .flat_map(|i| i.states.iter().map(|state| i.qualified(state)));
    states.map(|state| done.nrmse(&state)).fold(0.0, f64::max)
}

fn run(scenario: &Scenario, step: &str, more: &[(&str, &str)]) -> (f64, u64) {
    let done = measure_run(
        scenario,
        &[&[("step", step), ("integrator-tolerance", "1e-12")], more].concat(),
    );
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{}: {:?}",
        scenario.name,
        done.end.ending
    );
    (worst(scenario, &done), done.end.work[0].integrations)
}

/// Error and cost of the engine's method as parts of those of IFOSMONDI-JFM with Anderson, on each
/// problem.
fn compared(part: f64, model: impl Fn(&Rough) -> Scenario) -> Vec<(f64, f64)> {
    let compare = |problem: &Rough| {
        let step = format!("{:e}", problem.stop_time / part);
        let iterated = [
            ("method", "ifosmondi"),
            ("solver", "anderson"),
            ("tolerance", "1e-6"),
        ];
        let (error, cost) = run(&problem.scenario(), &step, &iterated);
        let (own_error, own_cost) = run(&model(problem), &step, &[("method", "predictive")]);
        (own_error / error, own_cost as f64 / cost as f64)
    };
    ROUGH.iter().map(compare).collect()
}

#[test]
fn rough_problems_with_rollback_are_at_least_as_accurate_as_iterated_for_fewer_integrations() {
    let mut costs = Vec::new();
    for part in [100.0, 400.0] {
        let all = compared(part, Rough::scenario);
        let better = all.iter().filter(|(error, _)| *error <= 1.0).count();
        assert!(better >= 9, "at 1/{part}: {all:?}");
        costs.extend(all.iter().map(|(_, cost)| *cost));
    }
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    assert!(mean <= 0.4, "{mean}: {costs:?}");
}

/// Whether a problem switches: with rollback, iterations end their steps where it does, and are no
/// measure for a method that cannot go back.
fn switches(problem: &Rough) -> bool {
    let scenario = problem.scenario();
    scenario.jumping().is_some() || scenario.bending().is_some()
}

#[test]
fn smooth_rough_problems_without_rollback_are_at_most_twice_as_wrong() {
    for part in [100.0, 400.0] {
        let all = compared(part, Rough::without_rollback);
        let smooth = ROUGH.iter().zip(&all).filter(|(rough, _)| !switches(rough));
        let errors: Vec<f64> = smooth.map(|(_, (error, _))| *error).collect();
        let good = errors.iter().filter(|error| **error <= 2.0).count();
        assert!(
            errors.len() >= 5 && good + 2 >= errors.len(),
            "at 1/{part}: {errors:?}"
        );
    }
}

/// Two masses without any damping, coupled by a spring: force against displacement.
fn two_masses(stop: f64) -> Scenario {
    let text = "[systems.left]\ninputs = { force = 0.0 }\nstates = { x = 1.0, v = 0.0 }\n\
        equations = \"\"\"\nder(x) = v\nder(v) = force - x\n\"\"\"\n\
        outputs = { position = \"x\" }\n\
        [systems.right]\ninputs = { position = 1.0 }\nstates = { x = -0.5, v = 0.0 }\n\
        equations = \"\"\"\nder(x) = v\nder(v) = 2 * (position - x) - x\n\"\"\"\n\
        outputs = { force = \"2 * (x - position)\" }\n";
    model(
        stop,
        &(text.to_owned()
            + &connections(&[
                "left.position -> right.position",
                "right.force -> left.force",
            ])),
    )
}

#[test]
fn the_undamped_pair_is_stable_up_to_three_radians_a_step() {
    // The faster of its two frequencies is √5.
    let fast = 5f64.sqrt();
    for inputs in ["cubic", "quintic"] {
        for angle in [0.5, 1.0, 2.0, 2.5, 3.0] {
            let step = angle / fast;
            let scenario = two_masses(2000.0 * step);
            let choices = [
                ("method", "predictive"),
                ("inputs", inputs),
                ("step", &format!("{step:e}")),
            ];
            let done = measure_run(&scenario, &choices);
            assert!(
                matches!(done.end.ending, Ok(Ending::Finished)),
                "{:?}",
                done.end.ending
            );
            let largest = done
                .trajectory
                .column("left.x")
                .unwrap()
                .iter()
                .fold(0.0, |l: f64, x| l.max(x.abs()));
            assert!(largest < 2.0, "{inputs} at {angle}: {largest}");
        }
    }
}

#[test]
fn one_stiff_system_is_followed_whatever_its_eigenvalue() {
    for product in [10.0, 1e2, 1e3, 1e4] {
        let (step, rate) = (0.05, product / 0.05);
        let text = format!(
            "[systems.stiff]\ninputs = {{ u = 0.0 }}\nparameters = {{ l = {rate:?} }}\n\
             states = {{ x = 0.5 }}\n\
             equations = \"der(x) = l * (u - x)\"\noutputs = {{ x = \"x\" }}\n\
             [systems.slow]\ninputs = {{ x = 0.5 }}\nstates = {{ z = 1.0, w = 0.0 }}\n\
             equations = \"\"\"\nder(z) = w\nder(w) = -4 * x - 0.1 * w\n\"\"\"\n\
             outputs = {{ z = \"z\" }}\n{}",
            connections(&["stiff.x -> slow.x", "slow.z -> stiff.u"])
        );
        let scenario = model(20.0, &text);
        let choices = [
            ("method", "predictive"),
            ("step", &step.to_string()),
            ("integrator-tolerance", "1e-12"),
        ];
        let done = measure_run(&scenario, &choices);
        // It starts out of place, and gets there within the first step.
        assert!(
            worst(&scenario, &done) < 0.5,
            "at {product}: {:e}",
            worst(&scenario, &done)
        );
    }
}

/// A loop whose gain creeps towards one: what goes round is magnified without bound.
fn nearly_singular(more: &str) -> Scenario {
    let text = format!(
        "[systems.a]\ninputs = {{ u = 0.0 }}\nstates = {{ x = 1.0 }}\n\
         {more}equations = \"der(x) = -x\"\n\
         outputs = {{ y = \"0.9999 * min(time, 1) * u + x\" }}\n\
         [systems.b]\ninputs = {{ y = 0.0 }}\nequations = \"\"\noutputs = {{ u = \"y\" }}\n{}",
        connections(&["a.y -> b.y", "b.u -> a.u"])
    );
    model(2.0, &text)
}

#[test]
fn it_says_by_itself_when_another_method_should_be_used_and_auto_heeds_that() {
    for (more, other) in [
        ("", "ifosmondi"),
        ("restrict = { rollback = false }\n", "missiles"),
    ] {
        let scenario = nearly_singular(more);
        let asked = measure_run(&scenario, &[("method", "predictive"), ("step", "0.02")]);
        let advice = format!("{other} should be used instead");
        assert!(
            asked
                .end
                .warnings
                .iter()
                .any(|warning| warning.text.contains(&advice)
                    && warning.remedies[0] == Remedy::method(other)),
            "{:?}",
            asked.end.warnings
        );
        let chosen = measure_run(&scenario, &[("method", "auto"), ("step", "0.02")]);
        assert!(
            matches!(chosen.end.ending, Ok(Ending::Finished)),
            "{:?}",
            chosen.end.ending
        );
        let taken = format!("{other} has taken over");
        assert!(
            chosen
                .end
                .warnings
                .iter()
                .any(|warning| warning.text.contains(&taken)),
            "{:?}",
            chosen.end.warnings
        );
        assert_eq!(chosen.end.quality.estimated_error, None);
        assert!(
            worst(&scenario, &chosen) < 1e-3,
            "{:e}",
            worst(&scenario, &chosen)
        );
    }
}

#[test]
fn with_chosen_steps_rough_problems_come_to_an_end_near_their_tolerance() {
    let mut errors = Vec::new();
    for problem in &ROUGH {
        let scenario = problem.scenario();
        let choices = [
            ("method", "predictive"),
            ("tolerance", "1e-4"),
            ("integrator-tolerance", "1e-12"),
        ];
        let done = measure_run(&scenario, &choices);
        assert!(
            matches!(done.end.ending, Ok(Ending::Finished)),
            "{}: {:?}",
            problem.name,
            done.end.ending
        );
        assert!(
            done.end.statistics.steps < 20_000,
            "{}: {} steps",
            problem.name,
            done.end.statistics.steps
        );
        errors.push((
            worst(&scenario, &done) / 100.0,
            done.end.work[0].integrations,
            problem.name,
        ));
    }
    let near = errors.iter().filter(|(error, ..)| *error <= 1e-3).count();
    assert!(near >= 9, "{errors:?}");
}
