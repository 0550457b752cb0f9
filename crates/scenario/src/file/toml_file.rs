//! The TOML model file, as it is written: nothing is checked here beyond its shape.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::{Problem, SourceText};
use crate::shared_constant::SharedConstant;
use crate::source::table::{Named, SystemTable};
use crate::source::value::Given;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelFile {
    /// The version of the format; without it, the first.
    pub format: Option<Spanned<i64>>,
    pub model: Header,
    /// Numbers, and expressions of them, that all systems know.
    #[serde(default)]
    pub constants: Named<Given>,
    #[serde(default)]
    pub systems: Named<SystemTable>,
    #[serde(default)]
    pub connections: Vec<Spanned<ConnectionTable>>,
    /// Tables that feed inputs.
    #[serde(default)]
    pub inputs: Vec<Spanned<InputTable>>,
    /// What happens in the course of a run.
    #[serde(default)]
    pub events: Vec<Spanned<EventTable>>,
    /// `name`, and the method's options.
    #[serde(default)]
    pub method: Named<toml::Value>,
    /// Constants that are boxes, with the systems that use them.
    #[serde(skip)]
    pub shared: Vec<SharedConstant>,
}

impl ModelFile {
    /// Takes in what follows in the same file, but for its header; nothing where that is there
    /// already.
    pub fn append(&mut self, next: Self) -> Option<()> {
        let Self {
            model: _,
            format,
            constants,
            inputs,
            events,
            systems,
            connections,
            method,
            shared: _,
        } = next;
        let twice = !method.is_empty() && !self.method.is_empty()
            || !constants.is_empty() && !self.constants.is_empty()
            || format.is_some();
        if twice {
            return None;
        }

        for (name, system) in systems {
            if self.systems.insert(name, system).is_some() {
                return None;
            }
        }
        self.constants.extend(constants);
        self.inputs.extend(inputs);
        self.events.extend(events);
        self.connections.extend(connections);
        self.method.extend(method);
        Some(())
    }

    /// Notes that something changes an input or a parameter in the course of a run.
    pub fn change(&mut self, system: &str, name: &str) {
        // Names are equal wherever they stand.
        let key = Spanned::new(0..0, system.to_owned());
        if let Some(table) = self.systems.get_mut(&key) {
            table.get_mut().changed.push(name.to_owned());
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Header {
    pub name: Option<String>,
    pub start_time: Option<Spanned<f64>>,
    pub stop_time: Option<Spanned<f64>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionTable {
    pub from: Option<Spanned<String>>,
    /// A number, or an expression of time, instead of a source.
    pub value: Option<Spanned<toml::Value>>,
    pub to: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputTable {
    /// Seen from the folder of the model.
    pub file: Spanned<String>,
    /// Columns, and the input that each of them feeds.
    #[serde(default)]
    pub connect: Named<String>,
    pub interpolation: Option<Spanned<String>>,
    pub beyond: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventTable {
    pub at: Option<Spanned<f64>>,
    /// A condition on variables of the model; the event happens once.
    pub when: Option<Spanned<String>>,
    /// New values of parameters, and overrides of inputs and outputs.
    #[serde(default)]
    pub set: Named<toml::Value>,
    /// Whether the run ends.
    pub stop: Option<bool>,
}

/// Reads the text. A problem here is one of TOML, of an unknown key or of a wrong type.
pub(crate) fn parse(source: &SourceText) -> Result<ModelFile, Problem> {
    toml::from_str(&source.text).map_err(|error| {
        let message = error.message().trim_end().to_owned();
        let span = error.span().unwrap_or(0..0);
        match unknown_key(&message) {
            Some((key, known)) => Problem::at(span, format!("unknown key `{key}`"))
                .help(format!("the keys here are {}", known.join(", ")))
                .suggest(&key, known.iter().map(String::as_str)),
            None if message == "duplicate key" => duplicate(&source.text, span),
            None => in_words_of_the_model(&message, span),
        }
    })
}

/// A key or table that is there twice, with where it was first.
fn duplicate(text: &str, span: Range<usize>) -> Problem {
    let key = text.get(span.clone()).unwrap_or_default().trim();
    let problem = Problem::at(span.clone(), format!("`{key}` is there twice"));
    let line_start = text[..span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or_default().trim();
    let before = &text[..line_start];

    let first = if line.starts_with('[') {
        before
            .rfind(&format!("\n{line}"))
            .map(|newline| newline + 1)
    } else {
        let table = before.rfind("\n[").unwrap_or(0);
        let line = format!("\n{key}");
        let keys = before[table..].match_indices(&line);
        let mut starts = keys.map(|(at, _)| table + at + 1);
        starts.find(|at| {
            let rest = text[at + key.len()..].trim_start();
            rest.starts_with('=')
        })
    };
    match first {
        Some(first) => {
            let end = first
                + if line.starts_with('[') {
                    line.len()
                } else {
                    key.len()
                };
            problem.first(first..end, "it is here first")
        }
        None => problem,
    }
}

/// What the reader of the file says, so that its author understands.
fn in_words_of_the_model(message: &str, span: Range<usize>) -> Problem {
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some("model") => Problem::at(span, "there is no [model] table")
            .help("begin with [model] and its stop-time"),
        Some("to") => {
            Problem::at(span, "this connection leads nowhere").help("add `to = \"system.input\"`")
        }
        Some(key) => Problem::at(span, format!("`{key}` is missing")),
        None => {
            let plain = [
                ("expected f64", "expected a number"),
                ("expected usize", "expected a whole number from 0 on"),
                ("expected a boolean", "expected true or false"),
                (
                    "expected a sequence",
                    "expected a list (tables written as [[connections]])",
                ),
                ("invalid type: map", "wrong type: a table"),
                ("invalid type:", "wrong type:"),
                ("invalid length 0, ", ""),
            ];
            let message = plain.iter().fold(message.to_owned(), |text, (from, to)| {
                text.replace(from, to)
            });
            Problem::at(span, message)
        }
    }
}

/// Takes ``unknown field `x`, expected one of `a`, `b` `` apart.
fn unknown_key(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (key, expected) = rest.split_once('`')?;
    let known = expected
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();

    Some((key.to_owned(), known))
}

/// Where, in the file, a part of a TOML string stands: `span` is that of the string with its quotes, `offset` and `length`
/// count bytes of its value. Falls back to the whole string where escapes make the two differ.
pub(crate) fn within_string(
    text: &str,
    span: &Range<usize>,
    offset: usize,
    length: usize,
) -> Range<usize> {
    let Some(raw) = text.get(span.clone()) else {
        return span.clone();
    };
    let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") {
        3
    } else {
        1
    };
    let escapes = raw.starts_with('"') && raw.contains('\\');
    // TOML drops a newline that follows the opening quotes at once, and reads \r\n as it stands.
    let newline = match raw.get(quotes..) {
        Some(rest) if quotes == 3 && rest.starts_with("\r\n") => 2,
        Some(rest) if quotes == 3 && rest.starts_with('\n') => 1,
        _ => 0,
    };
    let start = span.start + quotes + newline + offset;

    if escapes || start > span.end {
        span.clone()
    } else {
        start..(start + length).min(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ModelFile, Problem> {
        parse(&SourceText {
            path: "m.toml".into(),
            text: text.into(),
        })
    }

    #[test]
    fn systems_keep_the_order_of_the_file() {
        let file = read("[model]\n[systems.z]\n[systems.a]\n[systems.m]\n").unwrap();
        assert_eq!(
            file.systems
                .keys()
                .map(|k| k.as_ref().as_str())
                .collect::<Vec<_>>(),
            ["z", "a", "m"]
        );
    }

    #[test]
    fn an_unknown_key_is_met_with_the_nearest_known_one() {
        let problem = read("[model]\nstop_time = 1\n").unwrap_err();
        assert_eq!(problem.message, "unknown key `stop_time`");
        assert_eq!(problem.help.as_deref(), Some("did you mean `stop-time`?"));
        assert_eq!(problem.span, Some(8..17));
    }

    #[test]
    fn a_wrong_type_is_told_with_its_place() {
        let text = "[model]\n[systems.a]\nstates = { x = { y = 1 } }\n";
        let problem = read(text).unwrap_err();
        assert!(
            problem.message.contains("a number, a box [lower, upper]"),
            "{}",
            problem.message
        );
        assert_eq!(&text[problem.span.unwrap()], "{ y = 1 }");
    }

    #[test]
    fn a_place_in_an_equation_is_a_place_in_the_file() {
        let text = "e = \"\"\"\na = 1\nb = q\n\"\"\"";
        let place = within_string(text, &(4..text.len()), 10, 1);
        assert_eq!(&text[place], "q");
        let text = "e = 'a = q'";
        assert_eq!(&text[within_string(text, &(4..text.len()), 4, 1)], "q");
    }
}
