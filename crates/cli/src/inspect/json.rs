//! An FMU as JSON.

use dovetail::core::{Input, Interface, Output, StepRule};
use dovetail::fmi::description::Variable;
use dovetail::fmi::{Finding, FmuCapabilities, InterfaceUse};
use serde_json::{Value, json};

use super::{Found, causality, inputs, is_parameter, nature, slopes};

impl Found<'_> {
    /// Everything that was found.
    pub fn to_json(&self) -> Value {
        let description = self.description();
        let interface = self.prepared.interface(self.name);
        let precision = self.capabilities.precision;

        json!({
            "name": self.name,
            "model_name": description.model_name,
            "fmi_version": description.fmi_version,
            "usable": self.prepared.unusable().is_none(),
            "interface": kind(self.prepared.used()),
            "generation_tool": description.generation_tool,
            "inputs": interface.inputs.iter().map(input).collect::<Vec<_>>(),
            "outputs": outputs(&interface),
            "states": interface.states,
            "parameters": self.parameters(),
            "declared": abilities(self.prepared.declared()),
            "probed": self.tried.then(|| abilities(self.prepared.abilities())),
            "input_degree": self.capabilities.input_degree,
            "variables": self.all.then(|| self.all_variables()),
            "precision": { "noise": precision.noise, "resolution": precision.resolution },
            "findings": self.prepared.findings().iter().map(finding).collect::<Vec<_>>(),
        })
    }

    fn parameters(&self) -> Vec<&str> {
        let parameters = self.described_variables().filter(|of| is_parameter(of));
        parameters.map(|variable| variable.name.as_str()).collect()
    }

    /// All variables, whatever they are.
    fn all_variables(&self) -> Vec<Value> {
        self.described_variables().map(variable).collect()
    }
}

fn kind(used: InterfaceUse) -> &'static str {
    match used {
        InterfaceUse::CoSimulation => "co-simulation",
        InterfaceUse::ModelExchange => "model-exchange",
    }
}

fn variable(of: &Variable) -> Value {
    json!({
        "name": of.name,
        "causality": causality(of.causality),
        "type": format!("{:?}", of.value_type),
        "unit": of.unit,
        "description": of.description,
    })
}

fn abilities(of: &FmuCapabilities) -> Value {
    let step = match of.step {
        StepRule::Free => Value::Null,
        StepRule::Imposed(size) => json!(size),
    };
    json!({
        "rollback": of.rollback,
        "directional_derivatives": of.directional,
        "linearization": of.linearizes,
        "inputs": inputs(of),
        "output_derivatives": slopes(of),
        "step": step,
        "event_mode": of.event_mode,
    })
}

fn input(of: &Input) -> Value {
    json!({ "name": of.name, "unit": of.unit, "nature": nature(of.kind), "start": of.start })
}

fn outputs(interface: &Interface) -> Vec<Value> {
    let output = |of: &Output| {
        let inputs = of.depends_on.iter().map(|&input| &interface.inputs[input]);
        let depends_on: Vec<&str> = inputs.map(|input| input.name.as_str()).collect();
        json!({
            "name": of.name,
            "unit": of.unit,
            "nature": nature(of.kind),
            "depends_on": depends_on,
        })
    };
    interface.outputs.iter().map(output).collect()
}

fn finding(of: &Finding) -> Value {
    json!({
        "capability": of.capability.name(),
        "holds": of.holds(),
        "confirmed": of.confirmed(),
        "what": of.what,
    })
}
