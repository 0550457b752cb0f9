//! What the rest of a run depends on.
//!
//! Matrices that follow from the linearizations are not written down: they are computed anew, with
//! the same result.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::{NAME, Predictive};

impl Checkpoint for Predictive<'_> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("the method", &NAME.to_owned())?;
        visit_fields!(archive, self.begun, self.advice, self.counts);
        visit_fields!(archive, self.step_state, self.errors.knowledge);
        visit_fields!(archive, self.memory, self.errors.local, self.scales);
        visit_fields!(archive, self.predictions, self.ends);
        archive.slice(&mut self.present)?;
        archive.slice(&mut self.errors.unseen.last)?;
        self.coupling.visit(archive)?;
        self.interface_system.visit(archive)?;
        self.look_ahead.visit(archive)?;
        self.errors.global.visit(archive)?;

        self.steps.visit(archive)
    }
}
