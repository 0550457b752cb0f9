//! What methods promise, judged by models that are not among the examples.

use dovetail_cases::{Measured, connections, measure_run, model, unseen};

#[test]
fn from_rest_with_stiff_parts_the_tolerance_holds_and_the_estimate_is_right() {
    let (mut honest, mut runs) = (0, 0);
    for model in unseen("rest") {
        for tolerance in ["1e-3", "1e-6", "1e-8"] {
            let run = measure_run(&model.scenario(), &[("method", "dovetail"), ("tolerance", tolerance)]);
            let (variable, error) = run.worst();
            let asked: f64 = tolerance.parse().unwrap();
            assert!(error <= 3.0 * asked, "{} at {tolerance}: {variable} is off by {error:e} of its range", model.name);
            let ratio = run.estimated_over_true(variable);
            honest += usize::from(ratio.is_some_and(|ratio| (0.5..=2.0).contains(&ratio)));
            runs += 1;
        }
    }
    assert!(runs >= 24 && 10 * honest >= 9 * runs, "{honest} of {runs} estimates are right");
}

#[test]
fn loops_that_magnify_up_to_200_times_are_right_at_every_tolerance() {
    for model in unseen("loops") {
        for gain in [0.9, 0.95, 0.98, 0.99, 0.995] {
            for tolerance in ["1e-3", "1e-6", "1e-8"] {
                let scenario = model.with(&[("a.k", gain)]);
                let run = measure_run(&scenario, &[("method", "dovetail"), ("tolerance", tolerance)]);
                assert!(run.end.ending.is_ok(), "{} with {gain} at {tolerance}: {:?}", model.name, run.end.ending);
                let ((variable, error), asked) = (run.worst(), tolerance.parse::<f64>().unwrap());
                let what = format!("{} with {gain} at {tolerance}: {variable}", model.name);
                assert!(error <= 3.0 * asked, "{what} is off by {error:e} of its range");
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
        &[("method", "ifosmondi"), ("solver", "anderson"), ("step", "0.02")],
        &[("method", "ifosmondi"), ("solver", "newton")],
        &[("method", "missiles")],
        &[("method", "dovetail")],
        &[("method", "dovetail"), ("step", "0.05")],
    ];
    for choices in methods {
        let one = oscillator(1.0, choices);
        for power in [-40, -30, 30, 40] {
            let scale = f64::from(power).exp2();
            let other = oscillator(scale, choices);
            assert_eq!(other.trajectory.times(), one.trajectory.times(), "{choices:?}, scale 2^{power}");
            for ((name, ours), (_, theirs)) in other.trajectory.columns().zip(one.trajectory.columns()) {
                let same = ours.iter().zip(theirs).all(|(ours, theirs)| *ours == scale * theirs);
                assert!(same, "{choices:?}: {name} has other digits at the scale 2^{power}");
            }
        }
        for scale in [1e-12, 1e12] {
            let (ours, theirs) = (oscillator(scale, choices).end.statistics.steps, one.end.statistics.steps);
            assert!(ours.abs_diff(theirs) <= 1, "{choices:?}, scale {scale:e}: {ours} steps, not {theirs}");
        }
    }
}

#[test]
fn iterations_with_steps_of_their_own_choice_keep_to_the_tolerance() {
    for model in unseen("rest") {
        for tolerance in ["1e-3", "1e-6", "1e-8"] {
            let run = measure_run(&model.scenario(), &[("method", "ifosmondi"), ("tolerance", tolerance)]);
            let ((variable, error), asked) = (run.worst(), tolerance.parse::<f64>().unwrap());
            assert!(error <= 3.0 * asked, "{} at {tolerance}: {variable} is off by {error:e} of its range", model.name);
            let known = run.end.quality.interface_error.unwrap();
            assert!(known <= asked && run.end.quality.estimated_error.is_none(), "{}: {known:e}", model.name);
        }
    }
}
