//! Events of a Model Exchange FMU: when they are due, and what they change.

use dovetail_core::Signal;
use dovetail_numerics::Hint;

use super::ModelExchange;
use crate::applied_inputs::{discrete_input_changes, take_values};
use crate::call_error::CallError;
use crate::exchange::set_other_inputs;
use crate::instance::Instance;

impl<I: Instance> ModelExchange<I> {
    /// Notes the signs of the indicators at `end`, under these inputs or those held.
    pub(super) fn note_signs(
        &mut self,
        start: f64,
        elapsed: f64,
        inputs: Option<&[Signal]>,
    ) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let held = std::mem::take(&mut self.buffers.held);
        let noted = self
            .flow(start, inputs.unwrap_or(&held), false)
            .note_signs(elapsed, &state);
        self.end.values = state;
        self.buffers.held = held;

        noted
    }

    /// Whether the inputs of a step that begins at `now` have moved an indicator over zero.
    pub(super) fn sign_changes(
        &mut self,
        start: f64,
        inputs: &[Signal],
    ) -> Result<bool, CallError> {
        let state = std::mem::take(&mut self.now.values);
        let changed = self.flow(start, inputs, false).sign_changed(0.0, &state);
        self.now.values = state;
        changed
    }

    /// In event mode: discrete states until nothing changes, then back to continuous time. The
    /// states may jump, and the FMU may ask for the end of the run.
    pub(super) fn settle(&mut self, first: bool) -> Result<(), CallError> {
        let discrete = self.instance.update_discrete_states()?;
        self.ends |= discrete.terminate;
        self.instance.leave_event_mode()?;

        if (first || discrete.states_changed) && !self.end.values.is_empty() {
            self.instance.get_states(&mut self.end.values)?;
            if first {
                self.now.values.copy_from_slice(&self.end.values);
            }
        }

        self.next_event = discrete.next_event;
        self.event_pending = false;
        Ok(())
    }

    /// Handles an event at `end`, under the inputs as they are after `elapsed`.
    pub(super) fn handle_event(
        &mut self,
        start: f64,
        elapsed: f64,
        inputs: &[Signal],
    ) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let placed = self.flow(start, inputs, false).place(elapsed, &state);
        self.end.values = state;
        placed?;

        if self.completes && elapsed > 0.0 {
            // an event is what comes next in any case
            self.ends |= self.instance.completed_step()?.terminate;
        }

        self.instance.enter_event_mode()?;
        self.set_discrete(inputs, elapsed)?;
        self.settle(false)?;
        self.note_signs(start, elapsed, Some(inputs))?;
        self.end.hint = Hint::default();
        self.instance
            .journal()
            .monitor
            .note(|notes| notes.events += 1);
        Ok(())
    }

    /// Sets the inputs that are not double-precision numbers; event mode only.
    pub(super) fn set_discrete(
        &mut self,
        inputs: &[Signal],
        elapsed: f64,
    ) -> Result<(), CallError> {
        let others = &mut self.buffers.others;
        set_other_inputs(&mut self.instance, &self.layout, others, |position| {
            inputs[position].value(elapsed)
        })?;
        take_values(&mut self.discrete, inputs, elapsed);
        Ok(())
    }

    pub(super) fn discrete_input_changes(&self, inputs: &[Signal]) -> bool {
        discrete_input_changes(&self.interface.inputs, &self.discrete, inputs, 0.0)
    }

    /// At the start of a step: an event that is due, or a discrete input with a new value. Whatever
    /// step is then taken, it starts from there, so that this is no trace of a trial.
    pub(super) fn enter_step(&mut self, start: f64, inputs: &[Signal]) -> Result<(), CallError> {
        let due =
            self.event_pending || self.next_event <= start || self.discrete_input_changes(inputs);
        if due || self.sign_changes(start, inputs)? {
            self.end.values.copy_from_slice(&self.now.values);
            self.end.hint = self.now.hint;
            self.handle_event(start, 0.0, inputs)?;
            self.now.values.copy_from_slice(&self.end.values);
            self.now.hint = self.end.hint;
        }
        Ok(())
    }
}
