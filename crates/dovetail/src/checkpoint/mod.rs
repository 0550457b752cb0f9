//! Checkpoints: all that the rest of a run depends on.

mod fingerprint;
mod format;
mod plan;
mod run_checkpoint;

use dovetail_scenario::Session;

pub use fingerprint::fingerprint;
pub use plan::{CheckpointPlan, KeepCheckpoint};
pub use run_checkpoint::RunCheckpoint;

/// What a session was at one of its communication times: in memory, or as bytes that outlive the program.
///
/// A session that is restored goes on with the bits of one that never stopped, wherever that is possible: for equations, and for
/// FMUs whose restored state reproduces to the bit. What cannot be saved is an error that names it.
///
/// ```
/// # use std::sync::atomic::AtomicBool;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lotka-volterra/model.toml");
/// use dovetail::Checkpoint;
/// use dovetail::scenario::{Choices, RunOptions, Scenario};
///
/// let model = dovetail::Model::load(path)?;
/// let scenario = model.scenario();
/// // FMUs are told that states of the past may be restored.
/// let options = RunOptions { goes_back: true, ..scenario.options(&Choices::default())? };
/// let never = AtomicBool::new(false);
///
/// let mut session = scenario.session(&options)?;
/// session.proceed(5.0, &mut [], &never)?;
/// let checkpoint = Checkpoint::of(&mut session)?;
/// session.proceed(10.0, &mut [], &never)?;
/// checkpoint.restore(&mut session)?; // in the same session
/// assert_eq!(session.reached(), checkpoint.time());
///
/// let bytes = checkpoint.to_bytes(); // and in another one, of another program perhaps
/// let mut another = scenario.session(&options)?;
/// Checkpoint::from_bytes(&bytes)?.restore(&mut another)?;
/// another.proceed(10.0, &mut [], &never)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    time: f64,
    state: Vec<u8>,
}

/// Why a checkpoint cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It is something else.
    #[error("it is not a checkpoint")]
    Foreign,
    /// It ends too early.
    #[error("the checkpoint is truncated: it ends before its end")]
    Truncated,
    /// Its checksum is wrong.
    #[error("the checkpoint is damaged: its checksum is not that of its content")]
    Damaged,
    /// It has another format.
    #[error("the checkpoint has format {found}, and this program reads format {known}")]
    Format {
        /// Its format.
        found: u32,
        /// The one that can be read.
        known: u32,
    },
    /// Another version of the program has written it.
    #[error(
        "the checkpoint was written by version {found}, and this is version {known}: its numbers would not be those of a run that \
         never stopped"
    )]
    Program {
        /// Its version.
        found: String,
        /// This one.
        known: &'static str,
    },
}

impl Checkpoint {
    /// What the session is now.
    pub fn of(session: &mut Session<'_>) -> Result<Self, dovetail_core::Error> {
        Ok(Self {
            time: session.reached(),
            state: session.save()?,
        })
    }

    /// Makes the session, or another one of the same model under the same options, what it was. After an error it cannot be used
    /// any more.
    pub fn restore(&self, session: &mut Session<'_>) -> Result<(), dovetail_core::Error> {
        session.restore(&self.state)
    }

    /// The time that had been reached.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// As bytes, with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let time = self.time.to_bits().to_le_bytes();
        format::seal(&[&time[..], &self.state].concat())
    }

    /// From bytes; those of another version of the program, and any that are not whole, are refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let content = format::open(bytes)?;
        let (time, state) = content
            .split_first_chunk()
            .ok_or(CheckpointError::Truncated)?;
        Ok(Self {
            time: f64::from_bits(u64::from_le_bytes(*time)),
            state: state.to_vec(),
        })
    }
}
