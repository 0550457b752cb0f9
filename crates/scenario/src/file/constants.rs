//! Constants of a model file, and values that are given as expressions of them.

use toml::Spanned;

use crate::catalog::Catalog;
use crate::diagnostic::Problem;
use crate::equations::source::NAME as EQUATIONS;
use crate::expressions::{Formula, Known, Unresolved, defined_in, names_in, resolve};
use crate::file::following::{following, write_in};
use crate::file::toml_file::{ModelFile, within_string};
use crate::shared_constant::SharedConstant;
use crate::source::table::{Named, SystemTable};
use crate::source::value::Given;

/// The version of the format that is read.
const FORMAT: i64 = 1;

/// Refuses files of later formats.
pub(crate) fn check_format(file: &ModelFile) -> Result<(), Problem> {
    match &file.format {
        Some(format) if *format.get_ref() != FORMAT => {
            let message = format!(
                "the file has format {}, and this program reads format {FORMAT}",
                format.get_ref()
            );
            Err(Problem::at(format.span(), message))
        }
        _ => Ok(()),
    }
}

/// The values of `[constants]`.
pub(crate) fn constants(text: &str, file: &ModelFile) -> Result<Known, Problem> {
    for (name, _) in &file.constants {
        let word = name.get_ref();
        if !dovetail_equations::is_name(word) || dovetail_equations::is_reserved(word) {
            let message = format!("`{word}` cannot be the name of a constant");
            return Err(Problem::at(name.span(), message));
        }
    }
    let known = Known::new();
    let values = values(text, &file.constants, &known)?;
    let names = file.constants.iter();
    let names = names.filter(|(_, value)| !is_box(value));
    let names = names.map(|(name, _)| name.get_ref().clone());
    Ok(names.zip(values).collect())
}

fn is_box(value: &Spanned<Given>) -> bool {
    matches!(value.get_ref(), Given::List(_))
}

/// The constants that are boxes: only equations know them.
fn boxed(file: &ModelFile) -> Vec<(String, Given)> {
    let boxed = file.constants.iter().filter(|(_, value)| is_box(value));
    boxed
        .map(|(name, value)| (name.get_ref().clone(), value.get_ref().clone()))
        .collect()
}

/// A box that a constant is.
fn check_box(name: &str, value: &Spanned<Given>) -> Result<(), Problem> {
    let refuse = |message: String| Problem::at(value.span(), message);
    let bounds = value.get_ref().bounds().map_err(refuse)?;
    let sound =
        bounds.lower.is_finite() && bounds.upper.is_finite() && bounds.lower <= bounds.upper;
    if !sound {
        let message =
            format!("the box of `{name}` has to be two finite numbers, the smaller one first");
        return Err(refuse(message));
    }
    Ok(())
}

/// The values of a table of numbers and expressions.
fn values(text: &str, table: &Named<Given>, known: &Known) -> Result<Vec<f64>, Problem> {
    let mut numbers = known.clone();
    for (name, value) in table {
        match value.get_ref() {
            Given::Text(_) => {}
            Given::List(_) => check_box(name.get_ref(), value)?,
            given => {
                let number = given.number().filter(|number| number.is_finite());
                let message = || {
                    format!(
                        "`{}` must be a finite number or an expression",
                        name.get_ref()
                    )
                };
                let number = number.ok_or_else(|| Problem::at(value.span(), message()))?;
                numbers.retain(|(known, _)| known != name.get_ref());
                numbers.push((name.get_ref().clone(), number));
            }
        }
    }
    let formulas = formulas(table);
    let given: Vec<Formula<'_>> = formulas
        .iter()
        .map(|(formula, _)| formula.clone())
        .collect();
    let found = resolve(&numbers, &given).map_err(|error| {
        let string = formulas[error.formula].1;
        located(text, string, error)
    })?;
    let mut found = found.into_iter();

    let numbered = table.iter().filter(|(_, value)| !is_box(value));
    let each = numbered.map(|(name, value)| match value.get_ref() {
        Given::Text(_) => found.next().unwrap_or(f64::NAN),
        _ => {
            let known = numbers.iter().find(|(known, _)| known == name.get_ref());
            known.map_or(f64::NAN, |(_, value)| *value)
        }
    });
    Ok(each.collect())
}

/// The entries that are expressions, with where they stand.
fn formulas(table: &Named<Given>) -> Vec<(Formula<'_>, &Spanned<Given>)> {
    let formulas = table
        .iter()
        .filter_map(|(name, value)| match value.get_ref() {
            Given::Text(text) => {
                let name = name.get_ref();
                Some((Formula { name, text }, value))
            }
            _ => None,
        });
    formulas.collect()
}

fn located(text: &str, string: &Spanned<Given>, error: Unresolved) -> Problem {
    let span = match error.place {
        Some((offset, length)) => within_string(text, &string.span(), offset, length),
        None => string.span(),
    };
    Problem {
        help: error.help,
        ..Problem::at(span, error.message)
    }
}

/// Parameters of equations that are expressions become numbers, and constants that equations use parameters.
pub(crate) fn settle(
    text: &str,
    file: &mut ModelFile,
    constants: &Known,
    catalog: &Catalog,
) -> Result<(), Problem> {
    let boxed = boxed(file);
    for (name, table) in &mut file.systems {
        let table = table.get_mut();
        table.constants.clone_from(constants);
        if catalog.kind_of(table).name() != EQUATIONS {
            continue;
        }
        settle_parameters(text, table, constants)?;
        let numbers = constants.iter();
        let numbers = numbers.map(|(name, value)| (name.clone(), Given::Number(*value)));
        let all: Vec<(String, Given)> = numbers.chain(boxed.iter().cloned()).collect();
        for constant in add_constants(table, &all) {
            if boxed.iter().any(|(name, _)| *name == constant) {
                file.shared.push(SharedConstant {
                    constant,
                    system: name.get_ref().clone(),
                });
            }
        }
    }
    Ok(())
}

/// Expressions of parameters, and of constants, as numbers.
fn settle_parameters(
    text: &str,
    table: &mut SystemTable,
    constants: &Known,
) -> Result<(), Problem> {
    let formulas = formulas(&table.parameters);
    if formulas.is_empty() {
        return Ok(());
    }
    let mut known = constants.clone();
    for (name, value) in &table.parameters {
        known.retain(|(known, _)| known != name.get_ref());
        let number = value.get_ref().number();
        known.extend(number.map(|number| (name.get_ref().clone(), number)));
    }
    check_boxes(text, table, &formulas)?;
    let given: Vec<Formula<'_>> = formulas
        .iter()
        .map(|(formula, _)| formula.clone())
        .collect();
    let found = resolve(&known, &given);
    let found = found.map_err(|error| located(text, formulas[error.formula].1, error))?;
    let following = following(table)?;

    let mut found = found.into_iter();
    for value in table.parameters.values_mut() {
        if let Given::Text(_) = value.get_ref() {
            *value.get_mut() = Given::Number(found.next().unwrap_or(f64::NAN));
        }
    }
    for (name, formula) in following {
        write_in(table, name, &formula);
    }
    Ok(())
}

/// A box is no number that others can be computed from.
fn check_boxes(
    text: &str,
    table: &SystemTable,
    formulas: &[(Formula<'_>, &Spanned<Given>)],
) -> Result<(), Problem> {
    for (formula, string) in formulas {
        for name in names_in(formula.text) {
            let is_box = |(key, value): (&Spanned<String>, &Spanned<Given>)| {
                key.get_ref() == name && matches!(value.get_ref(), Given::List(_))
            };
            if table.parameters.iter().any(is_box) {
                let message =
                    format!("`{name}` is a box, of which no other parameter can be computed");
                let offset = formula.text.find(name).unwrap_or(0);
                let span = within_string(text, &string.span(), offset, name.len());
                return Err(Problem::at(span, message)
                    .help("give it as a number, or write the expression into the equations"));
            }
        }
    }
    Ok(())
}

/// What the equations mention and the system does not declare is a constant, if there is one.
fn add_constants(table: &mut SystemTable, constants: &[(String, Given)]) -> Vec<String> {
    let used: Vec<(String, Given)> = {
        let texts = texts(table);
        let declared = declared(table);
        let mentioned = |name: &str| {
            texts
                .iter()
                .any(|text| names_in(text).any(|word| word == name))
        };
        let open = constants
            .iter()
            .filter(|(name, _)| !declared.contains(&name.as_str()) && mentioned(name));
        open.cloned().collect()
    };
    let names = used.iter().map(|(name, _)| name.clone()).collect();
    for (name, value) in used {
        table
            .parameters
            .insert(Spanned::new(0..0, name), Spanned::new(0..0, value));
    }
    names
}

/// All expressions of a system.
fn texts(table: &SystemTable) -> Vec<&str> {
    let equations = table.equations.iter().map(|text| text.get_ref().as_str());
    let outputs = table.outputs.values().map(|text| text.get_ref().as_str());
    let whens = table.when.iter().flat_map(|when| {
        let when = when.get_ref();
        let assignments = when.set.values().chain(when.reset.values());
        let assignments = assignments.chain(when.at_rest.values());
        let values = assignments.map(|text| text.get_ref().as_str());
        values.chain([when.condition.get_ref().as_str()])
    });
    equations.chain(outputs).chain(whens).collect()
}

/// The names that a system has of its own.
fn declared(table: &SystemTable) -> Vec<&str> {
    let given = [
        &table.inputs,
        &table.parameters,
        &table.states,
        &table.discrete,
    ];
    let given = given.into_iter().flat_map(|names| names.keys());
    let given = given.map(|name| name.get_ref().as_str());
    let equations = table.equations.iter();
    let defined = equations.flat_map(|text| defined_in(text.get_ref()));
    given.chain(defined).collect()
}
