//! What the rest of a run depends on.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::{F3ornits, NAME};

impl Checkpoint for F3ornits<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_fields!(archive, self.jumps, self.divergence, self.chatter);
        self.scheduler.visit(archive)?;
        archive.parts(&mut self.cycles)?;
        self.inputs.visit(archive)?;
        archive.slice(&mut self.states)?;
        archive.slice(&mut self.tasks)?;
        archive.slice(&mut self.steps)?;
        archive.slice(&mut self.standings)?;
        archive.slice(&mut self.events)?;
        archive.slice(&mut self.before_event)?;
        // Those of a system stay until its next step.
        archive.slice(&mut self.signals)
    }
}
