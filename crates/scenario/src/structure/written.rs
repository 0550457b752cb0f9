//! A model as a system structure that is written: components, connections, values.

use std::path::PathBuf;

use dovetail_core::{Interface, Mapping, Notice, Remedy, Source};
use dovetail_fmi::InterfaceUse;
use dovetail_fmi::description::ValueType;
use dovetail_ssp::{
    DataType, EnumerationItem, Implementation, Map, ParameterValue, UnitDef, WrittenComponent,
    WrittenConnection, WrittenConnector, WrittenEnd, WrittenParameter, WrittenStructure,
    WrittenType,
};

use super::elements::{Elements, sizes};
use super::{equation_model, written_fmu};
use crate::bytes::from_bytes;
use crate::equations::source::NAME as EQUATIONS;
use crate::equations::text::EquationsText;
use crate::events::source::NAME as EVENTS;
use crate::options::Choices;
use crate::scenario::Scenario;
use crate::source::part::Part;

/// A model as a system structure, and what its components are made from.
#[derive(Debug)]
pub struct ModelStructure {
    /// The structure; the sources of its components are names of [`fmus`](Self::fmus).
    pub structure: WrittenStructure,
    /// The FMUs, each once.
    pub fmus: Vec<ComponentFmu>,
    /// What could not be said, and what was done instead.
    pub warnings: Vec<String>,
}

/// An FMU of a system structure.
#[derive(Debug)]
pub struct ComponentFmu {
    /// Its name in the package.
    pub name: String,
    /// What it is.
    pub origin: FmuOfModel,
}

/// What an FMU of a system structure is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FmuOfModel {
    /// That of a file or folder.
    File(PathBuf),
    /// To be exported from the text of a model with one system.
    Equations(String),
}

impl Scenario {
    /// The model as a system structure, or what a system structure cannot say. `given` is chosen beside the model.
    pub fn as_structure(&self, given: &Choices) -> Result<ModelStructure, Notice> {
        self.check_expressible()?;
        let choices = self.choices.clone().overridden_by(given);
        let connectors = self.parts.iter();
        let connectors =
            connectors.map(|part| written_fmu::connectors(part, &part.source.interface()));
        let mut writer = Writer {
            scenario: self,
            connectors: connectors.collect(),
            run_options: choices.pairs(),
            fmus: Vec::new(),
            warnings: Vec::new(),
        };
        let components = self.parts.iter().enumerate();
        let components: Result<Vec<WrittenComponent>, Notice> = components
            .map(|(system, part)| writer.component(system, part))
            .collect();
        let connections = writer.connections();
        if !writer.run_options.is_empty() {
            let kept = "SSP has no place for the method and its options: they are kept in an annotation, which only this engine \
                        reads";
            writer.warnings.push(kept.to_owned());
        }

        Ok(ModelStructure {
            structure: WrittenStructure {
                name: self.name.clone(),
                generation_tool: format!("Dovetail {}", env!("CARGO_PKG_VERSION")),
                components: components?,
                connections,
                start_time: self.start_time,
                stop_time: self.stop_time,
                run_options: writer.run_options,
            },
            fmus: writer.fmus,
            warnings: writer.warnings,
        })
    }

    /// Refuses what SSP has no words for.
    fn check_expressible(&self) -> Result<(), Notice> {
        let refuse = |text: String| Err(Notice::from(text).with([Remedy::OneFmu]));
        let is_events = |part: &Part| {
            let portable = part.source.portable();
            portable.is_some_and(|portable| portable.kind == EVENTS) || !part.overrides.is_empty()
        };
        if self.parts.iter().any(is_events) {
            return refuse("SSP has no [[events]], and this model has them".to_owned());
        }
        for part in &self.parts {
            if let Some(&input) = part.driving.inputs().first() {
                let name = part.source.interface().inputs[input].name.clone();
                return refuse(format!(
                    "SSP has no tables and no expressions of time, and one drives `{}.{name}`",
                    part.name()
                ));
            }
        }
        if self.start_states.is_some() {
            return refuse("SSP has no states to start from beside start values".to_owned());
        }
        Ok(())
    }
}

struct Writer<'a> {
    scenario: &'a Scenario,
    /// Those of each component.
    connectors: Vec<Vec<WrittenConnector>>,
    run_options: Vec<(String, String)>,
    fmus: Vec<ComponentFmu>,
    warnings: Vec<String>,
}

impl Writer<'_> {
    fn component(&mut self, system: usize, part: &Part) -> Result<WrittenComponent, Notice> {
        self.say_what_is_lost(part);
        let interface = part.source.interface();
        let connectors = self.connectors[system].clone();
        self.say_which_units_are_unknown(part, &interface, &connectors);
        let (origin, implementation, parameters) = match (part.source.fmu(), equations(part)) {
            (Some(prepared), _) => {
                let used = match prepared.used() {
                    InterfaceUse::CoSimulation => Implementation::CoSimulation,
                    InterfaceUse::ModelExchange => Implementation::ModelExchange,
                };
                let mut values = written_fmu::values(part, prepared);
                self.hold_constants(system, part, &interface, &mut values);
                let file = prepared.fmu().path().to_owned();
                (FmuOfModel::File(file), used, values)
            }
            (None, Some(mut written)) => {
                for (input, start) in written.inputs.iter_mut().enumerate() {
                    *start = self.constant(system, input).unwrap_or(*start);
                }
                let text = self.equation_model(&written);
                let values = parameters_of(&written);
                (
                    FmuOfModel::Equations(text),
                    Implementation::CoSimulation,
                    values,
                )
            }
            (None, None) => {
                let text = format!(
                    "the components of a system structure are FMUs, and `{}` is neither an FMU nor given as equations",
                    part.name()
                );
                return Err(Notice::from(text));
            }
        };
        Ok(WrittenComponent {
            name: part.name().to_owned(),
            source: self.fmu(part.name(), origin),
            implementation,
            connectors,
            parameters,
        })
    }

    /// A model of the system alone. Systems with the same equations and start values share it, so that it does not have the
    /// name of one of them.
    fn equation_model(&self, written: &EquationsText) -> String {
        let mut alone = written.clone();
        alone.name = "system".to_owned();
        let times = (self.scenario.start_time, self.scenario.stop_time);
        let options = self.run_options.iter();
        let mut tolerance = options.filter(|(key, _)| key == "integrator-tolerance");
        let tolerance = tolerance.next().map(|(_, value)| value.as_str());
        equation_model::text(&alone, times, tolerance)
    }

    /// What a model says of a system, and SSP does not.
    fn say_what_is_lost(&mut self, part: &Part) {
        let mut lost = Vec::new();
        if part.restrictions.is_some() {
            lost.push("its own step and what it is restricted to");
        }
        if let Some(settings) = part.source.fmu().map(dovetail_fmi::PreparedFmu::settings) {
            if settings.imposed_step.is_some() {
                lost.push("its own step");
            }
            if settings.sub_steps > 1 {
                lost.push("`sub-steps`");
            }
            if !settings.continuous.is_empty() {
                lost.push("`continuous`");
            }
        }
        for what in lost {
            let name = part.name();
            let warning = format!("`{name}`: SSP has no place for {what}, which is left out");
            self.warnings.push(warning);
        }
    }

    /// Units that nobody defines have no place in SSP.
    fn say_which_units_are_unknown(
        &mut self,
        part: &Part,
        interface: &Interface,
        connectors: &[WrittenConnector],
    ) {
        let inputs = interface.inputs.iter().map(|own| (&own.name, &own.unit));
        let outputs = interface.outputs.iter().map(|own| (&own.name, &own.unit));
        for (name, unit) in inputs.chain(outputs) {
            let element = written_fmu::element(part, name);
            let known = connectors
                .iter()
                .any(|own| own.name == element.variable && own.typing.unit.is_some());
            let first = element.indices.iter().all(|&index| index == 1);
            if let (Some(unit), false, true) = (unit, known, first) {
                let name = format!("{}.{}", part.name(), element.variable);
                let warning = format!("`{name}`: the unit `{unit}` is not defined, and left out");
                self.warnings.push(warning);
            }
        }
    }

    /// The FMU of this origin, by its name in the package.
    fn fmu(&mut self, system: &str, origin: FmuOfModel) -> String {
        if let Some(known) = self.fmus.iter().find(|known| known.origin == origin) {
            return known.name.clone();
        }
        let stem = match &origin {
            FmuOfModel::File(path) => {
                let stem = path.file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
            FmuOfModel::Equations(_) => system.to_owned(),
        };
        let mut name = format!("resources/{stem}.fmu");
        let mut number = 2;
        while self.fmus.iter().any(|known| known.name == name) {
            name = format!("resources/{stem}-{number}.fmu");
            number += 1;
        }
        self.fmus.push(ComponentFmu {
            name: name.clone(),
            origin,
        });
        name
    }

    /// What an input of a system is held at, if nothing feeds it.
    fn constant(&self, system: usize, input: usize) -> Option<f64> {
        let connections = &self.scenario.connections;
        let stacked = connections.inputs_of(system).start + input;
        match connections.sources()[stacked] {
            Source::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Inputs of an FMU that are held at other values than their start values: those become them.
    fn hold_constants(
        &self,
        system: usize,
        part: &Part,
        interface: &Interface,
        values: &mut Vec<WrittenParameter>,
    ) {
        let names: Vec<&str> = interface
            .inputs
            .iter()
            .map(|own| own.name.as_str())
            .collect();
        let elements: Vec<Elements> = names
            .iter()
            .map(|name| written_fmu::element(part, name))
            .collect();
        let held = |input: usize| self.constant(system, input);
        let starts = |input: usize| interface.inputs[input].start;
        for (first, element) in elements.iter().enumerate() {
            let own = elements.iter().enumerate();
            let own = own.filter(|(_, other)| other.variable == element.variable);
            let own: Vec<usize> = own.map(|(input, _)| input).collect();
            let differs = |input: &usize| held(*input).is_some_and(|value| value != starts(*input));
            let Some(variable) = written_fmu::described(part, &element.variable) else {
                continue;
            };
            let is_number =
                variable.value_type.is_number() || variable.value_type == ValueType::Boolean;
            if own.first() != Some(&first) || !is_number || !own.iter().any(differs) {
                continue;
            }
            let numbers = own
                .iter()
                .map(|&input| held(input).unwrap_or(starts(input)));
            let numbers: Vec<f64> = numbers.collect();
            values.retain(|known| known.name != element.variable);
            values.push(WrittenParameter {
                name: element.variable.clone(),
                typing: written_fmu::typing(part, &element.variable, variable.unit.as_deref()),
                value: written_fmu::numbers_of(variable, &numbers),
                dimensions: match element.indices.is_empty() {
                    true => Vec::new(),
                    false => sizes(&element.variable, &names),
                },
            });
        }
    }

    /// All connections, those of whole arrays as one.
    fn connections(&self) -> Vec<WrittenConnection> {
        let connections = &self.scenario.connections;
        let mut written: Vec<WrittenConnection> = Vec::new();
        for (system, part) in self.scenario.parts.iter().enumerate() {
            let interface = part.source.interface();
            let first = connections.inputs_of(system).start;
            let elements = interface.inputs.iter();
            let elements = elements.map(|input| written_fmu::element(part, &input.name));
            let single: Vec<WrittenConnection> = elements
                .enumerate()
                .filter_map(|(input, element)| self.connection(system, element, first + input))
                .collect();
            written.extend(self.joined(single));
        }
        written
    }

    fn connection(
        &self,
        system: usize,
        element: Elements,
        stacked: usize,
    ) -> Option<WrittenConnection> {
        let connections = &self.scenario.connections;
        let Source::Output(output) = connections.sources()[stacked] else {
            return None;
        };
        let parts = &self.scenario.parts;
        let owner = (0..parts.len()).find(|&k| connections.outputs_of(k).contains(&output))?;
        let position = output - connections.outputs_of(owner).start;
        let from = parts[owner].source.interface();
        let from = written_fmu::element(&parts[owner], &from.outputs[position].name);
        let mapping = parts[system]
            .mappings
            .get(stacked - connections.inputs_of(system).start);
        let mapping = mapping.unwrap_or(&Mapping::Identity);
        let ends = [(owner, &from), (system, &element)];
        Some(WrittenConnection {
            map: self.map(mapping, ends),
            from: end(owner, from),
            to: end(system, element),
        })
    }

    /// What happens on the way beyond what the units ask for.
    fn map(&self, mapping: &Mapping, ends: [(usize, &Elements); 2]) -> Option<Map> {
        let [from, to] = ends.map(|(system, element)| self.typing(system, &element.variable));
        let linear = match mapping {
            Mapping::Table(pairs) => return Some(table(pairs, &from, &to)),
            Mapping::Identity => (1.0, 0.0),
            Mapping::Affine { factor, offset } => (*factor, *offset),
        };
        let conversion = match (&from.unit, &to.unit) {
            (Some(from), Some(to)) => UnitDef::conversion(from, to).ok(),
            _ => Some((1.0, 0.0)),
        };
        let (factor, offset) = linear;
        (conversion != Some(linear)).then_some(Map::Linear { factor, offset })
    }

    fn typing(&self, system: usize, variable: &str) -> WrittenType {
        let part = &self.scenario.parts[system];
        let own = self.connectors[system].iter();
        let mut own = own.filter(|own| own.name == variable);
        own.next().map_or_else(
            || written_fmu::typing(part, variable, None),
            |own| own.typing.clone(),
        )
    }

    /// The connections of all elements of an array, in their order, are one of the whole.
    fn joined(&self, single: Vec<WrittenConnection>) -> Vec<WrittenConnection> {
        let mut written: Vec<WrittenConnection> = Vec::new();
        let mut rest = single.as_slice();
        while let Some(first) = rest.first() {
            let together = |other: &&WrittenConnection| {
                other.to.connector == first.to.connector
                    && other.from.component == first.from.component
                    && other.from.connector == first.from.connector
                    && other.map == first.map
            };
            let count = rest.iter().take_while(together).count();
            let (own, after) = rest.split_at(count);
            rest = after;
            match self.is_whole(own) {
                true => written.push(WrittenConnection {
                    from: whole(&first.from),
                    to: whole(&first.to),
                    map: first.map.clone(),
                }),
                false => written.extend_from_slice(own),
            }
        }
        written
    }

    /// Whether these are all elements of both ends, in the same order.
    fn is_whole(&self, own: &[WrittenConnection]) -> bool {
        let names = |names: Vec<String>, variable: &str, part: &Part| {
            let elements = names
                .into_iter()
                .map(|name| written_fmu::element(part, &name));
            let elements = elements.filter(|element| element.variable == variable);
            elements.map(|element| element.indices).collect::<Vec<_>>()
        };
        let Some(first) = own.first() else {
            return false;
        };
        let (from, to) = (&first.from, &first.to);
        let source = &self.scenario.parts[from.component];
        let target = &self.scenario.parts[to.component];
        let outputs = source.source.interface().outputs;
        let inputs = target.source.interface().inputs;
        let outputs = outputs.iter().map(|own| own.name.clone()).collect();
        let inputs = inputs.iter().map(|own| own.name.clone()).collect();
        let all_from = names(outputs, &from.connector, source);
        let all_to = names(inputs, &to.connector, target);
        let given_from = own.iter().map(|own| &own.from.indices);
        let given_to = own.iter().map(|own| &own.to.indices);
        !from.indices.is_empty()
            && !to.indices.is_empty()
            && given_from.eq(all_from.iter())
            && given_to.eq(all_to.iter())
    }
}

fn end(component: usize, element: Elements) -> WrittenEnd {
    WrittenEnd {
        component,
        connector: element.variable,
        indices: element.indices,
    }
}

fn whole(end: &WrittenEnd) -> WrittenEnd {
    WrittenEnd {
        indices: Vec::new(),
        ..end.clone()
    }
}

/// A table of numbers for values of these types.
fn table(pairs: &[(f64, f64)], from: &WrittenType, to: &WrittenType) -> Map {
    let of = |number: f64| {
        let known = pairs.iter().find(|(own, _)| *own == number);
        known.map_or(number, |(_, target)| *target)
    };
    match (from.data_type, &from.enumeration, &to.enumeration) {
        (DataType::Boolean, ..) => Map::Boolean([of(0.0) != 0.0, of(1.0) != 0.0]),
        (_, Some(sources), Some(targets)) => {
            let item = |items: &[(String, i64)], number: f64| {
                let known = items.iter().find(|(_, own)| *own as f64 == number);
                known.map(|(name, value)| EnumerationItem {
                    name: name.clone(),
                    value: Some(*value),
                })
            };
            let named = pairs.iter().filter_map(|(from, to)| {
                Some((item(&sources.items, *from)?, item(&targets.items, *to)?))
            });
            Map::Enumeration(named.collect())
        }
        _ => Map::Integer(
            pairs
                .iter()
                .map(|(from, to)| (*from as i128, *to as i128))
                .collect(),
        ),
    }
}

/// The equations of a part as they are written.
fn equations(part: &Part) -> Option<EquationsText> {
    let portable = part.source.portable()?;
    (portable.kind == EQUATIONS).then(|| from_bytes(&portable.bytes).ok())?
}

/// The parameters of equations: middles where these are boxes.
fn parameters_of(written: &EquationsText) -> Vec<WrittenParameter> {
    let names = written.written.parameters.iter();
    let values = names.zip(&written.parameters);
    let parameters = values.map(|(name, bounds)| WrittenParameter {
        name: name.clone(),
        typing: WrittenType {
            data_type: DataType::Float64,
            unit: None,
            enumeration: None,
        },
        value: ParameterValue::Float(vec![bounds.middle()]),
        dimensions: Vec::new(),
    });
    parameters.collect()
}
