//! The life of a worker process: it makes one system of a model, or carries out tasks.

use super::child_task::{ChildTask, Request, perform};
use super::own_part::OwnPart;
use super::texts::TEXTS;
use crate::bytes::from_bytes;
#[cfg(feature = "mpi")]
use crate::cost::CostTask;
use crate::fmu::child_experiments::{FreeTask, ProbeTask, ResetTask};
use crate::run::rehearsal::RehearsalTask;

/// The life of a worker process, which was started by a run with [`Placement::processes`](crate::Placement::processes).
pub fn serve_worker() -> std::io::Result<()> {
    dovetail_fmi::set_single_fmu_process();
    dovetail_workers::serve(TEXTS, dovetail_fmi::note_calls_in, OwnPart::open, carry_out)
}

/// Does what another process asks for.
fn carry_out(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let request: Request = from_bytes(bytes)?;
    match request.name.as_str() {
        ProbeTask::NAME => perform::<ProbeTask>(&request),
        ResetTask::NAME => perform::<ResetTask>(&request),
        FreeTask::NAME => perform::<FreeTask>(&request),
        #[cfg(feature = "mpi")]
        CostTask::NAME => perform::<CostTask>(&request),
        RehearsalTask::NAME => perform::<RehearsalTask>(&request),
        name => Err(format!("BUG: there is no task `{name}`")),
    }
}
