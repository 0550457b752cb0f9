//! An FMU as JSON.

use dovetail_core::{Capabilities, Interface, StepRule};
use dovetail_fmi::description::{Description, Variable};
use dovetail_fmi::{Finding, FmuCapabilities, InterfaceUse, PreparedFmu};
use dovetail_scenario::Scenario;
use serde_json::{Value, json};

use super::systems::{input, output};
use super::words::{causality, inputs, is_parameter, slopes};

/// One FMU of a model, as it was found.
pub struct FoundFmu<'a> {
    /// Its name in the model.
    pub name: &'a str,
    /// What is known of it.
    pub prepared: &'a PreparedFmu,
    /// What it can do as a system.
    pub capabilities: Capabilities,
    /// Whether all variables are shown.
    pub all: bool,
    /// Whether it was tried out.
    pub tried: bool,
}

impl<'a> FoundFmu<'a> {
    /// The FMUs of a model, of whose systems these are the capabilities.
    pub fn of(
        scenario: &'a Scenario,
        capabilities: &[Capabilities],
        all: bool,
        tried: bool,
    ) -> Vec<Self> {
        let interfaces = scenario.connections.interfaces();
        let place = |name: &str| {
            interfaces
                .iter()
                .position(|interface| interface.name == name)
        };
        let fmus = scenario.units().into_iter();

        fmus.map(|(name, prepared)| Self {
            name,
            prepared,
            capabilities: capabilities[place(name).unwrap_or(0)],
            all,
            tried,
        })
        .collect()
    }

    /// What it says of itself.
    pub fn description(&self) -> &'a Description {
        self.prepared.fmu().description()
    }
}

impl FoundFmu<'_> {
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
        let parameters = self
            .description()
            .variables
            .iter()
            .filter(|of| is_parameter(of));
        parameters.map(|variable| variable.name.as_str()).collect()
    }

    /// All variables, whatever they are.
    fn all_variables(&self) -> Vec<Value> {
        self.description().variables.iter().map(variable).collect()
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

fn outputs(interface: &Interface) -> Vec<Value> {
    let outputs = interface.outputs.iter();
    outputs.map(|of| output(interface, of)).collect()
}

fn finding(of: &Finding) -> Value {
    json!({
        "capability": of.capability.name(),
        "holds": of.holds(),
        "confirmed": of.confirmed(),
        "what": of.what,
    })
}
