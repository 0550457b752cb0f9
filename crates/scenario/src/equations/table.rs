//! Systems given as equations, read from their tables.

use std::ops::Range;
use std::sync::Arc;

use dovetail_equations::{Definition, Place, SyntaxError, Unused};
use toml::Spanned;

use super::source::{EquationsSource, NAME};
use super::text::{EquationsText, KnownModels, WhenWritten, WrittenModel};
use crate::bytes::from_bytes;
use crate::diagnostic::{Problem, line_and_column};
use crate::file::common_keys::{check_system_name, restrictions};
use crate::file::toml_file::within_string;
use crate::source::kind::{ReadSystem, Reading, SourceKind};
use crate::source::system_source::SystemSource;
use crate::source::table::{Named, SystemTable, WhenTable};
use crate::source::value::{Bounds, Given};

/// Systems given as equations.
pub(crate) struct EquationsKind;

impl SourceKind for EquationsKind {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keys(&self) -> &'static [&'static str] {
        &["equations"]
    }

    fn read(
        &self,
        name: &Spanned<String>,
        table: &SystemTable,
        reading: &mut Reading<'_>,
    ) -> Result<ReadSystem, Vec<Problem>> {
        read(reading.text, name, table, &mut reading.equations)
    }

    fn restore(&self, bytes: &[u8]) -> Result<Box<dyn SystemSource>, String> {
        let text: EquationsText = from_bytes(bytes)?;
        let source = EquationsSource::compile(text, &mut KnownModels::default());
        let source = source.map_err(|_| "BUG: equations were checked before they were sent")?;
        Ok(Box::new(source))
    }

    fn looks_up_values(&self) -> bool {
        false
    }
}

/// Checks a system's table and compiles its equations.
fn read(
    text: &str,
    name: &Spanned<String>,
    table: &SystemTable,
    known: &mut KnownModels,
) -> Result<ReadSystem, Vec<Problem>> {
    let mut problems = Vec::new();
    check_system_name(name, &mut problems);
    check_keys(table, &mut problems);
    let written = written(name.get_ref(), table, &mut problems);
    check_names(table, &mut problems);
    let restrictions = restrictions(table, &mut problems);
    let source = match EquationsSource::compile(written, known) {
        Ok(source) => source,
        Err(errors) => {
            let located = errors
                .into_iter()
                .map(|error| locate(text, name, table, error));
            problems.extend(located);
            return Err(problems);
        }
    };
    check_outputs_named_as_states(&source.definition, table, &mut problems);
    check_units(table, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }

    let unused = source.definition.model.unused();
    let warnings = unused
        .iter()
        .map(|unused| unused_warning(name.get_ref(), unused));
    let warnings = warnings.collect();

    Ok(ReadSystem {
        source: Box::new(source),
        restrictions,
        warnings,
    })
}

fn names<T>(table: &Named<T>) -> Vec<&str> {
    table.keys().map(|key| key.get_ref().as_str()).collect()
}

/// What the table says, and what is wrong with its numbers.
fn written(name: &str, table: &SystemTable, problems: &mut Vec<Problem>) -> EquationsText {
    let mut boxes = |given: &Named<Given>| {
        let each = given.iter();
        each.map(|(name, value)| bounds(name, value, problems))
            .collect()
    };
    let parameters = boxes(&table.parameters);
    let states = boxes(&table.states);
    let mut starts = |given: &Named<Given>| {
        let each = given.iter();
        each.map(|(name, value)| start(name, value, problems))
            .collect()
    };
    let inputs = starts(&table.inputs);
    let discrete = starts(&table.discrete);

    EquationsText {
        name: name.to_owned(),
        written: Arc::new(written_model(table)),
        inputs,
        parameters,
        states,
        discrete,
        sample: sample(table, problems),
    }
}

/// Names and texts.
fn written_model(table: &SystemTable) -> WrittenModel {
    let text = |text: &Spanned<String>| text.get_ref().clone();
    let unit = |name: &Spanned<String>| {
        let given = table
            .units
            .iter()
            .find(|(key, _)| key.get_ref() == name.get_ref());
        given.map(|(_, unit)| text(unit))
    };
    let outputs = table.outputs.iter();

    WrittenModel {
        inputs: table.inputs.keys().map(text).collect(),
        parameters: table.parameters.keys().map(text).collect(),
        states: table.states.keys().map(text).collect(),
        discrete: table.discrete.keys().map(text).collect(),
        whens: whens(table),
        equations: table.equations.as_ref().map(text).unwrap_or_default(),
        outputs: outputs
            .map(|(name, formula)| (text(name), text(formula)))
            .collect(),
        input_units: table.inputs.keys().map(unit).collect(),
        output_units: table.outputs.keys().map(unit).collect(),
    }
}

/// The clauses as they are written.
fn whens(table: &SystemTable) -> Vec<WhenWritten> {
    let texts = |named: &Named<String>| {
        let pairs = named.iter();
        pairs
            .map(|(name, text)| (name.get_ref().clone(), text.get_ref().clone()))
            .collect()
    };
    let clauses = table.when.iter().map(|when| {
        let when = when.get_ref();
        WhenWritten {
            condition: when.condition.get_ref().clone(),
            set: texts(&when.set),
            reset: texts(&when.reset),
            at_rest: texts(&when.at_rest),
        }
    });
    clauses.collect()
}

/// The period of the clock, which a clause must use, and which a clause may need.
fn sample(table: &SystemTable, problems: &mut Vec<Problem>) -> Option<f64> {
    let samples =
        |when: &&Spanned<WhenTable>| when.get_ref().condition.get_ref().trim() == "sample";
    let clause = table.when.iter().find(samples);

    match (&table.sample, clause) {
        (None, None) => None,
        (None, Some(clause)) => {
            let span = clause.get_ref().condition.span();
            let message = "the condition is `sample`, but the system has no clock";
            let problem = Problem::at(span, message.to_owned());
            problems.push(problem.help("add its period, `sample = 0.01`, to the system"));
            None
        }
        (Some(period), None) => {
            let message = "a clock that no clause uses";
            let problem = Problem::at(period.span(), message.to_owned());
            problems
                .push(problem.help("add a `[[systems.NAME.when]]` with `condition = \"sample\"`"));
            None
        }
        (Some(period), Some(_)) => {
            let value = *period.get_ref();
            if !(value > 0.0 && value.is_finite()) {
                let message = format!("a period of {value} s: it must be positive");
                problems.push(Problem::at(period.span(), message));
                return None;
            }
            Some(value)
        }
    }
}

fn bounds(name: &Spanned<String>, value: &Spanned<Given>, problems: &mut Vec<Problem>) -> Bounds {
    match value.get_ref().bounds() {
        Err(message) => problems.push(Problem::at(value.span(), message)),
        Ok(Bounds { lower, upper, .. }) if !(lower.is_finite() && upper.is_finite()) => {
            problems.push(not_finite(name, value));
        }
        Ok(Bounds { lower, upper, .. }) if lower > upper => {
            let name = name.get_ref();
            let message = format!("the box of `{name}` is empty: {lower} is above {upper}");
            let problem = Problem::at(value.span(), message);
            problems.push(problem.help(format!("write [{upper}, {lower}]")));
        }
        Ok(bounds) => return bounds,
    }
    Bounds::point(f64::NAN)
}

fn not_finite(name: &Spanned<String>, value: &Spanned<Given>) -> Problem {
    let message = format!("`{}` must be a finite number", name.get_ref());
    Problem::at(value.span(), message)
}

fn start(name: &Spanned<String>, value: &Spanned<Given>, problems: &mut Vec<Problem>) -> f64 {
    let number = value.get_ref().number();
    if number.is_none() {
        let message = format!("wrong type: {}, expected a number", value.get_ref().shape());
        problems.push(Problem::at(value.span(), message));
    } else if !number.is_some_and(f64::is_finite) {
        problems.push(not_finite(name, value));
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
        problems.push(Problem::at(span, of_fmus(key)));
    }

    let probe = table.probe.map(|_| "probe");
    for key in probe
        .into_iter()
        .chain((!table.continuous.is_empty()).then_some("continuous"))
    {
        problems.push(Problem::general(of_fmus(key)));
    }
}

fn of_fmus(key: &str) -> String {
    format!("`{key}` belongs to FMUs, and this system is given as equations")
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
        Place::Equations => table.equations.as_ref().map(|text| string(text.span())),
        Place::Output(index) => Some(string(table.outputs[*index].span())),
        Place::Condition(when) => {
            let condition = table.when.get(*when).map(|when| &when.get_ref().condition);
            condition.map(|text| string(text.span()))
        }
        Place::Assignment(when, index) => assignment(table, *when, *index).map(string),
        Place::Name(name) => declaration(table, name),
    };
    let span = span.unwrap_or_else(|| system.span());
    let message = format!("{} (in system `{}`)", error.message, system.get_ref());
    let help = match (error.first, &table.equations) {
        (Some(first), Some(equations)) => Some(first_definition(text, equations, first)),
        _ => error.help,
    };

    Problem {
        help,
        ..Problem::at(span, message)
    }
}

/// Where a clause sets something: discrete states, then continuous ones.
fn assignment(table: &SystemTable, when: usize, index: usize) -> Option<Range<usize>> {
    let when = table.when.get(when)?.get_ref();
    let mut values = when.set.values().chain(when.reset.values());
    values.nth(index).map(Spanned::span)
}

/// Where a name is declared: where that is done twice, the second is the wrong one.
fn declaration(table: &SystemTable, name: &str) -> Option<Range<usize>> {
    let known = table.inputs.keys().chain(table.parameters.keys());
    let states = table.states.keys().chain(table.discrete.keys());
    let mut keys = known.chain(states).chain(table.outputs.keys());
    keys.rfind(|key| key.get_ref() == name).map(Spanned::span)
}

fn first_definition(text: &str, equations: &Spanned<String>, offset: usize) -> String {
    let first = within_string(text, &equations.span(), offset, 1).start;
    let (line, column) = line_and_column(text, first);
    format!("it is first defined at line {line}, column {column}")
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
            problems.push(taken_name(name, message));
        }
    }
}

fn taken_name(name: &Spanned<String>, message: String) -> Problem {
    Problem::at(name.span(), message).help("give it a name of its own")
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
            problems.push(taken_name(name, message));
        }
    }
}

/// A unit belongs to an input, an output or a parameter, which a table may feed in the course of a run.
fn check_units(table: &SystemTable, problems: &mut Vec<Problem>) {
    let mut known = [names(&table.inputs), names(&table.outputs)].concat();
    known.extend(names(&table.parameters));
    let unknown = |name: &&Spanned<String>| !known.contains(&name.get_ref().as_str());

    for name in table.units.keys().filter(unknown) {
        let message = format!(
            "a unit is given for `{}`, which is neither an input nor an output nor a parameter",
            name.get_ref()
        );
        let problem = Problem::at(name.span(), message);
        problems.push(problem.suggest(name.get_ref(), known.iter().copied()));
    }
}

fn unused_warning(system: &str, unused: &Unused) -> String {
    let (what, name) = match unused {
        Unused::Input(name) => ("input", name),
        Unused::Parameter(name) => ("parameter", name),
        Unused::Intermediate(name) => ("variable", name),
    };
    format!("nothing in `{system}` uses its {what} `{name}`")
}
