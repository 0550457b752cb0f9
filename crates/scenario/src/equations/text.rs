//! Equations as they are written, with the values of their states and parameters.

use dovetail_equations::{Definition, Model, Source, SyntaxError, WhenText};
use dovetail_guaranteed::{Boxes, Interval};
use serde::{Deserialize, Serialize};

use crate::source::value::Bounds;

/// A system given as equations, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EquationsText {
    pub name: String,
    pub inputs: Vec<(String, f64)>,
    pub parameters: Vec<(String, Bounds)>,
    pub states: Vec<(String, Bounds)>,
    pub discrete: Vec<(String, f64)>,
    pub sample: Option<f64>,
    pub whens: Vec<WhenWritten>,
    pub equations: String,
    pub outputs: Vec<(String, String)>,
    pub input_units: Vec<Option<String>>,
    pub output_units: Vec<Option<String>>,
}

/// A clause as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WhenWritten {
    pub condition: String,
    pub set: Vec<(String, String)>,
    pub reset: Vec<(String, String)>,
    pub at_rest: Vec<(String, String)>,
}

impl WhenWritten {
    fn text(&self) -> WhenText<'_> {
        WhenText {
            condition: &self.condition,
            set: pairs(&self.set),
            reset: pairs(&self.reset),
            at_rest: pairs(&self.at_rest),
        }
    }
}

fn pairs(named: &[(String, String)]) -> Vec<(&str, &str)> {
    let pairs = named.iter();
    pairs
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
}

fn names<T>(named: &[(String, T)]) -> Vec<&str> {
    named.iter().map(|(name, _)| name.as_str()).collect()
}

fn middles(named: &[(String, Bounds)]) -> Vec<f64> {
    named.iter().map(|(_, bounds)| bounds.middle()).collect()
}

fn intervals(named: &[(String, Bounds)]) -> Vec<Interval> {
    named
        .iter()
        .map(|(_, bounds)| Interval::new(bounds.lower, bounds.upper))
        .collect()
}

/// Delays are positive, whatever their parameters are.
fn check_delays(model: &Model, parameters: &[f64]) -> Result<(), Vec<SyntaxError>> {
    let times = model.delay_times(parameters);
    for (delay, time) in model.delays.iter().zip(times) {
        if !(time > 0.0 && time.is_finite()) {
            let name = &model.inputs[delay.input];
            let message = format!("`{name}` is delayed by {time} s: a delay must be positive");
            return Err(vec![SyntaxError::about_name(name, message)]);
        }
    }
    Ok(())
}

impl EquationsText {
    /// The equations, compiled, with the middles of all boxes.
    pub fn compile(&self) -> Result<Definition, Vec<SyntaxError>> {
        let model = Model::parse(&Source {
            inputs: names(&self.inputs),
            parameters: names(&self.parameters),
            states: names(&self.states),
            discrete: names(&self.discrete),
            equations: &self.equations,
            outputs: pairs(&self.outputs),
            whens: self.whens.iter().map(WhenWritten::text).collect(),
        })?;
        let inputs = self.inputs.iter().map(|(_, start)| *start).collect();
        let parameters = middles(&self.parameters);
        check_delays(&model, &parameters)?;
        let mut states = middles(&self.states);
        states.extend(self.discrete.iter().map(|(_, start)| *start));

        Ok(Definition {
            sample: self.sample,
            input_units: self.input_units.clone(),
            output_units: self.output_units.clone(),
            ..Definition::new(&self.name, model, parameters, states, inputs)
        })
    }

    /// What is known of states and parameters: all of it, where an ordinary run takes the middles.
    pub fn boxes(&self) -> Boxes {
        Boxes {
            states: intervals(&self.states),
            parameters: intervals(&self.parameters),
        }
    }
}
