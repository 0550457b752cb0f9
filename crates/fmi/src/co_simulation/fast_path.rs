//! The fast path: steps of plain FMUs, which are set, step and get and nothing else.

use dovetail_core::{Knot, MacroStep, Response, Signal, StepRule};

use super::{CoSimulation, Phase, Position};
use crate::abilities::{FmuCapabilities, InputMode, OutputSlopes};
use crate::batch::UnfinishedStep;
use crate::call_error::CallError;
use crate::calls::Status;
use crate::description::Version;
use crate::instance::Instance;
use crate::layout::Layout;
use crate::prepared_step::PreparedStep;

use std::sync::Arc;

/// What fast steps need. Their failures are kept here: returning them would cost more than the
/// step.
pub(super) struct FastSteps {
    /// Of an FMU that needs nothing but set, step and get: its steps, prepared.
    prepared: Option<PreparedStep>,
    /// Before a prepared step something is to be saved or made sure of.
    needs_preparation: bool,
    /// Someone may ask for slopes or a linearization after a step.
    remembers: bool,
    /// Why a prepared step failed.
    pub trouble: Option<CallError>,
    /// Where a prepared step has ended because the FMU asks for the end of the run.
    ended: Option<f64>,
    /// A prepared step was discarded, and done up to this time: it need not be tried again as a whole.
    pub discarded: Option<f64>,
}

impl FastSteps {
    pub fn new(
        instance: &impl Instance,
        layout: &Arc<Layout>,
        abilities: &FmuCapabilities,
        version: Version,
        goes_back: bool,
    ) -> Self {
        let plain = is_plain(abilities, layout) && !goes_back;
        let saves = abilities.rollback && version == Version::Two;
        let has_slopes = abilities.slopes != OutputSlopes::Unknown;

        Self {
            prepared: plain.then(|| instance.prepare_step(layout)),
            needs_preparation: abilities.inputs != InputMode::Held || saves,
            remembers: abilities.linearizes || abilities.event_mode || has_slopes,
            trouble: None,
            ended: None,
            discarded: None,
        }
    }

    /// Whether steps are prepared, and the FMU has all that they call.
    pub fn is_complete(&self) -> bool {
        self.prepared.as_ref().is_some_and(|step| step.complete)
    }

    /// A batch has come so far with a step, and has read these numbers.
    pub fn take_over(&mut self, step: UnfinishedStep, read: &[f64]) {
        if let Some(prepared) = &mut self.prepared {
            prepared.take_over(step, read);
        }
    }

    fn has_no_trouble(&self) -> bool {
        self.trouble.is_none()
    }
}

/// Whether a step is set, step and get, and no more.
fn is_plain(abilities: &FmuCapabilities, layout: &Layout) -> bool {
    let simple_steps = abilities.step == StepRule::Free && abilities.sub_steps == 1;
    let no_events = !abilities.event_mode && !abilities.returns_early;
    layout.has_only_floats() && simple_steps && no_events
}

impl<I: Instance> CoSimulation<I> {
    /// A step of a plain FMU: set, step, get, and nothing else. Whether it was done; otherwise
    /// nothing has moved, or there is trouble.
    #[inline]
    pub(super) fn fast_step(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> bool {
        // The question comes first and decides for every step whether it is timed.
        let allowed = self.instance.allows_fast_step();
        if !allowed || self.phase != Phase::Stepping || self.is_rolled_back() {
            return false;
        }

        if self.fast_path.prepared.is_none()
            || self.fast_path.needs_preparation && !self.prepare_fast_step(inputs)
        {
            return false;
        }
        if !self.take_prepared(step, inputs) && !self.was_done_after_all(step) {
            return false;
        }

        self.finish_prepared(step, inputs, response)
    }

    /// Answers what the prepared step has come to; whether that succeeded.
    #[inline]
    pub(super) fn finish_prepared(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> bool {
        self.answer_fast_step(step, response);
        !self.fast_path.remembers || self.finish_fast_step(step, inputs, response)
    }

    /// Whether steps begin with a restored state.
    #[inline]
    pub(super) fn is_rolled_back(&self) -> bool {
        self.rolls_back || self.position == Position::Displaced
    }

    /// Whether the prepared step was simply done.
    #[inline]
    fn take_prepared(&mut self, step: MacroStep, inputs: &[Signal]) -> bool {
        let Some(prepared) = self.fast_path.prepared.as_mut() else {
            return false;
        };
        // All inputs are continuous and in order: a plain FMU has no others.
        for (value, signal) in prepared.inputs().iter_mut().zip(inputs) {
            *value = signal.value(0.0);
        }
        self.instance.fast_step(prepared, step) && !prepared.terminates()
    }

    #[inline]
    fn answer_fast_step(&mut self, step: MacroStep, response: &mut Response) {
        let Some(prepared) = self.fast_path.prepared.as_ref() else {
            return;
        };
        for (position, value) in self.layout.outputs_of(prepared.outputs()) {
            response.outputs[position] = Knot::value_only(value);
        }

        for (position, value) in self.layout.states_of(prepared.outputs()) {
            response.states[position] = value;
        }

        response.reached = step.end;
        response.next_event = f64::INFINITY;
        self.now = step.end;
        self.position = Position::AtNow;
        self.past.stepped = true;

        if let Some(reached) = self.fast_path.ended.take() {
            response.reached = reached;
            response.ends = true;
            self.now = reached;
            self.over = true;
        }
    }

    /// An FMU that follows inputs gets constants as such; one of 2.0 that can be restored is saved,
    /// so that a discarded step can be repeated in parts.
    #[inline(never)]
    fn prepare_fast_step(&mut self, inputs: &[Signal]) -> bool {
        match self.abilities.inputs {
            InputMode::Held => {}
            _ if self.polynomial || inputs.iter().any(|signal| signal.degree() > 0) => {
                return false;
            }
            InputMode::Derivatives(_) => {}
            InputMode::Intermediate => self.follow_nothing(),
        }

        if self.saves_for_discards() {
            self.fast_path.trouble = self.save().err();
        }
        self.fast_path.has_no_trouble()
    }

    /// Whether a prepared step took its time and is done now; otherwise notes the trouble, if there
    /// is any. A discarded step of 3.0 is none.
    #[cold]
    #[inline(never)]
    pub(super) fn was_done_after_all(&mut self, step: MacroStep) -> bool {
        let Some(prepared) = self.fast_path.prepared.as_mut() else {
            return false;
        };
        match self.instance.settle_fast_step(prepared) {
            Err(error) => {
                self.fast_path.trouble = Some(error);
                false
            }
            Ok(Status::Fine) => {
                let last = prepared.last().clamp(step.start, step.end);
                self.fast_path.ended = prepared.terminates().then_some(last);
                true
            }
            Ok(_) => self.ends_at_discard(step),
        }
    }

    /// Whether a step was discarded because the FMU asks for the end of the run (2.0); it is then
    /// read where it stands.
    #[cold]
    fn ends_at_discard(&mut self, step: MacroStep) -> bool {
        let Some(last) = self.instance.end_of_run() else {
            self.note_discard(step);
            return false;
        };
        if let Some(prepared) = self.fast_path.prepared.as_mut() {
            let (references, values) = prepared.reading();
            self.fast_path.trouble = self.instance.get_floats(references, values).err();
            self.fast_path.ended = Some(last);
        }
        self.fast_path.has_no_trouble()
    }

    /// The step is then taken with more care, in parts; not again as a whole, so that what an FMU
    /// makes of it does not depend on which steps are timed.
    fn note_discard(&mut self, step: MacroStep) {
        if self.version == Version::Two && !self.is_saved() {
            self.fast_path.trouble = Some(self.discard("fmi2DoStep"));
        } else {
            self.fast_path.discarded = Some(self.instance.discarded_at(step));
        }
    }

    /// Slopes, and the inputs where someone may linearize.
    #[inline(never)]
    fn finish_fast_step(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> bool {
        self.remember_end(step, inputs);
        if response.derivatives() > 0 && self.abilities.slopes != OutputSlopes::Unknown {
            self.fast_path.trouble = self.take_slopes(step.size(), inputs, response).err();
        }
        self.fast_path.has_no_trouble()
    }
}
