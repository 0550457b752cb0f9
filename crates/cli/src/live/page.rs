//! The page: what of the model can be changed on it.

use dovetail::core::Source;
use dovetail::report::{LivePage, Settable};
use dovetail::scenario::{FaceRole, Scenario, registry};
use serde_json::{Value, json};

use super::wanted::Wanted;
use crate::arguments::LiveArguments;
use crate::failure::Failure;
use crate::origin;

/// The page for this model.
pub(super) fn of(arguments: &LiveArguments, scenario: &Scenario) -> Result<String, Failure> {
    let page = LivePage {
        name: &scenario.name,
        origin: &origin::of(&arguments.model),
        stop: scenario.stop_time,
        methods: &methods(),
        chosen: &chosen(arguments, scenario)?,
        settable: &settable(scenario),
    };
    Ok(page.render())
}

/// All methods with what they are, `auto` first.
fn methods() -> Vec<(String, String)> {
    let kinds = registry();
    let named = kinds.methods().iter();
    let named = named.map(|kind| (kind.name().to_owned(), kind.summary().to_owned()));
    let auto = (
        dovetail::methods::AUTO.to_owned(),
        "the best that the systems permit".to_owned(),
    );
    std::iter::once(auto).chain(named).collect()
}

/// What the model and the command line have chosen.
fn chosen(arguments: &LiveArguments, scenario: &Scenario) -> Result<Value, Failure> {
    let options = scenario.options(&Wanted::default().choices(arguments))?;
    let text = |number: Option<f64>| number.map(|number| number.to_string());
    Ok(json!({
        "method": options.method,
        "step": text(options.step()),
        "tolerance": text(options.tolerance()),
        "stop": scenario.stop_time.to_string(),
        "pace": text(arguments.real_time).unwrap_or_else(|| "0".to_owned()),
    }))
}

/// Parameters, start values of states, and inputs that nothing feeds; system by system.
fn settable(scenario: &Scenario) -> Vec<Settable> {
    let interfaces = scenario.connections.interfaces().iter();
    let systems: Vec<&str> = interfaces.map(|system| system.name.as_str()).collect();
    let mut all = parameters(scenario, &systems);
    all.extend(states(scenario));
    all.extend(inputs(scenario));
    let place = |one: &Settable| systems.iter().position(|system| **system == one.system);
    all.sort_by_key(place);
    all
}

fn parameters(scenario: &Scenario, systems: &[&str]) -> Vec<Settable> {
    let face = scenario.face();
    let parameters = face
        .into_iter()
        .filter(|one| one.role == FaceRole::Parameter);
    let settable = parameters.filter_map(|one| {
        let fitting = systems.iter().filter(|system| {
            let rest = one.name.strip_prefix(**system);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        // Names of systems may have dots: the longest that fits is meant.
        let system = fitting.max_by_key(|system| system.len())?;
        Some(Settable {
            system: (*system).to_owned(),
            name: one.name,
            role: "parameter",
            value: one.start,
            unit: one.unit.map(|unit| unit.name),
            description: one.description,
        })
    });
    settable.collect()
}

fn states(scenario: &Scenario) -> Vec<Settable> {
    let mut all = Vec::new();
    for (system, interface) in scenario.connections.interfaces().iter().enumerate() {
        let Some(definition) = scenario.definition(system) else {
            continue;
        };
        let states = definition.model.states.iter().zip(&definition.states);
        all.extend(states.map(|(name, value)| Settable {
            name: interface.qualified(name),
            system: interface.name.clone(),
            role: "start value",
            value: Some(value.to_string()),
            unit: None,
            description: None,
        }));
    }
    all
}

fn inputs(scenario: &Scenario) -> Vec<Settable> {
    let connections = &scenario.connections;
    let mut all = Vec::new();
    for (system, interface) in connections.interfaces().iter().enumerate() {
        let sources = &connections.sources()[connections.inputs_of(system)];
        for (input, source) in interface.inputs.iter().zip(sources) {
            if let Source::Constant(value) = source {
                all.push(Settable {
                    name: interface.qualified(&input.name),
                    system: interface.name.clone(),
                    role: "input",
                    value: Some(value.to_string()),
                    unit: input.unit.clone(),
                    description: None,
                });
            }
        }
    }
    all
}
