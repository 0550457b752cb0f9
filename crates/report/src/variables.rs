//! The variables of a model, under the names by which users know them.

use std::collections::BTreeSet;

use dovetail_core::{Connections, Interface, Output, SignalKind, glob, list_names, nearest};

/// A signal with this ending is the estimated error of the state or output before it.
pub(crate) const ERROR: &str = ".$error";

/// What a variable is to its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It comes from another system.
    Input,
    /// It is observed only.
    State,
    /// It is offered to other systems; it may be a state at the same time.
    Output,
    /// The method reports it about itself; it belongs to no system.
    Signal,
}

/// One variable, and where to find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// `system.name`.
    pub name: String,
    /// Position of its system; a signal has none.
    pub system: usize,
    /// What it is to its system.
    pub kind: Kind,
    /// Its position among the system's variables of that kind.
    pub position: usize,
    /// Its unit, where the model gives one.
    pub unit: Option<String>,
}

impl Variable {
    /// Its position among the variables of its kind of all systems, stacked.
    pub fn stacked(&self, connections: &Connections) -> usize {
        let first = match self.kind {
            Kind::Input => connections.inputs_of(self.system).start,
            Kind::State => states_before(connections, self.system),
            Kind::Output => connections.outputs_of(self.system).start,
            Kind::Signal => 0,
        };

        first + self.position
    }
}

/// How many states the systems before this one have.
fn states_before(connections: &Connections, system: usize) -> usize {
    let before = &connections.interfaces()[..system];
    before.iter().map(|interface| interface.states.len()).sum()
}

/// All variables of a model, system by system: inputs, states, outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    all: Vec<Variable>,
    /// Outputs that are no states.
    no_states: BTreeSet<String>,
}

/// Some of the variables of a model, in the model's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    variables: Vec<Variable>,
}

/// A pattern that fits no variable, or a name without its system that several systems have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownPattern {
    /// It fits nothing.
    #[error(
        "no variable matches `{pattern}`{}",
        suggestion.as_ref().map_or_else(
            || format!("; the variables are {}", list_names(known)),
            |name| format!("; did you mean `{name}`?")
        )
    )]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// What was probably meant.
        suggestion: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// Several systems have a variable of this name.
    #[error(
        "several systems have a variable `{name}`: choose from {}",
        list_names(candidates)
    )]
    Ambiguous {
        /// The name, without a system.
        name: String,
        /// What may be meant.
        candidates: Vec<String>,
    },
}

impl Variables {
    /// The variables of the connected systems. A state that has an output's name is that output,
    /// and appears once.
    pub fn of(connections: &Connections) -> Self {
        let mut all = Vec::new();
        let mut no_states = BTreeSet::new();
        for (system, interface) in connections.interfaces().iter().enumerate() {
            let is_state = |output: &&Output| interface.states.contains(&output.name);
            let outputs_only = interface.outputs.iter().filter(|it| !is_state(it));
            no_states.extend(outputs_only.map(|output| interface.qualified(&output.name)));
            all.extend(inputs(system, interface));
            all.extend(states(system, interface));
            all.extend(outputs(system, interface));
        }
        Self { all, no_states }
    }

    /// Also what the method reports about itself, under these names, after everything else.
    pub fn with_signals(mut self, names: &[String]) -> Self {
        let signal = |(position, name): (usize, &String)| Variable {
            name: name.clone(),
            system: usize::MAX,
            kind: Kind::Signal,
            position,
            unit: None,
        };
        self.all.extend(names.iter().enumerate().map(signal));
        self
    }

    /// The variables, in the model's order.
    pub fn all(&self) -> &[Variable] {
        &self.all
    }

    /// Their names, in the same order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|variable| variable.name.as_str())
    }

    /// The variables that fit one of `globs` (`*` and `?`) at least; without any glob, all but the errors of outputs, which
    /// follow from those of states. A name that only one system has is known without the system, too.
    pub fn select(&self, globs: &[String]) -> Result<Selection, UnknownPattern> {
        let whole = globs.iter().map(|glob| self.qualified(glob));
        let whole = whole.collect::<Result<Vec<&str>, _>>()?;

        let matches_any = |name: &str| whole.iter().any(|glob| glob::matches(glob, name));
        if globs.is_empty() {
            return Ok(self.filtered(|variable| !self.is_error_of_output(variable)));
        }
        Ok(self.filtered(|variable| matches_any(&variable.name)))
    }

    fn is_error_of_output(&self, variable: &Variable) -> bool {
        let owner = variable.name.strip_suffix(ERROR);
        variable.kind == Kind::Signal && owner.is_some_and(|name| self.no_states.contains(name))
    }

    /// A pattern that fits something: itself, or the whole name of the one variable whose name it is.
    fn qualified<'a>(&'a self, pattern: &'a str) -> Result<&'a str, UnknownPattern> {
        if self.names().any(|name| glob::matches(pattern, name)) {
            return Ok(pattern);
        }
        let is_meant = |name: &&str| {
            let bare = name.split_once('.').map(|(_, bare)| bare);
            bare == Some(pattern)
        };
        let candidates: Vec<&str> = self.names().filter(is_meant).collect();
        match candidates[..] {
            [] => Err(self.unknown(pattern)),
            [one] => Ok(one),
            _ => Err(UnknownPattern::Ambiguous {
                name: pattern.into(),
                candidates: candidates.into_iter().map(String::from).collect(),
            }),
        }
    }

    /// The variables of exactly these names.
    pub fn named(&self, names: &[String]) -> Selection {
        self.filtered(|variable| names.contains(&variable.name))
    }

    /// All variables.
    pub fn everything(&self) -> Selection {
        Selection {
            variables: self.all.clone(),
        }
    }

    /// The variables of one kind.
    pub fn of_kind(&self, kind: Kind) -> Selection {
        self.filtered(|variable| variable.kind == kind)
    }

    fn filtered(&self, is_wanted: impl Fn(&Variable) -> bool) -> Selection {
        let wanted = self.all.iter().filter(|variable| is_wanted(variable));
        Selection {
            variables: wanted.cloned().collect(),
        }
    }

    /// The variable whose name without its system is nearest to what was written.
    fn nearest_without_system(&self, pattern: &str) -> Option<&str> {
        let bare = |name: &'_ str| name.split_once('.').map(|(_, bare)| bare.to_owned());
        let all: Vec<String> = self.names().filter_map(bare).collect();
        let meant = nearest(pattern, all.iter().map(String::as_str))?;
        self.names()
            .find(|name| bare(name).as_deref() == Some(meant))
    }

    fn unknown(&self, pattern: &str) -> UnknownPattern {
        let meant = if glob::has_wildcard(pattern) {
            None
        } else {
            nearest(pattern, self.names()).or_else(|| self.nearest_without_system(pattern))
        };
        UnknownPattern::NoMatch {
            pattern: pattern.into(),
            suggestion: meant.map(String::from),
            known: self.names().map(String::from).collect(),
        }
    }
}

/// The inputs of a system, but for texts: their numbers say nothing to anybody.
fn inputs(system: usize, interface: &Interface) -> impl Iterator<Item = Variable> {
    let inputs = interface.inputs.iter().enumerate();
    let numbers = inputs.filter(|(_, input)| input.kind != SignalKind::Text);

    numbers.map(move |(position, input)| Variable {
        name: interface.qualified(&input.name),
        system,
        kind: Kind::Input,
        position,
        unit: input.unit.clone(),
    })
}

/// The states of a system that are no outputs.
fn states(system: usize, interface: &Interface) -> impl Iterator<Item = Variable> {
    let is_output = |state: &str| interface.outputs.iter().any(|output| output.name == state);
    let states = interface.states.iter().enumerate();
    let hidden = states.filter(move |(_, state)| !is_output(state));

    hidden.map(move |(position, state)| Variable {
        name: interface.qualified(state),
        system,
        kind: Kind::State,
        position,
        unit: None,
    })
}

/// The outputs of a system, but for texts.
fn outputs(system: usize, interface: &Interface) -> impl Iterator<Item = Variable> {
    let outputs = interface.outputs.iter().enumerate();
    let numbers = outputs.filter(|(_, output)| output.kind != SignalKind::Text);

    numbers.map(move |(position, output)| Variable {
        name: interface.qualified(&output.name),
        system,
        kind: Kind::Output,
        position,
        unit: output.unit.clone(),
    })
}

impl Selection {
    /// The variables, in the model's order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Their names, in the same order.
    pub fn names(&self) -> Vec<String> {
        let names = self.variables.iter().map(|variable| &variable.name);
        names.cloned().collect()
    }

    /// Their units, in the same order.
    pub fn units(&self) -> Vec<Option<String>> {
        let units = self.variables.iter().map(|variable| &variable.unit);
        units.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::tests::spring_and_mass;

    fn names(globs: &[&str]) -> Result<Vec<String>, UnknownPattern> {
        let globs: Vec<String> = globs.iter().map(|g| g.to_string()).collect();
        Variables::of(&spring_and_mass())
            .select(&globs)
            .map(|selection| selection.names())
    }

    #[test]
    fn a_state_that_is_an_output_appears_once_as_the_output() {
        let all = [
            "spring.x",
            "spring.heat",
            "spring.F",
            "mass.F",
            "mass.v",
            "mass.x",
        ];
        assert_eq!(names(&[]).unwrap(), all);
        let variables = Variables::of(&spring_and_mass());
        assert_eq!(variables.all()[5].kind, Kind::Output);
        assert_eq!(
            variables.of_kind(Kind::State).names(),
            ["spring.heat", "mass.v"]
        );
    }

    #[test]
    fn errors_of_outputs_are_selected_by_name_only() {
        let signals = ["spring.x.$error", "spring.heat.$error", "spring.F.$error"];
        let signals: Vec<String> = signals.map(String::from).to_vec();
        let variables = Variables::of(&spring_and_mass()).with_signals(&signals);
        let selected = |globs: &[&str]| {
            let globs: Vec<String> = globs.iter().map(|glob| glob.to_string()).collect();
            variables.select(&globs).expect("they match").names()
        };

        let of_outputs = |names: &[String]| names.contains(&"spring.F.$error".to_owned());
        assert!(!of_outputs(&selected(&[])));
        assert!(of_outputs(&selected(&["*.$error"])));
        assert!(of_outputs(&variables.everything().names()));
        assert!(
            selected(&[]).contains(&"spring.heat.$error".to_owned()),
            "of a state"
        );
    }

    #[test]
    fn a_selection_keeps_the_order_of_the_model() {
        assert_eq!(
            names(&["mass.x", "*.F"]).unwrap(),
            ["spring.F", "mass.F", "mass.x"]
        );
    }

    #[test]
    fn a_name_that_one_system_has_will_do_without_the_system() {
        assert_eq!(names(&["heat", "v"]).unwrap(), ["spring.heat", "mass.v"]);
        let unclear = names(&["F"]).unwrap_err().to_string();
        let whole = "several systems have a variable `F`: choose from `spring.F` and `mass.F`";
        assert_eq!(unclear, whole);
    }

    #[test]
    fn every_pattern_must_fit_and_a_misspelt_name_gets_a_suggestion() {
        let unknown = names(&["*", "spring.hat"]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "no variable matches `spring.hat`; did you mean `spring.heat`?"
        );
        let without_system = names(&["het"]).unwrap_err().to_string();
        assert_eq!(
            without_system,
            "no variable matches `het`; did you mean `spring.heat`?"
        );
        assert_eq!(
            names(&["engine.*"]).unwrap_err().to_string(),
            "no variable matches `engine.*`; the variables are `spring.x`, `spring.heat`, `spring.F`, \
             `mass.F`, `mass.v` and `mass.x`"
        );
    }
}
