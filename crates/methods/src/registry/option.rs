//! What an option is: its key, the values it takes, its default and its meaning.

/// An option of a method, of a solver, or of every run.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, in files, on the command line and in programs.
    pub key: &'static str,
    /// The values it takes.
    pub value: ValueKind,
    /// What holds where it is not given: a value, or words where that depends on the model.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// One of these names.
    Choice(fn() -> Vec<&'static str>),
    /// The name of a nonlinear solver.
    Solver,
    /// A number above zero.
    Positive,
    /// A number, zero or above.
    NotNegative,
    /// A number of at least this.
    AtLeast(f64),
    /// A number from one to the other.
    Between(f64, f64),
    /// A whole number from zero to this.
    Whole(usize),
    /// Any text.
    Text,
}

/// An option that was given a value it does not take, or that does not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct BadOption {
    /// The option.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to try.
    pub help: Option<String>,
    /// What was written where a name was expected, and the names there are.
    pub unknown: Option<UnknownName>,
}

/// A name that is none of those there are.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownName {
    /// What was written.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl BadOption {
    /// An option whose value is wrong.
    pub fn new(key: &str, message: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            message: message.into(),
            help: None,
            unknown: None,
        }
    }

    /// A name that is none of those there are.
    pub fn unknown(key: &str, what: &str, name: &str, known: Vec<&'static str>) -> Self {
        Self {
            help: Some(format!("known are {}", known.join(", "))),
            unknown: Some(UnknownName {
                name: name.to_owned(),
                known,
            }),
            ..Self::new(key, format!("unknown {what} `{name}`"))
        }
    }
}

/// Values that users choose by name.
pub trait Choice: Copy + PartialEq + 'static {
    /// The names, the default first.
    const NAMES: &'static [(&'static str, Self)];
}

/// The names of a choice, the default first.
pub fn names_of<T: Choice>() -> Vec<&'static str> {
    T::NAMES.iter().map(|(name, _)| *name).collect()
}

impl Choice for bool {
    const NAMES: &'static [(&'static str, Self)] = &[("false", false), ("true", true)];
}

/// Yes, no, or whatever suits the systems.
impl Choice for Option<bool> {
    const NAMES: &'static [(&'static str, Self)] =
        &[("auto", None), ("false", Some(false)), ("true", Some(true))];
}

impl OptionSpec {
    /// A choice among the names of `T`.
    pub const fn choice<T: Choice>(key: &'static str, meaning: &'static str) -> Self {
        Self {
            key,
            value: ValueKind::Choice(names_of::<T>),
            default: T::NAMES[0].0,
            meaning,
        }
    }

    /// A number above zero.
    pub const fn positive(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self {
            key,
            value: ValueKind::Positive,
            default,
            meaning,
        }
    }

    /// Whether `text` is a value of this option; `solvers` are the names of the solvers there are.
    pub fn check(&self, text: &str, solvers: &[&'static str]) -> Result<(), BadOption> {
        let number = |what: &str, fits: &dyn Fn(f64) -> bool| self.check_number(text, what, fits);
        match self.value {
            ValueKind::Text => Ok(()),
            ValueKind::Choice(names) => self.check_name(text, names()),
            ValueKind::Solver => self.check_name(text, solvers.to_vec()),
            ValueKind::Positive => number("a number above zero", &|value| value > 0.0),
            ValueKind::NotNegative => number("a number, zero or above", &|value| value >= 0.0),
            ValueKind::AtLeast(least) => {
                number(&format!("a number of at least {least}"), &|value| {
                    value >= least
                })
            }
            ValueKind::Between(least, most) => {
                let what = format!("between {least:e} and {most}");
                number(&what, &|value| (least..=most).contains(&value))
            }
            ValueKind::Whole(most) => {
                let fits =
                    |value: f64| value.fract() == 0.0 && (0.0..=most as f64).contains(&value);
                number(&format!("a whole number from 0 to {most}"), &fits)
            }
        }
    }

    fn check_name(&self, text: &str, known: Vec<&'static str>) -> Result<(), BadOption> {
        if known.contains(&text) {
            return Ok(());
        }
        Err(BadOption::unknown(self.key, self.key, text, known))
    }

    fn check_number(
        &self,
        text: &str,
        what: &str,
        fits: &dyn Fn(f64) -> bool,
    ) -> Result<(), BadOption> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && fits(value) => Ok(()),
            _ => {
                let message = format!("`{}` must be {what}, not `{text}`", self.key);
                Err(BadOption::new(self.key, message))
            }
        }
    }

    /// The values it takes, in words.
    pub fn values(&self, solvers: &[&'static str]) -> String {
        match self.value {
            ValueKind::Choice(names) => names().join(", "),
            ValueKind::Solver => solvers.join(", "),
            ValueKind::Positive => "a number above 0".to_owned(),
            ValueKind::NotNegative => "a number from 0 on".to_owned(),
            ValueKind::AtLeast(least) => format!("a number from {least} on"),
            ValueKind::Between(least, most) => format!("a number from {least:e} to {most}"),
            ValueKind::Whole(most) => format!("a whole number from 0 to {most}"),
            ValueKind::Text => "text".to_owned(),
        }
    }
}
