//! Every FMU, in all versions and both interfaces, keeps what a system promises.

use std::sync::Arc;

use dovetail_conformance::{Expectations, conformance};
use dovetail_core::{Capabilities, System};
use dovetail_fixtures::{Fixture, Kind, Model, Version};
use dovetail_fmi::description::Strictness;
use dovetail_fmi::{Fmu, InterfaceUse, PreparedFmu, Probing, RunConditions, Settings};

fn prepare(fixture: &Fixture, interface: InterfaceUse) -> PreparedFmu {
    let unit: Arc<Fmu> = Fmu::open(&fixture.build(), Strictness::Strict).unwrap();
    let settings = Settings {
        interface: Some(interface),
        values: Vec::new(),
        start: 0.0,
        stop: 10.0,
        imposed_step: None,
        sub_steps: 1,
        probe_tolerance: None,
        without_event_mode: false,
        open_ended: false,
        continuous: Vec::new(),
        recorded: Vec::new(),
        tuned: Vec::new(),
    };
    unit.prepare(settings, 0.01, Probing::Here).unwrap()
}

fn system(prepared: &PreparedFmu) -> Box<dyn System> {
    let conditions = RunConditions {
        goes_back: false,
        course: Default::default(),
        step: 0.01,
        tolerance: 1e-12,
        asked_tolerance: None,
        log: None,
        inputs: None,
        states: None,
    };
    prepared.system("unit", &conditions).unwrap().0
}

fn conforms(fixture: &Fixture, interface: InterfaceUse) {
    let prepared = prepare(fixture, interface);
    let mut make = || -> Box<dyn System> { system(&prepared) };
    let expect = Expectations {
        start: 0.0,
        step: 0.01,
        tolerance: 1e-9,
    };
    if let Err(claim) = conformance(&mut make, expect) {
        panic!(
            "{} as {interface}: {claim}\n{:?}\n{:?}",
            fixture.archive_name(),
            prepared.abilities(),
            prepared.findings()
        );
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
            conforms(&Fixture::new(model, version), InterfaceUse::CoSimulation);
            conforms(&Fixture::poor(model, version), InterfaceUse::CoSimulation);
        }
    }
}

#[test]
fn fmi_1_conforms() {
    for model in MODELS {
        let one = |kind| Fixture::new(model, Version::One).kind(kind);
        conforms(&one(Kind::CoSimulation), InterfaceUse::CoSimulation);
        conforms(&one(Kind::ModelExchange), InterfaceUse::ModelExchange);
        let poor = Fixture::poor(model, Version::One);
        conforms(&poor, InterfaceUse::CoSimulation);
    }
}

#[test]
fn fmi_1_has_no_states_to_save_and_no_derivatives_but_those_of_time() {
    let slave = Fixture::new(Model::Prey, Version::One);
    let slave = prepare(&slave, InterfaceUse::CoSimulation);
    let found = Capabilities::of(system(&slave).as_mut());
    assert!(!found.trial && !found.linearize, "{found:?}");
    assert!(
        found.input_degree > 1 && found.output_derivatives > 0,
        "{found:?}"
    );

    let model = Fixture::new(Model::Prey, Version::One).kind(Kind::ModelExchange);
    let model = prepare(&model, InterfaceUse::ModelExchange);
    let found = Capabilities::of(system(&model).as_mut());
    assert!(found.trial && found.linearize, "{found:?}");
}

#[test]
fn model_exchange_conforms() {
    for model in MODELS {
        for version in [Version::Two, Version::Three] {
            conforms(&Fixture::new(model, version), InterfaceUse::ModelExchange);
            conforms(
                &Fixture::poor(model, version).kind(Kind::Both),
                InterfaceUse::ModelExchange,
            );
        }
    }
}

#[test]
fn capabilities_are_found() {
    for version in [Version::Two, Version::Three] {
        let rich = prepare(
            &Fixture::new(Model::Prey, version),
            InterfaceUse::CoSimulation,
        );
        let found = Capabilities::of(system(&rich).as_mut());
        assert!(
            found.trial
                && found.linearize
                && found.input_degree > 1
                && found.output_derivatives > 0,
            "{found:?}"
        );
        assert!(
            rich.findings().iter().all(|finding| finding.holds()),
            "{:?}",
            rich.findings()
        );
        let poor = prepare(
            &Fixture::poor(Model::Prey, version),
            InterfaceUse::CoSimulation,
        );
        let poor = Capabilities::of(system(&poor).as_mut());
        assert!(
            !poor.trial
                && !poor.linearize
                && poor.input_degree == 0
                && poor.output_derivatives == 0,
            "{poor:?}"
        );
    }
}
