//! Events of a Model Exchange FMU: where the end of a step is at one, or near.

use dovetail_core::{MacroStep, Signal};

use super::ModelExchange;
use super::crossing::EventPlace;
use crate::applied_inputs::{discrete_input_changes, take_values};
use crate::call_error::CallError;
use crate::exchange::set_other_inputs;
use crate::instance::Instance;

/// An event within this part of a step of its end is an event at its end.
const NEAR_THE_END: f64 = 1e-9;
/// One within this part beyond its end is announced.
const ANNOUNCED: f64 = 0.01;
/// What is within so many spacings of the clock is at the same time.
const CLOCK_SPACINGS: f64 = 16.0;

impl<I: Instance> ModelExchange<I> {
    /// Notes the signs of the indicators at `end` under the inputs held.
    pub(super) fn note_signs(&mut self, start: f64) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let held = std::mem::take(&mut self.buffers.held);
        let noted = self.flow(start, &held, false).note_signs(0.0, &state);
        self.end.values = state;
        self.buffers.held = held;

        noted
    }

    /// In event mode: discrete states until nothing changes, then back to continuous time. Whether
    /// the states have jumped; the FMU may also ask for the end of the run.
    pub(super) fn settle(&mut self) -> Result<bool, CallError> {
        let discrete = self.instance.update_discrete_states()?;
        self.ends |= discrete.terminate;
        self.instance.leave_event_mode()?;
        self.next_event = discrete.next_event;
        Ok(discrete.states_changed)
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

    /// What is near enough to a time to be at it.
    pub(super) fn near(&self, time: f64) -> f64 {
        NEAR_THE_END * self.stride + CLOCK_SPACINGS * f64::EPSILON * time.abs()
    }

    /// A step has come to `reached`, by an event or without: the elapsed time there, which is the
    /// end of the step where the event is that near. Notes events there, and those just beyond.
    pub(super) fn settle_end(
        &mut self,
        step: MacroStep,
        reached: f64,
        event: bool,
        inputs: &[Signal],
    ) -> Result<f64, CallError> {
        let size = step.size();
        let rest = size - reached;
        let at_end = rest <= self.near(step.end);
        let elapsed = if at_end { size } else { reached };
        if at_end && rest > 0.0 {
            self.extrapolate_end(EventPlace::new(step.start, reached, inputs, rest), rest)?;
        }

        if event || at_end {
            self.note_near_events(step, elapsed, event, inputs)?;
        }
        Ok(elapsed)
    }

    /// Moves `end` along its derivatives, over a time too short to integrate.
    fn extrapolate_end(&mut self, here: EventPlace<'_>, by: f64) -> Result<(), CallError> {
        self.rates_at_end(here)?;
        for (state, rate) in self.end.values.iter_mut().zip(&self.buffers.rates[0]) {
            *state += by * rate;
        }
        Ok(())
    }

    /// Events at `end`, and those just beyond.
    fn note_near_events(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        event: bool,
        inputs: &[Signal],
    ) -> Result<(), CallError> {
        let near = self.near(step.end);
        let here = EventPlace::new(step.start, elapsed, inputs, near);
        self.end.events.clear();
        if !self.flow.indicators.is_empty() {
            self.measure_indicators(here, -1.0)?;
        }

        for indicator in 0..self.flow.indicators.len() {
            let distance = self.distance(indicator);
            let events = &mut self.end.events;
            events.due[indicator] = distance <= near;
            if distance > near && distance <= ANNOUNCED * step.size() {
                events.near = events.near.min(step.start + elapsed + distance);
            }
        }
        self.end.events.asked = event && !self.end.events.any();
        Ok(())
    }

    /// The time after which an indicator, as last measured, will be beyond zero; negative if it is,
    /// infinite if it does not go there.
    fn distance(&self, indicator: usize) -> f64 {
        let value = self.flow.indicators[indicator];
        let rate = self.flow.indicator_rates[indicator];
        if self.flow.is_beyond(indicator, value) {
            return 0.0;
        }
        let sign = if self.flow.positive[indicator] {
            1.0
        } else {
            -1.0
        };
        let approach = -sign * rate;
        if approach > 0.0 {
            (sign * value).max(0.0) / approach
        } else {
            f64::INFINITY
        }
    }
}
