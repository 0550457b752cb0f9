//! One system of a model file, checked.

use std::ops::Range;

use dovetail_core::{MAX_DEGREE, Restrictions};
use dovetail_equations::{Definition, Model, Place, Source, SyntaxError, Unused, is_name};
use dovetail_guaranteed::{Boxes, Interval};
use toml::Spanned;

use crate::diagnostic::{Problem, line_and_column};
use crate::file::{Bounds, Given, Named, SystemTable, within_string};
use crate::part::{Part, PartModel};

/// Checks a system's table and compiles its equations.
pub(crate) fn check(
    text: &str,
    name: &Spanned<String>,
    table: &SystemTable,
) -> Result<(Part, Vec<String>), Vec<Problem>> {
    let mut problems = Vec::new();
    is_system_name(name, &mut problems);
    check_keys(table, &mut problems);
    let numbers = Numbers::of(table, &mut problems);
    check_names(table, &mut problems);
    let restrictions = restrictions(table, &mut problems);
    let definition = match compile(name.get_ref(), table, &numbers) {
        Ok(definition) => definition,
        Err(errors) => {
            problems.extend(
                errors
                    .into_iter()
                    .map(|error| locate(text, name, table, error)),
            );
            return Err(problems);
        }
    };
    check_outputs_named_as_states(&definition, table, &mut problems);
    let (input_units, output_units) = units(table, &mut problems);
    let warnings = definition
        .model
        .unused()
        .iter()
        .map(|unused| unused_warning(name.get_ref(), unused))
        .collect();
    let definition = Definition {
        input_units,
        output_units,
        ..definition
    };
    let model = PartModel::Equations {
        definition,
        boxes: numbers.boxes(),
    };
    let part = Part {
        model,
        mappings: Vec::new(),
        restrictions,
    };
    if problems.is_empty() {
        Ok((part, warnings))
    } else {
        Err(problems)
    }
}

/// A system's name must be one that equations and connections can refer to.
pub(crate) fn is_system_name(name: &Spanned<String>, problems: &mut Vec<Problem>) {
    if !is_name(name.get_ref()) {
        let message = format!("`{}` cannot be the name of a system", name.get_ref());
        problems
            .push(Problem::at(name.span(), message).help("use letters, digits and underscores"));
    }
}

fn names<T>(table: &Named<T>) -> Vec<&str> {
    table.keys().map(|key| key.get_ref().as_str()).collect()
}

fn compile(
    name: &str,
    table: &SystemTable,
    numbers: &Numbers,
) -> Result<Definition, Vec<SyntaxError>> {
    let outputs = table
        .outputs
        .iter()
        .map(|(name, text)| (name.get_ref().as_str(), text.get_ref().as_str()));
    let model = Model::parse(&Source {
        inputs: names(&table.inputs),
        parameters: names(&table.parameters),
        states: names(&table.states),
        equations: table.equations.as_ref().map_or("", |text| text.get_ref()),
        outputs: outputs.collect(),
    })?;
    let middles = |bounds: &[Bounds]| bounds.iter().map(Bounds::middle).collect();
    let (parameters, states) = (middles(&numbers.parameters), middles(&numbers.states));
    Ok(Definition::new(
        name,
        model,
        parameters,
        states,
        numbers.inputs.clone(),
    ))
}

/// The values of a system given as equations: numbers, or boxes where they may be.
struct Numbers {
    parameters: Vec<Bounds>,
    states: Vec<Bounds>,
    inputs: Vec<f64>,
}

impl Numbers {
    fn of(table: &SystemTable, problems: &mut Vec<Problem>) -> Self {
        let mut boxes = |given: &Named<Given>| {
            given
                .iter()
                .map(|(name, value)| bounds(name, value, problems))
                .collect()
        };
        let (parameters, states) = (boxes(&table.parameters), boxes(&table.states));
        let inputs = table
            .inputs
            .iter()
            .map(|(name, value)| start(name, value, problems))
            .collect();
        Self {
            parameters,
            states,
            inputs,
        }
    }

    /// What is known of states and parameters: all of it, where an ordinary run takes the middles.
    fn boxes(&self) -> Boxes {
        let intervals = |all: &[Bounds]| {
            all.iter()
                .map(|bounds| Interval::new(bounds.lower, bounds.upper))
                .collect()
        };
        Boxes {
            states: intervals(&self.states),
            parameters: intervals(&self.parameters),
        }
    }
}

fn bounds(name: &Spanned<String>, value: &Spanned<Given>, problems: &mut Vec<Problem>) -> Bounds {
    match value.get_ref().bounds() {
        Err(message) => problems.push(Problem::at(value.span(), message)),
        Ok(Bounds { lower, upper }) if !(lower.is_finite() && upper.is_finite()) => {
            problems.push(Problem::at(
                value.span(),
                format!("`{}` must be a finite number", name.get_ref()),
            ));
        }
        Ok(Bounds { lower, upper }) if lower > upper => {
            let message = format!(
                "the box of `{}` is empty: {lower} is above {upper}",
                name.get_ref()
            );
            problems
                .push(Problem::at(value.span(), message).help(format!("write [{upper}, {lower}]")));
        }
        Ok(bounds) => return bounds,
    }
    Bounds::point(f64::NAN)
}

fn start(name: &Spanned<String>, value: &Spanned<Given>, problems: &mut Vec<Problem>) -> f64 {
    let number = value.get_ref().number();
    if number.is_none() {
        let message = format!("wrong type: {}, expected a number", value.get_ref().shape());
        problems.push(Problem::at(value.span(), message));
    } else if !number.is_some_and(f64::is_finite) {
        problems.push(Problem::at(
            value.span(),
            format!("`{}` must be a finite number", name.get_ref()),
        ));
    }
    number.unwrap_or(f64::NAN)
}

/// What only an FMU has.
fn check_keys(table: &SystemTable, problems: &mut Vec<Problem>) {
    let interface = table
        .interface
        .as_ref()
        .map(|key| ("interface", key.span()));
    let sub_steps = table
        .sub_steps
        .as_ref()
        .map(|key| ("sub-steps", key.span()));
    for (key, span) in [interface, sub_steps].into_iter().flatten() {
        problems.push(Problem::at(
            span,
            format!("`{key}` belongs to FMUs, and this system is given as equations"),
        ));
    }
    let probe = table.probe.map(|_| "probe");
    for key in probe
        .into_iter()
        .chain((!table.continuous.is_empty()).then_some("continuous"))
    {
        problems.push(Problem::general(format!(
            "`{key}` belongs to FMUs, and this system is given as equations"
        )));
    }
}

/// From a place in a text of the model to one in the file.
fn locate(
    text: &str,
    system: &Spanned<String>,
    table: &SystemTable,
    error: SyntaxError,
) -> Problem {
    let string = |span: Range<usize>| within_string(text, &span, error.offset, error.length);
    let span = match &error.place {
        Place::Equations => table
            .equations
            .as_ref()
            .map_or(system.span(), |text| string(text.span())),
        Place::Output(index) => string(table.outputs[*index].span()),
        Place::Name(name) => {
            let mut keys = table
                .inputs
                .keys()
                .chain(table.parameters.keys())
                .chain(table.states.keys())
                .chain(table.outputs.keys());
            // The last one of that name: where it is declared twice, the second is the wrong one.
            keys.rfind(|key| key.get_ref() == name)
                .map_or(system.span(), Spanned::span)
        }
    };
    let problem = Problem::at(
        span,
        format!("{} (in system `{}`)", error.message, system.get_ref()),
    );
    let help = match (error.first, &table.equations) {
        (Some(first), Some(equations)) => {
            let first = within_string(text, &equations.span(), first, 1).start;
            let (line, column) = line_and_column(text, first);
            Some(format!(
                "it is first defined at line {line}, column {column}"
            ))
        }
        _ => error.help,
    };
    Problem { help, ..problem }
}

/// An output may share its name with a state only, and then it must be that state.
fn check_names(table: &SystemTable, problems: &mut Vec<Problem>) {
    for name in table.outputs.keys() {
        let taken = [
            ("an input", names(&table.inputs)),
            ("a parameter", names(&table.parameters)),
        ];
        for (what, _) in taken
            .iter()
            .filter(|(_, names)| names.contains(&name.get_ref().as_str()))
        {
            let message = format!("the output `{}` has the name of {what}", name.get_ref());
            problems.push(Problem::at(name.span(), message).help("give it a name of its own"));
        }
    }
}

fn check_outputs_named_as_states(
    definition: &Definition,
    table: &SystemTable,
    problems: &mut Vec<Problem>,
) {
    let model = &definition.model;
    for (output, name) in table.outputs.keys().enumerate() {
        let Some(state) = model
            .states
            .iter()
            .position(|state| state == name.get_ref())
        else {
            continue;
        };
        let is_the_state = table.outputs[output].get_ref().trim() == model.states[state];
        if !is_the_state {
            let message = format!(
                "the output `{0}` has the name of the state `{0}`, but is not that state",
                name.get_ref()
            );
            problems.push(Problem::at(name.span(), message).help("give it a name of its own"));
        }
    }
}

pub(crate) fn restrictions(
    table: &SystemTable,
    problems: &mut Vec<Problem>,
) -> Option<Restrictions> {
    let restrict = table.restrict.as_ref();
    let imposed = restrict
        .and_then(|r| r.imposed_step.as_ref())
        .or(table.imposed_step.as_ref());
    if let Some(step) =
        imposed.filter(|step| !(*step.get_ref() > 0.0 && step.get_ref().is_finite()))
    {
        problems.push(Problem::at(
            step.span(),
            "an imposed step must be a number above zero",
        ));
    }
    let degree = restrict.and_then(|r| r.input_degree.as_ref());
    if let Some(degree) = degree.filter(|degree| *degree.get_ref() > MAX_DEGREE) {
        problems.push(Problem::at(
            degree.span(),
            format!("an input degree is 0 to {MAX_DEGREE}"),
        ));
    }
    if restrict.is_none() && imposed.is_none() {
        return None;
    }
    let kept = |given: Option<bool>| given.unwrap_or(true);
    Some(Restrictions {
        input_degree: degree.map_or(MAX_DEGREE, |degree| *degree.get_ref()),
        rollback: kept(restrict.and_then(|r| r.rollback)),
        linearization: kept(restrict.and_then(|r| r.linearization)),
        output_derivatives: if kept(restrict.and_then(|r| r.output_derivatives)) {
            2
        } else {
            0
        },
        imposed_step: imposed.map(|step| *step.get_ref()),
    })
}

type Units = Vec<Option<String>>;

fn units(table: &SystemTable, problems: &mut Vec<Problem>) -> (Units, Units) {
    let known = [names(&table.inputs), names(&table.outputs)].concat();
    for name in table
        .units
        .keys()
        .filter(|name| !known.contains(&name.get_ref().as_str()))
    {
        let message = format!(
            "a unit is given for `{}`, which is neither an input nor an output",
            name.get_ref()
        );
        problems
            .push(Problem::at(name.span(), message).suggest(name.get_ref(), known.iter().copied()));
    }
    let unit = |name: &Spanned<String>| {
        let given = table
            .units
            .iter()
            .find(|(key, _)| key.get_ref() == name.get_ref());
        given.map(|(_, unit)| unit.get_ref().clone())
    };
    (
        table.inputs.keys().map(unit).collect(),
        table.outputs.keys().map(unit).collect(),
    )
}

fn unused_warning(system: &str, unused: &Unused) -> String {
    let (what, name) = match unused {
        Unused::Input(name) => ("input", name),
        Unused::Parameter(name) => ("parameter", name),
        Unused::Intermediate(name) => ("variable", name),
    };
    format!("nothing in `{system}` uses its {what} `{name}`")
}
