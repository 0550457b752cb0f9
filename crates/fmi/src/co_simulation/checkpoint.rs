//! A Co-Simulation FMU in a checkpoint: its own state as bytes, and what we keep beside it.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::{CoSimulation, Phase, Position};
use crate::call_error::CallError;
use crate::instance::Instance;

impl<I: Instance> CoSimulation<I> {
    /// The state of `now`, of an instance that is left as it is.
    fn serialize(&mut self) -> Result<Vec<u8>, CallError> {
        if !self.is_saved() {
            self.instance.save()?;
        }
        self.instance.serialize()
    }

    /// Into a state that this or another instance of the same FMU has had.
    fn deserialize(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        self.instance.deserialize(bytes)?;
        self.instance.restore()?;
        self.position = Position::AtNow;
        self.tried.step = None;
        Ok(())
    }
}

impl<I: Instance> Checkpoint for CoSimulation<I> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        if self.phase != Phase::Stepping {
            let system = &self.interface.name;
            let reason = format!("`{system}` has not left its initialization");
            return Err(Error::Checkpoint(reason));
        }

        let mut bytes = Vec::new();
        if !archive.restores() {
            let serialized = self.serialize();
            bytes = self.report(self.now, serialized)?;
        }
        archive.field(&mut bytes)?;
        if archive.restores() {
            let restored = self.deserialize(&bytes);
            self.report(self.now, restored)?;
        }

        visit_fields!(archive, self.now, self.rolls_back, self.polynomial);
        visit_fields!(archive, self.crossed, self.at_event, self.over);
        visit_fields!(archive, self.events, self.past, self.fast_path.discarded);
        self.applied.visit(archive)
    }
}
