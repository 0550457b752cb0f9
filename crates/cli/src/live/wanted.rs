//! What a page asks of a run: what differs from how the program was started.

use dovetail::scenario::{Choices, Overrides};
use serde_json::{Map, Value};

use crate::arguments::{LiveArguments, pace};
use crate::origin::Flag;

/// What differs; nothing: the model as it is, with the flags that the program was started with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// Parameters and start values.
    values: Vec<(String, String)>,
    method: Option<String>,
    step: Option<String>,
    tolerance: Option<String>,
    stop: Option<f64>,
    /// Simulated seconds for each second of the clock; zero: at full speed, by no clock.
    pace: Option<f64>,
}

/// Flags that a page may replace, and those that `dovetail run` does not have.
const REPLACED: [(&str, Option<&str>); 5] = [
    ("--method", Some("-m")),
    ("--step", Some("-s")),
    ("--tolerance", None),
    ("--stop-time", None),
    ("--real-time", None),
];
const OWN: [Flag; 2] = [flag("--port", None, true), flag("--open", None, false)];

const fn flag(long: &'static str, short: Option<&'static str>, has_value: bool) -> Flag {
    Flag {
        long,
        short,
        has_value,
    }
}

impl Wanted {
    /// What a page has sent; an error in words where it is something else.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let fields = value.as_object().ok_or("no object")?;
        let text = |key: &str| text_of(fields, key);
        Ok(Self {
            values: values(fields)?,
            method: text("method")?,
            step: text("step")?,
            tolerance: text("tolerance")?,
            stop: number_of(text("stop")?, "the end")?,
            pace: match text("pace")?.as_deref() {
                None => None,
                Some("0") => Some(0.0),
                Some(factor) => {
                    Some(pace(factor).map_err(|_| "the pace must be a number above zero")?)
                }
            },
        })
    }

    /// The changes to the model.
    pub fn overrides(&self, arguments: &LiveArguments, rest: Overrides) -> Overrides {
        let mut changes = arguments.changes.clone();
        changes.tolerance = self.tolerance.clone().or(changes.tolerance);
        changes.stop_time = self.stop.or(changes.stop_time);
        let replaced = |name: &String| self.values.iter().any(|(changed, _)| changed == name);
        changes.set.retain(|(name, _)| !replaced(name));
        changes.set.extend(self.values.iter().cloned());
        changes.overrides(rest)
    }

    /// The choices of the run.
    pub fn choices(&self, arguments: &LiveArguments) -> Choices {
        let method = self.method.as_deref().or(arguments.method.as_deref());
        let step = self.step.as_deref().or(arguments.step.as_deref());
        let mut choices = arguments.changes.choices(method, step, &[]);
        if let Some(tolerance) = &self.tolerance {
            choices.set("tolerance", tolerance);
        }
        choices
    }

    /// Simulated seconds for each second of the clock, where the run is paced by it.
    pub fn pace(&self, arguments: &LiveArguments) -> Option<f64> {
        let pace = self.pace.or(arguments.real_time);
        pace.filter(|factor| *factor > 0.0)
    }

    /// What is changed, for people: `mass.m = 2, method jacobi`.
    pub fn label(&self) -> String {
        let values = self.values.iter();
        let mut parts: Vec<String> = values
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        parts.extend(self.method.iter().map(|method| format!("method {method}")));
        parts.extend(self.step.iter().map(|step| format!("step {step}")));
        let tolerance = self.tolerance.iter();
        parts.extend(tolerance.map(|tolerance| format!("tolerance {tolerance}")));
        parts.extend(self.stop.map(|stop| format!("until {stop} s")));
        parts.extend(self.pace.map(|pace| match pace {
            0.0 => "at full speed".to_owned(),
            pace => format!("{pace} times real time"),
        }));
        if parts.is_empty() {
            return "as in the model".to_owned();
        }
        parts.join(", ")
    }

    /// The flags of `dovetail run` that this run does not have from the command line.
    pub fn replaced_flags(&self) -> Vec<Flag> {
        let given = [
            self.method.is_some(),
            self.step.is_some(),
            self.tolerance.is_some(),
            self.stop.is_some(),
            self.pace.is_some(),
        ];
        let replaced = REPLACED.iter().zip(given).filter(|(_, given)| *given);
        let replaced = replaced.map(|((long, short), _)| flag(long, *short, true));
        replaced.chain(OWN).collect()
    }

    /// The flags of `dovetail run` that do the same.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: String| flags.push(format!("{flag}={value}"));
        for (name, value) in &self.values {
            add("--set", format!("{name}={value}"));
        }
        let texts = [
            ("--method", self.method.clone()),
            ("--step", self.step.clone()),
            ("--tolerance", self.tolerance.clone()),
            ("--stop-time", self.stop.map(|stop| stop.to_string())),
            (
                "--real-time",
                self.pace
                    .filter(|pace| *pace > 0.0)
                    .map(|pace| pace.to_string()),
            ),
        ];
        for (flag, value) in texts {
            if let Some(value) = value {
                add(flag, value);
            }
        }
        flags
    }
}

fn values(fields: &Map<String, Value>) -> Result<Vec<(String, String)>, String> {
    let Some(values) = fields.get("values") else {
        return Ok(Vec::new());
    };
    let values = values.as_object().ok_or("values are no object")?;
    let one = |(name, value): (&String, &Value)| {
        let value = value.as_str().map(str::trim);
        let value = value.filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| format!("{name} has no value"))?;
        Ok((name.clone(), value.to_owned()))
    };
    values.iter().map(one).collect()
}

/// A text that is there, and is not empty.
fn text_of(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
        Some(_) => Err(format!("{key} is no text")),
    }
}

fn number_of(text: Option<String>, what: &str) -> Result<Option<f64>, String> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| format!("{what} must be a number, not {text}"))?;
    Ok(Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Wanted {
        Wanted::read(text.as_bytes()).expect("a request")
    }

    #[test]
    fn what_is_changed_is_told_and_repeated_by_flags() {
        let wanted = read(r#"{"values":{"a.b":" 2 "},"method":"jacobi","step":"","stop":"3"}"#);
        assert_eq!(wanted.label(), "a.b = 2, method jacobi, until 3 s");
        assert_eq!(
            wanted.flags(),
            ["--set=a.b=2", "--method=jacobi", "--stop-time=3"]
        );
        let replaced: Vec<&str> = wanted
            .replaced_flags()
            .iter()
            .map(|flag| flag.long)
            .collect();
        assert_eq!(replaced, ["--method", "--stop-time", "--port", "--open"]);
        assert_eq!(read("{}").label(), "as in the model");
    }

    #[test]
    fn what_is_no_request_is_refused_in_words() {
        for (text, words) in [
            ("[]", "no object"),
            (r#"{"values":{"a.b":""}}"#, "a.b has no value"),
            (r#"{"values":{"a.b":1}}"#, "a.b has no value"),
            (r#"{"stop":"soon"}"#, "must be a number"),
            (r#"{"pace":"-1"}"#, "above zero"),
            (r#"{"method":1}"#, "method is no text"),
        ] {
            let refused = Wanted::read(text.as_bytes()).expect_err(text);
            assert!(refused.contains(words), "{refused}");
        }
    }
}
