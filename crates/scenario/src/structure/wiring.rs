//! The connections of a structure, by position.

use std::collections::HashMap;

use dovetail_core::{Interface, Mapping, SignalKind, Source};
use dovetail_fmi::description::UnitDefinition;
use dovetail_ssp::{BaseUnit, Connection, Endpoint, Map, Structure, Transform, UnitDef};

use crate::connected::held_inputs;
use crate::diagnostic::Problem;
use crate::source::part::Part;
use crate::structure::elements::{in_words, sizes};

/// A unit of measure, as structures know it.
pub(crate) fn unit_def(definition: &UnitDefinition) -> UnitDef {
    UnitDef {
        name: definition.name.clone(),
        base: definition.exponents.map(|exponents| BaseUnit {
            exponents,
            factor: definition.factor,
            offset: definition.offset,
        }),
    }
}

/// Connections by position.
pub(crate) struct Wiring<'a> {
    structure: &'a Structure,
    parts: &'a [Part],
    interfaces: Vec<Interface>,
    /// For each component: its variables by name, with their stacked positions.
    outputs: Vec<HashMap<String, usize>>,
    inputs: Vec<HashMap<String, usize>>,
    sources: Vec<Source>,
    fed: Vec<bool>,
    mappings: Vec<Mapping>,
}

/// What feeds each input, and how.
pub(crate) struct Wired {
    pub sources: Vec<Source>,
    pub mappings: Vec<Mapping>,
    /// Inputs (stacked) that nothing feeds, other than texts.
    pub open: Vec<usize>,
    /// What there is to say where these are held.
    pub held: Option<String>,
}

impl<'a> Wiring<'a> {
    pub fn new(parts: &'a [Part], structure: &'a Structure) -> Self {
        let interfaces: Vec<Interface> = parts.iter().map(Part::interface).collect();
        let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
        let (mut sources, mut produced) = (Vec::new(), 0);

        for interface in &interfaces {
            let named = |names: Vec<&String>, first: usize| -> HashMap<String, usize> {
                names
                    .into_iter()
                    .enumerate()
                    .map(|(i, name)| (name.clone(), first + i))
                    .collect()
            };
            outputs.push(named(
                interface.outputs.iter().map(|o| &o.name).collect(),
                produced,
            ));
            inputs.push(named(
                interface.inputs.iter().map(|i| &i.name).collect(),
                sources.len(),
            ));
            produced += interface.outputs.len();
            sources.extend(
                interface
                    .inputs
                    .iter()
                    .map(|input| Source::Constant(input.start)),
            );
        }

        let (fed, mappings) = (
            vec![false; sources.len()],
            vec![Mapping::Identity; sources.len()],
        );
        Self {
            structure,
            parts,
            interfaces,
            outputs,
            inputs,
            sources,
            fed,
            mappings,
        }
    }

    pub fn wire(mut self) -> Result<Wired, Vec<Problem>> {
        let connections = &self.structure.connections;
        let problems: Vec<Problem> = connections
            .iter()
            .filter_map(|connection| self.connect(connection).err())
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }

        let mut held = Vec::new();
        let kinds = self.interfaces.iter().flat_map(|i| i.inputs.iter());
        let open = kinds
            .enumerate()
            .filter(|(input, face)| !self.fed[*input] && face.kind != SignalKind::Text);
        let open = open.map(|(input, _)| input).collect();
        let names = self
            .interfaces
            .iter()
            .flat_map(|i| i.inputs.iter().map(move |input| i.qualified(&input.name)));
        held.extend(
            names
                .zip(&self.fed)
                .filter(|(_, fed)| !**fed)
                .map(|(name, _)| name),
        );
        let said = (!held.is_empty()).then(|| held_inputs(&held));

        Ok(Wired {
            sources: self.sources,
            mappings: self.mappings,
            open,
            held: said,
        })
    }

    fn connect(&mut self, connection: &Connection) -> Result<(), Problem> {
        let bad = |message: String| {
            Problem::general(format!("the connection in {}: {message}", connection.place))
        };
        let from = self
            .elements(&connection.from, &self.outputs, "output")
            .map_err(&bad)?;
        if self.parts[connection.to.component].drives(&connection.to.variable) {
            let name = self.shown(&connection.to);
            return Err(bad(format!("`{name}` is fed twice: a table drives it too")));
        }
        let to = self
            .elements(&connection.to, &self.inputs, "input")
            .map_err(&bad)?;

        let given = self.sizes(&connection.from, &self.outputs);
        let wanted = self.sizes(&connection.to, &self.inputs);
        if given != wanted {
            let message = format!(
                "`{}` is {}, but `{}` is {}",
                self.shown(&connection.from),
                in_words(&given),
                self.shown(&connection.to),
                in_words(&wanted)
            );
            return Err(bad(message));
        }

        let measure = |end: &Endpoint| {
            let source = &self.parts[end.component].source;
            let measure = source.unit_of_measure(&end.variable)?;
            Some(unit_def(measure.definition))
        };
        let (source, target) = (measure(&connection.from), measure(&connection.to));
        let transform = connection
            .route
            .resolve(source.as_ref(), target.as_ref())
            .map_err(|error| bad(error.to_string()))?;
        let mapping = mapping(&transform);

        for (&output, &input) in from.iter().zip(&to) {
            self.check_natures(connection, output, input)
                .map_err(&bad)?;
            if self.fed[input] {
                return Err(bad(format!(
                    "`{}` is fed twice",
                    self.shown(&connection.to)
                )));
            }
            (self.sources[input], self.fed[input]) = (Source::Output(output), true);
            self.mappings[input] = mapping.clone();
        }
        Ok(())
    }

    fn shown(&self, end: &Endpoint) -> String {
        format!(
            "{}.{}",
            self.structure.components[end.component].name, end.variable
        )
    }

    /// The sizes of a whole array; none for what is a scalar, or one element.
    fn sizes(&self, end: &Endpoint, known: &[HashMap<String, usize>]) -> Vec<u64> {
        if end.indices.is_some() {
            return Vec::new();
        }
        let names = known[end.component].keys().map(String::as_str);
        sizes(&end.variable, &names.collect::<Vec<_>>())
    }

    /// Stacked positions of a variable, or of all elements of an array.
    fn elements(
        &self,
        end: &Endpoint,
        known: &[HashMap<String, usize>],
        what: &str,
    ) -> Result<Vec<usize>, String> {
        let known = &known[end.component];
        let name = match &end.indices {
            Some(indices) => {
                let list = indices
                    .iter()
                    .map(u64::to_string)
                    .collect::<Vec<_>>()
                    .join(",");
                format!("{}[{list}]", end.variable)
            }
            None => end.variable.clone(),
        };
        if let Some(&position) = known.get(&name) {
            return Ok(vec![position]);
        }

        let is_element = |element: &str| {
            element
                .strip_prefix(&end.variable)
                .is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        };
        let mut all: Vec<usize> = known
            .iter()
            .filter(|(name, _)| is_element(name))
            .map(|(_, &at)| at)
            .collect();
        all.sort_unstable();

        if all.is_empty() || end.indices.is_some() {
            let component = &self.structure.components[end.component].name;
            let near = dovetail_core::nearest(&name, known.keys().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "the FMU of `{component}` has no {what} `{name}`{hint}"
            ));
        }
        Ok(all)
    }

    fn check_natures(
        &self,
        connection: &Connection,
        output: usize,
        input: usize,
    ) -> Result<(), String> {
        let (from, to) = (connection.from.component, connection.to.component);
        let first_output: usize = self.interfaces[..from]
            .iter()
            .map(|i| i.outputs.len())
            .sum();
        let first_input: usize = self.interfaces[..to].iter().map(|i| i.inputs.len()).sum();
        let given = &self.interfaces[from].outputs[output - first_output];
        let wanted = &self.interfaces[to].inputs[input - first_input];
        let given = self.parts[from].nature_of(&given.name, given.kind);
        let wanted = self.parts[to].nature_of(&wanted.name, wanted.kind);
        if given == wanted {
            return Ok(());
        }

        Err(format!(
            "`{}` is {given}, but `{}` is {wanted}",
            self.shown(&connection.from),
            self.shown(&connection.to)
        ))
    }
}

/// A transform as what happens to numbers. Tables of discrete values are evaluated for all they name.
fn mapping(transform: &Transform) -> Mapping {
    if transform.is_identity() {
        return Mapping::Identity;
    }
    if let Some((factor, offset)) = transform.linear() {
        return Mapping::Affine { factor, offset };
    }

    let mut named: Vec<f64> = Vec::new();
    for map in &transform.maps {
        match map {
            Map::Linear { .. } => {}
            Map::Boolean(_) => named.extend([0.0, 1.0]),
            Map::Integer(pairs) => named.extend(pairs.iter().map(|(from, _)| *from as f64)),
            Map::Enumeration(pairs) => named.extend(
                pairs
                    .iter()
                    .filter_map(|(from, _)| from.value.map(|v| v as f64)),
            ),
        }
    }

    named.sort_by(f64::total_cmp);
    named.dedup();
    Mapping::Table(
        named
            .iter()
            .map(|&value| (value, transform.number(value)))
            .collect(),
    )
}
