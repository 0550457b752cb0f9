//! Every system of every example passes the suite that all kinds of systems pass, whole and
//! restricted.

use dovetail_cases::ALL;
use dovetail_conformance::{Expectations, conformance};
use dovetail_core::{Restricted, Restrictions, System};
use dovetail_equations::{Definition, Model, NativeSystem, Source};

const TOLERANCE: f64 = 1e-11;

fn check(definition: &Definition, restrictions: Restrictions, start: f64, step: f64) {
    let definition = Definition {
        tolerance: TOLERANCE,
        ..definition.clone()
    };
    let mut make = || -> Box<dyn System> {
        let system = NativeSystem::new(&definition);
        if restrictions == Restrictions::default() {
            Box::new(system)
        } else {
            Box::new(Restricted::new(system, restrictions))
        }
    };
    let expect = Expectations {
        start,
        step,
        tolerance: TOLERANCE,
    };
    if let Err(broken) = conformance(&mut make, expect) {
        panic!(
            "`{}` with {restrictions:?} from {start} by {step}: not true that {broken}",
            definition.name
        );
    }
}

fn restrictions() -> Vec<Restrictions> {
    let all = Restrictions::default();
    vec![
        all,
        Restrictions {
            input_degree: 0,
            ..all
        },
        Restrictions {
            input_degree: 1,
            rollback: false,
            ..all
        },
        Restrictions {
            linearization: false,
            output_derivatives: 1,
            ..all
        },
        Restrictions {
            imposed_step: Some(0.05),
            input_degree: 3,
            ..all
        },
    ]
}

#[test]
fn every_system_of_every_example_conforms() {
    for case in ALL {
        for definition in &case.scenario().definitions().unwrap() {
            for restricted in restrictions() {
                check(definition, restricted, 0.0, 0.01);
            }
        }
    }
}

#[test]
fn systems_conform_when_a_step_crosses_their_switching_times_or_starts_on_one() {
    for case in ALL {
        for definition in &case.scenario().definitions().unwrap() {
            for (start, step) in [
                (1.9, 0.3),
                (2.0, 0.1),
                (9.95, 0.1),
                (14.9, 0.25),
                (99.9, 0.2),
            ] {
                check(definition, Restrictions::default(), start, step);
            }
        }
    }
}

fn system(
    states: &[(&str, f64)],
    inputs: &[(&str, f64)],
    equations: &str,
    outputs: &[(&str, &str)],
) -> Definition {
    let source = Source {
        inputs: inputs.iter().map(|(name, _)| *name).collect(),
        parameters: vec![],
        states: states.iter().map(|(name, _)| *name).collect(),
        equations,
        outputs: outputs.to_vec(),
        ..Default::default()
    };
    let model = Model::parse(&source).unwrap();
    let values = |pairs: &[(&str, f64)]| pairs.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    Definition::new("system", model, vec![], values(states), values(inputs))
}

#[test]
fn systems_with_everything_that_the_language_has_conform() {
    let driven = system(
        &[("x", 0.5), ("v", -0.2)],
        &[("u", 0.3), ("w", 1.0)],
        "der(x) = v + 0.1 * der(w)\n\
         der(v) = -sin(x) * exp(-0.1 * v^2) + u * w / (1 + x^2) - 0.2 * der(u)",
        &[
            ("a", "x * u + der(w)"),
            ("b", "tanh(v) + time * w"),
            ("c", "sqrt(1 + x^2) + cos(time)"),
        ],
    );
    let affine = system(
        &[("x", 0.5), ("v", -0.2)],
        &[("u", 0.3)],
        "der(x) = v + 0.5 * der(u) + 1\nder(v) = -4 * x - 0.1 * v + u",
        &[("a", "x + 2 * u + der(u)"), ("b", "v")],
    );
    let stateless = system(
        &[],
        &[("u", 2.0)],
        "",
        &[("y", "u^2 * sin(time)"), ("z", "3 * u + 1")],
    );
    let stiff = system(
        &[("x", 1.0)],
        &[("u", 1.0)],
        "der(x) = -1e6 * (x - cos(time) * u)",
        &[("y", "x + u")],
    );
    let silent = system(&[("x", 1.0)], &[("u", 1.0)], "der(x) = u - x^3", &[]);
    let delayed = system(
        &[("x", 1.0)],
        &[("u", 1.0)],
        "der(x) = delay(u, 0.15) - x",
        &[("y", "x + 2 * delay(u, 0.07) + u"), ("z", "x")],
    );
    for definition in [&driven, &affine, &stateless, &silent, &delayed] {
        check(definition, Restrictions::default(), 0.0, 0.1);
    }
    check(
        &stiff,
        Restrictions {
            output_derivatives: 0,
            linearization: false,
            ..Restrictions::default()
        },
        0.0,
        0.1,
    );
    assert!(NativeSystem::new(&affine).is_exact() && !NativeSystem::new(&driven).is_exact());
}
