//! The methods and solvers there are.

use super::common::COMMON;
use super::kind::MethodKind;
use super::option::{BadOption, OptionSpec};
use super::settings::Settings;
use super::solver::SolverKind;

/// The methods and solvers that can be chosen by name.
#[derive(Clone, Default)]
pub struct Registry {
    methods: Vec<&'static dyn MethodKind>,
    solvers: Vec<&'static dyn SolverKind>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("methods", &self.method_names())
            .field("solvers", &self.solver_names())
            .finish()
    }
}

impl Registry {
    /// Adds a method; one of the same name gives way to it.
    pub fn with_method(mut self, kind: &'static dyn MethodKind) -> Self {
        self.methods.retain(|other| other.name() != kind.name());
        self.methods.push(kind);
        self
    }

    /// Adds a solver; one of the same name gives way to it.
    pub fn with_solver(mut self, kind: &'static dyn SolverKind) -> Self {
        self.solvers.retain(|other| other.name() != kind.name());
        self.solvers.push(kind);
        self
    }

    /// The methods, in the order in which they are listed.
    pub fn methods(&self) -> &[&'static dyn MethodKind] {
        &self.methods
    }

    /// The solvers, likewise.
    pub fn solvers(&self) -> &[&'static dyn SolverKind] {
        &self.solvers
    }

    /// The method of this name.
    pub fn method(&self, name: &str) -> Option<&'static dyn MethodKind> {
        self.methods
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
    }

    /// The method that had this name before.
    pub fn renamed_method(&self, former: &str) -> Option<&'static dyn MethodKind> {
        self.methods
            .iter()
            .copied()
            .find(|kind| kind.former_names().contains(&former))
    }

    /// The solver of this name.
    pub fn solver(&self, name: &str) -> Option<&'static dyn SolverKind> {
        self.solvers
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
    }

    /// The names of the methods.
    pub fn method_names(&self) -> Vec<&'static str> {
        self.methods.iter().map(|kind| kind.name()).collect()
    }

    /// The names of the solvers.
    pub fn solver_names(&self) -> Vec<&'static str> {
        self.solvers.iter().map(|kind| kind.name()).collect()
    }

    /// All options, each once: those of every run, then those of methods and solvers.
    pub fn options(&self) -> Vec<OptionSpec> {
        let methods = self.methods.iter().flat_map(|kind| kind.options());
        let solvers = self.solvers.iter().flat_map(|kind| kind.options());
        let mut all: Vec<OptionSpec> = Vec::new();

        for option in COMMON.iter().chain(methods).chain(solvers) {
            if !all.iter().any(|known| known.key == option.key) {
                all.push(*option);
            }
        }
        all
    }

    /// Reads options from texts, each with its key.
    pub fn settings<'t>(
        &self,
        given: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Settings, BadOption> {
        let options = self.options();
        let solvers = self.solver_names();
        let mut settings = Settings::default();

        for (key, text) in given {
            let option = options.iter().find(|option| option.key == key);
            let option = option.ok_or_else(|| unknown_option(key, &options))?;
            settings.set(option, text, &solvers)?;
        }

        for kind in &self.methods {
            kind.check_settings(&settings)?;
        }
        Ok(settings)
    }

    /// The methods that have this option; none: every run has it, or a solver.
    pub fn methods_with(&self, key: &str) -> Vec<&'static str> {
        self.methods
            .iter()
            .filter(|kind| has_option(kind.options(), key))
            .map(|kind| kind.name())
            .collect()
    }

    /// The solver whose option this is.
    pub fn solver_with(&self, key: &str) -> Option<&'static str> {
        let found = self
            .solvers
            .iter()
            .find(|kind| has_option(kind.options(), key));
        found.map(|kind| kind.name())
    }
}

fn has_option(options: &[OptionSpec], key: &str) -> bool {
    options.iter().any(|option| option.key == key)
}

fn unknown_option(key: &str, options: &[OptionSpec]) -> BadOption {
    let known: Vec<&'static str> = options.iter().map(|option| option.key).collect();
    BadOption {
        help: Some(format!("the options are {}", known.join(", "))),
        ..BadOption::unknown(key, "option", key, known)
    }
}
