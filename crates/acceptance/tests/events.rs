//! Events, starts and growth: places where a method that is right elsewhere may go wrong.

use dovetail_cases::{Measured, connections, measure_run, model};
use dovetail_core::{Ending, Error};
use dovetail_scenario::Scenario;

fn ifosmondi(scenario: &Scenario, step: &str) -> Measured {
    let choices = [
        ("method", "ifosmondi"),
        ("step", step),
        ("tolerance", "1e-9"),
        ("integrator-tolerance", "1e-13"),
    ];
    measure_run(scenario, &choices)
}

/// A source that changes at `event` by `rate` in its derivative and `jump` in its output, feeding a
/// sink that feeds it back.
fn source_and_sink(event: f64, rate: f64, jump: f64, restrict: &str) -> Scenario {
    let text = format!(
        "[systems.src]\ninputs = {{ w = 0.0 }}\nstates = {{ x = 0.0 }}\n\
         equations = \"der(x) = w - x + (if time < {event} then 1 else {rate})\"\n\
         outputs = {{ y = \"x + (if time < {event} then 0 else {jump})\" }}\n{restrict}\n\
         [systems.sink]\ninputs = {{ u = 0.0 }}\nstates = {{ z = 0.0 }}\n\
         equations = \"der(z) = u - z\"\n\
         outputs = {{ v = \"0.5 * z\" }}\n"
    );
    model(
        2.0,
        &(text + &connections(&["src.y -> sink.u", "sink.v -> src.w"])),
    )
}

const NO_SLOPES: &str = "restrict = { output-derivatives = false }";

#[test]
fn a_jump_just_after_a_communication_time_does_not_spoil_the_differences() {
    let scenario = source_and_sink(1.0001, 2.0, 5.0, NO_SLOPES);
    let (coarse, fine) = (
        ifosmondi(&scenario, "0.1").nrmse("sink.z"),
        ifosmondi(&scenario, "0.05").nrmse("sink.z"),
    );
    assert!(
        coarse < 2e-3 && (coarse / fine).log2() > 2.7,
        "{coarse:e}, {fine:e}"
    );
}

#[test]
fn a_kink_is_met_even_where_slopes_are_not_known() {
    let scenario = source_and_sink(1.0, -50.0, 0.0, NO_SLOPES);
    let (coarse, fine) = (
        ifosmondi(&scenario, "0.1").nrmse("sink.z"),
        ifosmondi(&scenario, "0.05").nrmse("sink.z"),
    );
    assert!(
        coarse < 0.02 && (coarse / fine).log2() > 2.7,
        "{coarse:e}, {fine:e}"
    );
}

#[test]
fn with_slopes_jumps_and_kinks_cost_no_order() {
    for (rate, jump) in [(2.0, 5.0), (-50.0, 0.0)] {
        let scenario = source_and_sink(1.0001, rate, jump, "");
        let error = |step: &str| ifosmondi(&scenario, step).nrmse("sink.z");
        let (coarse, fine) = (error("0.1"), error("0.05"));
        assert!((coarse / fine).log2() > 3.7, "{coarse:e}, {fine:e}");
    }
}

#[test]
fn a_loop_with_several_solutions_stays_on_its_branch_across_an_event() {
    let text = "[systems.a]\ninputs = { u = 0.9 }\nstates = { k = 0.0 }\n\
        equations = \"der(k) = 1\"\n\
                outputs = \
                { y = \"u - 0.5 * ((u - k)^2 - 0.25) * (u - k - 4)\", \
                e = \"if time < 1.5 then 0 else 1\" }\n\
                [systems.b]\ninputs = { v = 0.0, e = 0.0 }\nstates = { s = 0.0 }\n\
                equations = \"der(s) = v + e\"\n\
                outputs = { w = \"v\" }\n";
    let scenario = model(
        2.0,
        &(text.to_owned() + &connections(&["b.w -> a.u", "a.y -> b.v", "a.e -> b.e"])),
    );
    let done = ifosmondi(&scenario, "0.02");
    assert!(matches!(done.end.ending, Ok(Ending::Finished)));
    assert!(done.nrmse("a.y") < 1e-5, "{}", done.nrmse("a.y"));
}

#[test]
fn an_output_that_is_the_slope_of_an_input_is_right_from_the_start() {
    let text = "[systems.src]\nstates = { x = 0.0, v = 1.0 }\n\
        equations = \"der(x) = v; der(v) = -x\"\n\
                outputs = { y = \"x\" }\n\
                [systems.d]\ninputs = { u = 0.0 }\noutputs = { w = \"der(u)\" }\n\
                [systems.i]\ninputs = { u = 0.0 }\nstates = { s = 0.0 }\n\
                equations = \"der(s) = u\"\n";
    let scenario = model(
        1.0,
        &(text.to_owned() + &connections(&["src.y -> d.u", "d.w -> i.u"])),
    );
    let done = ifosmondi(&scenario, "0.1");
    assert!((done.trajectory.column("d.w").unwrap()[0] - 1.0).abs() < 1e-12);
    assert!(done.nrmse("i.s") < 0.01, "{}", done.nrmse("i.s"));
}

#[test]
fn growth_by_a_systems_own_dynamics_is_no_divergence() {
    let lone = model(
        1.0,
        "[systems.s]\nstates = { x = 1e-9 }\nequations = \"der(x) = 20 * x\"\n\
         outputs = { y = \"x\" }\n",
    );
    let done = measure_run(&lone, &[("method", "jacobi"), ("step", "0.01")]);
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
}

#[test]
fn held_inputs_that_lead_a_system_to_a_pole_only_shorten_the_step() {
    let text = "[systems.a]\ninputs = { u = 1.0 }\nstates = { x = 1.0 }\n\
        equations = \"der(x) = x^2 * u\"\n\
                outputs = { y = \"x\" }\n[systems.b]\ninputs = { v = 1.0 }\n\
                outputs = { w = \"1.9 - v\" }\n";
    let scenario = model(
        2.0,
        &(text.to_owned() + &connections(&["a.y -> b.v", "b.w -> a.u"])),
    );
    let done = ifosmondi(&scenario, "2");
    assert!(matches!(done.end.ending, Ok(Ending::Finished)) && done.end.statistics.rejected > 0);
}

#[test]
fn an_event_beyond_the_stop_time_is_not_met_and_one_beside_the_grid_is() {
    let at = |event: f64| {
        model(
            1.0,
            &format!(
                "[systems.s]\nstates = {{ x = 0.0 }}\n\
                 equations = \"der(x) = if time < {event} then 1 else 0\"\n"
            ),
        )
    };
    for method in ["jacobi", "ifosmondi"] {
        let end = |event: f64| {
            let done = measure_run(&at(event), &[("method", method), ("step", "0.1")]);
            (
                done.end.reached,
                *done.trajectory.column("s.x").unwrap().last().unwrap(),
            )
        };
        assert_eq!(end(1.000_000_05).0, 1.0, "{method}");
        assert!(
            (end(0.300_000_09).1 - 0.300_000_09).abs() < 1e-15,
            "{method}"
        );
    }
}

#[test]
fn a_coupling_that_has_no_solution_says_so() {
    let text = "[systems.a]\ninputs = { u = 0.0 }\nstates = { x = 0.0 }\n\
        equations = \"der(x) = 1\"\n\
                outputs = { y = \"if x < 0.5 then 0.5 * u else u + 1\" }\n\
                [systems.b]\ninputs = { v = 0.0 }\noutputs = { w = \"v\" }\n";
    let scenario = model(
        1.0,
        &(text.to_owned() + &connections(&["a.y -> b.v", "b.w -> a.u"])),
    );
    let mut choices = dovetail_scenario::Choices::default();
    choices.set("method", "ifosmondi");
    choices.set("step", "0.1");
    let never = std::sync::atomic::AtomicBool::new(false);
    let end = scenario
        .run(&scenario.options(&choices).unwrap(), &mut [], &never)
        .unwrap();
    let Err(Error::SingularLoop { variables, time }) = &end.ending else {
        panic!("{:?}", end.ending);
    };
    assert_eq!(variables, &["a.y", "b.w"]);
    assert!((time - 0.5).abs() < 1e-12, "{time}");
    assert!((0.4..=0.5).contains(&end.reached), "{}", end.reached);
}
