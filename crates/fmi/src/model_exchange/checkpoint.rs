//! A Model Exchange FMU in a checkpoint: the states that we hold, and the FMU's own state where it has any beside them.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::{ExchangePhase, ModelExchange, MotionState};
use crate::call_error::CallError;
use crate::instance::Instance;

impl<I: Instance> ModelExchange<I> {
    /// What the FMU itself remembers, as bytes.
    fn serialize(&mut self) -> Result<Vec<u8>, CallError> {
        self.instance.save()?;
        self.instance.serialize()
    }

    fn deserialize(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        self.instance.deserialize(bytes)?;
        self.instance.restore()
    }

    fn visit_fmu(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let time = self.now.time;
        let mut bytes = Vec::new();
        if !archive.restores() {
            let serialized = self.serialize();
            bytes = self.report(time, serialized)?;
        }
        archive.field(&mut bytes)?;
        if archive.restores() {
            let restored = self.deserialize(&bytes);
            self.report(time, restored)?;
        }
        Ok(())
    }
}

impl<I: Instance> Checkpoint for ModelExchange<I> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        if self.phase != ExchangePhase::Running {
            let system = &self.interface.name;
            let reason = format!("`{system}` has not left its initialization");
            return Err(Error::Checkpoint(reason));
        }
        if self.abilities.serializes {
            self.visit_fmu(archive)?;
        }

        visit_fields!(archive, self.start, self.stride, self.next_event);
        visit_fields!(archive, self.event_effect, self.at_event, self.near_now);
        visit_fields!(archive, self.crossed, self.ends);
        archive.slice(&mut self.sizes)?;
        archive.slice(&mut self.discrete)?;
        archive.slice(&mut self.sides)?;
        archive.slice(&mut self.flow.positive)?;
        archive.slice(&mut self.flow.slack)?;
        if archive.restores() {
            self.tried.step = None;
        }
        self.now.visit(archive)?;

        self.end.visit(archive)
    }
}

impl Checkpoint for MotionState {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.time, self.events);
        visit_fields!(archive, self.hint.stiff, self.hint.step);
        archive.slice(&mut self.values)?;

        self.inputs.visit(archive)
    }
}
