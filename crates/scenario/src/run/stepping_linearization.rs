//! The linearization of a model that runs in parts, with its inputs from outside.

use dovetail_core::{Capabilities, Interface, LinearizeTask, Source};
use dovetail_methods::{CoupledLinearization, couple};

use super::stepping::SteppedRun;
use crate::inputs::outside::OutsideSignals;

/// A model linearized where it stands.
pub struct OuterLinearization {
    /// Its matrices. Inputs are those from outside and others that no output feeds.
    pub coupled: CoupledLinearization,
    /// For each input from outside, by its slot, which of these inputs it is.
    pub inputs: Vec<usize>,
    /// For each output of the model's connections, which of these outputs it is.
    pub outputs: Vec<Option<usize>>,
}

impl SteppedRun<'_> {
    /// Whether all systems can be linearized where they stand.
    pub fn can_linearize(&self) -> bool {
        let able = |able: &Capabilities| able.linearize;
        self.session.workers.capabilities().iter().all(able)
    }

    /// The names of the continuous states, `system.state`.
    pub fn state_names(&self) -> Vec<String> {
        let scenario = self.session.scenario;
        let interfaces = scenario.connections.interfaces().iter();
        let all = interfaces.zip(scenario.continuous_states());
        all.flat_map(|(interface, count)| {
            let states = interface.states.iter().take(count);
            states.map(|state| interface.qualified(state))
        })
        .collect()
    }

    /// The model where it stands, under the inputs last applied. `outside` is what feeds the open ones.
    pub fn linearize(&mut self, outside: &OutsideSignals) -> Result<OuterLinearization, String> {
        let scenario = self.session.scenario;
        let interfaces = scenario.connections.interfaces().iter().enumerate();
        let tasks = interfaces.map(|(system, interface)| LinearizeTask::new(system, interface));
        let mut tasks: Vec<LinearizeTask> = tasks.collect();
        let done = self.session.workers.linearize(&mut tasks);
        done.map_err(|error| error.to_string())?;
        for (task, part) in tasks.iter_mut().zip(&scenario.parts) {
            if let Some(whole) = outside.linearized(&part.exposed) {
                task.linearization = whole;
            }
        }

        let inner: Vec<Interface> = scenario.parts.iter().map(|part| part.interface()).collect();
        let connections = scenario.connections_with_open(inner, |_, start| Source::Constant(start));
        let each: Vec<_> = tasks.iter().map(|task| &task.linearization).collect();
        let time = self.session.state.reached();
        let coupled = couple(&connections, &each, &scenario.continuous_states(), time);
        let coupled = coupled.map_err(|refusal| refusal.to_string())?;

        let place = |names: &[String], name: &str| names.iter().position(|own| own == name);
        let mut inputs = Vec::new();
        for (part, interface) in scenario.parts.iter().zip(connections.interfaces()) {
            for (position, slot, _) in part.exposed.each() {
                let name = interface.qualified(&interface.inputs[position].name);
                inputs.resize(inputs.len().max(slot + 1), usize::MAX);
                inputs[slot] = place(&coupled.inputs, &name).unwrap_or(usize::MAX);
            }
        }
        let outer = 0..scenario.connections.outputs();
        let outputs = outer.map(|output| {
            let name = scenario.connections.output_name(output);
            place(&coupled.outputs, &name)
        });
        Ok(OuterLinearization {
            outputs: outputs.collect(),
            inputs,
            coupled,
        })
    }
}
