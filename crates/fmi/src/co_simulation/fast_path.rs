//! Steps of plain units, which are set, step and get and nothing else.

use dovetail_core::{Knot, MacroStep, Response, Signal, StepRule};

use super::{CoSimulation, Phase};
use crate::abilities::{Abilities, InputWay, Slopes};
use crate::calls::Status;
use crate::description::Version;
use crate::instance::Instance;
use crate::layout::Layout;

/// Whether a step is set, step and get, and no more.
pub(super) fn is_plain(abilities: &Abilities, layout: &Layout) -> bool {
    let simple_values = layout.other_inputs.is_empty() && layout.other_outputs.is_empty();
    let simple_steps = abilities.step == StepRule::Free && abilities.sub_steps == 1;
    let no_events = !abilities.event_mode && !abilities.returns_early;
    simple_values && simple_steps && no_events
}

impl<I: Instance> CoSimulation<I> {
    /// A step of a plain unit: set, step, get, and nothing else. Whether it was done; otherwise nothing has moved, or there is
    /// trouble.
    #[inline]
    pub(super) fn fast_step(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> bool {
        // The question comes first and decides for every step whether it is timed.
        let quick = self.instance.allows_fast_step();
        if self.prepared_step.is_none()
            || !quick
            || self.phase != Phase::Stepping
            || self.rolls_back
            || self.displaced
        {
            return false;
        }
        if self.needs_preparation && !self.prepare_fast_step(inputs) {
            return false;
        }
        let Some(prepared) = self.prepared_step.as_mut() else {
            return false;
        };
        // All inputs are continuous and in order: a plain unit has no others.
        for (value, signal) in prepared.inputs().iter_mut().zip(inputs) {
            *value = signal.value(0.0);
        }
        if (!self.instance.fast_step(prepared, step) || prepared.terminates())
            && !self.was_done_after_all(step)
        {
            return false;
        }
        let Some(prepared) = self.prepared_step.as_ref() else {
            return false;
        };
        let read = prepared.outputs();
        for &(place, position) in &self.layout.read_output {
            response.outputs[position] = Knot::value_only(read[place]);
        }
        for &(place, position) in &self.layout.read_state {
            response.states[position] = read[place];
        }
        (response.reached, response.next_event, self.now) = (step.end, f64::INFINITY, step.end);
        (self.saved, self.stepped) = (false, true);
        if let Some(reached) = self.ended.take() {
            (response.reached, response.ends, self.now, self.over) = (reached, true, reached, true);
        }
        !self.remembers || self.finish(step, inputs, response)
    }

    /// A unit that follows inputs gets constants as such; one of 2.0 that can be restored is saved, so that a discarded step can be
    /// repeated in parts.
    #[inline(never)]
    pub(super) fn prepare_fast_step(&mut self, inputs: &[Signal]) -> bool {
        match self.abilities.inputs {
            InputWay::Held => {}
            _ if self.polynomial || inputs.iter().any(|signal| signal.degree() > 0) => {
                return false;
            }
            InputWay::Derivatives(_) => {}
            InputWay::Intermediate => self.follow_nothing(),
        }
        if self.abilities.rollback && self.version == Version::Two {
            self.trouble = self.save().err();
        }
        self.trouble.is_none()
    }

    /// Whether a prepared step took its time and is done now; otherwise notes the trouble, if there is any. A discarded step of 3.0
    /// is none: nothing has moved.
    #[cold]
    #[inline(never)]
    pub(super) fn was_done_after_all(&mut self, step: MacroStep) -> bool {
        let Some(prepared) = self.prepared_step.as_mut() else {
            return false;
        };
        let terminates = prepared.terminates();
        self.trouble = match self.instance.settle_fast_step(prepared) {
            Err(error) => Some(error),
            Ok(Status::Fine) => {
                self.ended = terminates.then(|| prepared.last().clamp(step.start, step.end));
                return true;
            }
            Ok(_) if self.ends_at_discard() => return self.trouble.is_none(),
            Ok(_) if self.version == Version::Two && !self.saved => {
                Some(self.discard("fmi2DoStep"))
            }
            // What is saved is restored before the step is taken with more care.
            Ok(_) => {
                self.displaced = self.saved;
                None
            }
        };
        false
    }

    /// Slopes, and the inputs where someone may linearise.
    #[inline(never)]
    pub(super) fn finish(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> bool {
        self.remember_end(step, inputs);
        if response.derivatives() > 0 && self.abilities.slopes != Slopes::Unknown {
            self.trouble = self.take_slopes(step.size(), inputs, response).err();
        }
        self.trouble.is_none()
    }

    /// Whether a step was discarded because the unit asks for the end of the run (2.0); it is then read where it stands.
    #[cold]
    fn ends_at_discard(&mut self) -> bool {
        let Some(last) = self.instance.end_of_run() else {
            return false;
        };
        let Some(prepared) = self.prepared_step.as_mut() else {
            return false;
        };
        let (references, values) = prepared.reading();
        self.trouble = self.instance.get_floats(references, values).err();
        self.ended = Some(last);
        true
    }
}
