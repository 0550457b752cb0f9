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
        visit_fields!(archive, self.step_state, self.error_knowledge);
        visit_fields!(archive, self.memory, self.rates, self.local_error);
        visit_fields!(archive, self.outputs, self.states, self.predictions);
        visit_fields!(archive, self.ends, self.from_rest);
        archive.slice(&mut self.present)?;
        self.coupling.visit(archive)?;
        self.interface_system.visit(archive)?;
        self.look_ahead.visit(archive)?;
        archive.parts(self.global_error.as_mut_slice())?;
        self.steps.visit(archive)
    }
}
