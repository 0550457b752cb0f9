//! Checkpoints that a run writes on its way.

use dovetail_core::{Archive, Checkpoint, Error, Notice, readable};
use dovetail_scenario::Session;

use super::recorders::Recorders;
use crate::checkpoint::{CheckpointPlan, RunCheckpoint};

/// The checkpoints of a run so far.
#[derive(Default)]
pub(super) struct Written {
    /// The time of the last one.
    pub time: Option<f64>,
    /// Why one could not be written, the first time.
    pub failure: Option<Notice>,
}

impl Written {
    /// Writes the checkpoint of now. A run does not end because it cannot be written.
    pub fn add(
        &mut self,
        plan: &mut CheckpointPlan<'_>,
        session: &mut Session<'_>,
        recorders: &mut Recorders<'_>,
    ) {
        let time = session.reached();
        let taken = take(plan, session, recorders).map_err(|error| error.to_string());
        let kept = taken.and_then(|it| (plan.keep)(&it).map_err(|error| error.to_string()));
        match kept {
            Ok(()) => self.time = Some(time),
            Err(why) => {
                let time = readable(time);
                let warning = format!("the checkpoint of t = {time} s could not be written: {why}");
                self.failure.get_or_insert(warning.into());
            }
        }
    }
}

fn take(
    plan: &CheckpointPlan<'_>,
    session: &mut Session<'_>,
    recorders: &mut Recorders<'_>,
) -> Result<RunCheckpoint, Error> {
    let mut archive = Archive::writer();
    recorders.visit(&mut archive)?;
    let rows = recorders.track.as_ref().map(|track| track.times().clone());

    Ok(RunCheckpoint {
        about: plan.about.clone(),
        time: session.reached(),
        step: session.step(),
        rows: rows.unwrap_or_default(),
        session: session.save()?,
        recorders: archive.into_bytes(),
    })
}
