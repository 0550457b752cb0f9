//! The variables of a model, under the names by which users know them.

use dovetail_core::{Connections, Interface, Nature, glob, nearest};

/// What a variable is to its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It comes from another system.
    Input,
    /// It is observed only.
    State,
    /// It is offered to other systems; it may be a state at the same time.
    Output,
    /// The method tells it about itself; it belongs to no system.
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
        let states = |k: usize| {
            connections.interfaces()[..k]
                .iter()
                .map(|interface| interface.states.len())
                .sum()
        };
        let first = match self.kind {
            Kind::Input => connections.inputs_of(self.system).start,
            Kind::State => states(self.system),
            Kind::Output => connections.outputs_of(self.system).start,
            Kind::Signal => 0,
        };
        first + self.position
    }
}

/// All variables of a model, system by system: inputs, states, outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    all: Vec<Variable>,
}

/// Some of the variables of a model, in the model's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    variables: Vec<Variable>,
}

/// A pattern that fits no variable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("no variable matches `{pattern}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
pub struct UnknownPattern {
    /// What was asked for.
    pub pattern: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl Variables {
    /// The variables of the connected systems. A state that has an output's name is that output, and appears once.
    pub fn of(connections: &Connections) -> Self {
        let all = connections
            .interfaces()
            .iter()
            .enumerate()
            .flat_map(|(k, interface)| variables_of(k, interface));
        Self { all: all.collect() }
    }

    /// Also what the method tells about itself, under these names, after everything else.
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

    /// The variables that fit one of `globs` (`*` and `?`) at least; without any glob, all.
    pub fn select(&self, globs: &[String]) -> Result<Selection, UnknownPattern> {
        if let Some(unknown) = globs
            .iter()
            .find(|glob| !self.names().any(|name| glob::matches(glob, name)))
        {
            return Err(self.unknown(unknown));
        }
        let wanted = |variable: &&Variable| {
            globs.is_empty() || globs.iter().any(|g| glob::matches(g, &variable.name))
        };
        Ok(Selection {
            variables: self.all.iter().filter(wanted).cloned().collect(),
        })
    }

    /// All variables.
    pub fn everything(&self) -> Selection {
        Selection {
            variables: self.all.clone(),
        }
    }

    /// The variables of one kind.
    pub fn of_kind(&self, kind: Kind) -> Selection {
        Selection {
            variables: self
                .all
                .iter()
                .filter(|variable| variable.kind == kind)
                .cloned()
                .collect(),
        }
    }

    fn unknown(&self, pattern: &str) -> UnknownPattern {
        let meant = if glob::has_wildcard(pattern) {
            None
        } else {
            nearest(pattern, self.names())
        };
        UnknownPattern {
            pattern: pattern.into(),
            suggestion: meant.map(String::from),
        }
    }
}

fn variables_of(system: usize, interface: &Interface) -> Vec<Variable> {
    let variable = |kind, position, name: &str, unit: Option<&String>| Variable {
        name: interface.qualified(name),
        system,
        kind,
        position,
        unit: unit.cloned(),
    };
    let is_output = |state: &str| interface.outputs.iter().any(|output| output.name == state);
    // The number of a text says nothing to anybody.
    let inputs = interface
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, u)| u.nature != Nature::Text);
    let inputs = inputs.map(|(i, u)| variable(Kind::Input, i, &u.name, u.unit.as_ref()));
    let states = interface
        .states
        .iter()
        .enumerate()
        .filter(|(_, x)| !is_output(x));
    let states = states.map(|(i, x)| variable(Kind::State, i, x, None));
    let outputs = interface
        .outputs
        .iter()
        .enumerate()
        .filter(|(_, y)| y.nature != Nature::Text);
    let outputs = outputs.map(|(j, y)| variable(Kind::Output, j, &y.name, y.unit.as_ref()));
    inputs.chain(states).chain(outputs).collect()
}

impl Selection {
    /// The variables, in the model's order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Their names, in the same order.
    pub fn names(&self) -> Vec<String> {
        self.variables
            .iter()
            .map(|variable| variable.name.clone())
            .collect()
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
    fn a_selection_keeps_the_order_of_the_model() {
        assert_eq!(
            names(&["mass.x", "*.F"]).unwrap(),
            ["spring.F", "mass.F", "mass.x"]
        );
    }

    #[test]
    fn every_pattern_must_fit_and_a_misspelt_name_gets_a_suggestion() {
        let unknown = names(&["*", "spring.hat"]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "no variable matches `spring.hat`; did you mean `spring.heat`?"
        );
        assert_eq!(
            names(&["engine.*"]).unwrap_err().to_string(),
            "no variable matches `engine.*`"
        );
    }
}
