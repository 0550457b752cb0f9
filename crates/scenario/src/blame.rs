//! Which place of a model file an error of a start comes from.

use std::ops::Range;

use dovetail_core::{Error, Source};
use dovetail_equations::Definition;

use crate::diagnostic::{BadModel, Problem, Subject};
use crate::scenario::Scenario;

/// More values than these are not shown.
const MOST_VALUES: usize = 8;

impl Scenario {
    /// An error of a model's start as a problem of its file, where it is one: a loop without a
    /// solution, or an equation whose value is no finite number.
    pub fn blame(&self, error: &Error) -> BadModel {
        if let Some(problem) = self.not_finite(error) {
            return self.bad(problem);
        }

        let problem = Problem::general(error.to_string()).with(error.remedies());
        let subject = Subject {
            system: error.culprit().map(str::to_owned),
            variable: error.variable(),
            time: error.time(),
        };
        self.bad(Problem {
            span: self.place_of_loop(error),
            subject: Some(Box::new(subject)),
            ..problem
        })
    }

    /// Where the loop is closed that has no solution.
    fn place_of_loop(&self, error: &Error) -> Option<Range<usize>> {
        let variables = match error {
            Error::SingularLoop { variables, .. } | Error::UnsolvedLoop { variables, .. } => {
                variables.as_slice()
            }
            _ => return None,
        };
        let on_the_loop = |output: usize| variables.contains(&self.connections.output_name(output));
        let sources = self.connections.sources().iter().zip(&self.places);
        let mut places = sources.filter_map(|(source, place)| match source {
            Source::Output(output) if on_the_loop(*output) => Some(place.clone()),
            _ => None,
        });
        places.next()
    }

    /// An equation that has no finite value at the start, with the values in it.
    fn not_finite(&self, error: &Error) -> Option<Problem> {
        let Error::NotFinite {
            system,
            variable,
            time,
            value,
        } = error
        else {
            return None;
        };
        if *time != self.start_time {
            return None;
        }

        let interfaces = self.connections.interfaces().iter();
        let system_index = interfaces
            .map(|i| &i.name)
            .position(|name| name == system)?;
        let definition = self.definition(system_index)?;
        let place = self.equation(system_index, variable)?;
        let values = values_in(&self.source.text[place.clone()], definition);
        let message = format!("`{system}.{variable}` is {value} at the start, t = {time} s");
        let advice = "look for a division by zero, or a root or logarithm of a negative number";
        let help = match values.as_str() {
            "" => advice.to_owned(),
            values => format!("{advice}; {values}"),
        };
        let mut problem = Problem::at(place, message).help(help);
        problem = problem.of_variable(system, variable);
        problem.subject.get_or_insert_default().time = Some(*time);
        Some(problem)
    }

    /// The place of the equation that gives a variable of a system.
    fn equation(&self, system: usize, variable: &str) -> Option<Range<usize>> {
        let text = &self.source.text;
        let header = self.system_places.get(system)?;
        let rest = text.get(header.end..)?;
        let length = rest.find("\n[").unwrap_or(rest.len());
        let table = &rest[..length];

        let mut starts = table.match_indices(variable).map(|(at, _)| at);
        let start = starts.find(|&at| {
            let is_whole = !table[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let after = table[at + variable.len()..].trim_start();
            let defines = after.starts_with('=') && !after.starts_with("==");
            // Start values look like definitions, but for the quotes or the parenthesis.
            let is_text = after[1.min(after.len())..].trim_start().starts_with('"');
            is_whole && defines && (variable.ends_with(')') || is_text)
        })?;
        let end = table[start..]
            .find(['\n', ';'])
            .map_or(length, |end| start + end);
        let statement = table[start..end].trim_end_matches([' ', '"', '}', '\'', '\r']);
        let from = header.end + start;
        Some(from..from + statement.len())
    }
}

/// The values of the parameters, states and inputs that a text names.
fn values_in(text: &str, definition: &Definition) -> String {
    let model = &definition.model;
    let lists = [
        (&model.parameters, &definition.parameters),
        (&model.states, &definition.states),
        (&model.inputs, &definition.inputs),
    ];
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let words: Vec<&str> = text.split(|c| !is_word(c)).collect();
    let mut values = Vec::new();
    for (names, numbers) in lists {
        let named = names.iter().zip(numbers);
        let used = named.filter(|(name, _)| words.contains(&name.as_str()));
        values.extend(used.map(|(name, number)| format!("{name} = {number}")));
    }
    values.truncate(MOST_VALUES);
    values.join(", ")
}
