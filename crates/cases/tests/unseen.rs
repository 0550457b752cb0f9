//! What methods promise, judged by models that are not among the examples.

use dovetail_cases::{Measured, connections, measure_run, model, unseen};
use dovetail_scenario::Scenario;

#[test]
fn from_rest_with_stiff_parts_the_tolerance_holds_and_the_estimate_is_right() {
    let (mut honest, mut runs) = (0, 0);
    for model in unseen("rest") {
        for tolerance in ["1e-3", "1e-6", "1e-8"] {
            let run = measure_run(
                &model.scenario(),
                &[("method", "predictive"), ("tolerance", tolerance)],
            );
            let (variable, error) = run.worst();
            let asked: f64 = tolerance.parse().unwrap();
            assert!(
                error <= 3.0 * asked,
                "{} at {tolerance}: {variable} is off by {error:e} of its range",
                model.name
            );
            let ratio = run.estimated_over_true(variable);
            honest += usize::from(ratio.is_some_and(|ratio| (0.5..=2.0).contains(&ratio)));
            runs += 1;
        }
    }
    assert!(
        runs >= 24 && 10 * honest >= 9 * runs,
        "{honest} of {runs} estimates are right"
    );
}

#[test]
fn loops_that_magnify_up_to_200_times_are_right_at_every_tolerance() {
    for model in unseen("loops") {
        for gain in [0.9, 0.95, 0.98, 0.99, 0.995] {
            for tolerance in ["1e-3", "1e-6", "1e-8"] {
                let scenario = model.with(&[("a.k", gain)]);
                let run = measure_run(
                    &scenario,
                    &[("method", "predictive"), ("tolerance", tolerance)],
                );
                assert!(
                    run.end.ending.is_ok(),
                    "{} with {gain} at {tolerance}: {:?}",
                    model.name,
                    run.end.ending
                );
                let ((variable, error), asked) = (run.worst(), tolerance.parse::<f64>().unwrap());
                let what = format!("{} with {gain} at {tolerance}: {variable}", model.name);
                assert!(
                    error <= 3.0 * asked,
                    "{what} is off by {error:e} of its range"
                );
            }
        }
    }
}

/// An oscillator in two systems, all of whose quantities are in proportion to `scale`.
fn oscillator(scale: f64, choices: &[(&str, &str)]) -> Measured {
    let text = format!(
        "[systems.mass]\ninputs = {{ force = {force:?} }}\nstates = {{ x = {x:?}, v = 0.0 }}\n\
         equations = \"der(x) = v; der(v) = force - 0.1 * v\"\noutputs = {{ x = \"x\" }}\n\
         [systems.spring]\ninputs = {{ x = {x:?} }}\nparameters = {{ s = {scale:?} }}\nstates = {{ z = 0.0 }}\n\
         equations = \"der(z) = (x - z) * (1 + (z / s)^2)\"\n\
         outputs = {{ force = \"-4 * x * (1 + 0.3 * (x / s)^2) - 0.5 * z\" }}\n{wires}",
        force = -2.0 * scale,
        x = 0.5 * scale,
        wires = connections(&["mass.x -> spring.x", "spring.force -> mass.force"]),
    );
    measure_run(&model(10.0, &text), choices)
}

#[test]
fn units_do_not_matter_under_any_method() {
    let methods: [&[(&str, &str)]; 9] = [
        &[("method", "jacobi")],
        &[("method", "gauss-seidel")],
        &[("method", "f3ornits")],
        &[("method", "ifosmondi")],
        &[
            ("method", "ifosmondi"),
            ("solver", "anderson"),
            ("step", "0.02"),
        ],
        &[("method", "ifosmondi"), ("solver", "newton")],
        &[("method", "missiles")],
        &[("method", "predictive")],
        &[("method", "predictive"), ("step", "0.05")],
    ];
    for choices in methods {
        let one = oscillator(1.0, choices);
        for power in [-40, -30, 30, 40] {
            let scale = f64::from(power).exp2();
            let other = oscillator(scale, choices);
            assert_eq!(
                other.trajectory.times(),
                one.trajectory.times(),
                "{choices:?}, scale 2^{power}"
            );
            for ((name, ours), (_, theirs)) in
                other.trajectory.columns().zip(one.trajectory.columns())
            {
                let same = ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| *ours == scale * theirs);
                assert!(
                    same,
                    "{choices:?}: {name} has other digits at the scale 2^{power}"
                );
            }
        }
        for scale in [1e-12, 1e12] {
            let (ours, theirs) = (
                oscillator(scale, choices).end.statistics.steps,
                one.end.statistics.steps,
            );
            assert!(
                ours.abs_diff(theirs) <= 1,
                "{choices:?}, scale {scale:e}: {ours} steps, not {theirs}"
            );
        }
    }
}

#[test]
fn iterations_with_steps_of_their_own_choice_keep_to_the_tolerance() {
    for model in unseen("rest") {
        for tolerance in ["1e-3", "1e-6", "1e-8"] {
            let run = measure_run(
                &model.scenario(),
                &[("method", "ifosmondi"), ("tolerance", tolerance)],
            );
            let ((variable, error), asked) = (run.worst(), tolerance.parse::<f64>().unwrap());
            assert!(
                error <= 3.0 * asked,
                "{} at {tolerance}: {variable} is off by {error:e} of its range",
                model.name
            );
            let known = run.end.quality.interface_error.unwrap();
            assert!(
                known <= asked && run.end.quality.estimated_error.is_none(),
                "{}: {known:e}",
                model.name
            );
        }
    }
}

/// What an FMU that can do nothing can do.
const NOTHING: &str =
    "rollback = false, linearization = false, output-derivatives = false, input-degree = 0";

/// The largest error of a state, and the integrations of all systems.
fn error_and_cost(scenario: &Scenario, choices: &[(&str, &str)]) -> (f64, u64) {
    let run = measure_run(scenario, choices);
    assert!(
        run.end.ending.is_ok(),
        "{}, {choices:?}: {:?}",
        scenario.name,
        run.end.ending
    );
    let interfaces = scenario.connections.interfaces().iter();
    let states = interfaces.flat_map(|i| i.states.iter().map(|state| i.qualified(state)));
    let error = states.map(|state| run.nrmse(&state)).fold(0.0, f64::max);
    (
        error,
        run.end.work.iter().map(|work| work.integrations).sum(),
    )
}

#[test]
fn systems_that_can_do_nothing_are_coupled_better_than_with_fixed_steps_for_as_many_integrations() {
    let mut ratios = Vec::new();
    for model in ["smooth", "loops", "jumps"].into_iter().flat_map(unseen) {
        let scenario = model.restricted(NOTHING);
        let (ours, cost) = error_and_cost(&scenario, &[]);
        let steps = (cost as f64 / scenario.connections.systems() as f64).ceil();
        let step = format!("{:?}", (scenario.stop_time - scenario.start_time) / steps);
        let fixed = |method: &str| {
            let run = measure_run(&scenario, &[("method", method), ("step", &step)]);
            if run.end.ending.is_ok() {
                error_and_cost(&scenario, &[("method", method), ("step", &step)]).0
            } else {
                f64::INFINITY
            }
        };
        ratios.push((
            ours / fixed("jacobi").min(fixed("gauss-seidel")),
            model.name.clone(),
        ));
    }
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let better = ratios.iter().filter(|(ratio, _)| *ratio <= 1.0).count();
    assert!(10 * better >= 9 * ratios.len(), "{ratios:?}");
    assert!(ratios[ratios.len() / 2].0 <= 0.05, "{ratios:?}");
}

#[test]
fn a_static_link_does_not_make_steps_shorter() {
    let chain = |links: usize| {
        let mut text = "[systems.source]\nstates = { x = 1.0, v = 0.0 }\nequations = \"der(x) = v; der(v) = -9 * x\"\n\
                        outputs = { y = \"x\" }\n\
                        [systems.sink]\ninputs = { u = 0.0 }\nstates = { z = 0.0 }\nequations = \"der(z) = u - z\"\n\
                        outputs = { y = \"z\" }\n"
            .to_owned();
        let (mut wires, mut last) = (Vec::new(), "source.y".to_owned());
        for link in 0..links {
            text += &format!(
                "[systems.link{link}]\ninputs = {{ u = 0.0 }}\noutputs = {{ y = \"u + 0.3 * tanh(u)\" }}\n"
            );
            wires.push(format!("{last} -> link{link}.u"));
            last = format!("link{link}.y");
        }
        wires.push(format!("{last} -> sink.u"));
        let wires: Vec<&str> = wires.iter().map(String::as_str).collect();
        let text = text.replace(
            "outputs =",
            &format!("restrict = {{ {NOTHING} }}\noutputs ="),
        ) + &connections(&wires);
        measure_run(&model(30.0, &text), &[("method", "f3ornits")])
            .end
            .statistics
            .steps
    };
    let steps: Vec<u64> = (0..=6).map(chain).collect();
    assert!(
        steps
            .windows(2)
            .all(|pair| pair[1] as f64 <= 1.3 * pair[0] as f64),
        "{steps:?}"
    );
}
