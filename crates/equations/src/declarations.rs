//! Every name of a model, what it means, and where it is defined.

use std::collections::{HashMap, HashSet};

use dovetail_core::nearest;

use crate::error::{Fault, Place, Span, SyntaxError, position};
use crate::lexer::{MOST_FAULTS, shortened};
use crate::names::{is_name, is_reserved};
use crate::parser::Equations;
use crate::source::Source;
use crate::syntax::{Statement, Target};

/// What a name stands for in expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Input(u32),
    Parameter(u32),
    State(u32),
    /// A discrete state; its place among all states.
    Discrete(u32),
    /// The intermediate variable of this definition.
    Intermediate(usize),
}

impl Meaning {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Input(_) => "an input",
            Self::Parameter(_) => "a parameter",
            Self::State(_) => "a state",
            Self::Discrete(_) => "a discrete state",
            Self::Intermediate(_) => "already defined",
        }
    }
}

/// The names of a model.
#[derive(Debug, Default)]
pub(crate) struct Declarations<'s> {
    meanings: HashMap<&'s str, Meaning>,
    /// In order of declaration, so that suggestions do not depend on hashing.
    names: Vec<&'s str>,
    /// For each state, the definition of its derivative.
    pub derivatives: Vec<Option<usize>>,
}

impl<'s> Declarations<'s> {
    /// Declares what `source` lists; mistakes in names go to `errors`.
    pub fn of(source: &Source<'s>, errors: &mut Vec<SyntaxError>) -> Self {
        let mut declarations = Self {
            derivatives: vec![None; source.states.len()],
            ..Self::default()
        };
        declarations.declare_all(&source.inputs, Meaning::Input, errors);
        declarations.declare_all(&source.parameters, Meaning::Parameter, errors);
        declarations.declare_all(&source.states, Meaning::State, errors);
        let first = source.states.len() as u32;
        let discrete = |index: u32| Meaning::Discrete(first + index);
        declarations.declare_all(&source.discrete, discrete, errors);
        declarations.check_outputs(source, errors);

        declarations
    }

    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        self.meanings.get(name).copied()
    }

    fn declare_all(
        &mut self,
        names: &[&'s str],
        meaning: impl Fn(u32) -> Meaning,
        errors: &mut Vec<SyntaxError>,
    ) {
        for (index, &name) in names.iter().enumerate() {
            match self.refusal(name) {
                Some(message) => errors.push(name_error(name, message)),
                None => self.declare(name, meaning(index as u32)),
            }
        }
    }

    fn declare(&mut self, name: &'s str, meaning: Meaning) {
        self.meanings.insert(name, meaning);
        self.names.push(name);
    }

    /// Why `name` cannot be declared, if it cannot.
    fn refusal(&self, name: &str) -> Option<String> {
        match self.meaning(name) {
            Some(meaning) => Some(declared_twice(name, meaning.describe())),
            None => invalid(name),
        }
    }

    /// Outputs may be named like a state or an intermediate, whose value they often are.
    fn check_outputs(&self, source: &Source<'s>, errors: &mut Vec<SyntaxError>) {
        let mut seen = HashSet::new();
        for (name, _) in &source.outputs {
            let refusal = match self.meaning(name) {
                Some(Meaning::Input(_) | Meaning::Parameter(_)) => self.refusal(name),
                _ if !seen.insert(*name) => Some(declared_twice(name, "an output")),
                _ => invalid(name),
            };
            errors.extend(refusal.map(|message| name_error(name, message)));
        }
    }

    /// The name that was probably meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names.iter().copied().chain(["time", "pi"]))
    }
}

fn declared_twice(name: &str, what: &str) -> String {
    format!("`{}` is declared twice: it is {what}", shortened(name))
}

fn invalid(name: &str) -> Option<String> {
    let quoted = shortened(name);
    if !is_name(name) {
        return Some(format!(
            "`{quoted}` is not a name: use letters, digits and underscores"
        ));
    }
    is_reserved(name)
        .then(|| format!("`{quoted}` is a word of the language and cannot be a variable"))
}

fn name_error(name: &str, message: String) -> SyntaxError {
    let end = name.len().min(u32::MAX as usize);
    Fault::new(Span::new(0, end), message).in_text(Place::Name(name.to_owned()), name)
}

/// Definitions.
impl<'s> Declarations<'s> {
    /// Declares what the statements define.
    pub fn define(&mut self, text: &'s str, equations: &Equations, faults: &mut Vec<Fault>) {
        for (index, definition) in equations.definitions.iter().enumerate() {
            let name = &text[definition.name.start()..definition.name.end()];
            let fault = match definition.target {
                Target::Derivative => self.define_derivative(text, name, index, equations),
                Target::Intermediate => self.define_intermediate(text, name, index, equations),
            };
            faults.extend(fault);
            if faults.len() >= MOST_FAULTS {
                return;
            }
        }
    }

    fn define_derivative(
        &mut self,
        text: &str,
        name: &str,
        index: usize,
        equations: &Equations,
    ) -> Option<Fault> {
        let definition = &equations.definitions[index];
        let Some(Meaning::State(state)) = self.meaning(name) else {
            return Some(self.not_a_state(definition.name, name));
        };
        let derivative = &mut self.derivatives[state as usize];
        let Some(first) = *derivative else {
            *derivative = Some(index);
            return None;
        };
        let what = format!("`der({name})`");
        let first = &equations.definitions[first];

        Some(defined_twice(text, &what, definition, first))
    }

    fn not_a_state(&self, span: Span, name: &str) -> Fault {
        let quoted = shortened(name);
        match self.meaning(name) {
            Some(meaning @ (Meaning::Input(_) | Meaning::Parameter(_) | Meaning::Discrete(_))) => {
                let what = meaning.describe();
                let message = format!("`{quoted}` is {what}, so it has no equation here");
                Fault::new(span, message).help("only states have `der(...) = ...`")
            }
            _ => {
                let fault = Fault::new(span, format!("unknown state `{quoted}`"));
                fault.suggest(nearest(name, self.states()))
            }
        }
    }

    /// The names of the states.
    fn states(&self) -> impl Iterator<Item = &'s str> {
        let names = self.names.iter().copied();
        names.filter(|name| self.is_state(name))
    }

    fn is_state(&self, name: &str) -> bool {
        matches!(self.meaning(name), Some(Meaning::State(_)))
    }

    fn define_intermediate(
        &mut self,
        text: &str,
        name: &'s str,
        index: usize,
        equations: &Equations,
    ) -> Option<Fault> {
        let definition = &equations.definitions[index];
        match self.meaning(name) {
            None => {
                self.declare(name, Meaning::Intermediate(index));
                None
            }
            Some(Meaning::Intermediate(first)) => {
                let what = format!("`{}`", shortened(name));
                let first = &equations.definitions[first];
                Some(defined_twice(text, &what, definition, first))
            }
            Some(meaning) => Some(not_definable(definition.name, name, meaning)),
        }
    }

    /// States without an equation, reported where one would be added.
    pub fn missing(&self, source: &Source<'_>) -> Vec<Fault> {
        let end = source.equations.trim_end().len();
        let mut faults = Vec::new();

        for (name, derivative) in source.states.iter().zip(&self.derivatives) {
            if derivative.is_none() && faults.len() < MOST_FAULTS {
                let message = format!("state `{}` has no equation", shortened(name));
                let fault = Fault::new(Span::new(end, end), message);
                faults.push(fault.help(format!("add `der({name}) = ...`")));
            }
        }
        faults
    }
}

fn not_definable(span: Span, name: &str, meaning: Meaning) -> Fault {
    let quoted = shortened(name);
    let what = meaning.describe();
    let fault = Fault::new(span, format!("`{quoted}` is {what} and cannot be defined"));

    match meaning {
        Meaning::State(_) => fault.help(format!("write `der({name}) = ...`")),
        Meaning::Discrete(_) => fault.help("a `when` clause sets it"),
        _ => fault,
    }
}

fn defined_twice(text: &str, what: &str, again: &Statement, first: &Statement) -> Fault {
    let (line, column) = position(text, first.name.start());
    let fault = Fault::new(again.name, format!("{what} is defined twice")).help(format!(
        "it is first defined at line {line}, column {column}"
    ));

    Fault {
        first: Some(first.name.start()),
        ..fault
    }
}
