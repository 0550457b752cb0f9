//! Where systems live.

use crate::checkpoint::Archive;
use crate::error::Error;
use crate::flat::FlatWorkers;
use crate::interface::Interface;
use crate::operators::OperatorTask;
use crate::system::{Capabilities, System};
use crate::task::{EvaluateTask, LinearizeTask, Response, Task};

/// Systems, wherever they run. A method sees systems through this trait alone and cannot tell a thread from a remote rank.
pub trait Workers {
    /// The systems' interfaces, in order.
    fn interfaces(&self) -> &[Interface];

    /// What the systems can do, in order.
    fn capabilities(&self) -> &[Capabilities];

    /// Every system whose task is due leaves its initialization and answers what it then is, see [`System::begin`].
    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error>;

    /// Every due task is carried out and its system stays at the end of its step.
    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error>;

    /// Every due task is tried; no system moves.
    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error>;

    /// Every system whose task is due is linearized where it stands.
    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error>;

    /// Every system whose task is due says what its derivatives and outputs are elsewhere; no system moves.
    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error>;

    /// The operators that are asked for are computed, each where its system lives.
    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error>;

    /// Capability: steps under held inputs, as rows of plain numbers.
    fn flat(&mut self) -> Option<&mut dyn FlatWorkers> {
        None
    }

    /// What every system is, and what it has done so far, is written down or read back.
    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error>;

    /// What each system has done so far.
    fn work(&self) -> &[Work];

    /// Where the systems are and why, where the workers have chosen that themselves.
    fn choice(&self) -> Option<String> {
        None
    }
}

/// What a system has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// Integrations over a macro-step, taken or tried; one whose answer was kept from a trial does not count.
    pub integrations: u64,
    /// Trials among them.
    pub trials: u64,
    /// Linearizations.
    pub linearizations: u64,
    /// Time spent in the system. Light steps are sampled.
    pub seconds: f64,
}

impl Work {
    /// Counts a step that was taken and answered so.
    #[inline]
    pub fn count_advance(&mut self, instant: bool, response: &Response) {
        self.integrations += u64::from(!instant && !response.reused);
        self.linearizations += u64::from(response.linearized);
    }

    /// Counts a trial that was answered so.
    pub fn count_trial(&mut self, response: &Response) {
        self.integrations += u64::from(!response.estimated);
        self.trials += u64::from(!response.estimated);
        self.linearizations += u64::from(response.linearized);
    }
}

/// Writes down what a system is, or reads it back.
pub fn visit_system(system: &mut dyn System, archive: &mut Archive) -> Result<(), Error> {
    let name = system.interface().name.clone();
    archive.same("the name of a system", &name)?;

    match system.checkpoint() {
        Some(state) => state.visit(archive),
        None => Err(Error::Checkpoint(format!(
            "the state of `{name}` can be neither saved nor restored"
        ))),
    }
}
