//! What a check finds, as JSON.

use dovetail_core::{Capabilities, Interface, StepRule};
use dovetail_scenario::{BadModel, RunOptions, Scenario};
use serde_json::{Map, Value, json};

/// What `dovetail check --json` prints: everything that can be known without running.
pub fn check_findings(
    scenario: &Scenario,
    options: &RunOptions,
    (chosen, reason): (&str, Option<String>),
) -> Result<Value, BadModel> {
    let all = scenario.capabilities_of_systems(options)?;
    let interfaces = scenario.connections.interfaces();
    let systems: Map<String, Value> = interfaces
        .iter()
        .zip(&all)
        .map(|(interface, can)| (interface.name.clone(), system(interface, can)))
        .collect();

    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": scenario.name,
        "start_time": scenario.start_time,
        "stop_time": scenario.stop_time,
        "systems": systems,
        "connections": scenario.connections.inputs(),
        "algebraic_loops": scenario.algebraic_loops(),
        "methods": scenario.permitted_methods(options),
        "method": chosen,
        "reason": reason,
        "enclosable": scenario.to_enclose().is_ok(),
        "needs_processes": scenario.needs_processes(),
        "warnings": warnings(scenario, chosen),
    }))
}

fn warnings(scenario: &Scenario, chosen: &str) -> Vec<String> {
    let of_model = scenario.warnings.iter().map(ToString::to_string);
    of_model.chain(scenario.method_warnings(chosen)).collect()
}

fn system(interface: &Interface, can: &Capabilities) -> Value {
    let step = match can.step_rule {
        StepRule::Free => Value::Null,
        StepRule::Imposed(size) => json!(size),
    };
    json!({
        "states": interface.states.len(),
        "inputs": interface.inputs.len(),
        "outputs": interface.outputs.len(),
        "rollback": can.trial,
        "linearization": can.linearize,
        "input_degree": can.input_degree,
        "output_derivatives": can.output_derivatives,
        "step": step,
    })
}
