//! Consistent start values: chains, loops that can be solved, and loops that cannot.

use dovetail_core::Error;
use dovetail_methods::{algebraic_loops, initialize};
use dovetail_scenario::{Choices, Overrides, Scenario, SourceText};
use dovetail_workers::SingleThread;

fn scenario(text: &str) -> Scenario {
    let source = SourceText {
        path: "model".into(),
        text: format!("[model]\nstop-time = 1\n{text}"),
    };
    Scenario::parse(source, &Overrides::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

fn start(scenario: &Scenario) -> Result<Vec<f64>, Error> {
    let options = scenario.options(&Choices::default()).unwrap();
    let mut workers = SingleThread::new(scenario.systems(&options).unwrap());
    let tasks = initialize(&scenario.connections, &mut workers, 0.0, 0)?;
    Ok(tasks
        .iter()
        .flat_map(|task| task.response.outputs.iter().map(|knot| knot.value))
        .collect())
}

/// Two systems, `y = first(u)` and `y = second(u)`, feeding each other.
fn pair(first: &str, second: &str, extra: &str) -> Scenario {
    scenario(&format!(
        "[systems.one]\ninputs = {{ u = 0.5 }}\noutputs = {{ y = \"{first}\" }}\n{extra}\n\
         [systems.two]\ninputs = {{ u = 0.5 }}\noutputs = {{ y = \"{second}\" }}\n{extra}\n\
         [[connections]]\nfrom = \"one.y\"\nto = \"two.u\"\n[[connections]]\nfrom = \"two.y\"\n\
         to = \"one.u\"\n"
    ))
}

#[test]
fn a_chain_passes_its_values_on_in_one_go() {
    let chain = scenario(
        "[systems.c]\ninputs = { u = 0.0 }\noutputs = { y = \"u + 1\" }\n\
         [systems.a]\noutputs = { y = \"7\" }\n\
         [systems.b]\ninputs = { u = 0.0, w = 0.0 }\noutputs = { y = \"2 * u + w\" }\n\
         [[connections]]\nfrom = \"a.y\"\nto = \"b.u\"\n[[connections]]\nvalue = 0.5\n\
         to = \"b.w\"\n\
         [[connections]]\nfrom = \"b.y\"\nto = \"c.u\"\n",
    );
    assert!(algebraic_loops(&chain.connections).is_empty());
    assert_eq!(start(&chain).unwrap(), [15.5, 7.0, 14.5]);
}

#[test]
fn a_linear_loop_is_solved_whatever_its_gain() {
    // y1 = 1 - 100 y2, y2 = 3 y1: a fixed point would run away.
    let values = start(&pair("1 - 100 * u", "3 * u", "")).unwrap();
    assert!((values[0] - 1.0 / 301.0).abs() < 1e-15);
    assert!((values[1] - 3.0 / 301.0).abs() < 1e-15);
}

#[test]
fn a_nonlinear_loop_is_solved() {
    let values = start(&pair("cos(u)", "u^3 + 0.1", "")).unwrap();
    assert!((values[0] - (values[1]).cos()).abs() < 1e-15);
    assert!((values[1] - (values[0].powi(3) + 0.1)).abs() < 1e-15);
}

#[test]
fn systems_that_cannot_be_linearized_are_asked_for_differences() {
    let poor = pair(
        "1 - 100 * u",
        "3 * u + 0.01 * u^2",
        "restrict = { linearization = false, rollback = false }",
    );
    let values = start(&poor).unwrap();
    assert!((values[0] - (1.0 - 100.0 * values[1])).abs() < 1e-12);
}

#[test]
fn a_singular_loop_is_named() {
    let error = start(&pair("u + 1", "u", "")).unwrap_err();
    let Error::SingularLoop { variables, time } = error else {
        panic!("{error}")
    };
    assert_eq!(
        (variables, time),
        (vec!["one.y".to_owned(), "two.y".to_owned()], 0.0)
    );
}

#[test]
fn a_loop_without_a_solution_is_named() {
    let error = start(&pair("exp(u)", "u + 1", "")).unwrap_err(); // exp(y + 1) = y has none
    let Error::UnsolvedLoop {
        variables,
        residual,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(variables, ["one.y", "two.y"]);
    assert!(residual > 0.1);
}

#[test]
fn a_loop_that_is_no_number_at_its_start_values_names_the_output() {
    let error = start(&pair("log(u - 2)", "0.1 * u", "")).unwrap_err();
    let Error::NotFinite {
        system, variable, ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((system.as_str(), variable.as_str()), ("one", "y"));
}

#[test]
fn a_system_may_feed_itself() {
    let own = scenario(
        "[systems.s]\ninputs = { u = 0.0 }\noutputs = { y = \"2 - 3 * u\" }\n[[connections]]\n\
         from = \"s.y\"\nto = \"s.u\"\n",
    );
    assert_eq!(algebraic_loops(&own.connections), [[0]]);
    assert_eq!(start(&own).unwrap(), [0.5]);
}
