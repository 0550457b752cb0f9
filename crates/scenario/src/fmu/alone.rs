//! A single FMU as a model: its inputs held, its default experiment for times and steps.

use std::path::Path;

use dovetail_core::{Connections, SignalKind, Source};

use super::recorded::recorded;
use super::store::{FmuStore, FmuUsage};
use super::tuned::tuned;
use super::values::texts;
use crate::catalog::Catalog;
use crate::connected::Connected;
use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::inputs::attach::{Connecting, SystemNames, WantedTable, attach, wanted_table};
use crate::overrides::Overrides;
use crate::quantity::convert_values;
use crate::scenario::Scenario;
use crate::source::part::Part;
use crate::times::proposed_times;

/// Makes a model of the FMU in a file.
pub(crate) fn scenario(
    path: &Path,
    changes: &Overrides,
    catalog: &Catalog,
) -> Result<Scenario, BadModel> {
    let bad = |problem: Problem| BadModel::of_file(path, problem);
    let refused = |error: dovetail_fmi::FmuError| {
        BadModel::of_file(path, Problem::general(error.to_string()))
    };
    let mut fmus = FmuStore::new(changes, (0.0, 1.0));
    let fmu = fmus.open(path).map_err(refused)?;
    let experiment = fmu.description().experiment;
    let (start, stop) =
        proposed_times(changes, experiment.start_time, experiment.stop_time).map_err(bad)?;
    fmus.set_span((start, stop));
    let name = system_name(&fmu.description().model_name, path);
    let mut values = own_values(&name, changes);
    let odd = convert_values(&name, fmu.description(), &mut values);
    let odd = odd.map_err(|message| bad(Problem::general(message)))?;
    let tables = tables(&name, changes).map_err(bad)?;
    let columns = tables.iter().flat_map(|table| &table.columns);
    let tuned = tuned(
        fmu.description(),
        columns.map(|column| column.name.as_str()),
    );
    let tuned = tuned.map_err(|message| bad(Problem::general(message)))?;
    let recorded = recorded(&name, fmu.description(), &changes.record, true);
    let usage = FmuUsage {
        interface: changes.interface,
        values,
        recorded,
        tuned,
        ..FmuUsage::default()
    };
    let source = fmus.prepare(&name, path, usage).map_err(refused)?;
    let mut warnings = [odd, source.warnings()].concat();
    let mut parts = vec![Part::new(source)];
    attach(&mut parts, tables, Vec::new(), (start, stop), &mut warnings).map_err(|problems| {
        BadModel {
            problems,
            ..bad(Problem::general(String::new()))
        }
    })?;
    let connected = with_inputs_held(&parts[0], warnings, changes.open_inputs);
    let text = SourceText::without_text(path);
    let name = fmu.description().model_name.clone();
    let step = experiment.step_size;

    Ok(Scenario {
        proposed_step: step.filter(|size| *size > 0.0 && *size < stop - start),
        changes: changes.clone(),
        catalog: catalog.clone(),
        ..Scenario::new(text, name, (start, stop), parts, connected)
    })
}

/// No connections: the inputs have their start values, or are left to whoever runs the model.
fn with_inputs_held(part: &Part, warnings: Vec<String>, opens: bool) -> Connected {
    let interface = part.interface();
    let held = interface.inputs.iter();
    let held = held.map(|input| Source::Constant(input.start)).collect();
    let numbers = interface.inputs.iter().enumerate();
    let numbers = numbers.filter(|(_, input)| opens && input.kind != SignalKind::Text);
    let open = numbers.map(|(position, _)| position).collect();

    Connected {
        connections: Connections::new(vec![interface], held),
        places: Vec::new(),
        mappings: vec![Vec::new()],
        warnings,
        open,
        disturbances: Vec::new(),
    }
}

/// The tables that drive its inputs.
fn tables(name: &str, changes: &Overrides) -> Result<Vec<WantedTable>, Problem> {
    let systems = SystemNames {
        names: vec![name],
        alone: true,
    };
    let tables = changes.inputs.iter();
    tables
        .map(|path| wanted_table(path, Connecting::default(), &systems))
        .collect()
}

/// The model's name as the name of a system: what is not a letter or a digit becomes an underscore.
fn system_name(model: &str, path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    // Tools name models by their packages, `Modelica.Mechanics.Example`: the last part is what people call it.
    let last = model
        .rsplit('.')
        .next()
        .filter(|last| !last.is_empty())
        .unwrap_or(&stem);
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = last.chars().map(plain).collect();

    if name.is_empty() {
        "fmu".to_owned()
    } else {
        name
    }
}

type GivenValues = Vec<(String, Vec<dovetail_fmi::description::Value>)>;

/// `--set NAME.VARIABLE=VALUE`, where there is one system only, also without its name.
fn own_values(system: &str, changes: &Overrides) -> GivenValues {
    changes
        .values
        .iter()
        .map(|(name, text)| (own_name(name, system).to_owned(), texts(text)))
        .collect()
}

/// A name without that of its system.
fn own_name<'n>(name: &'n str, system: &str) -> &'n str {
    let rest = name.strip_prefix(system);
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}
