//! A whole model for another process.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{BadModel, SourceText};
use crate::overrides::Overrides;
use crate::scenario::Scenario;

/// A model, and what was changed in it, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ModelCopy {
    path: String,
    text: String,
    changes: Overrides,
}

impl ModelCopy {
    /// Of this model, with what the probes found of its FMUs: they are not tried again.
    pub fn of(scenario: &Scenario) -> Self {
        let SourceText { path, text } = scenario.source.clone();
        Self {
            path,
            text,
            changes: Overrides {
                known: scenario.known_of_fmus(),
                ..scenario.changes.clone()
            },
        }
    }

    /// Reads it.
    pub fn read(self) -> Result<Scenario, BadModel> {
        let Self {
            path,
            text,
            changes,
        } = self;
        if text.is_empty() {
            return Scenario::load(Path::new(&path), &changes);
        }
        Scenario::parse(SourceText { path, text }, &changes)
    }
}
