//! A system structure (SSP) as a model.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dovetail_core::{Interface, Mapping, Nature, Source, list_names};
use dovetail_fmi::archive::Archive;
use dovetail_fmi::description::{UnitDefinition, Value};
use dovetail_fmi::{Prepared, Use};
use dovetail_ssp::{
    BaseUnit, Component, Connection, DEFAULT_SSD, Endpoint, Implementation, Map, Parameter,
    ParameterValue, Structure, Transform, UnitDef,
};

use crate::connect::{finish, held_inputs};
use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::options::Choices;
use crate::overrides::Overrides;
use crate::part::{Part, PartModel};
use crate::registry::registry;
use crate::scenario::Scenario;
use crate::shelf::{self, Shelf, Usage, recorded, warnings};
use crate::unit::texts;
use crate::unit_alone::times;

/// Makes a model of a system structure.
pub(crate) fn scenario(path: &Path, changes: &Overrides) -> Result<Scenario, BadModel> {
    let bad = |problem: Problem| BadModel::of_file(path, problem);
    let mut unpacked = Unpacked::default();
    let (ssd, root) = unpacked
        .locate(path)
        .map_err(|message| bad(Problem::general(message)))?;
    let structure = dovetail_ssp::read(&ssd, &root, &mut |file| unpacked.unpack(file))
        .map_err(|error| bad(Problem::general(error.to_string())))?;
    let experiment = structure.experiment;
    let span = times(changes, experiment.start_time, experiment.stop_time).map_err(bad)?;
    build(path, &structure, span, changes).map_err(|problems| BadModel {
        problems,
        ..bad(Problem::general(String::new()))
    })
}

fn build(
    path: &Path,
    structure: &Structure,
    span: (f64, f64),
    changes: &Overrides,
) -> Result<Scenario, Vec<Problem>> {
    let mut shelf = Shelf::new(changes, span);
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    let mut odd = structure.warnings.clone();
    let set = assign(structure, changes).map_err(|problem| vec![problem])?;
    for (component, set) in structure.components.iter().zip(set) {
        match part(component, set, &mut shelf, &mut odd) {
            Ok(part) => parts.push(part),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let wired = Wiring::new(&parts, structure).wire();
    let (sources, mappings, held) = wired?;
    odd.extend(held);
    let interfaces = parts.iter().map(Part::interface).collect();
    let connected = finish(interfaces, sources, Vec::new(), mappings, Vec::new());
    parts
        .iter_mut()
        .zip(connected.mappings)
        .for_each(|(part, mappings)| part.mappings = mappings);
    Ok(Scenario {
        name: structure.name.clone(),
        start_time: span.0,
        stop_time: span.1,
        connections: connected.connections,
        warnings: odd,
        parts,
        proposed_step: structure
            .experiment
            .step_size
            .filter(|size| *size > 0.0 && *size < span.1 - span.0),
        choices: Choices::default(),
        source: SourceText {
            path: path.display().to_string(),
            text: String::new(),
        },
        places: Vec::new(),
        system_places: Vec::new(),
        changes: changes.clone(),
        registry: registry(),
    })
}

/// Archives that are open while the model is read; their folders stay in the cache as long as FMUs are used from them.
#[derive(Default)]
struct Unpacked {
    archives: Vec<Archive>,
}

impl Unpacked {
    /// The description of the structure, and the folder it may refer to.
    fn locate(&mut self, path: &Path) -> Result<(PathBuf, PathBuf), String> {
        if path.is_dir() {
            return Ok((path.join(DEFAULT_SSD), path.to_owned()));
        }
        if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("ssd"))
        {
            // A description outside of any package may refer to files beside and above it.
            let file = path
                .canonicalize()
                .map_err(|error| format!("the file cannot be read: {error}"))?;
            return Ok((file, PathBuf::from("/")));
        }
        let root = self.unpack(path)?;
        Ok((root.join(DEFAULT_SSD), root))
    }

    fn unpack(&mut self, file: &Path) -> Result<PathBuf, String> {
        let archive = Archive::open(file).map_err(|error| error.to_string())?;
        let folder = archive.folder().to_owned();
        self.archives.push(archive);
        Ok(folder)
    }
}

type Values = Vec<(String, Vec<Value>)>;

/// `--set COMPONENT.NAME=VALUE` to the components; names of components contain dots, the longest that fits counts.
fn assign(structure: &Structure, changes: &Overrides) -> Result<Vec<Values>, Problem> {
    let mut all: Vec<Values> = vec![Vec::new(); structure.components.len()];
    for (name, text) in &changes.values {
        let fitting = structure
            .components
            .iter()
            .enumerate()
            .filter_map(|(k, component)| {
                let variable = name.strip_prefix(&component.name)?.strip_prefix('.')?;
                Some((component.name.len(), k, variable))
            });
        let Some((_, k, variable)) = fitting.max() else {
            let known: Vec<String> = structure
                .components
                .iter()
                .map(|c| c.name.clone())
                .collect();
            return Err(Problem::general(format!(
                "--set {name}={text}: there is no such component"
            ))
            .help(format!("the components are {}", list_names(&known))));
        };
        all[k].push((variable.to_owned(), texts(text)));
    }
    Ok(all)
}

fn part(
    component: &Component,
    set: Values,
    shelf: &mut Shelf,
    odd: &mut Vec<String>,
) -> Result<Part, Problem> {
    let name = &component.name;
    let bad = |message: String| {
        Problem::general(format!(
            "component `{name}` ({}): {message}",
            component.place
        ))
    };
    let interface = match component.implementation {
        Implementation::Any => None,
        Implementation::CoSimulation => Some(Use::CoSimulation),
        Implementation::ModelExchange => Some(Use::ModelExchange),
        Implementation::ScheduledExecution => {
            return Err(bad("Scheduled Execution is not supported".into()));
        }
    };
    let unit = shelf
        .open(&component.source)
        .map_err(|error| bad(error.to_string()))?;
    let mut values = Values::new();
    for parameter in &component.parameters {
        let variable = unit
            .description()
            .variables
            .iter()
            .find(|v| v.name == parameter.name);
        let Some(variable) = variable else {
            odd.push(format!(
                "`{name}` has no variable `{}`: its value ({}) is not used",
                parameter.name, parameter.place
            ));
            continue;
        };
        let measure = variable
            .unit
            .as_ref()
            .and_then(|u| unit.description().units.iter().find(|d| d.name == *u));
        values.push((
            parameter.name.clone(),
            value(parameter, measure).map_err(&bad)?,
        ));
    }
    values.extend(set);
    let recorded = recorded(name, unit.description(), shelf.patterns(), false);
    let usage = Usage {
        interface,
        values,
        recorded,
        ..Usage::default()
    };
    let prepared = shelf
        .prepare(&component.source, usage)
        .map_err(|error| bad(error.to_string()))?;
    odd.extend(warnings(name, &prepared));
    let model = PartModel::Unit {
        name: name.clone(),
        prepared,
    };
    Ok(Part {
        model,
        mappings: Vec::new(),
        restrictions: None,
    })
}

fn value(parameter: &Parameter, measure: Option<&UnitDefinition>) -> Result<Vec<Value>, String> {
    let measure = measure.map(unit_def);
    let converted = parameter.value_in(measure.as_ref());
    let converted = converted
        .map_err(|error| format!("`{}` ({}): {error}", parameter.name, parameter.place))?;
    Ok(match converted {
        ParameterValue::Float(values) => values.into_iter().map(Value::Float).collect(),
        ParameterValue::Integer(values) => values.into_iter().map(Value::Integer).collect(),
        ParameterValue::Boolean(values) => values.into_iter().map(Value::Boolean).collect(),
        ParameterValue::String(values) => values.into_iter().map(Value::String).collect(),
        ParameterValue::Enumeration(items) => items
            .into_iter()
            .map(|item| Value::String(item.name))
            .collect(),
        ParameterValue::Binary(values) => values.into_iter().map(Value::Binary).collect(),
    })
}

fn unit_def(definition: &UnitDefinition) -> UnitDef {
    let base = definition.exponents.map(|exponents| BaseUnit {
        exponents,
        factor: definition.factor,
        offset: definition.offset,
    });
    UnitDef {
        name: definition.name.clone(),
        base,
    }
}

/// Connections by position.
struct Wiring<'a> {
    structure: &'a Structure,
    units: Vec<&'a Prepared>,
    interfaces: Vec<Interface>,
    /// For each component: its variables by name, with their stacked positions.
    outputs: Vec<HashMap<String, usize>>,
    inputs: Vec<HashMap<String, usize>>,
    sources: Vec<Source>,
    fed: Vec<bool>,
    mappings: Vec<Mapping>,
}

type Wired = (Vec<Source>, Vec<Mapping>, Vec<String>);

impl<'a> Wiring<'a> {
    fn new(parts: &'a [Part], structure: &'a Structure) -> Self {
        let interfaces: Vec<Interface> = parts.iter().map(Part::interface).collect();
        let units = parts
            .iter()
            .filter_map(Part::unit)
            .map(AsRef::as_ref)
            .collect();
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
            units,
            interfaces,
            outputs,
            inputs,
            sources,
            fed,
            mappings,
        }
    }

    fn wire(mut self) -> Result<Wired, Vec<Problem>> {
        let connections = &self.structure.connections;
        let problems: Vec<Problem> = connections
            .iter()
            .filter_map(|connection| self.connect(connection).err())
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut held = Vec::new();
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
        Ok((self.sources, self.mappings, said.into_iter().collect()))
    }

    fn connect(&mut self, connection: &Connection) -> Result<(), Problem> {
        let bad = |message: String| {
            Problem::general(format!("the connection in {}: {message}", connection.place))
        };
        let from = self
            .elements(&connection.from, &self.outputs, "output")
            .map_err(&bad)?;
        let to = self
            .elements(&connection.to, &self.inputs, "input")
            .map_err(&bad)?;
        if from.len() != to.len() {
            let message = format!(
                "`{}` has {} elements, `{}` has {}",
                self.shown(&connection.from),
                from.len(),
                self.shown(&connection.to),
                to.len()
            );
            return Err(bad(message));
        }
        let measure = |end: &Endpoint| {
            let definition = shelf::measure(self.units[end.component], &end.variable)?;
            Some(unit_def(definition))
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
        let given = self.interfaces[from].outputs[output - first_output].nature;
        let wanted = self.interfaces[to].inputs[input - first_input].nature;
        if (given == Nature::Text) == (wanted == Nature::Text) {
            return Ok(());
        }
        Err(format!(
            "`{}` and `{}` are a text and a number",
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
