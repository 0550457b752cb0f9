//! Steps that the engine's own method chooses: tolerance, work, and an estimate of the error that
//! is right.

use dovetail_cases::{
    ALL, BEHAVIOUR_CHANGE, DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL, Measured, measure_run,
};
use dovetail_core::Ending;
use dovetail_scenario::{Overrides, Scenario, SourceText};

fn adaptive(scenario: &Scenario, tolerance: &str, more: &[(&str, &str)]) -> Measured {
    let choices = [
        ("method", "predictive"),
        ("integrator-tolerance", "1e-14"),
        ("tolerance", tolerance),
    ];
    let done = measure_run(scenario, &[&choices, more].concat());
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    done
}

/// States, each with the name of the signal that tells its error.
fn states(scenario: &Scenario) -> Vec<(String, String)> {
    let interfaces = scenario.connections.interfaces().iter();
    let pair = |system: &dovetail_core::Interface, state: &String| {
        (
            system.qualified(state),
            system.qualified(&format!("{state}.$error")),
        )
    };
    interfaces
        .flat_map(|i| i.states.iter().map(move |state| pair(i, state)))
        .collect()
}

fn worst(scenario: &Scenario, done: &Measured) -> f64 {
    states(scenario)
        .iter()
        .map(|(state, _)| done.nrmse(state) / 100.0)
        .fold(0.0, f64::max)
}

/// The median of estimated by true errors, over all states and times at which there is an error to
/// speak of.
fn median_ratio(scenario: &Scenario, done: &Measured) -> f64 {
    let mut ratios = Vec::new();
    for (state, signal) in states(scenario) {
        let (truth, estimate) = (done.deviation(&state), done.signal(&signal).unwrap());
        let largest = truth
            .iter()
            .fold(0.0, |largest: f64, error| largest.max(error.abs()));
        let pairs = truth
            .iter()
            .zip(&estimate)
            .skip(1)
            .filter(|(truth, _)| truth.abs() > 1e-2 * largest);
        ratios.extend(pairs.map(|(truth, estimate)| estimate / truth));
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn cases() -> [(&'static str, Scenario, [u64; 3]); 4] {
    [
        ("lotka-volterra", LOTKA_VOLTERRA.scenario(), [70, 210, 450]),
        ("mechanical", MECHANICAL.scenario(), [80, 250, 520]),
        (
            "damping-reaction",
            DAMPING_REACTION.with(&[("plate.D", 0.64)]),
            [40, 110, 240],
        ),
        (
            "behaviour-change",
            BEHAVIOUR_CHANGE.scenario(),
            [60, 170, 340],
        ),
    ]
}

#[test]
fn the_tolerance_is_kept_with_few_integrations_and_the_error_is_known() {
    for (name, scenario, most) in cases() {
        for ((text, tolerance), most) in [("1e-3", 1e-3), ("1e-6", 1e-6), ("1e-8", 1e-8)]
            .into_iter()
            .zip(most)
        {
            let done = adaptive(&scenario, text, &[]);
            let error = worst(&scenario, &done);
            assert!(error <= tolerance, "{name} at {text}: {error:e}");
            let integrations = done
                .end
                .work
                .iter()
                .map(|work| work.integrations)
                .max()
                .unwrap();
            assert!(
                integrations <= most,
                "{name} at {text}: {integrations} integrations"
            );
            let ratio = median_ratio(&scenario, &done);
            assert!(
                (0.8..=1.25).contains(&ratio),
                "{name} at {text}: estimated by true error {ratio}"
            );
        }
    }
}

#[test]
fn without_rollback_the_same_holds() {
    let none = "[systems.prey]\nrestrict = { rollback = false }";
    let scenario = LOTKA_VOLTERRA.edited("[systems.prey]", none);
    let done = adaptive(&scenario, "1e-6", &[]);
    assert!(
        worst(&scenario, &done) <= 1e-6,
        "{:e}",
        worst(&scenario, &done)
    );
    for work in &done.end.work {
        assert_eq!(
            (work.integrations, work.trials),
            (done.end.statistics.steps, 0)
        );
    }
}

#[test]
fn all_examples_keep_the_tolerance() {
    for case in &ALL {
        let scenario = case.scenario();
        for (text, tolerance) in [("1e-3", 1e-3), ("1e-6", 1e-6)] {
            let done = adaptive(&scenario, text, &[]);
            let error = worst(&scenario, &done);
            assert!(error <= tolerance, "{} at {text}: {error:e}", case.name);
        }
    }
}

#[test]
fn the_estimate_added_leaves_a_tenth_of_the_error() {
    for (name, scenario, _) in cases() {
        let plain = worst(&scenario, &adaptive(&scenario, "1e-6", &[]));
        let corrected = adaptive(&scenario, "1e-6", &[("corrected", "true")]);
        let left = worst(&scenario, &corrected);
        assert!(left < 0.1 * plain, "{name}: {left:e} of {plain:e}");
        assert!(
            corrected
                .end
                .details
                .iter()
                .any(|detail| detail.contains("has been added"))
        );
    }
}

#[test]
fn the_summary_tells_the_error_of_every_state_and_output() {
    let scenario = MECHANICAL.scenario();
    let done = adaptive(&scenario, "1e-6", &[]);
    let known = done.end.quality.estimated_error.as_ref().unwrap();
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "left.x",
        "left.v",
        "left.position",
        "left.velocity",
        "right.x",
        "right.v",
        "right.force",
    ];
    assert_eq!(names, expected);
    for (name, estimate) in known {
        let truth = done.deviation(name);
        let largest = truth
            .iter()
            .fold(0.0, |largest: f64, error| largest.max(error.abs()));
        assert!(
            (estimate.max / largest - 1.0).abs() < 0.05,
            "{name}: {} for {largest}",
            estimate.max
        );
        assert!(
            (estimate.end - truth.last().unwrap().abs()).abs() < 0.05 * largest,
            "{name}"
        );
    }
    assert!(
        done.end
            .quality
            .refused
            .is_some_and(|refused| refused.before > 0 && refused.after == 0)
    );
}

/// Two filters with a saturating amplifier between them, which has no states.
const AMPLIFIER: &str = r#"
connections = [
    { from = "source.y", to = "amplifier.u" },
    { from = "amplifier.y", to = "filter.u" },
    { from = "filter.y", to = "source.u" },
]

[model]
stop-time = 6.0

[systems.source]
inputs    = { u = 0.0 }
states    = { s = 0.0, c = 1.0 }
equations = """
der(s) = 4 * c - 0.3 * u
der(c) = -4 * s
"""
outputs   = { y = "2 * s" }

[systems.amplifier]
inputs  = { u = 0.0 }
outputs = { y = "1.5 * tanh(u)" }

[systems.filter]
inputs    = { u = 0.0 }
states    = { y = 0.0 }
equations = "der(y) = 9 * (2 * u - y)"
outputs   = { y = "y" }
"#;

#[test]
fn an_output_that_bends_costs_no_order_where_it_has_no_states() {
    let source = SourceText {
        path: "amplifier".to_owned(),
        text: AMPLIFIER.to_owned(),
    };
    let scenario = Scenario::parse(source, &Overrides::default()).unwrap();
    let [coarse, fine] = [("1e-4", 1e-4), ("1e-8", 1e-8)].map(|(text, tolerance)| {
        let done = adaptive(&scenario, text, &[]);
        let error = worst(&scenario, &done);
        assert!(error < tolerance, "{error:e} at {text}");
        done.end.statistics.steps
    });
    // Steps of order five and more: with order three there would be ten times as many and more.
    assert!(fine < 7 * coarse, "{coarse} and {fine}");
}
