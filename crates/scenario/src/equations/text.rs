//! Equations as they are written, with the values of their states and parameters.

use std::collections::HashMap;
use std::sync::Arc;

use dovetail_core::SharedList;
use dovetail_equations::{Definition, Model, Source, SyntaxError, WhenText};
use dovetail_guaranteed::{Boxes, Interval};
use serde::{Deserialize, Serialize};

use crate::source::value::Bounds;

/// A system given as equations, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EquationsText {
    pub name: String,
    /// Names and texts, which may be those of other systems too.
    pub written: Arc<WrittenModel>,
    /// Start values of the inputs.
    pub inputs: Vec<f64>,
    pub parameters: Vec<Bounds>,
    pub states: Vec<Bounds>,
    pub discrete: Vec<f64>,
    pub sample: Option<f64>,
}

/// Equations without values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct WrittenModel {
    pub inputs: Vec<String>,
    pub parameters: Vec<String>,
    pub states: Vec<String>,
    pub discrete: Vec<String>,
    pub whens: Vec<WhenWritten>,
    pub equations: String,
    pub outputs: Vec<(String, String)>,
    pub input_units: Vec<Option<String>>,
    pub output_units: Vec<Option<String>>,
}

/// The equations that have been compiled, for systems that have the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownModels(HashMap<Arc<WrittenModel>, CompiledModel>);

/// Equations without values, compiled.
#[derive(Clone, Debug)]
struct CompiledModel {
    model: Arc<Model>,
    input_units: SharedList<Option<String>>,
    output_units: SharedList<Option<String>>,
}

impl KnownModels {
    /// What is written, in the memory that it may have already.
    fn share(&self, written: Arc<WrittenModel>) -> Arc<WrittenModel> {
        let known = self.0.get_key_value(&written);
        known.map_or(written, |(known, _)| Arc::clone(known))
    }

    fn compile(&mut self, written: &Arc<WrittenModel>) -> Result<CompiledModel, Vec<SyntaxError>> {
        if let Some(known) = self.0.get(written) {
            return Ok(known.clone());
        }
        let compiled = written.compile()?;
        self.0.insert(Arc::clone(written), compiled.clone());
        Ok(compiled)
    }
}

/// A clause as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

fn names(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

fn middles(bounds: &[Bounds]) -> Vec<f64> {
    bounds.iter().map(Bounds::middle).collect()
}

fn intervals(bounds: &[Bounds]) -> Vec<Interval> {
    bounds.iter().map(Bounds::interval).collect()
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

impl WrittenModel {
    fn compile(&self) -> Result<CompiledModel, Vec<SyntaxError>> {
        let model = Model::parse(&Source {
            inputs: names(&self.inputs),
            parameters: names(&self.parameters),
            states: names(&self.states),
            discrete: names(&self.discrete),
            equations: &self.equations,
            outputs: pairs(&self.outputs),
            whens: self.whens.iter().map(WhenWritten::text).collect(),
        })?;

        Ok(CompiledModel {
            model: Arc::new(model),
            input_units: self.input_units.clone().into(),
            output_units: self.output_units.clone().into(),
        })
    }
}

impl EquationsText {
    /// The equations, compiled, with the middles of all boxes. Those that are known are shared.
    pub fn compile(&mut self, known: &mut KnownModels) -> Result<Definition, Vec<SyntaxError>> {
        self.written = known.share(Arc::clone(&self.written));
        let compiled = known.compile(&self.written)?;
        let parameters = middles(&self.parameters);
        check_delays(&compiled.model, &parameters)?;
        let mut states = middles(&self.states);
        states.extend(&self.discrete);

        Ok(Definition {
            name: self.name.clone(),
            model: compiled.model,
            parameters,
            states,
            sample: self.sample,
            inputs: self.inputs.clone(),
            input_units: compiled.input_units,
            output_units: compiled.output_units,
            tolerance: Definition::TOLERANCE,
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
