//! What a child process can be asked to do, beside being the home of a system.

use std::time::Duration;

use dovetail_fmi::{Mishap, Observation};
use dovetail_workers::{Helper, Refusal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::laboratory::ProbeErrand;
use crate::rehearsal::{Rehearsal, RehearsalErrand};

/// Something to do in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Errand {
    /// An experiment with an FMU.
    Probe(Box<ProbeErrand>),
    /// The start of a run, on instances that are then thrown away.
    Rehearse(Box<RehearsalErrand>),
}

/// Has it done, within a time limit.
pub(crate) fn run<T: DeserializeOwned>(
    helper: &mut Helper,
    errand: &Errand,
    limit: Duration,
) -> Result<T, Refusal> {
    let answer = helper.run(&to_bytes(errand), limit)?;
    from_bytes(&answer).map_err(Refusal::Said)
}

/// Does what another process asks for.
pub(crate) fn carry_out(bytes: &[u8]) -> Result<Vec<u8>, String> {
    match from_bytes(bytes)? {
        Errand::Probe(errand) => {
            let done: Result<Observation, Mishap> = errand.carry_out();
            Ok(to_bytes(&done))
        }
        Errand::Rehearse(errand) => {
            let done: Result<Rehearsal, String> = errand.carry_out();
            Ok(to_bytes(&done))
        }
    }
}

/// Both sides are the same build: what cannot be written or read is a mistake of ours.
pub(crate) fn to_bytes<T: Serialize>(item: &T) -> Vec<u8> {
    postcard::to_allocvec(item).expect("BUG: what is sent to another process can be written")
}

pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes)
        .map_err(|error| format!("BUG: what another process sent cannot be read: {error}"))
}
