//! The equations of the events of a model, written down.

use std::sync::Arc;

use super::scenario_events::Target;
use super::source::EventsText;
use crate::equations::text::{EquationsText, WhenWritten, WrittenModel};

/// The equations of the events, as they are written down.
pub(super) struct Writer {
    name: String,
    /// States that are outputs, then others, with their start values.
    pub outputs: Vec<(String, f64)>,
    pub hidden: Vec<(String, f64)>,
    modes: Vec<(String, String)>,
    bases: Vec<(String, String)>,
    pub watched: Vec<(String, String)>,
    pub whens: Vec<WhenWritten>,
    stop: Option<String>,
}

/// The state that has what holds again when a change is over.
pub(super) fn lasting(output: &str) -> String {
    format!("{output}_lasting")
}

/// The state that says which change of a parameter is in force.
pub(super) fn change_in_force(output: &str) -> String {
    format!("{output}_change")
}

impl Writer {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            outputs: Vec::new(),
            hidden: Vec::new(),
            modes: Vec::new(),
            bases: Vec::new(),
            watched: Vec::new(),
            whens: Vec::new(),
            stop: None,
        }
    }

    /// The state of a target; for a parameter also one that says which change is in force.
    /// Where something is released later, another has what then holds again.
    pub fn state(&mut self, target: &Target<'_>, released: bool) {
        let start = target.parameter.unwrap_or(0.0);
        self.outputs.push((target.output.clone(), start));
        if released {
            let base = lasting(&target.output);
            self.hidden.push((base.clone(), start));
            self.bases.push((target.output.clone(), base));
        }
        if released && target.parameter.is_some() {
            let mode = change_in_force(&target.output);
            self.hidden.push((mode.clone(), 0.0));
            self.modes.push((target.output.clone(), mode));
        }
    }

    pub fn mode_of(&self, target: &Target<'_>) -> Option<String> {
        let found = self
            .modes
            .iter()
            .find(|(output, _)| *output == target.output);
        found.map(|(_, mode)| mode.clone())
    }

    pub fn base_of(&self, target: &Target<'_>) -> Option<String> {
        let found = self
            .bases
            .iter()
            .find(|(output, _)| *output == target.output);
        found.map(|(_, base)| base.clone())
    }

    /// The state that says that an event has happened.
    pub fn fired(&mut self, event: usize) -> String {
        let name = format!("happened_{}", event + 1);
        self.hidden.push((name.clone(), 0.0));
        name
    }

    /// The state that asks for the end.
    pub fn stop(&mut self) -> String {
        let name = "stop".to_owned();
        if self.stop.is_none() {
            self.outputs.push((name.clone(), 0.0));
            self.stop = Some(name.clone());
        }
        name
    }

    pub fn start(&mut self, state: &str, value: f64) {
        let states = self.outputs.iter_mut().chain(&mut self.hidden);
        for (_, start) in states.filter(|(name, _)| name == state) {
            *start = value;
        }
    }

    pub fn when(&mut self, condition: String, set: Vec<(String, String)>) {
        self.whens.push(WhenWritten {
            condition,
            set,
            reset: Vec::new(),
            at_rest: Vec::new(),
        });
    }

    pub fn finish(self) -> EventsText {
        let stop = self.stop.as_ref();
        let stop = stop.and_then(|stop| self.outputs.iter().position(|(name, _)| name == stop));
        let states: Vec<(String, f64)> = [self.outputs.clone(), self.hidden].concat();
        let outputs: Vec<(String, String)> = self
            .outputs
            .iter()
            .map(|(name, _)| (name.clone(), name.clone()))
            .collect();
        let count = outputs.len();
        let written = WrittenModel {
            inputs: self.watched.iter().map(|(name, _)| name.clone()).collect(),
            parameters: Vec::new(),
            states: Vec::new(),
            discrete: states.iter().map(|(name, _)| name.clone()).collect(),
            whens: self.whens,
            equations: String::new(),
            outputs,
            input_units: vec![None; self.watched.len()],
            output_units: vec![None; count],
        };
        EventsText {
            equations: EquationsText {
                name: self.name,
                inputs: vec![0.0; written.inputs.len()],
                written: Arc::new(written),
                parameters: Vec::new(),
                states: Vec::new(),
                discrete: states.into_iter().map(|(_, start)| start).collect(),
                sample: None,
            },
            stop,
        }
    }
}
