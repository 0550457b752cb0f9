//! What the user may choose for a run: the `[method]` table of a model and what is chosen beside it.

use std::ops::Range;
use std::sync::Arc;

use dovetail_core::Remedy;
use dovetail_fmi::{CallLog, RunCourse};
use dovetail_methods::{
    AUTO, BadOption, INTEGRATOR_TOLERANCE, OptionSpec, Registry, STEP, Settings, TOLERANCE,
};
use indexmap::IndexMap;

use crate::diagnostic::Problem;
use crate::enclosure_methods::ENCLOSURES;
use crate::file::toml_file::ModelFile;
use crate::inputs::outside::OutsideSignals;
use crate::placement::Placement;

/// Of the integrators inside systems given as equations, unless the user says otherwise.
const DEFAULT_INTEGRATOR_TOLERANCE: f64 = 1e-10;

/// How to run a model. What is not given takes its default.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The name of a method, or `auto`.
    pub method: String,
    /// The options of the run and of its method that were given.
    pub settings: Settings,
    /// Where the systems live; not an option of the method, and never in a model.
    pub placement: Placement,
    /// Where all calls of FMUs are written down; never in a model either.
    pub fmi_log: Option<Arc<CallLog>>,
    /// The run may be taken back to before its current communication point, by restoring a checkpoint: FMUs are told so with every
    /// step, and keep what they need for it.
    pub goes_back: bool,
    /// What is said of the course of a run in parts.
    pub course: RunCourse,
    /// A run in parts may go on for so long beyond the stop time: importers do not always end where they said.
    pub beyond_stop: f64,
    /// What feeds the inputs that are left to whoever runs the model; none: they keep their start values.
    pub outside: Option<Arc<OutsideSignals>>,
}

impl RunOptions {
    /// The macro-step, where it is given.
    pub fn step(&self) -> Option<f64> {
        self.settings.number(&STEP)
    }

    /// The coupling tolerance, where it is given.
    pub fn tolerance(&self) -> Option<f64> {
        self.settings.number(&TOLERANCE)
    }

    /// Of the integrators inside systems given as equations.
    pub fn integrator_tolerance(&self) -> f64 {
        let given = self.settings.number(&INTEGRATOR_TOLERANCE);
        given.unwrap_or(DEFAULT_INTEGRATOR_TOLERANCE)
    }

    /// The same run with another method.
    pub fn with_method(&self, method: &str) -> Self {
        Self {
            method: method.to_owned(),
            ..self.clone()
        }
    }

    /// The same run with another macro-step.
    pub fn with_step(&self, step: f64) -> Self {
        self.with_number(&STEP, step)
    }

    /// The same run with another coupling tolerance.
    pub fn with_tolerance(&self, tolerance: f64) -> Self {
        self.with_number(&TOLERANCE, tolerance)
    }

    fn with_number(&self, option: &OptionSpec, value: f64) -> Self {
        let mut changed = self.clone();
        let set = changed.settings.set(option, &value.to_string(), &[]);
        set.expect("BUG: a step or tolerance is above zero");
        changed
    }
}

/// The key of the method itself, beside its options.
const METHOD: &str = "method";

/// Choices as text, by key: those of the file first, later ones over them.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    given: IndexMap<String, Choice>,
}

#[derive(Clone, Debug)]
struct Choice {
    text: String,
    /// Where in the file; none for what was chosen beside it.
    span: Option<Range<usize>>,
}

impl Choice {
    fn problem(&self, key: &str, message: String) -> Problem {
        match &self.span {
            Some(span) => Problem::at(span.clone(), message),
            None => Problem::of_option(key, &self.text, message),
        }
    }
}

/// An option as text; none if it is a table or the like.
fn option_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

impl Choices {
    /// The `[method]` table. Its name is the choice `method`.
    pub(crate) fn of_file(file: &ModelFile) -> Result<Self, Problem> {
        let mut choices = Self::default();
        for (key, value) in &file.method {
            let message = "an option is a number, a word, true or false";
            let text = option_text(value.get_ref());
            let text = text.ok_or_else(|| Problem::at(value.span(), message))?;
            let span = Some(key.span().start..value.span().end);
            let name = match key.get_ref().as_str() {
                "name" => METHOD,
                key => key,
            };
            choices.given.insert(name.to_owned(), Choice { text, span });
        }
        Ok(choices)
    }

    /// A choice made beside the file.
    pub fn set(&mut self, key: &str, text: impl Into<String>) {
        self.given.insert(
            key.to_owned(),
            Choice {
                text: text.into(),
                span: None,
            },
        );
    }

    /// Keys and texts; that of the method is `method`.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let given = self.given.iter();
        given
            .map(|(key, choice)| (key.clone(), choice.text.clone()))
            .collect()
    }

    /// Later choices win.
    pub fn overridden_by(mut self, later: &Choices) -> Self {
        self.given.extend(
            later
                .given
                .iter()
                .map(|(key, choice)| (key.clone(), choice.clone())),
        );
        self
    }

    /// The choices as options, all of them known and well-formed.
    pub(crate) fn resolve(&self, registry: &Registry) -> Result<RunOptions, Problem> {
        let given = self.given.iter().filter(|(key, _)| *key != METHOD);
        let texts = given.map(|(key, choice)| (key.as_str(), choice.text.as_str()));
        let settings = registry.settings(texts);

        Ok(RunOptions {
            settings: settings.map_err(|bad| self.problem(bad))?,
            method: self.method(registry)?,
            placement: Placement::default(),
            fmi_log: None,
            goes_back: false,
            course: RunCourse::default(),
            beyond_stop: 0.0,
            outside: None,
        })
    }

    fn method(&self, registry: &Registry) -> Result<String, Problem> {
        let Some(choice) = self.given.get(METHOD) else {
            return Ok(AUTO.to_owned());
        };
        let name = &choice.text;

        if ENCLOSURES.iter().any(|(enclosure, _)| enclosure == name) {
            let message =
                format!("`{name}` proves bounds: it is a method of enclosures, not of runs");
            let remedy = Remedy::Enclose(name.clone());
            return Err(choice.problem(METHOD, message).with([remedy]));
        }

        let mut known = registry.method_names();
        known.push(AUTO);
        if known.contains(&name.as_str()) {
            return Ok(name.clone());
        }

        if let Some(renamed) = registry.renamed_method(name) {
            let message = format!("the method `{name}` is called {}", renamed.name());
            return Err(choice.problem(METHOD, message));
        }
        Err(self.problem(BadOption::unknown(METHOD, METHOD, name, known)))
    }

    /// What is wrong with a choice, at its place.
    fn problem(&self, bad: BadOption) -> Problem {
        let problem = match self.given.get(&bad.key) {
            Some(choice) => choice.problem(&bad.key, bad.message),
            None => Problem::general(bad.message),
        };
        let problem = Problem {
            help: bad.help,
            ..problem
        };

        match bad.unknown {
            Some(unknown) => problem.suggest(&unknown.name, unknown.known),
            None => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceText;
    use crate::file::toml_file::parse;
    use dovetail_methods::standard;

    fn choices(text: &str) -> Choices {
        let source = SourceText {
            path: "m".into(),
            text: format!("[model]\n[method]\n{text}"),
        };
        Choices::of_file(&parse(&source).unwrap()).unwrap()
    }

    #[test]
    fn later_choices_win_over_the_file() {
        let mut later = Choices::default();
        later.set("step", "0.5");
        let options = choices("name = \"jacobi\"\nstep = 0.1")
            .overridden_by(&later)
            .resolve(&standard())
            .unwrap();
        assert_eq!(
            (options.method.as_str(), options.step()),
            ("jacobi", Some(0.5))
        );
        assert_eq!(options.settings.keys().collect::<Vec<_>>(), ["step"]);
        assert_eq!(options.integrator_tolerance(), 1e-10);
    }

    #[test]
    fn what_is_unknown_or_out_of_range_is_refused_with_a_hint() {
        let refused = |text: &str| choices(text).resolve(&standard()).unwrap_err();
        assert_eq!(
            refused("name = \"jacoby\"").help.as_deref(),
            Some("did you mean `jacobi`?")
        );
        assert_eq!(
            refused("stepp = 1").help.as_deref(),
            Some("did you mean `step`?")
        );
        assert!(refused("step = -1").message.contains("above zero"));
        assert!(refused("step = \"x\"").span.is_some());
        assert!(
            refused("integrator-tolerance = 1e-20")
                .message
                .contains("between 1e-14")
        );
    }
}
