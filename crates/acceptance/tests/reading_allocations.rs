//! Reading grows in proportion to what is read, counted in allocations.

use dovetail_cases::{Counting, allocations};
use dovetail_fmi::description::{Strictness, read};
use dovetail_scenario::{Overrides, Scenario, SourceText};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The larger text has so many times the systems, or variables, of the smaller one.
const TIMES: usize = 8;

/// A ring of systems, each fed by the one before.
fn ring(systems: usize) -> String {
    let mut text = "[model]\nstop-time = 1.0\n".to_owned();
    for k in 0..systems {
        text += &format!(
            "[systems.s{k}]\ninputs = {{ u = 0.0 }}\nparameters = {{ a = 0.5 }}\n\
             states = {{ x = 1.0 }}\nequations = \"der(x) = a * (u - x)\"\n\
             outputs = {{ y = \"x\" }}\n[[connections]]\nfrom = \"s{k}.y\"\nto = \"s{}.u\"\n",
            (k + 1) % systems
        );
    }
    text
}

fn read_ring(systems: usize) -> u64 {
    let source = SourceText {
        path: "model.toml".into(),
        text: ring(systems),
    };
    let before = allocations();
    let scenario = Scenario::parse(source, &Overrides::default()).unwrap();
    assert_eq!(scenario.connections.systems(), systems);
    allocations() - before
}

/// The description of an FMU whose outputs depend on one another.
fn description(variables: usize) -> String {
    let mut text = String::from(
        "<fmiModelDescription fmiVersion='2.0' modelName='big' guid='g'>\
         <CoSimulation modelIdentifier='big'/><ModelVariables>\n",
    );
    for n in 0..variables {
        text += &format!(
            "<ScalarVariable name='a.b[{n}].c' valueReference='{n}' causality='output'>\
             <Real derivative='{}'/></ScalarVariable>\n",
            (n + 7) % variables + 1
        );
    }
    text += "</ModelVariables><ModelStructure><Outputs>\n";
    for n in 1..=variables {
        text += &format!("<Unknown index='{n}' dependencies='1 {n} {variables}'/>\n");
    }
    text + "</Outputs></ModelStructure></fmiModelDescription>"
}

fn read_description(variables: usize) -> u64 {
    let text = description(variables);
    let before = allocations();
    let (found, _) = read(text.as_bytes(), Strictness::Lenient).unwrap();
    assert_eq!(found.variables.len(), variables);
    allocations() - before
}

fn assert_proportional(what: &str, few: u64, many: u64) {
    let ratio = many as f64 / few as f64;
    assert!(
        ratio < 1.1 * TIMES as f64,
        "{what}: {few} allocations became {many} where there was {TIMES} times as much to read"
    );
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    read_ring(10); // what is made only once
    assert_proportional("systems", read_ring(400), read_ring(400 * TIMES));
    read_description(10);
    let few = read_description(1000);
    assert_proportional("variables", few, read_description(1000 * TIMES));
}
