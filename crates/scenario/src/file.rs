//! The TOML model file, as it is written: nothing is checked here beyond its shape.

use std::fmt;
use std::ops::Range;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use crate::diagnostic::{Problem, SourceText};

/// A table of named things, in the order of the file.
pub(crate) type Named<T> = IndexMap<Spanned<String>, Spanned<T>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelFile {
    pub model: Header,
    #[serde(default)]
    pub systems: Named<SystemTable>,
    #[serde(default)]
    pub connections: Vec<Spanned<ConnectionTable>>,
    /// `name`, and the method's options.
    #[serde(default)]
    pub method: Named<toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Header {
    pub name: Option<String>,
    pub start_time: Option<Spanned<f64>>,
    pub stop_time: Option<Spanned<f64>>,
}

/// A system given as equations, or as an FMU.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SystemTable {
    /// The file, seen from the folder of the model.
    pub fmu: Option<Spanned<String>>,
    /// Of an FMU with both: `co-simulation` or `model-exchange`.
    pub interface: Option<Spanned<String>>,
    /// Whether an FMU is tried out before the run; otherwise what it declares is believed.
    pub probe: Option<bool>,
    /// Reals of an FMU that are declared discrete and are continuous.
    #[serde(default)]
    pub continuous: Vec<String>,
    /// Parts of a communication step of an FMU that only takes constant inputs.
    pub sub_steps: Option<Spanned<u64>>,
    #[serde(default)]
    pub inputs: Named<Given>,
    #[serde(default)]
    pub parameters: Named<Given>,
    #[serde(default)]
    pub states: Named<Given>,
    pub equations: Option<Spanned<String>>,
    #[serde(default)]
    pub outputs: Named<String>,
    #[serde(default)]
    pub units: Named<String>,
    pub imposed_step: Option<Spanned<f64>>,
    pub restrict: Option<Restrict>,
    /// Values that the command line gives to an FMU.
    #[serde(skip)]
    pub overridden: Vec<(String, String)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Restrict {
    pub input_degree: Option<Spanned<usize>>,
    pub rollback: Option<bool>,
    pub linearization: Option<bool>,
    pub output_derivatives: Option<bool>,
    pub imposed_step: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionTable {
    pub from: Option<Spanned<String>>,
    /// A constant instead of a source.
    pub value: Option<Spanned<f64>>,
    pub to: Spanned<String>,
}

/// A number, or a box `[lower, upper]` of which an ordinary run takes the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub lower: f64,
    pub upper: f64,
}

impl Bounds {
    pub fn point(value: f64) -> Self {
        Self {
            lower: value,
            upper: value,
        }
    }

    pub fn middle(&self) -> f64 {
        if self.lower == self.upper {
            self.lower
        } else {
            self.lower + 0.5 * (self.upper - self.lower)
        }
    }
}

/// A value as it is written. Which of them fits depends on what it is given to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    Number(f64),
    Integer(i64),
    Boolean(bool),
    Text(String),
    List(Vec<Given>),
}

impl Given {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// A number or a box, or what is wrong.
    pub fn bounds(&self) -> Result<Bounds, String> {
        if let Some(number) = self.number() {
            return Ok(Bounds::point(number));
        }
        let Self::List(items) = self else {
            return Err(format!(
                "wrong type: {}, expected a number, or a box [lower, upper]",
                self.shape()
            ));
        };
        match items
            .iter()
            .map(Self::number)
            .collect::<Option<Vec<f64>>>()
            .as_deref()
        {
            Some(&[lower, upper]) => Ok(Bounds { lower, upper }),
            _ => Err("expected a box of two numbers, [lower, upper]".to_owned()),
        }
    }

    /// What it is, for messages.
    pub fn shape(&self) -> String {
        match self {
            Self::Number(number) => format!("number `{number}`"),
            Self::Integer(number) => format!("integer `{number}`"),
            Self::Boolean(truth) => format!("boolean `{truth}`"),
            Self::Text(text) => format!("string {text:?}"),
            Self::List(_) => "sequence".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Given;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a box [lower, upper], or for an FMU also a text, true, false or a list")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Given, E> {
                Ok(Given::Number(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Given, E> {
                Ok(Given::Integer(value))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Given, E> {
                Ok(Given::Boolean(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Given, E> {
                Ok(Given::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Given, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Given::List(items))
            }
        }
        deserializer.deserialize_any(Shape)
    }
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
            None => in_words_of_the_model(&message, span),
        }
    })
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
    fn boxes_have_two_ends() {
        let file = read("[model]\n[systems.a]\nstates = { x = [1, 2.5], y = 3 }\n").unwrap();
        let states = &file.systems[0].get_ref().states;
        assert_eq!(states[0].get_ref().bounds().unwrap().middle(), 1.75);
        assert_eq!(states[1].get_ref().bounds().unwrap().middle(), 3.0);
        assert!(Given::List(vec![Given::Integer(1); 3]).bounds().is_err());
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
