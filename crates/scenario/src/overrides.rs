//! What the command line changes in a model: `--set`, `--start-time`, `--stop-time`.

use toml::Spanned;

use crate::diagnostic::Problem;
use crate::file::{Bounds, ModelFile, SystemTable};

/// Changes to a model that are not in its file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `system.name` of a parameter, or of the start value of a state or an input, with its new value.
    pub values: Vec<(String, f64)>,
    /// Start of the run.
    pub start_time: Option<f64>,
    /// End of the run.
    pub stop_time: Option<f64>,
}

/// Writes the values into the file's tables.
pub(crate) fn apply(overrides: &Overrides, file: &mut ModelFile) -> Result<(), Problem> {
    overrides.values.iter().try_for_each(|(name, value)| set(file, name, *value))
}

fn set(file: &mut ModelFile, qualified: &str, value: f64) -> Result<(), Problem> {
    let all: Vec<String> = file.systems.iter().flat_map(|(system, table)| settable(system.get_ref(), table)).collect();
    let is_output = |table: &SystemTable, name: &str| table.outputs.keys().any(|output| output.get_ref() == name);
    let output = qualified.split_once('.').is_some_and(|(system, name)| {
        file.systems.iter().any(|(key, table)| key.get_ref() == system && is_output(table.get_ref(), name))
    });
    let unknown = || {
        if output {
            let message = format!("--set {qualified}={value}: `{qualified}` is an output, which the model computes");
            return Problem::general(message).help("set a parameter, or the start value of a state or an input");
        }
        Problem::general(format!("--set {qualified}={value}: there is no such parameter, state or input"))
            .help("a value is set as SYSTEM.NAME=VALUE, with the name of a parameter, a state or an input")
            .suggest(qualified, all.iter().map(String::as_str))
    };
    if !value.is_finite() {
        return Err(Problem::general(format!("--set {qualified}={value}: the value must be a finite number")));
    }
    let (system, name) = qualified.split_once('.').ok_or_else(unknown)?;
    let found = file.systems.iter_mut().find(|(key, _)| key.get_ref() == system);
    let table = found.ok_or_else(unknown)?.1.get_mut();
    for boxes in [&mut table.parameters, &mut table.states] {
        if let Some((_, bounds)) = boxes.iter_mut().find(|(key, _)| key.get_ref() == name) {
            *bounds.get_mut() = Bounds::point(value);
            return Ok(());
        }
    }
    let input = table.inputs.iter_mut().find(|(key, _)| key.get_ref() == name).ok_or_else(unknown)?;
    *input.1.get_mut() = value;
    Ok(())
}

fn settable(system: &str, table: &Spanned<SystemTable>) -> Vec<String> {
    let table = table.get_ref();
    let names = table.parameters.keys().chain(table.states.keys()).chain(table.inputs.keys());
    names.map(|name| format!("{system}.{}", name.get_ref())).collect()
}
