//! Every unit, in both versions and both interfaces, keeps what a system promises.

use std::sync::Arc;

use dovetail_core::{Expectations, System, conformance};
use dovetail_fixtures::{Fixture, Kind, Model, Version};
use dovetail_fmi::description::Strictness;
use dovetail_fmi::{Prepared, Settings, Unit, Use};

fn settings(interface: Use) -> Settings {
    Settings {
        interface: Some(interface),
        values: Vec::new(),
        start: 0.0,
        stop: 10.0,
        step: 0.01,
        imposed_step: None,
        sub_steps: 1,
        tolerance: 1e-12,
        tolerance_given: false,
        log: None,
    }
}

fn prepare(fixture: &Fixture, interface: Use) -> Prepared {
    let unit: Arc<Unit> = Unit::open(&fixture.build(), Strictness::Strict).unwrap();
    unit.prepare(settings(interface)).unwrap()
}

fn conforms(fixture: &Fixture, interface: Use) {
    let prepared = prepare(fixture, interface);
    let mut make = || -> Box<dyn System> { prepared.system("unit").unwrap().0 };
    let expect = Expectations { start: 0.0, step: 0.01, tolerance: 1e-9 };
    if let Err(claim) = conformance(&mut make, expect) {
        panic!("{} as {interface}: {claim}\n{:?}\n{:?}", fixture.archive_name(), prepared.abilities(), prepared.findings());
    }
}

const MODELS: [Model; 9] = [
    Model::MechanicalLeft,
    Model::MechanicalRight,
    Model::Prey,
    Model::Predator,
    Model::Body,
    Model::Plate,
    Model::BehaviourLeft,
    Model::Sine,
    Model::Gain,
];

#[test]
fn co_simulation_conforms() {
    for model in MODELS {
        for version in [Version::Two, Version::Three] {
            conforms(&Fixture::new(model, version), Use::CoSimulation);
            conforms(&Fixture::poor(model, version), Use::CoSimulation);
        }
    }
}

#[test]
fn model_exchange_conforms() {
    for model in MODELS {
        for version in [Version::Two, Version::Three] {
            conforms(&Fixture::new(model, version), Use::ModelExchange);
            conforms(&Fixture::poor(model, version).kind(Kind::Both), Use::ModelExchange);
        }
    }
}

#[test]
fn capabilities_are_found() {
    for version in [Version::Two, Version::Three] {
        let rich = prepare(&Fixture::new(Model::Prey, version), Use::CoSimulation);
        let found = rich.capabilities().unwrap();
        assert!(found.trial && found.linearize && found.input_degree > 1 && found.output_derivatives > 0, "{found:?}");
        assert!(rich.findings().iter().all(|finding| finding.holds), "{:?}", rich.findings());
        let poor = prepare(&Fixture::poor(Model::Prey, version), Use::CoSimulation).capabilities().unwrap();
        assert!(!poor.trial && !poor.linearize && poor.input_degree == 0 && poor.output_derivatives == 0, "{poor:?}");
    }
}
