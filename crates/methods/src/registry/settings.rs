//! Options that were given, each with a value that it takes.

use super::common::{DEFAULT_TOLERANCE, SOLVER, TOLERANCE};
use super::option::{BadOption, Choice, OptionSpec};

/// The options that were given for a run. What is not among them has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    given: Vec<(&'static str, String)>,
}

impl Settings {
    /// Gives an option a value, which is checked.
    pub fn set(
        &mut self,
        option: &OptionSpec,
        text: &str,
        solvers: &[&'static str],
    ) -> Result<(), BadOption> {
        option.check(text, solvers)?;
        self.given.retain(|(key, _)| *key != option.key);
        self.given.push((option.key, text.to_owned()));
        Ok(())
    }

    /// The options that were given, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(key, _)| *key)
    }

    /// The options that were given, with their values as they were written.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.given.iter().map(|(key, text)| (*key, text.as_str()))
    }

    /// Whether the option was given.
    pub fn has(&self, option: &OptionSpec) -> bool {
        self.text(option).is_some()
    }

    /// The coupling tolerance: as it was given, or the usual one.
    pub(crate) fn tolerance(&self) -> f64 {
        self.number(&TOLERANCE).unwrap_or(DEFAULT_TOLERANCE)
    }

    /// The solver that was asked for.
    pub fn solver(&self) -> Option<&str> {
        self.text(&SOLVER)
    }

    /// The value of an option, as it was written.
    pub fn text(&self, option: &OptionSpec) -> Option<&str> {
        let found = self.given.iter().find(|(key, _)| *key == option.key)?;
        Some(&found.1)
    }

    /// The value of an option that takes numbers.
    pub fn number(&self, option: &OptionSpec) -> Option<f64> {
        let text = self.text(option)?;
        Some(
            text.parse()
                .expect("BUG: a number was checked when it was set"),
        )
    }

    /// The value of an option that takes whole numbers.
    pub fn whole(&self, option: &OptionSpec) -> Option<usize> {
        self.number(option).map(|value| value as usize)
    }

    /// The value of an option that takes names.
    pub fn choice<T: Choice>(&self, option: &OptionSpec) -> Option<T> {
        let text = self.text(option)?;
        let known = T::NAMES.iter().find(|(name, _)| *name == text);
        Some(known.expect("BUG: a name was checked when it was set").1)
    }

    /// The same, or the default.
    pub fn choice_or_default<T: Choice>(&self, option: &OptionSpec) -> T {
        self.choice(option).unwrap_or(T::NAMES[0].1)
    }
}
