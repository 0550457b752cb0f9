//! What the default method promises, judged by models on which nothing was tuned.

use dovetail_cases::{measure_run, unseen};

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
