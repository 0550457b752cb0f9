//! How a whole model looks from outside: what is left open, what it computes, what can be set.

use dovetail_core::{SignalKind, Source};
use dovetail_fmi::description::{
    Causality, UnitDefinition, Value, ValueType, Variability, Variable,
};
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::units::unit_named;

/// What the values of a variable are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaceType {
    /// Numbers.
    Float,
    /// Whole numbers, items of an enumeration among them.
    Integer,
    /// Truth values.
    Boolean,
    /// Texts.
    Text,
}

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

    fn open_inputs(&self) -> Vec<FaceVariable> {
        let mut inputs = Vec::new();
        for part in &self.parts {
            let interface = part.interface();
            for (position, slot, start) in part.exposed.each() {
                let input = &interface.inputs[position];
                inputs.push(FaceVariable {
                    role: FaceRole::Input(slot),
                    start: Some(start.to_string()),
                    discrete: input.kind != SignalKind::Continuous,
                    ..variable(part, &input.name, input.unit.as_deref())
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

/// A variable of a part, as far as the part itself describes it.
fn variable(part: &Part, name: &str, unit: Option<&str>) -> FaceVariable {
    let described = described(part, name);
    let value_type = described.map_or(FaceType::Float, |variable| type_of(variable.value_type));
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
        description: described.and_then(|variable| variable.description.clone()),
    }
}

fn described<'a>(part: &'a Part, name: &str) -> Option<&'a Variable> {
    let prepared = part.source.fmu()?;
    let mut variables = prepared.fmu().description().variables.iter();
    variables.find(|variable| variable.name == name && variable.dimensions.is_empty())
}

fn type_of(value_type: ValueType) -> FaceType {
    match value_type {
        ValueType::Float64 | ValueType::Float32 => FaceType::Float,
        ValueType::Boolean => FaceType::Boolean,
        ValueType::String | ValueType::Binary => FaceType::Text,
        _ => FaceType::Integer,
    }
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
