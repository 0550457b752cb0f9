//! The programs that evaluate a model: compiled once, however many systems it has.

use std::sync::Arc;

use crate::held::HeldModel;
use crate::model::Model;
use crate::tape::Program;

/// The programs of a model.
#[derive(Debug)]
pub(crate) struct Programs {
    pub f: Arc<Program>,
    pub g: Arc<Program>,
    /// Slope and offset of each condition on time, in turn.
    pub time_switches: Arc<Program>,
    /// Where something switches by itself.
    pub switching: Option<SwitchingPrograms>,
}

/// The switching functions, and the equations with nothing held.
#[derive(Debug)]
pub(crate) struct SwitchingPrograms {
    pub functions: Arc<Program>,
    pub natural_f: Arc<Program>,
    pub natural_g: Arc<Program>,
    pub conditions: Arc<Program>,
    pub assignments: Arc<Program>,
}

impl Programs {
    /// The equations as they are, or with what switches held.
    pub fn new(model: &Model, held: Option<&HeldModel>) -> Self {
        let (f, g) = match held {
            Some(held) => (held.derivative_program(), held.output_program()),
            None => (model.derivative_program(), model.output_program()),
        };

        Self {
            f: Arc::new(f),
            g: Arc::new(g),
            time_switches: Arc::new(model.switch_program()),
            switching: held.map(|held| SwitchingPrograms::new(model, held)),
        }
    }

    /// How many switching functions there are.
    pub fn functions(&self) -> usize {
        let switching = self.switching.as_ref();
        switching.map_or(0, |switching| switching.functions.results())
    }
}

impl SwitchingPrograms {
    fn new(model: &Model, held: &HeldModel) -> Self {
        Self {
            functions: Arc::new(held.function_program()),
            natural_f: Arc::new(model.derivative_program()),
            natural_g: Arc::new(model.output_program()),
            conditions: Arc::new(held.condition_program()),
            assignments: Arc::new(held.assignment_program()),
        }
    }
}
