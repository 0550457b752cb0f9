//! Pictures of the engine's own method, all from runs.

use dovetail_cases::{LOTKA_VOLTERRA, ROUGH, measure_run};
use dovetail_report::{Curve, error_plot, line_plot};
use dovetail_scenario::Scenario;

/// The pictures, with their names.
pub fn pictures() -> [(&'static str, String); 4] {
    [
        ("predictive-ingredients", ingredients()),
        ("predictive-cost", cost()),
        ("predictive-estimate", estimate()),
        ("predictive-rough", rough()),
    ]
}

fn number(text: &str) -> f64 {
    text.parse().expect("BUG: a number")
}

/// The error at these steps, and the integrations of a system.
fn measured(scenario: &Scenario, step: &str, more: &[(&str, &str)]) -> (f64, f64) {
    let choices = [("step", step), ("integrator-tolerance", "1e-14")];
    let done = measure_run(scenario, &[&choices, more].concat());
    (done.nrmse("prey.p"), done.end.work[0].integrations as f64)
}

/// Errors on lotka-volterra: what each ingredient gains over MISSILES, at the same steps.
fn ingredients() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let curve = |name: &str, more: &[(&str, &str)]| {
        let at = |step: &str| (number(step), measured(&scenario, step, more).0);
        Curve {
            name: name.into(),
            points: ["0.2", "0.1", "0.05", "0.02", "0.01"].map(at).to_vec(),
        }
    };
    let curves = [
        curve("missiles", &[("method", "missiles")]),
        curve(
            "cubic",
            &[
                ("method", "predictive"),
                ("inputs", "cubic"),
                ("correction", "false"),
            ],
        ),
        curve(
            "quintic",
            &[
                ("method", "predictive"),
                ("inputs", "quintic"),
                ("correction", "false"),
            ],
        ),
        curve(
            "quintic, corrected",
            &[
                ("method", "predictive"),
                ("inputs", "quintic"),
                ("correction", "true"),
            ],
        ),
    ];
    error_plot("Errors on lotka-volterra", "NRMSE of prey.p in %", &curves)
}

/// Errors on lotka-volterra against what they cost.
fn cost() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let curve = |name: &str, more: &[(&str, &str)]| {
        let at = |step: &str| {
            let (error, integrations) = measured(&scenario, step, more);
            (integrations, error)
        };
        Curve {
            name: name.into(),
            points: ["0.2", "0.1", "0.05", "0.02", "0.01"].map(at).to_vec(),
        }
    };
    let curves = [
        curve("jacobi", &[("method", "jacobi")]),
        curve("missiles", &[("method", "missiles")]),
        curve(
            "ifosmondi, anderson",
            &[
                ("method", "ifosmondi"),
                ("solver", "anderson"),
                ("tolerance", "1e-8"),
            ],
        ),
        curve(
            "predictive",
            &[("method", "predictive"), ("correction", "false")],
        ),
        curve(
            "predictive, corrected",
            &[("method", "predictive"), ("correction", "true")],
        ),
    ];
    error_plot("Cost on lotka-volterra", "NRMSE of prey.p in %", &curves)
        .replace("step in s", "integrations per system")
}

/// The error of a run with chosen steps, and what the run said it would be.
fn estimate() -> String {
    let scenario = LOTKA_VOLTERRA.scenario();
    let done = measure_run(
        &scenario,
        &[
            ("method", "predictive"),
            ("tolerance", "1e-4"),
            ("integrator-tolerance", "1e-14"),
        ],
    );
    let times = done.trajectory.times();
    let points = |values: &[f64]| {
        times
            .iter()
            .copied()
            .zip(values.iter().copied())
            .skip(1)
            .collect()
    };
    let estimated = done
        .signal("prey.p.$error")
        .expect("BUG: the method estimates the error of few states");
    let curves = [
        Curve {
            name: "true".into(),
            points: points(done.deviation("prey.p")),
        },
        Curve {
            name: "estimated".into(),
            points: points(&estimated),
        },
    ];
    line_plot(
        "Error of the prey, tolerance 1e-4",
        "time in s",
        "true minus computed",
        &curves,
    )
}

/// Error and cost on the rough problems as parts of those of IFOSMONDI: one point each.
fn rough() -> String {
    let worst = |scenario: &Scenario, choices: &[(&str, &str)]| {
        let done = measure_run(scenario, choices);
        let interfaces = scenario.connections.interfaces().iter();
        let states = interfaces.flat_map(|i| i.states.iter().map(|state| i.qualified(state)));
        (
            states.map(|state| done.nrmse(&state)).fold(0.0, f64::max),
            done.end.work[0].integrations as f64,
        )
    };
    let curve = |name: &str, part: f64, rollback: bool| {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for problem in &ROUGH {
            let step = format!("{:e}", problem.stop_time / part);
            let common = [("step", step.as_str()), ("integrator-tolerance", "1e-12")];
            let iterated = [
                ("method", "ifosmondi"),
                ("solver", "anderson"),
                ("tolerance", "1e-6"),
            ];
            let own = if rollback {
                problem.scenario()
            } else {
                problem.without_rollback()
            };
            let (error, cost) = worst(&problem.scenario(), &[&common[..], &iterated].concat());
            let (own_error, own_cost) =
                worst(&own, &[&common[..], &[("method", "predictive")]].concat());
            points.push((own_cost / cost, own_error / error));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve {
            name: name.into(),
            points,
        }
    };
    let curves = [
        curve("1/100, rollback", 100.0, true),
        curve("1/400, rollback", 400.0, true),
        curve("1/400, no rollback", 400.0, false),
    ];
    let picture = error_plot(
        "Eleven rough problems beside ifosmondi",
        "error, as a part of its error",
        &curves,
    );
    picture.replace("step in s", "integrations, as a part of its integrations")
}
