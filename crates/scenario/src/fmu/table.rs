//! FMUs of a model file, read from their tables.

use dovetail_core::Restrictions;
use dovetail_fmi::description::{Causality, Description, Value};
use dovetail_fmi::{FmuError, InterfaceUse, SettingError};
use toml::Spanned;

use super::recorded::recorded;
use super::source::{FmuSource, NAME};
use super::store::FmuUsage;
use super::tuned::tuned;
use super::values::{elements, texts};
use crate::diagnostic::Problem;
use crate::expressions::{Formula, Known, resolve};
use crate::file::common_keys::{check_system_name, restrictions};
use crate::file::following::following;
use crate::file::toml_file::within_string;
use crate::quantity::convert_values;
use crate::source::kind::{ReadSystem, Reading, SourceKind};
use crate::source::system_source::SystemSource;
use crate::source::table::SystemTable;
use crate::source::value::Given;

/// More parts of a step than this are a mistake.
const MOST_SUB_STEPS: u64 = 1000;

/// Systems that are FMUs.
pub(crate) struct FmuKind;

impl SourceKind for FmuKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keys(&self) -> &'static [&'static str] {
        &["fmu"]
    }

    fn read(
        &self,
        name: &Spanned<String>,
        table: &SystemTable,
        reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>> {
        let mut problems = Vec::new();
        let Some(file) = &table.fmu else {
            return Err(problems);
        };
        check_system_name(name, &mut problems);
        check_keys(table, &mut problems);
        let usage = usage(table, &mut problems);
        let restrictions = restrictions(table, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }

        let usage = FmuUsage {
            imposed_step: restrictions.and_then(|r| r.imposed_step),
            ..usage
        };
        let mut warnings = Vec::new();
        let source = open(name.get_ref(), file, table, usage, reading, &mut warnings)?;
        check_sub_steps(&source, table)?;

        Ok(ReadSystem {
            restrictions: remaining(restrictions, source.prepared().used()),
            warnings: [warnings, source.warnings()].concat(),
            source: Box::new(source),
        })
    }

    fn restore(&self, bytes: &[u8]) -> Result<Box<dyn SystemSource>, String> {
        Ok(Box::new(FmuSource::from_bytes(bytes)?))
    }
}

/// How the table wants the FMU to be used.
fn usage(table: &SystemTable, problems: &mut Vec<Problem>) -> FmuUsage {
    let interface = interface(table, problems);
    let parts = table.sub_steps.as_ref();

    if let Some(parts) = parts.filter(|parts| !(1..=MOST_SUB_STEPS).contains(parts.get_ref())) {
        let message = format!("sub-steps are a whole number from 1 to {MOST_SUB_STEPS}");
        problems.push(Problem::at(parts.span(), message));
    }
    FmuUsage {
        interface,
        sub_steps: parts.map_or(1, |parts| *parts.get_ref()),
        continuous: table.continuous.clone(),
        unprobed: table.probe == Some(false),
        ..FmuUsage::default()
    }
}

/// Opens and tries the FMU.
fn open(
    name: &str,
    file: &Spanned<String>,
    table: &SystemTable,
    usage: FmuUsage,
    reading: &mut Reading<'_>,
    warnings: &mut Vec<String>,
) -> Result<FmuSource, Vec<Problem>> {
    let path = reading.folder.join(file.get_ref());
    let in_words = |error: FmuError| {
        let message = format!("the FMU `{}` of system `{name}`: {error}", file.get_ref());
        vec![Problem::at(place(table, file, &error), message)]
    };
    let fmu = reading.fmus.open(&path).map_err(in_words)?;
    check_continuous(fmu.description(), table, file)?;
    let patterns = reading.fmus.patterns();
    let names = table.changed.iter().map(String::as_str);
    let tuned = tuned(fmu.description(), names).map_err(|message| {
        let message = format!("the FMU `{}` of system `{name}`: {message}", file.get_ref());
        vec![Problem::at(file.span(), message)]
    })?;
    let mut values = values(table, fmu.description(), reading.text)?;
    let odd = convert_values(name, fmu.description(), &mut values);
    warnings.extend(odd.map_err(|message| {
        let message = format!("the FMU `{}` of system `{name}`: {message}", file.get_ref());
        vec![Problem::at(file.span(), message)]
    })?);
    let usage = FmuUsage {
        tuned,
        values,
        recorded: recorded(name, fmu.description(), patterns, false),
        ..usage
    };

    reading.fmus.prepare(name, &path, usage).map_err(in_words)
}

fn check_sub_steps(source: &FmuSource, table: &SystemTable) -> Result<(), Vec<Problem>> {
    match &table.sub_steps {
        Some(parts) if source.prepared().used() == InterfaceUse::ModelExchange => {
            let message = "sub-steps are for Co-Simulation: an FMU for Model Exchange follows its inputs exactly";
            Err(vec![Problem::at(parts.span(), message)])
        }
        _ => Ok(()),
    }
}

/// What is left to be taken away: the imposed step of an FMU for Co-Simulation is its own by now.
fn remaining(restrictions: Option<Restrictions>, used: InterfaceUse) -> Option<Restrictions> {
    let restrictions = restrictions?;
    let left = Restrictions {
        imposed_step: restrictions
            .imposed_step
            .filter(|_| used != InterfaceUse::CoSimulation),
        ..restrictions
    };
    (left != Restrictions::default()).then_some(left)
}

/// Where in the file an error belongs: to a value that was given, or to the FMU as a whole.
fn place(table: &SystemTable, file: &Spanned<String>, error: &FmuError) -> std::ops::Range<usize> {
    let name = match error {
        FmuError::Setting(
            SettingError::Unknown { name, .. }
            | SettingError::NotSettable { name, .. }
            | SettingError::WrongType { name, .. }
            | SettingError::WrongCount { name, .. }
            | SettingError::OutOfRange { name, .. },
        ) => name,
        _ => return file.span(),
    };
    let mut given = table
        .parameters
        .iter()
        .chain(&table.states)
        .chain(&table.inputs);
    let found = given.find(|(key, _)| key.get_ref() == name);

    found.map_or_else(
        || file.span(),
        |(key, value)| key.span().start..value.span().end,
    )
}

/// What is called continuous must be a real of the FMU.
fn check_continuous(
    description: &Description,
    table: &SystemTable,
    file: &Spanned<String>,
) -> Result<(), Vec<Problem>> {
    let reals = || {
        description
            .variables
            .iter()
            .filter(|v| v.value_type.is_float())
            .map(|v| v.name.as_str())
    };
    let unknown = table
        .continuous
        .iter()
        .filter(|name| !reals().any(|real| real == *name));
    let problems: Vec<Problem> = unknown
        .map(|name| {
            let message =
                format!("`continuous` names `{name}`, which is no real variable of the FMU");
            Problem::at(file.span(), message).suggest(name, reals())
        })
        .collect();

    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// What only equations have.
fn check_keys(table: &SystemTable, problems: &mut Vec<Problem>) {
    let equations = table
        .equations
        .as_ref()
        .map(|text| ("equations", text.span()));
    let outputs = table
        .outputs
        .iter()
        .next()
        .map(|(name, _)| ("outputs", name.span()));
    let units = table
        .units
        .iter()
        .next()
        .map(|(name, _)| ("units", name.span()));

    for (key, span) in [equations, outputs, units].into_iter().flatten() {
        let message =
            format!("`{key}` belongs to systems given as equations, and this one is an FMU");
        problems.push(
            Problem::at(span, message).help("an FMU says by itself what its outputs and units are"),
        );
    }
}

fn interface(table: &SystemTable, problems: &mut Vec<Problem>) -> Option<InterfaceUse> {
    let asked = table.interface.as_ref()?;
    match asked.get_ref().as_str() {
        "co-simulation" => Some(InterfaceUse::CoSimulation),
        "model-exchange" => Some(InterfaceUse::ModelExchange),
        other => {
            let known = ["co-simulation", "model-exchange"];
            let problem = Problem::at(
                asked.span(),
                format!("`{other}` is not an interface of FMUs"),
            );
            problems.push(
                problem
                    .help("known are co-simulation and model-exchange")
                    .suggest(other, known),
            );
            None
        }
    }
}

/// Parameters and start values, those of the command line last. A text for a number is an expression.
fn values(
    table: &SystemTable,
    description: &Description,
    text: &str,
) -> Result<Vec<(String, Vec<Value>)>, Vec<Problem>> {
    let given = table
        .parameters
        .iter()
        .chain(&table.states)
        .chain(&table.inputs);
    let formulas: Vec<(Formula<'_>, &Spanned<Given>)> = given
        .clone()
        .filter_map(|(name, value)| match value.get_ref() {
            Given::Text(text) if is_formula(description, name.get_ref(), text) => {
                let name = name.get_ref();
                Some((Formula { name, text }, value))
            }
            _ => None,
        })
        .collect();
    let following = following(table).map_err(|problem| vec![problem])?;
    let is_formula =
        |name: &Spanned<String>| formulas.iter().any(|(f, _)| f.name == name.get_ref());
    if let Some((name, _)) = following.iter().find(|(name, _)| is_formula(name)) {
        let message = format!(
            "`{}` is an expression of a parameter that a table or an event changes, and an FMU would keep its first value",
            name.get_ref()
        );
        let problem = Problem::at(name.span(), message);
        return Err(vec![problem.help(
            "give it as a number, and change it too where it is to follow",
        )]);
    }
    let known = known_numbers(table, description);
    let texts_alone: Vec<Formula<'_>> = formulas.iter().map(|(f, _)| f.clone()).collect();
    let found = resolve(&known, &texts_alone).map_err(|error| {
        let string = formulas[error.formula].1.span();
        let span = match error.place {
            Some((offset, length)) => within_string(text, &string, offset, length),
            None => string,
        };
        let problem = Problem::at(span, error.message);
        vec![Problem {
            help: error.help,
            ..problem
        }]
    })?;

    let mut values: Vec<_> = given
        .map(|(name, value)| {
            let formula = formulas.iter().position(|(f, _)| f.name == name.get_ref());
            let elements = match formula {
                Some(formula) => vec![Value::Float(found[formula])],
                None => elements(value.get_ref()),
            };
            (name.get_ref().clone(), elements)
        })
        .collect();
    values.extend(
        table
            .overridden
            .iter()
            .map(|(name, text)| (name.clone(), texts(text))),
    );

    Ok(values)
}

/// Whether a text stands for a number: its variable is one, and it is not written as one.
fn is_formula(description: &Description, name: &str, text: &str) -> bool {
    let mut variables = description.variables.iter();
    let variable = variables.find(|variable| variable.name == name);
    variable.is_some_and(|variable| variable.value_type.is_float()) && text.parse::<f64>().is_err()
}

/// What expressions may use: constants, the parameters of the FMU, and over them those that are given.
fn known_numbers(table: &SystemTable, description: &Description) -> Known {
    let mut known = table.constants.clone();
    let mut learn = |name: &str, value: f64| {
        known.retain(|(known, _)| known != name);
        known.push((name.to_owned(), value));
    };
    let parameters = description.variables.iter();
    for variable in parameters.filter(|v| v.causality == Causality::Parameter) {
        if let (Some(Value::Float(start)), true) =
            (variable.start.first(), variable.dimensions.is_empty())
        {
            learn(&variable.name, *start);
        }
    }
    for (name, value) in &table.parameters {
        if let Some(number) = value.get_ref().number() {
            learn(name.get_ref(), number);
        }
    }
    for (name, text) in &table.overridden {
        if let Ok(number) = text.parse() {
            learn(name, number);
        }
    }
    known
}
