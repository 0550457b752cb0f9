//! How a whole model looks from outside: what is left open, what it computes, what can be set.

use dovetail_core::{SignalKind, Source};
use dovetail_fmi::description::{
    Causality, UnitDefinition, Value, ValueType, Variability, Variable,
};
use serde::{Deserialize, Serialize};

use crate::face_type::FaceType;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::units::unit_named;

/// How a state is called whose own name another variable has.
const STATE: &str = "state";

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaceRole {
    /// An input that nothing feeds, with its position among those.
    Input(usize),
    /// An output, with its position among all outputs of all systems.
    Output(usize),
    /// Something that is set before a run.
    Parameter,
    /// A continuous state, with its position among those of all systems: of models for an integrator outside.
    State(usize),
    /// Its derivative, with the same position.
    Derivative(usize),
    /// What changes its sign at an event, with its position among those.
    Indicator(usize),
}

/// A unit of measure, with what it is made of where that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceUnit {
    /// Its name.
    pub name: String,
    /// Exponents of kg, m, s, A, K, mol, cd, rad.
    pub exponents: Option<[i32; 8]>,
    /// Factor to the base unit.
    pub factor: f64,
    /// Offset in the base unit.
    pub offset: f64,
}

/// A variable of a model, as others see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceVariable {
    /// `system.variable`.
    pub name: String,
    /// What it is for.
    pub role: FaceRole,
    /// What its values are.
    pub value_type: FaceType,
    /// Whether it changes at events only.
    pub discrete: bool,
    /// Its start value, as text.
    pub start: Option<String>,
    /// Its unit of measure.
    pub unit: Option<FaceUnit>,
    /// A usual magnitude.
    pub nominal: Option<f64>,
    /// The least value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// Of an enumeration: the names of its items with their values.
    pub items: Vec<(String, i64)>,
    /// What the system that has it says of it.
    pub description: Option<String>,
}

impl Scenario {
    /// The inputs that nothing feeds, where they were [left open](crate::Overrides::open_inputs), all outputs, and what can be
    /// set before a run.
    pub fn face(&self) -> Vec<FaceVariable> {
        let inputs = self.open_inputs();
        let fed = |output: &FaceVariable| inputs.iter().all(|input| input.name != output.name);
        let outputs: Vec<FaceVariable> = self.shown_outputs().into_iter().filter(fed).collect();
        let taken = |parameter: &FaceVariable| {
            let mut others = inputs.iter().chain(&outputs);
            others.any(|other| other.name == parameter.name)
        };
        let parameters = self.parts.iter().flat_map(parameters);
        let parameters: Vec<FaceVariable> = parameters.filter(|own| !taken(own)).collect();
        [inputs, outputs, parameters].concat()
    }

    /// What an integrator outside sees besides: the continuous states, their derivatives, and so many indicators of events.
    pub fn exchange_face(&self, indicators: usize, shown: &[FaceVariable]) -> Vec<FaceVariable> {
        let mut names = Vec::new();
        let mut starts = Vec::new();
        for part in &self.parts {
            let Some(known) = part.source.equations() else {
                continue;
            };
            let model = &known.definition.model;
            let continuous = model.states.len() - model.discrete;
            for (name, start) in model
                .states
                .iter()
                .zip(&known.definition.states)
                .take(continuous)
            {
                names.push(format!("{}.{name}", part.name()));
                starts.push(start.to_string());
            }
        }
        let mut face = self.face_of_states(&names, shown);
        for (state, start) in face.iter_mut().zip(starts) {
            state.start = Some(start);
        }
        let indicators = 0..indicators;
        face.extend(
            indicators
                .map(|k| FaceVariable::computed(format!("$indicator.{k}"), FaceRole::Indicator(k))),
        );
        face
    }

    /// States of these names, and then their derivatives. A state that has the name of a variable is called `state(NAME)`.
    pub fn face_of_states(&self, names: &[String], shown: &[FaceVariable]) -> Vec<FaceVariable> {
        let taken = |name: &String| shown.iter().any(|other| other.name == *name);
        let state = |(position, name): (usize, &String)| {
            let name = match taken(name) {
                true => format!("{STATE}({name})"),
                false => name.clone(),
            };
            FaceVariable::computed(name, FaceRole::State(position))
        };
        let derivative = |(position, name): (usize, &String)| {
            FaceVariable::computed(format!("der({name})"), FaceRole::Derivative(position))
        };
        let states = names.iter().enumerate().map(state);
        states
            .chain(names.iter().enumerate().map(derivative))
            .collect()
    }

    fn open_inputs(&self) -> Vec<FaceVariable> {
        let mut inputs = Vec::new();
        for part in &self.parts {
            let interface = part.interface();
            for (position, slot, start) in part.exposed.each() {
                let input = &interface.inputs[position];
                let own = variable(part, &input.name, input.unit.as_deref());
                inputs.push(FaceVariable {
                    role: FaceRole::Input(slot),
                    start: Some(own.value_type.text_of(start)),
                    discrete: input.kind != SignalKind::Continuous,
                    ..own
                });
            }
        }
        inputs.sort_by_key(|input| match input.role {
            FaceRole::Input(slot) => slot,
            _ => usize::MAX,
        });
        inputs
    }

    fn shown_outputs(&self) -> Vec<FaceVariable> {
        let connections = &self.connections;
        let all = self.parts.iter().enumerate().flat_map(|(system, part)| {
            let stacked = connections.outputs_of(system);
            let own = connections.interfaces()[system].outputs.iter();
            stacked.zip(own).map(move |output| (part, output))
        });
        let shown = all.filter(|(part, (_, output))| {
            output.kind != SignalKind::Text && !part.name().starts_with('$')
        });
        shown
            .map(|(part, (stacked, output))| FaceVariable {
                role: FaceRole::Output(stacked),
                start: None,
                discrete: output.kind != SignalKind::Continuous,
                nominal: output.nominal,
                ..variable(part, &output.name, output.unit.as_deref())
            })
            .collect()
    }

    /// For each output (stacked), the open inputs (their positions among those) on which it depends at once; none where that is
    /// not known.
    pub fn depends_on_open(&self) -> Option<Vec<Vec<usize>>> {
        let connections = &self.connections;
        let mut known: Vec<Vec<usize>> = vec![Vec::new(); connections.outputs()];
        for (system, part) in self.parts.iter().enumerate() {
            if part.exposed.is_empty() {
                continue;
            }
            let inner = part.interface();
            for (stacked, output) in connections.outputs_of(system).zip(&inner.outputs) {
                let own = part.exposed.each();
                let own = own.filter(|(position, ..)| output.depends_on.contains(position));
                known[stacked].extend(own.map(|(_, slot, _)| slot));
            }
        }

        // What a system hands on at once comes from its feeders.
        for _ in 0..=connections.systems() {
            let mut changed = false;
            for (system, interface) in connections.interfaces().iter().enumerate() {
                let first = connections.inputs_of(system).start;
                for (stacked, output) in connections.outputs_of(system).zip(&interface.outputs) {
                    for input in &output.depends_on {
                        if let Source::Output(source) = connections.sources()[first + input] {
                            let before = known[stacked].len();
                            let more = known[source].clone();
                            known[stacked].extend(more);
                            known[stacked].sort_unstable();
                            known[stacked].dedup();
                            changed |= known[stacked].len() != before;
                        }
                    }
                }
            }
            if !changed {
                return Some(known);
            }
        }
        None
    }
}

impl FaceVariable {
    /// The name by which a model has its value set: that of a state is also what a variable of the same name may be called.
    pub fn name_of_value(&self) -> &str {
        let state = self.name.strip_prefix(STATE);
        let inside = state.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        match self.role {
            FaceRole::State(_) => inside.unwrap_or(&self.name),
            _ => &self.name,
        }
    }

    /// A number that the model computes.
    fn computed(name: String, role: FaceRole) -> Self {
        Self {
            name,
            role,
            value_type: FaceType::Float,
            discrete: false,
            start: None,
            unit: None,
            nominal: None,
            min: None,
            max: None,
            items: Vec::new(),
            description: None,
        }
    }
}

/// A variable of a part, as far as the part itself describes it.
fn variable(part: &Part, name: &str, unit: Option<&str>) -> FaceVariable {
    let described = described(part, name);
    let value_type = described.map_or(FaceType::Float, |variable| {
        FaceType::of(variable.value_type)
    });
    let own = part.source.unit_of_measure(name);
    let own = own.map(|own| own.definition.clone());
    let unit = own.or_else(|| unit.map(definition_of));

    FaceVariable {
        name: format!("{}.{name}", part.name()),
        role: FaceRole::Parameter,
        value_type,
        discrete: false,
        start: None,
        unit: unit.map(|unit| FaceUnit {
            name: unit.name,
            exponents: unit.exponents,
            factor: unit.factor,
            offset: unit.offset,
        }),
        nominal: None,
        min: described.and_then(|variable| variable.min),
        max: described.and_then(|variable| variable.max),
        items: described.map_or(Vec::new(), |variable| variable.items.clone()),
        description: described.and_then(|variable| variable.description.clone()),
    }
}

fn described<'a>(part: &'a Part, name: &str) -> Option<&'a Variable> {
    let prepared = part.source.fmu()?;
    let mut variables = prepared.fmu().description().variables.iter();
    variables.find(|variable| variable.name == name && variable.dimensions.is_empty())
}

fn definition_of(name: &str) -> UnitDefinition {
    let definition = unit_named(name).unwrap_or(UnitDefinition {
        name: String::new(),
        exponents: None,
        factor: 1.0,
        offset: 0.0,
    });
    UnitDefinition {
        name: name.to_owned(),
        ..definition
    }
}

/// What can be set of a part before a run.
fn parameters(part: &Part) -> Vec<FaceVariable> {
    if let Some(known) = part.source.equations() {
        let names = known.definition.model.parameters.iter();
        let values = names.zip(&known.definition.parameters);
        return values
            .map(|(name, value)| FaceVariable {
                start: Some(value.to_string()),
                ..variable(part, name, None)
            })
            .collect();
    }
    let Some(prepared) = part.source.fmu() else {
        return Vec::new();
    };

    let description = prepared.fmu().description();
    let settable = description.variables.iter().filter(|variable| {
        variable.causality == Causality::Parameter
            && variable.variability != Variability::Constant
            && variable.dimensions.is_empty()
            && !matches!(variable.value_type, ValueType::Binary | ValueType::Clock)
    });
    settable
        .map(|own| {
            let given = prepared.given_values().iter().rev();
            let mut given = given.filter(|(name, _)| *name == own.name);
            let start = given.next().map_or(&own.start, |(_, values)| values);
            FaceVariable {
                start: start.first().map(|value| text_of(value, &own.items)),
                nominal: own.nominal,
                ..variable(part, &own.name, own.unit.as_deref())
            }
        })
        .collect()
}

/// A value as text; an item of an enumeration by its number.
fn text_of(value: &Value, items: &[(String, i64)]) -> String {
    match value {
        Value::Float(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => {
            let item = items.iter().find(|(name, _)| name == text);
            item.map_or(text.clone(), |(_, number)| number.to_string())
        }
        Value::Binary(_) => String::new(),
    }
}
