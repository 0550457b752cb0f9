//! Steps that MISSILES chooses itself: models on which a chooser of steps is easily fooled.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{Measured, connections, measure_run, model};
use dovetail_core::{Ending, Error, Exchange, Observer};
use dovetail_scenario::{Choices, RunOptions, Scenario};

struct System<'a> {
    name: &'a str,
    more: &'a str,
    equations: &'a str,
}

fn build(stop: f64, systems: &[System<'_>], wires: &[&str]) -> Scenario {
    let mut text = String::new();
    for System {
        name,
        more,
        equations,
    } in systems
    {
        text += &format!("[systems.{name}]\n{more}\nequations = \"\"\"\n{equations}\n\"\"\"\n");
    }
    model(stop, &(text + &connections(wires)))
}

fn adaptive(scenario: &Scenario, more: &[(&str, &str)]) -> Measured {
    let done = measure_run(scenario, &[&[("method", "missiles")], more].concat());
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    done
}

fn options(scenario: &Scenario) -> RunOptions {
    let mut choices = Choices::default();
    choices.set("method", "missiles");
    scenario.options(&choices).unwrap()
}

/// The largest NRMSE of these variables, in %.
fn worst(done: &Measured, variables: &[&str]) -> f64 {
    variables
        .iter()
        .map(|variable| done.nrmse(variable))
        .fold(0.0, f64::max)
}

fn oscillator(stop: f64, start: f64, stiffness: f64, unit: f64) -> Scenario {
    let a = format!(
        "inputs = {{ f = 0 }}\nstates = {{ x = {:e}, v = 0 }}\noutputs = {{ x = \"x\" }}",
        start * unit
    );
    let spring = format!("inputs = {{ x = 0 }}\noutputs = {{ f = \"{stiffness:e} * x\" }}");
    let mass = System {
        name: "a",
        more: &a,
        equations: "der(x) = v\nder(v) = -f",
    };
    build(
        stop,
        &[
            mass,
            System {
                name: "b",
                more: &spring,
                equations: "",
            },
        ],
        &["a.x -> b.x", "b.f -> a.f"],
    )
}

#[test]
fn a_system_that_only_receives_is_followed_too() {
    let source = System {
        name: "source",
        more: "states = { x = 1.0, v = 0.0 }\noutputs = { y = \"x\" }",
        equations: "der(x) = v\nder(v) = -x",
    };
    let sink = System {
        name: "sink",
        more: "inputs = { u = 1.0 }\nstates = { z = 0.0 }\noutputs = { z = \"z\" }",
        equations: "der(z) = u - 0.1 * z",
    };
    let done = adaptive(&build(100.0, &[source, sink], &["source.y -> sink.u"]), &[]);
    assert!(
        worst(&done, &["sink.z"]) < 1e-4,
        "{:e}",
        worst(&done, &["sink.z"])
    );
}

#[test]
fn the_first_step_is_not_taken_on_trust() {
    // Neither system moves by itself at the start; together they do.
    let a = System {
        name: "a",
        more: "inputs = { x = 1.0 }\nstates = { v = 0.0 }\noutputs = { v = \"v\" }",
        equations: "der(v) = -4 * x",
    };
    let b = System {
        name: "b",
        more: "inputs = { v = 0.0 }\nstates = { x = 1.0 }\noutputs = { x = \"x\" }",
        equations: "der(x) = v",
    };
    let scenario = build(50.0, &[a, b], &["a.v -> b.v", "b.x -> a.x"]);
    for (tolerance, most) in [("1e-4", 3e-2), ("1e-6", 3e-4), ("1e-8", 3e-6)] {
        let error = worst(
            &adaptive(&scenario, &[("tolerance", tolerance)]),
            &["a.v", "b.x"],
        );
        assert!(error < most, "{tolerance}: {error:e}");
    }
}

#[test]
fn what_comes_after_a_long_rest_and_small_units_are_measured_by_their_own_range() {
    let a = System {
        name: "a",
        more: "inputs = { f = 0.0 }\nstates = { x = 0.0, v = 0.0 }\noutputs = { x = \"x\" }",
        equations: "der(x) = v\nder(v) = (if time < 90 then 0 else 1) - f - 2 * v",
    };
    let b = System {
        name: "b",
        more: "inputs = { x = 0.0 }\noutputs = { f = \"10000 * x\" }",
        equations: "",
    };
    let done = adaptive(&build(100.0, &[a, b], &["a.x -> b.x", "b.f -> a.f"]), &[]);
    assert!(
        worst(&done, &["a.x", "a.v"]) < 1e-3,
        "{:e}",
        worst(&done, &["a.x", "a.v"])
    );
    let errors =
        [1.0, 1e-12].map(|unit| worst(&adaptive(&oscillator(20.0, 1.0, 4.0, unit), &[]), &["a.x"]));
    assert!(
        errors[0] < 1e-4 && errors[1] < 2.0 * errors[0],
        "{errors:?}"
    );
}

#[test]
fn an_infinite_slope_in_a_linearization_is_left_out_and_said() {
    let tank = System {
        name: "tank",
        more: "inputs = { q = 1.0 }\nstates = { h = 0.0 }\noutputs = { h = \"h\" }",
        equations: "der(h) = q - sqrt(h)",
    };
    let pump = System {
        name: "pump",
        more: "inputs = { h = 0.0 }\nstates = { s = 1.0 }\noutputs = { q = \"s\" }",
        equations: "der(s) = 2 - h - s",
    };
    let scenario = build(
        10.0,
        &[tank, pump],
        &["tank.h -> pump.h", "pump.q -> tank.q"],
    );
    let done = adaptive(&scenario, &[]);
    assert!(worst(&done, &["tank.h", "pump.s"]) < 1e-4);
    assert!(done.end.warnings.iter().any(|w| {
        w.text
            .contains("linearization of `tank` is not finite at t = 0 s")
    }));
    assert!(matches!(
        adaptive(&scenario, &[("step", "0.1")]).end.ending,
        Ok(Ending::Finished)
    ));
}

#[test]
fn what_jumps_to_and_fro_all_the_time_does_not_stop_the_run() {
    let a = System {
        name: "a",
        more: "inputs = { f = 0.0 }\nstates = { x = 1.0, v = 0.0 }\noutputs = { v = \"v\" }",
        equations: "der(x) = v\nder(v) = -f - x",
    };
    let b = System {
        name: "b",
        more: "inputs = { v = 0.0 }\noutputs = { f = \"0.3 * sign(v)\" }",
        equations: "",
    };
    let scenario = build(10.0, &[a, b], &["a.v -> b.v", "b.f -> a.f"]);
    let end = scenario
        .run(&options(&scenario), &mut [], &AtomicBool::new(false))
        .unwrap();
    assert!(
        matches!(end.ending, Ok(Ending::Finished)) && end.statistics.steps < 110_000,
        "{:?}",
        end.statistics
    );
    assert!(
        end.warnings
            .iter()
            .any(|w| w.text.contains("switches to and fro without end")),
        "{:?}",
        end.warnings
    );
}

#[test]
fn a_tolerance_below_rounding_does_not_stop_the_run() {
    let done = adaptive(&oscillator(5.0, 1.0, 4.0, 1.0), &[("tolerance", "1e-16")]);
    assert!(
        done.end.statistics.steps < 110_000,
        "{:?}",
        done.end.statistics
    );
}

#[test]
fn steps_on_a_coarse_clock_do_not_drift() {
    let mut late = oscillator(0.1, 1.0, 1e6, 1.0);
    (late.start_time, late.stop_time) = (1.7e9, 1.7e9 + 0.1);
    // The state that the last exchange tells, beside the exact one: at such times the reference is
    // coarse too.
    struct Last(f64);
    impl Observer for Last {
        fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
            self.0 = exchange.tasks[0].response.states[0];
            Ok(())
        }
    }
    let (mut last, never) = (Last(f64::NAN), AtomicBool::new(false));
    late.run(&options(&late), &mut [&mut last], &never)
        .unwrap()
        .ending
        .unwrap();
    let exact = (1000.0 * (late.stop_time - late.start_time)).cos();
    assert!((last.0 - exact).abs() < 1e-3, "{} and {exact}", last.0);
}

#[test]
fn inputs_that_are_reduced_count_as_errors() {
    let a = System {
        name: "a",
        more: "inputs = { f = 0.0 }\nstates = { x = 1.0, v = 0.0 }\noutputs = { x = \"x\" }\n\
            restrict = { input-degree = 0 }",
        equations: "der(x) = v\nder(v) = -f - 0.2 * v",
    };
    let b = System {
        name: "b",
        more: "inputs = { x = 0.0 }\nstates = { w = 0.0 }\noutputs = { f = \"100 * x + w\" }",
        equations: "der(w) = 20 * (x - w)",
    };
    let done = adaptive(
        &build(2.0, &[a, b], &["a.x -> b.x", "b.f -> a.f"]),
        &[("tolerance", "1e-5")],
    );
    assert!(
        worst(&done, &["a.x", "a.v", "b.w"]) < 3e-3,
        "{:e}",
        worst(&done, &["a.x", "a.v", "b.w"])
    );
}

/// Two systems, one of which has a pole where the inversion of a step of 0.1 s asks.
fn with_pole(rate: f64, more: &str) -> Scenario {
    let a = format!(
        "inputs = {{ u = 0.0 }}\nparameters = {{ l = {rate:?} }}\nstates = {{ x = 1.0 }}\n\
         outputs = {{ y = \"x\" }}"
    );
    let b = format!(
        "inputs = {{ u = 0.0 }}\nstates = {{ z = 1.0 }}\noutputs = {{ y = \"z\" }}\n{more}"
    );
    let a = System {
        name: "a",
        more: &a,
        equations: "der(x) = l * x - u * 20",
    };
    build(
        0.1,
        &[
            a,
            System {
                name: "b",
                more: &b,
                equations: "der(z) = -z * z + u",
            },
        ],
        &["a.y -> b.u", "b.y -> a.u"],
    )
}

#[test]
fn a_pole_of_the_inversion_is_avoided_by_a_shorter_step_or_named() {
    let rate = 3.0 * (std::f64::consts::LN_2 / 0.1);
    let choices = [
        ("method", "missiles"),
        ("step", "0.1"),
        ("laplace", "gaver-stehfest"),
    ];
    let halved = measure_run(&with_pole(rate, ""), &choices);
    let direct = measure_run(
        &with_pole(rate, ""),
        &[choices[0], ("step", "0.05"), choices[2]],
    );
    let (one, other) = (
        worst(&halved, &["a.x", "b.z"]),
        worst(&direct, &["a.x", "b.z"]),
    );
    assert!(
        halved.end.statistics.rejected == 1 && (one / other - 1.0).abs() < 0.01,
        "{one} and {other}"
    );
    let stuck = measure_run(&with_pole(rate, "imposed-step = 0.1"), &choices);
    let message = stuck.end.ending.unwrap_err().to_string();
    assert!(
        message.contains("`a`") && message.contains("pole"),
        "{message}"
    );
}
