//! Steps in a batch: what a plain FMU offers to whoever steps many of them at once, and what becomes of a step that the batch
//! could not simply do.

use std::sync::atomic::Ordering;

use dovetail_core::{
    Batch, Error, HeldLayout, HeldSteps, MacroStep, PlannedSystem, Response, Signal, StepsSince,
};

use super::{CoSimulation, Phase, Position};
use crate::abilities::InputMode;
use crate::batch::FmuBatch;
use crate::call_error::CallError;
use crate::instance::{Instance, StepRequest};

impl<I: Instance> CoSimulation<I> {
    /// Whether nothing is in force or under way that a plain step would have to take care of.
    fn stands_plainly(&self) -> bool {
        let steady = matches!(self.abilities.inputs, InputMode::Held) || !self.polynomial;
        self.phase == Phase::Stepping && !self.is_rolled_back() && !self.over && steady
    }

    /// Whether calls may be made without looking at each of them.
    fn is_trusted(&self) -> bool {
        let journal = self.instance.journal();
        journal.log.is_none() && !journal.disturbs.load(Ordering::Relaxed)
    }

    /// The batch has discarded the step: back to where the leg began, and from there to where the step begins.
    fn repeat_leg(&mut self, since: &StepsSince<'_>) -> Result<(), CallError> {
        let mut steps = since.iter().peekable();
        if steps.peek().is_none() {
            return Ok(()); // what is saved is the state of now
        }

        self.instance.restore()?;
        let mut same = true;
        for (step, inputs, values) in steps {
            let request = StepRequest {
                step,
                final_step: true,
                input_references: &self.layout.smooth_inputs,
                input_values: inputs,
                output_references: &self.layout.read,
            };
            let ended = self.instance.step(&request, &mut self.buffers.read)?;
            if ended.discarded {
                return Err(self.discard("fmi2DoStep"));
            }
            same &= is_same(&self.buffers.read, values);
        }
        self.instance.save()?;

        if !same {
            let monitor = &self.instance.journal().monitor;
            monitor.note(|notes| notes.unlike_repeats += 1);
        }
        Ok(())
    }

    /// What became of a step that the batch could not simply do; whether it is done now.
    fn is_settled(
        &mut self,
        batch: &mut FmuBatch,
        member: usize,
        since: &StepsSince<'_>,
        step: MacroStep,
    ) -> bool {
        let unfinished = batch.unfinished(member);
        if let Some(error) = self.instance.save_failure(unfinished.answer) {
            self.fast_path.trouble = Some(error);
            return false;
        }
        if self.saves_for_discards() {
            self.position = Position::Saved;
        }
        self.fast_path.take_over(unfinished, since.under_way());
        if self.was_done_after_all(step) {
            return true;
        }

        if self.fast_path.discarded.is_some() && self.is_saved() {
            batch.save_each_step(member);
            if let Err(error) = self.repeat_leg(since) {
                self.fast_path.trouble = Some(error);
            }
        }
        false
    }
}

/// Also equal where both are not numbers.
fn is_same(one: &[f64], other: &[f64]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| one.to_bits() == other.to_bits())
}

impl<I: Instance> HeldSteps for CoSimulation<I> {
    fn layout(&self) -> HeldLayout {
        let mut layout = HeldLayout {
            inputs: self.layout.smooth_input_positions.len(),
            values: self.layout.read_values,
            outputs: vec![0; self.interface.outputs.len()],
            states: vec![0; self.interface.states.len()],
        };
        for &(place, position) in &self.layout.read_output {
            layout.outputs[position] = place;
        }
        for &(place, position) in &self.layout.read_state {
            layout.states[position] = place;
        }
        layout
    }

    fn is_ready(&mut self) -> bool {
        let ready = self.fast_path.is_complete() && self.stands_plainly() && self.is_trusted();
        if ready && self.abilities.inputs == InputMode::Intermediate {
            self.follow_nothing();
        }
        ready
    }

    fn join(&mut self, batch: &mut Option<Box<dyn Batch>>, place: &PlannedSystem) -> bool {
        let saves = self.saves_for_discards();
        let Some(member) = self.instance.member(&self.layout, saves) else {
            return false;
        };
        let batch = batch.get_or_insert_with(|| Box::new(FmuBatch::default()));
        let Some(batch) = batch.as_any().downcast_mut::<FmuBatch>() else {
            return false;
        };
        batch.add(member, place);
        true
    }

    fn settle(
        &mut self,
        batch: &mut dyn Batch,
        member: usize,
        since: &StepsSince<'_>,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let batch = batch.as_any().downcast_mut();
        let batch = batch.expect("BUG: a batch of another kind");
        self.instance.begin_sample();
        if self.is_settled(batch, member, since, step)
            && self.finish_prepared(step, inputs, response)
        {
            return Ok(());
        }
        self.advance_with_care(step, inputs, response)
    }

    fn moved(&mut self, step: MacroStep, inputs: &[f64]) {
        self.now = step.end;
        self.position = Position::AtNow;
        self.past.stepped = true;
        if self.abilities.linearizes {
            self.applied.note_held(inputs);
        }
    }
}
