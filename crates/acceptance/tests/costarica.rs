//! COSTARICA: the paper's single steps, whole runs against rollback, hybrid models, and what a
//! wrapped system promises.

use dovetail_cases::{
    DAMPING_REACTION, LOTKA_VOLTERRA, MECHANICAL, Measured, PUMP_AND_TANK, measure_run, model,
};
use dovetail_conformance::{Expectations, conformance};
use dovetail_core::{
    Ending, MacroStep, Response, Restricted, Restrictions, Signal, StepRule, System,
};
use dovetail_equations::NativeSystem;
use dovetail_methods::{Control, Costarica, EstimatorOptions, Form};
use dovetail_numerics::Laplace;
use dovetail_scenario::Scenario;

/// The isolated prey of the paper, classical (its table 4) or with interactions that depend on the
/// time of the day (table 5).
fn prey(daily: bool) -> (Scenario, Signal) {
    let factor = if daily {
        "(0.55 + 0.45 * sin(2 * pi * time / 2.4))"
    } else {
        "1"
    };
    let text = format!(
        "[systems.prey]\ninputs = {{ u = 0.8 }}\nstates = {{ x = 0.8 }}\n\
         equations = \"der(x) = x * (0.67 - {factor} * 1.33 * u)\"\noutputs = {{ y = \"x\" }}\n\
         [systems.predator]\nequations = \"\"\noutputs = {{ u = \"0.8\" }}\n\
         [[connections]]\nfrom = \"predator.u\"\nto = \"prey.u\"\n"
    );
    let stimulus = if daily {
        [0.8, -0.448, 0.5173559185]
    } else {
        [0.8, -0.16, -0.11008]
    };
    (model(1.0, &text), Signal::new(&stimulus))
}

fn system(scenario: &Scenario, name: &str) -> NativeSystem {
    let definitions = scenario.definitions().unwrap();
    let definition = definitions.iter().find(|d| d.name == name).unwrap();
    NativeSystem::new(&dovetail_equations::Definition {
        tolerance: 1e-14,
        ..definition.clone()
    })
}

/// The error of one estimated step.
fn single_step(daily: bool, options: EstimatorOptions, size: f64) -> f64 {
    let (scenario, stimulus) = prey(daily);
    let mut wrapped = Costarica::new(system(&scenario, "prey"), options)
        .ok()
        .unwrap();
    let mut response = Response::new(wrapped.interface(), 1);
    wrapped
        .advance(
            MacroStep::instant(0.0),
            &[Signal::constant(0.8)],
            &mut response,
        )
        .unwrap();
    let step = MacroStep::new(0.0, size);
    wrapped
        .trial()
        .unwrap()
        .respond(step, &[stimulus], &mut response)
        .unwrap();
    assert!(response.estimated);
    let estimated = response.outputs[0].value;
    wrapped.advance(step, &[stimulus], &mut response).unwrap();
    (response.outputs[0].value - estimated).abs()
}

fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log10()
}

#[test]
fn single_steps_have_the_errors_and_orders_of_the_paper() {
    let paper = EstimatorOptions {
        form: Form::Held,
        ..EstimatorOptions::default()
    };
    for (daily, expected, slope) in [
        (false, [2.25e-5, 2.24e-8], 3.0),
        (true, [4.84e-3, 5.00e-5], 2.0),
    ] {
        let found = [0.1, 0.01].map(|size| single_step(daily, paper, size));
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 3e-3,
                "{found:e} against {expected:e}"
            );
        }
        assert!(
            (order(found[0], found[1]) - slope).abs() < 0.05,
            "{found:?}"
        );
    }
}

#[test]
fn the_explicit_time_of_a_system_is_followed_where_it_is_known() {
    let full = EstimatorOptions::default();
    let found = [0.1, 0.01].map(|size| single_step(true, full, size));
    assert!(
        found[1] < 1e-6 && (order(found[0], found[1]) - 3.0).abs() < 0.1,
        "{found:?}"
    );
}

#[test]
fn without_derivatives_of_states_a_single_step_is_of_first_order() {
    let degraded = EstimatorOptions {
        form: Form::Degraded,
        ..EstimatorOptions::default()
    };
    let found = [0.1, 0.01].map(|size| single_step(false, degraded, size));
    assert!((order(found[0], found[1]) - 1.0).abs() < 0.1, "{found:?}");
}

#[test]
fn the_papers_inversion_is_close_and_no_better() {
    let inverted = EstimatorOptions {
        form: Form::Held,
        laplace: Laplace::GaverStehfest,
        ..EstimatorOptions::default()
    };
    let [coarse, fine] = [0.1, 0.01].map(|size| single_step(false, inverted, size));
    assert!((coarse - 2.25e-5).abs() < 2e-6, "{coarse:e}");
    assert!(
        fine > 2.3e-8 && fine < 1e-5,
        "{fine:e}: its own error shows"
    );
}

fn ifosmondi(scenario: &Scenario, step: &str, more: &[(&str, &str)]) -> Measured {
    let choices = [
        ("method", "ifosmondi"),
        ("step", step),
        ("tolerance", "1e-11"),
        ("integrator-tolerance", "1e-13"),
    ];
    let done = measure_run(scenario, &[&choices, more].concat());
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    done
}

#[test]
fn on_linear_systems_estimates_are_as_good_as_rollback() {
    let scenario = MECHANICAL.scenario();
    let tried = ifosmondi(&scenario, "1e-3", &[("rollback-free", "false")]);
    let estimated = ifosmondi(&scenario, "1e-3", &[("rollback-free", "true")]);
    let (a, b) = (
        tried.nrmse("left.position"),
        estimated.nrmse("left.position"),
    );
    assert!((a / b - 1.0).abs() < 1e-6 && b < 8e-7, "{a:e} and {b:e}");
    for work in &estimated.end.work {
        assert_eq!(
            (work.integrations, work.trials, work.linearizations),
            (2000, 0, 2000)
        );
    }
}

#[test]
fn whole_runs_are_of_order_three_and_of_order_one_when_degraded() {
    let scenario = LOTKA_VOLTERRA.scenario();
    let error = |step: &str, form: &str| {
        let done = ifosmondi(
            &scenario,
            step,
            &[("rollback-free", "true"), ("form", form)],
        );
        assert!(
            done.end
                .work
                .iter()
                .all(|work| work.integrations == done.end.statistics.steps)
        );
        done.nrmse("prey.population")
    };
    let [coarse, fine] = [error("1e-1", "full"), error("1e-2", "full")];
    assert!(order(coarse, fine) >= 2.9, "{coarse:e}, {fine:e}");
    let [coarse, fine] = [error("1e-2", "degraded"), error("1e-3", "degraded")];
    assert!(
        (order(coarse, fine) - 1.0).abs() < 0.05,
        "{coarse:e}, {fine:e}"
    );
}

/// A model whose first system lacks rollback.
fn poor(case: &dovetail_cases::Case, table: &str, restrictions: &str) -> Scenario {
    case.edited(table, &format!("{table}\nrestrict = {{ {restrictions} }}"))
}

#[test]
fn only_systems_without_rollback_are_estimated_and_the_summary_says_so() {
    let scenario = poor(&MECHANICAL, "[systems.left]", "rollback = false");
    let done = ifosmondi(&scenario, "1e-3", &[]);
    assert!(done.nrmse("left.position") < 8e-7);
    let [left, right] = &done.end.work[..] else {
        panic!()
    };
    assert_eq!((left.integrations, left.trials), (2000, 0));
    assert!(right.trials > 4000 && right.linearizations == 0);
    assert!(
        done.end
            .warnings
            .iter()
            .any(|w| w.text.contains("`left` cannot roll back") && w.text.contains("COSTARICA"))
    );
    assert!(!done.end.warnings.iter().any(|w| w.text.contains("`right`")));
}

#[test]
fn slopes_that_a_system_does_not_tell_come_from_its_linearization() {
    let whole = ifosmondi(&MECHANICAL.scenario(), "1e-3", &[]);
    let scenario = poor(
        &MECHANICAL,
        "[systems.left]",
        "rollback = false, output-derivatives = false",
    );
    let done = ifosmondi(&scenario, "1e-3", &[]);
    let (a, b) = (whole.nrmse("left.position"), done.nrmse("left.position"));
    assert!((a / b - 1.0).abs() < 1e-5, "{a:e} and {b:e}");
    assert!(
        !done
            .end
            .warnings
            .iter()
            .any(|w| w.text.contains("differences were used")),
        "{:?}",
        done.end.warnings
    );
}

#[test]
fn nonlinear_outputs_and_loops_are_estimated_too() {
    let scenario = PUMP_AND_TANK.scenario();
    let error = |step: &str| {
        let done = ifosmondi(&scenario, step, &[("rollback-free", "true")]);
        (done.nrmse("pump.flow"), done.nrmse("tank.level"))
    };
    let (coarse, fine) = (error("0.04"), error("0.02"));
    assert!((coarse.1 / fine.1).log2() > 2.7, "{coarse:?}, {fine:?}");
    assert!((coarse.0 / fine.0).log2() > 2.5, "{coarse:?}, {fine:?}");
}

#[test]
fn the_control_part_is_continued_as_asked() {
    // An output that depends on time by itself.
    let text = "[systems.source]\ninputs = { u = 0 }\nstates = { x = 1.0 }\n\
        equations = \"der(x) = -x + 0.1 * u\"\n\
        outputs = { y = \"x + sin(3 * time)\" }\n[systems.mass]\ninputs = { f = 0 }\n\
        states = { v = 0.0 }\n\
        equations = \"der(v) = f - v\"\noutputs = { v = \"v\" }\n\
        [[connections]]\nfrom = \"source.y\"\nto = \"mass.f\"\n[[connections]]\nfrom = \"mass.v\"\n\
        to = \"source.u\"\n";
    let scenario = model(4.0, text);
    for (control, expected) in [("zero-order", 1.0), ("first-order", 2.0), ("flexible", 3.0)] {
        let more = [("rollback-free", "true"), ("control", control)];
        let error = |step: &str| ifosmondi(&scenario, step, &more).nrmse("mass.v");
        let measured = (error("0.02") / error("0.01")).log2();
        assert!(
            (measured - expected).abs() < 0.1,
            "{control}: order {measured}"
        );
    }
}

#[test]
fn a_wrapped_system_keeps_every_promise() {
    let options = EstimatorOptions::default();
    for (scenario, name, step) in [
        (MECHANICAL.scenario(), "right", 1e-3),
        (LOTKA_VOLTERRA.scenario(), "prey", 0.05),
        (DAMPING_REACTION.scenario(), "body", 0.05),
        (PUMP_AND_TANK.scenario(), "valve", 0.05),
    ] {
        for restrictions in [
            Restrictions {
                rollback: false,
                ..Restrictions::default()
            },
            Restrictions {
                rollback: false,
                output_derivatives: 0,
                ..Restrictions::default()
            },
            Restrictions {
                rollback: false,
                input_degree: 1,
                ..Restrictions::default()
            },
        ] {
            let mut make = || {
                let poor = Restricted::new(system(&scenario, name), restrictions);
                Box::new(Costarica::new(poor, options).ok().unwrap()) as Box<dyn System>
            };
            let told = conformance(
                &mut make,
                Expectations {
                    start: 0.0,
                    step,
                    tolerance: 1e-12,
                },
            );
            told.unwrap_or_else(|broken| panic!("{name}, {restrictions:?}: {broken}"));
        }
    }
}

#[test]
fn what_cannot_be_linearized_is_given_back() {
    let restrictions = Restrictions {
        linearization: false,
        imposed_step: Some(0.1),
        ..Restrictions::default()
    };
    let poor = Restricted::new(system(&LOTKA_VOLTERRA.scenario(), "prey"), restrictions);
    let back = Costarica::new(poor, EstimatorOptions::default())
        .err()
        .unwrap();
    assert_eq!(back.step_rule(), StepRule::Imposed(0.1));
    assert_eq!(EstimatorOptions::default().control, Control::Flexible);
}
