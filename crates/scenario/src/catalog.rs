//! What models may consist of, and what they may be run by.

use std::fmt;

use dovetail_methods::{MethodKind, Registry, SolverKind};

use crate::source::kind::SourceKind;
use crate::source::table::SystemTable;

/// The kinds of sources, methods and solvers that a program knows.
#[derive(Clone)]
pub struct Catalog {
    registry: Registry,
    /// What was added last is looked at first; the first of all takes what nobody asks for.
    sources: Vec<&'static dyn SourceKind>,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<&str> = self.sources.iter().map(|kind| kind.name()).collect();
        f.debug_struct("Catalog")
            .field("registry", &self.registry)
            .field("sources", &sources)
            .finish()
    }
}

impl Catalog {
    /// Methods and solvers, and the kind of source that systems have without asking for another.
    pub(crate) fn new(registry: Registry, usual: &'static dyn SourceKind) -> Self {
        Self {
            registry,
            sources: vec![usual],
        }
    }

    /// Adds a coupling method.
    pub fn with_method(self, kind: &'static dyn MethodKind) -> Self {
        Self {
            registry: self.registry.with_method(kind),
            ..self
        }
    }

    /// Adds a solver for methods that iterate.
    pub fn with_solver(self, kind: &'static dyn SolverKind) -> Self {
        Self {
            registry: self.registry.with_solver(kind),
            ..self
        }
    }

    /// Adds a kind of source.
    pub fn with_source(mut self, kind: &'static dyn SourceKind) -> Self {
        self.sources.push(kind);
        self
    }

    /// The methods and solvers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The kind of source that a table asks for.
    pub(crate) fn kind_of(&self, table: &SystemTable) -> &'static dyn SourceKind {
        let asks = |kind: &&&'static dyn SourceKind| {
            let keys = kind.keys();
            keys.first().is_some_and(|key| table.has(key))
        };
        let asked = self.sources.iter().rev().find(asks);
        asked.copied().unwrap_or(self.sources[0])
    }

    /// The kind of source of this name.
    pub(crate) fn kind(&self, name: &str) -> Option<&'static dyn SourceKind> {
        self.sources
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
    }
}
