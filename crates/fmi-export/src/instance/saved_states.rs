//! Saved states of an instance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::model_run::SavedRun;
use super::{Derivatives, Phase};

/// All that the further answers of an instance depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedState {
    pub phase: Phase,
    pub time: f64,
    pub times: (f64, Option<f64>),
    pub parameters: BTreeMap<u32, String>,
    pub inputs: Vec<Derivatives>,
    pub ends: bool,
    pub engine: Option<SavedEngine>,
    /// The token of the FMU: a state belongs to it.
    pub token: String,
}

/// All that the further answers of a model depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SavedEngine {
    Coupled(SavedRun),
    Equations(Vec<u8>),
}

/// The states that an importer has saved and not freed, by the numbers that it holds.
#[derive(Default)]
pub(crate) struct SavedStates {
    last: usize,
    states: BTreeMap<usize, SavedState>,
}

impl SavedStates {
    /// Keeps a state, in place of another where its number is given.
    pub fn keep(&mut self, number: usize, state: SavedState) -> usize {
        let number = match self.states.contains_key(&number) {
            true => number,
            false => {
                self.last += 16; // numbers look like addresses, aligned and not null
                self.last
            }
        };
        self.states.insert(number, state);
        number
    }

    pub fn get(&self, number: usize) -> Result<&SavedState, String> {
        let state = self.states.get(&number);
        state.ok_or_else(|| {
            "this is no state that this instance has saved, or it was freed".to_owned()
        })
    }

    pub fn free(&mut self, number: usize) -> Result<(), String> {
        let freed = self.states.remove(&number);
        freed
            .map(drop)
            .ok_or_else(|| "this state was freed before, or never saved".to_owned())
    }
}
