//! A system structure (SSP) as a model.

use std::path::{Path, PathBuf};

use dovetail_core::list_names;
use dovetail_fmi::InterfaceUse;
use dovetail_fmi::archive::Archive;
use dovetail_fmi::description::{UnitDefinition, Value};
use dovetail_ssp::{Component, DEFAULT_SSD, Implementation, Parameter, ParameterValue, Structure};

use super::wiring::{Wiring, unit_def};
use crate::catalog::Catalog;
use crate::connected::finish;
use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::fmu::recorded::recorded;
use crate::fmu::store::{FmuStore, FmuUsage};
use crate::fmu::tuned::tuned;
use crate::fmu::values::texts;
use crate::inputs::attach::{Connecting, SystemNames, WantedTable, attach, wanted_table};
use crate::options::Choices;
use crate::overrides::Overrides;
use crate::quantity::convert_values;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::times::proposed_times;

/// Makes a model of a system structure.
pub(crate) fn scenario(
    path: &Path,
    changes: &Overrides,
    catalog: &Catalog,
) -> Result<Scenario, BadModel> {
    let bad = |problem: Problem| BadModel::of_file(path, problem);
    let mut unpacked = Unpacked::default();
    let (ssd, root) = unpacked
        .locate(path)
        .map_err(|message| bad(Problem::general(message)))?;
    let structure = dovetail_ssp::read(&ssd, &root, &mut |file| unpacked.unpack(file))
        .map_err(|error| bad(Problem::general(error.to_string())))?;
    let experiment = structure.experiment;
    let span = proposed_times(changes, experiment.start_time, experiment.stop_time).map_err(bad)?;

    build(path, &structure, span, changes, catalog).map_err(|problems| BadModel {
        problems,
        ..bad(Problem::general(String::new()))
    })
}

fn build(
    path: &Path,
    structure: &Structure,
    span: (f64, f64),
    changes: &Overrides,
    catalog: &Catalog,
) -> Result<Scenario, Vec<Problem>> {
    let mut fmus = FmuStore::new(changes, span);
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    let mut odd = structure.warnings.clone();
    let set = assign(structure, changes).map_err(|problem| vec![problem])?;

    let names = structure.components.iter();
    let systems = SystemNames {
        names: names.map(|component| component.name.as_str()).collect(),
        alone: false,
    };
    let tables = changes.inputs.iter();
    let tables = tables.map(|path| wanted_table(path, Connecting::default(), &systems));
    let tables: Vec<WantedTable> = tables
        .collect::<Result<_, _>>()
        .map_err(|problem| vec![problem])?;

    for (component, set) in structure.components.iter().zip(set) {
        let columns = tables.iter().flat_map(|table| &table.columns);
        let own = columns.filter(|column| column.system == component.name);
        let changed: Vec<&str> = own.map(|column| column.name.as_str()).collect();
        match part(component, set, &changed, &mut fmus, &mut odd) {
            Ok(part) => parts.push(part),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    attach(&mut parts, tables, Vec::new(), span, &mut odd)?;
    let wired = Wiring::new(&parts, structure).wire();
    let wired = wired?;
    odd.extend(wired.held.filter(|_| !changes.open_inputs));
    let interfaces = parts.iter().map(Part::interface).collect();
    let mut connected = finish(interfaces, wired.sources, Vec::new(), wired.mappings, odd);
    if changes.open_inputs {
        connected.open = wired.open;
    }
    let text = SourceText {
        path: path.display().to_string(),
        text: String::new(),
    };
    let step = structure.experiment.step_size;
    let mut choices = Choices::default();
    for (key, value) in &structure.run_options {
        choices.set(key, value);
    }

    Ok(Scenario {
        choices,
        proposed_step: step.filter(|size| *size > 0.0 && *size < span.1 - span.0),
        changes: changes.clone(),
        catalog: catalog.clone(),
        ..Scenario::new(text, structure.name.clone(), span, parts, connected)
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

type ComponentValues = Vec<(String, Vec<Value>)>;

/// The values that were set, `COMPONENT.NAME`, to the components; names of components contain dots, the longest that fits counts.
fn assign(structure: &Structure, changes: &Overrides) -> Result<Vec<ComponentValues>, Problem> {
    let mut all: Vec<ComponentValues> = vec![Vec::new(); structure.components.len()];
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
            let problem = Problem::of_value(name, text, "there is no such component");
            return Err(problem.help(format!("the components are {}", list_names(&known))));
        };
        all[k].push((variable.to_owned(), texts(text)));
    }
    Ok(all)
}

fn part(
    component: &Component,
    set: ComponentValues,
    changed: &[&str],
    fmus: &mut FmuStore,
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
        Implementation::CoSimulation => Some(InterfaceUse::CoSimulation),
        Implementation::ModelExchange => Some(InterfaceUse::ModelExchange),
        Implementation::ScheduledExecution => {
            return Err(bad("Scheduled Execution is not supported".into()));
        }
    };
    let unit = fmus
        .open(&component.source)
        .map_err(|error| bad(error.to_string()))?;
    let mut values = ComponentValues::new();

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

    let mut set = set;
    let converted = convert_values(name, unit.description(), &mut set);
    odd.extend(converted.map_err(&bad)?);
    values.extend(set);
    let tuned = tuned(unit.description(), changed.iter().copied()).map_err(&bad)?;
    let recorded = recorded(name, unit.description(), fmus.patterns(), false);
    let usage = FmuUsage {
        interface,
        values,
        recorded,
        tuned,
        ..FmuUsage::default()
    };
    let source = fmus.prepare(name, &component.source, usage);
    let source = source.map_err(|error| bad(error.to_string()))?;
    odd.extend(source.warnings());

    Ok(Part::new(source))
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
