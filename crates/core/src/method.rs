//! Coupling methods, as the time loop sees them.

use crate::checkpoint::{Archive, Checkpoint};
use crate::error::Error;
use crate::macro_step::{GridCursor, MacroStep};
use crate::past::Past;
use crate::remedy::Notice;
use crate::task::Task;
use crate::workers::Workers;

/// A coupling method. It supplies one attempt at a step; the time loop is the orchestrator's.
pub trait Method {
    /// Its name, as users write it.
    fn name(&self) -> &'static str;

    /// How many derivatives of the outputs it asks for, from the start of the run on.
    fn derivatives(&self) -> usize {
        0
    }

    /// Whether it asks the past for more than the newest outputs. What nobody looks at is not kept.
    fn looks_back(&self) -> bool {
        true
    }

    /// Names of what the method tells about itself with every step: `$iterations`, `left.$order`.
    fn signals(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the user should know: substitutes that were used for what systems lack.
    fn warnings(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// What may interest the user when the run is over: which variable was the hardest, say.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the method knows of the quality of the run so far.
    fn quality(&self) -> MethodQuality {
        MethodQuality::default()
    }

    /// Another method that should be used from here on, if the method itself finds so.
    fn advice(&self) -> Option<Advice> {
        None
    }

    /// Capability: all that its further attempts depend on can be written down and read back.
    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        None
    }

    /// Capability: an attempt is a step of a grid under the newest outputs, held, and nothing else.
    fn holds_inputs(&mut self) -> Option<HeldInputs<'_>> {
        None
    }

    /// Tries to move on from where the past ends.
    fn attempt(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<Outcome<'_>, Error>;
}

/// How a method steps that holds all inputs.
pub struct HeldInputs<'a> {
    /// Its steps, one after the other.
    pub cursor: &'a mut GridCursor,
    /// Where systems step one after the other, each under the newest outputs of those before it: in which order.
    pub order: Option<&'a [usize]>,
}

/// Writes down what a method has found out, or reads it back.
pub fn visit_method(method: &mut dyn Method, archive: &mut Archive) -> Result<(), Error> {
    let name = method.name();
    match method.checkpoint() {
        Some(state) => state.visit(archive),
        None => Err(Error::Checkpoint(format!(
            "what {name} has found out so far can be neither saved nor restored"
        ))),
    }
}

/// Another method that should be used.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Advice {
    /// Its name.
    pub method: String,
    /// Why.
    pub reason: String,
}

/// What a method knows of how good its result is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodQuality {
    /// For each output (`system.name`) that the method predicts: the largest distance from what was then integrated.
    pub discrepancy: Vec<(String, f64)>,
    /// What did not have to be computed anew.
    pub kept: Option<Kept>,
    /// Steps that were given up, where the method looks at them before it integrates.
    pub refused: Option<Refused>,
    /// For each variable (`system.name`) an estimate of its global error, absolute, where the method has one.
    pub estimated_error: Option<Vec<(String, EstimatedError)>>,
    /// The largest local error of an input, relative to its range, where the method knows that.
    pub interface_error: Option<f64>,
    /// The shortest and the longest step, where the method chose them.
    pub step_sizes: Option<(f64, f64)>,
}

/// An estimate of the global error of a variable, absolute.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EstimatedError {
    /// At the end of the run.
    pub end: f64,
    /// The largest of the run.
    pub max: f64,
}

/// Steps that were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Before they were integrated.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// What could be kept from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Linearizations, of single systems, whose operators still held.
    pub linearizations: u64,
    /// Factorizations of the global matrix.
    pub factorizations: u64,
}

/// How an attempt ended.
pub enum Outcome<'a> {
    /// Systems have moved.
    Accepted(Exchange<'a>),
    /// No system has moved; the method will try something else.
    Rejected(MacroStep),
    /// No system can come nearer to the end: those that impose their steps stand on their last grid times before it.
    Finished,
}

/// What an accepted attempt did.
#[derive(Clone, Copy)]
pub struct Exchange<'a> {
    /// The tasks carried out (those that are due), with the inputs used and the answers.
    pub tasks: &'a [Task],
    /// Where an event at the end of the step was crossed, `tasks` hold the values after it, and these the values before; otherwise empty.
    pub before: &'a [Task],
    /// Iterations of the method's solver.
    pub iterations: u64,
    /// What the method tells of this step, in the order of [`Method::signals`].
    pub signals: &'a [f64],
}
