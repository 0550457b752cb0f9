//! What the user may choose for a run: the `[method]` table of a model and its twins on the command line.

use std::ops::Range;
use std::sync::Arc;

use dovetail_fmi::CallLog;
use dovetail_methods::{Control, Criterion, DovetailOptions, EstimatorOptions, Form};
use dovetail_numerics::Laplace;
use indexmap::IndexMap;

use crate::diagnostic::Problem;
use crate::dovetail;
use crate::enclosure::ENCLOSURES;
use crate::f3ornits::F3ornitsChoices;
use crate::file::ModelFile;
use crate::placement::Placement;

/// The methods there are, with one line about each.
pub const METHODS: &[(&str, &str)] = &[
    (
        "jacobi",
        "all systems step in parallel, inputs held; order 1",
    ),
    (
        "gauss-seidel",
        "systems step one after the other, inputs held, newest values first; order 1",
    ),
    (
        "f3ornits",
        "continues outputs from their past, with the order, step and pace each system permits; needs nothing",
    ),
    (
        "ifosmondi",
        "iterates until the interfaces agree in value and slope; order 4, needs rollback or linearisation",
    ),
    (
        "missiles",
        "solves one linear system a step for the interface, then integrates once; needs linearisation only",
    ),
    (
        "dovetail",
        "the engine's own: predicts the interface, integrates once, knows its error; order 4 to 6, needs linearisation only",
    ),
    (
        "monolithic",
        "no coupling: all equations as one system, to 13 digits; what compare measures by, for models of equations",
    ),
];

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct RunOption {
    /// Its name, in files and on the command line.
    pub key: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// The methods that have it; none listed: all.
    pub methods: &'static [&'static str],
}

impl RunOption {
    /// Whether `method` has it.
    pub fn concerns(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.contains(&method)
    }
}

/// The options there are.
pub const OPTIONS: &[RunOption] = &[
    RunOption {
        key: "step",
        meaning: "macro-step; dovetail, missiles and ifosmondi, which choose their own, keep to it; f3ornits begins with it",
        methods: &[],
    },
    RunOption {
        key: "solver",
        meaning: "how ifosmondi solves the coupling",
        methods: &["ifosmondi"],
    },
    RunOption {
        key: "petsc-options",
        meaning: "options of --solver petsc, as PETSc reads them; -snes_type anderson, say",
        methods: &[],
    },
    RunOption {
        key: "tolerance",
        meaning: "coupling tolerance of methods that iterate or choose their steps",
        methods: &["f3ornits", "ifosmondi", "missiles", "dovetail"],
    },
    RunOption {
        key: "inputs",
        meaning: "degree of the inputs: auto (quintic where that is possible and pays), quintic, cubic",
        methods: &["dovetail"],
    },
    RunOption {
        key: "correction",
        meaning: "integrate a step again under corrected inputs: auto (where it was predicted poorly and all can roll back), false, true",
        methods: &["dovetail"],
    },
    RunOption {
        key: "relinearize",
        meaning: "when to linearise anew: auto (unless a system has hardly changed), always, never (but after events)",
        methods: &["dovetail"],
    },
    RunOption {
        key: "corrected",
        meaning: "add the estimated error to the results: false, true",
        methods: &["dovetail"],
    },
    RunOption {
        key: "setting",
        meaning: "default, or paper: degrees up to 2, growth by 1.05, orders and steps by the newest error, an absolute tolerance of 1e-6",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "calibration",
        meaning: "how outputs are continued: extrapolation, least-squares",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "smooth",
        meaning: "make inputs continuously differentiable: false, true",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "scale",
        meaning: "what errors are measured by: damped-amplitude, amplitude, magnitude",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "damping",
        meaning: "how fast a damped amplitude forgets, per second; 0.05 by default",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "max-degree",
        meaning: "highest degree of continued outputs, 0 to 4; 3 by default, 2 with setting=paper",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "min-step",
        meaning: "shortest step that is asked for",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "max-step",
        meaning: "longest step of a free system; by default 1/50 of the run, 1/1000 where a system cannot roll back",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "max-growth",
        meaning: "a step is so many times the one before it at most; 1.5 by default, 1.05 with setting=paper",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "absolute-tolerance",
        meaning: "error that is always allowed, whatever the scale; none by default, 1e-6 with setting=paper",
        methods: &["f3ornits"],
    },
    RunOption {
        key: "criterion",
        meaning: "when the iterations of ifosmondi agree: range (within the tolerance of each variable's range), paper (its formula (27) and a \
                  fixed step)",
        methods: &["ifosmondi"],
    },
    RunOption {
        key: "rollback-free",
        meaning: "estimate what systems would answer (COSTARICA) rather than try it: auto (where they cannot roll back), true, false",
        methods: &["ifosmondi"],
    },
    RunOption {
        key: "control",
        meaning: "how estimates continue what their linearisation does not explain: flexible, zero-order, first-order",
        methods: &["ifosmondi", "missiles"],
    },
    RunOption {
        key: "form",
        meaning: "what estimates use of the derivatives of states: full, held (as COSTARICA has it), degraded or as-printed (none)",
        methods: &["ifosmondi", "missiles"],
    },
    RunOption {
        key: "laplace",
        meaning: "how estimates are evaluated: exact, or gaver-stehfest as in the papers",
        methods: &["ifosmondi", "missiles"],
    },
    RunOption {
        key: "integrator-tolerance",
        meaning: "relative tolerance of the integrator inside models given as equations; 1e-10 by default",
        methods: &[],
    },
];

/// The solvers of `ifosmondi`, with one line about each.
pub const SOLVERS: &[(&str, &str)] = &[
    (
        "quasi-newton",
        "remembers how the interface reacts from step to step; usually the fewest integrations",
    ),
    ("newton", "Newton with matrix-free GMRES and backtracking"),
    ("anderson", "Anderson mixing"),
    ("ngmres", "nonlinear GMRES"),
    ("ngmres-linesearch", "nonlinear GMRES with a line search"),
    (
        "fixed-point",
        "the classical IFOSMONDI; converges only where the loop contracts",
    ),
    (
        "petsc",
        "PETSc's SNES, in programs built with the feature petsc; see petsc-options",
    ),
];

/// When answers are estimated rather than tried.
const ROLLBACK_FREE: &[(&str, &str)] = &[
    ("auto", "where a system cannot roll back"),
    ("true", "always"),
    ("false", "never"),
];

const CRITERIA: &[(&str, &str)] = &[("range", ""), ("paper", "")];

const CONTROLS: &[(&str, &str)] = &[("flexible", ""), ("zero-order", ""), ("first-order", "")];

const FORMS: &[(&str, &str)] = &[
    ("full", ""),
    ("held", ""),
    ("degraded", ""),
    ("as-printed", ""),
];

const LAPLACE: &[(&str, &str)] = &[("exact", ""), ("gaver-stehfest", "")];

/// The tightest tolerance an integrator in double precision can be asked for.
const TIGHTEST: f64 = 1e-14;

/// How to run a model. What is not given takes its default.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// A name of [`METHODS`], or `auto`.
    pub method: String,
    /// The keys that were given, rather than taken from their defaults.
    pub given: Vec<String>,
    /// Macro-step.
    pub step: Option<f64>,
    /// Coupling tolerance.
    pub tolerance: Option<f64>,
    /// A name of [`SOLVERS`].
    pub solver: Option<String>,
    /// Whether answers are estimated rather than tried; none: where systems cannot roll back.
    pub rollback_free: Option<bool>,
    /// When the iterations of `ifosmondi` agree.
    pub criterion: Criterion,
    /// How answers are estimated.
    pub estimator: EstimatorOptions,
    /// The options of `f3ornits`.
    pub f3ornits: F3ornitsChoices,
    /// The options of `dovetail`.
    pub dovetail: DovetailOptions,
    /// What PETSc is told.
    pub petsc_options: Option<String>,
    /// Tolerance of the integrators inside the systems.
    pub integrator_tolerance: f64,
    /// Where the systems live; not an option of the method, and never in a model.
    pub placement: Placement,
    /// Where all calls of FMUs are written down; never in a model either.
    pub fmi_log: Option<Arc<CallLog>>,
}

/// Choices as text, by key: those of the file first, those of the command line over them.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    given: IndexMap<String, Choice>,
}

#[derive(Clone, Debug)]
struct Choice {
    text: String,
    /// Where in the file; none for the command line.
    span: Option<Range<usize>>,
}

impl Choice {
    fn problem(&self, key: &str, message: String) -> Problem {
        match &self.span {
            Some(span) => Problem::at(span.clone(), message),
            None => Problem::general(format!(
                "{message} (given on the command line as `{key}={}`)",
                self.text
            )),
        }
    }
}

impl Choices {
    /// The `[method]` table. Its name is the choice `method`.
    pub(crate) fn of_file(file: &ModelFile) -> Result<Self, Problem> {
        let mut choices = Self::default();
        for (key, value) in &file.method {
            let text = match value.get_ref() {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::Boolean(truth) => truth.to_string(),
                _ => {
                    return Err(Problem::at(
                        value.span(),
                        "an option is a number, a word, true or false",
                    ));
                }
            };
            let name = if key.get_ref() == "name" {
                "method"
            } else {
                key.get_ref()
            };
            choices.given.insert(
                name.to_owned(),
                Choice {
                    text,
                    span: Some(key.span().start..value.span().end),
                },
            );
        }
        Ok(choices)
    }

    /// A choice made on the command line.
    pub fn set(&mut self, key: &str, text: impl Into<String>) {
        self.given.insert(
            key.to_owned(),
            Choice {
                text: text.into(),
                span: None,
            },
        );
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
    pub(crate) fn resolve(&self) -> Result<RunOptions, Problem> {
        for (key, choice) in self.given.iter().filter(|(key, _)| *key != "method") {
            if !OPTIONS.iter().any(|option| option.key == key) {
                let known: Vec<&str> = OPTIONS.iter().map(|option| option.key).collect();
                return Err(choice
                    .problem(key, format!("unknown option `{key}`"))
                    .help(format!("the options are {}", known.join(", ")))
                    .suggest(key, known));
            }
        }
        Ok(RunOptions {
            method: self.method()?,
            given: self
                .given
                .keys()
                .filter(|key| *key != "method")
                .cloned()
                .collect(),
            step: self.positive("step")?,
            tolerance: self.positive("tolerance")?,
            solver: self.chosen("solver", SOLVERS)?,
            rollback_free: self
                .chosen("rollback-free", ROLLBACK_FREE)?
                .and_then(|text| text.parse().ok()),
            criterion: match self.chosen("criterion", CRITERIA)?.as_deref() {
                Some("paper") => Criterion::Paper,
                _ => Criterion::Range,
            },
            estimator: self.estimator()?,
            f3ornits: F3ornitsChoices::of(self)?,
            dovetail: dovetail::options(self)?,
            petsc_options: self
                .given
                .get("petsc-options")
                .map(|choice| choice.text.clone()),
            integrator_tolerance: self.integrator_tolerance()?,
            placement: Placement::default(),
            fmi_log: None,
        })
    }

    fn method(&self) -> Result<String, Problem> {
        if let Some(choice) = self.given.get("method")
            && ENCLOSURES.iter().any(|(name, _)| *name == choice.text)
        {
            let name = &choice.text;
            let message = format!(
                "`{name}` proves bounds: it is a method of `dovetail enclose`, not of a run"
            );
            return Err(choice
                .problem("method", message)
                .help(format!("dovetail enclose MODEL --method {name}")));
        }
        if self.given.contains_key("method") {
            self.one_of("method", METHODS, &["auto"])
        } else {
            Ok("auto".into())
        }
    }

    fn estimator(&self) -> Result<EstimatorOptions, Problem> {
        let control = match self.chosen("control", CONTROLS)?.as_deref() {
            Some("zero-order") => Control::ZeroOrder,
            Some("first-order") => Control::FirstOrder,
            _ => Control::Flexible,
        };
        let form = match self.chosen("form", FORMS)?.as_deref() {
            Some("held") => Form::Held,
            Some("degraded" | "as-printed") => Form::Degraded,
            _ => Form::Full,
        };
        let laplace = match self.chosen("laplace", LAPLACE)?.as_deref() {
            Some("gaver-stehfest") => Laplace::GaverStehfest,
            _ => Laplace::Exact,
        };
        Ok(EstimatorOptions {
            control,
            form,
            laplace,
        })
    }

    /// A choice among names, if it has been made.
    pub(crate) fn chosen(
        &self,
        key: &str,
        listed: &[(&str, &str)],
    ) -> Result<Option<String>, Problem> {
        self.given
            .contains_key(key)
            .then(|| self.one_of(key, listed, &[]))
            .transpose()
    }

    /// A choice among names, which has been made.
    fn one_of(&self, key: &str, listed: &[(&str, &str)], also: &[&str]) -> Result<String, Problem> {
        let choice = &self.given[key];
        let known = || {
            listed
                .iter()
                .map(|(name, _)| *name)
                .chain(also.iter().copied())
        };
        if known().any(|name| name == choice.text) {
            return Ok(choice.text.clone());
        }
        Err(choice
            .problem(key, format!("unknown {key} `{}`", choice.text))
            .help(format!(
                "known are {}",
                known().collect::<Vec<_>>().join(", ")
            ))
            .suggest(&choice.text, known()))
    }

    pub(crate) fn positive(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.number(key, "a number above zero", |value| value > 0.0)
    }

    pub(crate) fn not_negative(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.number(key, "a number, zero or above", |value| value >= 0.0)
    }

    /// A whole number from 0 to `most`.
    pub(crate) fn whole(&self, key: &str, most: usize) -> Result<Option<usize>, Problem> {
        let fits = |value: f64| value.fract() == 0.0 && (0.0..=most as f64).contains(&value);
        let number = self.number(key, &format!("a whole number from 0 to {most}"), fits)?;
        Ok(number.map(|value| value as usize))
    }

    fn number(
        &self,
        key: &str,
        what: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, Problem> {
        let Some(choice) = self.given.get(key) else {
            return Ok(None);
        };
        match choice.text.parse::<f64>() {
            Ok(value) if fits(value) && value.is_finite() => Ok(Some(value)),
            _ => Err(choice.problem(
                key,
                format!("`{key}` must be {what}, not `{}`", choice.text),
            )),
        }
    }

    /// What is wrong with a choice that has been made.
    pub(crate) fn problem(&self, key: &str, message: &str) -> Problem {
        self.given[key].problem(key, message.to_owned())
    }

    fn integrator_tolerance(&self) -> Result<f64, Problem> {
        const KEY: &str = "integrator-tolerance";
        match self.positive(KEY)? {
            None => Ok(1e-10),
            Some(value) if (TIGHTEST..=0.1).contains(&value) => Ok(value),
            Some(value) => Err(self.given[KEY].problem(
                KEY,
                format!("`{KEY}` must be between {TIGHTEST:e} and 0.1, not {value:e}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceText;
    use crate::file::parse;

    fn choices(text: &str) -> Choices {
        let source = SourceText {
            path: "m".into(),
            text: format!("[model]\n[method]\n{text}"),
        };
        Choices::of_file(&parse(&source).unwrap()).unwrap()
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let mut later = Choices::default();
        later.set("step", "0.5");
        let options = choices("name = \"jacobi\"\nstep = 0.1")
            .overridden_by(&later)
            .resolve()
            .unwrap();
        assert_eq!(
            (options.method.as_str(), options.step),
            ("jacobi", Some(0.5))
        );
        assert_eq!(
            (options.given, options.integrator_tolerance),
            (vec!["step".to_owned()], 1e-10)
        );
    }

    #[test]
    fn what_is_unknown_or_out_of_range_is_refused_with_a_hint() {
        let refused = |text: &str| choices(text).resolve().unwrap_err();
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
