//! What a Model Exchange unit answers: outputs and their slopes, at the end of a step or about the present.

use dovetail_core::{Knot, Nature, Response, Signal};

use super::stencil::Stencil;
use super::{DIFFERENCE, ModelExchange, Phase};
use crate::call_error::CallError;
use crate::instance::Instance;

impl<I: Instance> ModelExchange<I> {
    /// Puts the unit at a state under the inputs after `elapsed` and reads outputs; floats only unless `all`.
    pub(super) fn outputs_at(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        inputs: &[Signal],
        into: usize,
    ) -> Result<(), CallError> {
        self.flow(time - elapsed, inputs, false)
            .place(elapsed, state)?;
        self.instance.set_time(time)?;
        self.instance
            .get_floats(&self.layout.read, &mut self.buffers.read)?;
        let read = self.layout.read_output.iter();
        read.for_each(|&(place, at)| self.buffers.outputs[into][at] = self.buffers.read[place]);
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance
                .get_values(group.kind, &group.references, values)?;
            values
                .iter()
                .zip(&group.positions)
                .for_each(|(&value, &at)| self.buffers.outputs[into][at] = value);
        }
        Ok(())
    }

    /// Fills the response with the outputs at `end`, `elapsed` after the inputs began.
    pub(super) fn answer(
        &mut self,
        time: f64,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let done = self.answer_at(time, elapsed, &state, inputs, response);
        self.end.values = state;
        let (values, slopes) = (&mut self.end.inputs, &mut self.end.slopes);
        values
            .iter_mut()
            .zip(inputs)
            .for_each(|(value, signal)| *value = signal.value(elapsed));
        slopes
            .iter_mut()
            .zip(inputs)
            .for_each(|(slope, signal)| *slope = signal.derivative(1, elapsed));
        (response.reached, response.ends) = (time, self.ends);
        response.next_event = if self.event_pending {
            time
        } else {
            self.next_event
        };
        done
    }

    pub(super) fn answer_at(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.outputs_at(time, elapsed, state, inputs, 0)?;
        let natures = self.interface.outputs.iter().map(|output| output.nature);
        for ((knot, &value), nature) in response
            .outputs
            .iter_mut()
            .zip(&self.buffers.outputs[0])
            .zip(natures)
        {
            *knot = if nature == Nature::Continuous {
                Knot::value_only(value)
            } else {
                Knot::from(value)
            };
        }
        response.states.copy_from_slice(state);
        if response.derivatives() == 0
            || self.layout.smooth_output_positions.is_empty()
            || self.phase != Phase::Running
        {
            return Ok(());
        }
        let mut rates = std::mem::take(&mut self.buffers.rates[0]);
        let taken = self.take_slopes(time, elapsed, state, &mut rates, inputs, response);
        response
            .motion
            .iter_mut()
            .zip(&rates)
            .for_each(|(state, &slope)| *state = [slope, f64::NAN]);
        self.buffers.rates[0] = rates;
        taken
    }

    /// Slopes of the outputs: C f + D u' + ∂g/∂t, exactly where the unit has directional derivatives, otherwise by differences
    /// along the flow.
    pub(super) fn take_slopes(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        rates: &mut [f64],
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if !state.is_empty() {
            self.instance.get_derivatives(rates)?;
        }
        let exact = self.abilities.directional;
        if exact {
            let (seed, states) = (&mut self.buffers.seed, state.len());
            seed[..states].copy_from_slice(rates);
            for (value, &position) in seed[states..]
                .iter_mut()
                .zip(&self.layout.smooth_input_positions)
            {
                *value = inputs[position].derivative(1, elapsed);
            }
            let slopes = &mut self.buffers.column[..self.layout.asked_output_positions.len()];
            self.instance.directional(
                &self.layout.asked_outputs,
                &self.abilities.knowns,
                seed,
                slopes,
            )?;
            for (&slope, &position) in slopes.iter().zip(&self.layout.asked_output_positions) {
                response.outputs[position].slope = slope;
            }
            for &(position, state) in &self.layout.identities {
                response.outputs[position].slope = rates[state];
            }
        }
        let gap = self.gap(time, state, rates);
        let stencil = self.stencil(time, gap);
        let mut moved = std::mem::take(&mut self.buffers.moved);
        let mut look = |side: f64, into: usize| {
            let along = if exact { 0.0 } else { side };
            moved
                .iter_mut()
                .zip(state)
                .zip(&*rates)
                .for_each(|((m, &x), &f)| *m = x + along * gap * f);
            // The inputs move with time, unless only the unit's own time is meant.
            self.outputs_at(
                time + side * gap,
                elapsed + along * gap,
                &moved,
                inputs,
                into,
            )
        };
        let looked = look(stencil.places[0], 1).and_then(|()| look(stencil.places[1], 2));
        self.buffers.moved = moved;
        looked?;
        for &position in &self.layout.smooth_output_positions {
            let rate = stencil.slope(
                self.buffers
                    .outputs
                    .each_ref()
                    .map(|values| values[position]),
            ) / gap;
            let slope = &mut response.outputs[position].slope;
            *slope = if exact { *slope + rate } else { rate };
        }
        Ok(())
    }

    /// Where to look for a derivative by time: on both sides, unless one of them is out of the run or beyond an event.
    pub(super) fn stencil(&self, time: f64, gap: f64) -> Stencil {
        if time + gap > self.span.stop.min(self.next_event) {
            Stencil::BACKWARD
        } else if time - gap < self.start {
            Stencil::FORWARD
        } else {
            Stencil::CENTRAL
        }
    }

    /// A stretch of time over which differences are taken: short against a step and against how fast the state moves.
    pub(super) fn gap(&self, time: f64, state: &[f64], rates: &[f64]) -> f64 {
        let pairs = state.iter().zip(rates);
        let fastest = pairs
            .map(|(x, rate)| rate.abs() / (x.abs() + 1.0))
            .fold(1.0 / self.stride, f64::max);
        // Times that differ by less than this are hardly different numbers.
        (DIFFERENCE / fastest).max(1e3 * f64::EPSILON * time.abs())
    }

    /// A question about the present.
    pub(super) fn ask(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.tried = None;
        if self.phase == Phase::Made {
            self.initialize(time)?;
        }
        if self.phase == Phase::Initializing {
            return self.ask_before_the_run(time, inputs, response);
        }
        if self.ends {
            self.end.values.copy_from_slice(&self.now.values);
            return self.answer(self.now.time, 0.0, inputs, response);
        }
        self.now.time = time;
        self.enter_step(time, inputs)?;
        self.end.values.copy_from_slice(&self.now.values);
        self.answer(time, 0.0, inputs, response)?;
        self.now.inputs.copy_from_slice(&self.end.inputs);
        self.now.slopes.copy_from_slice(&self.end.slopes);
        Ok(())
    }

    pub(super) fn ask_before_the_run(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        for (value, &position) in self
            .flow
            .inputs
            .iter_mut()
            .zip(&self.layout.smooth_input_positions)
        {
            *value = inputs[position].value(0.0);
        }
        self.instance
            .set_floats(&self.layout.smooth_inputs, &self.flow.inputs)?;
        self.set_discrete(inputs, 0.0)?;
        self.instance
            .get_floats(&self.layout.read, &mut self.buffers.read)?;
        self.layout.read_output.iter().for_each(|&(place, at)| {
            response.outputs[at] = Knot::value_only(self.buffers.read[place]);
        });
        self.layout
            .read_state
            .iter()
            .for_each(|&(place, at)| response.states[at] = self.buffers.read[place]);
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance
                .get_values(group.kind, &group.references, values)?;
            values
                .iter()
                .zip(&group.positions)
                .for_each(|(&value, &at)| response.outputs[at] = Knot::from(value));
        }
        self.now
            .inputs
            .iter_mut()
            .zip(inputs)
            .for_each(|(value, signal)| *value = signal.value(0.0));
        self.now
            .slopes
            .iter_mut()
            .zip(inputs)
            .for_each(|(slope, signal)| *slope = signal.derivative(1, 0.0));
        (response.reached, response.next_event) = (time, self.next_event);
        Ok(())
    }

    /// Leaves initialization mode under these inputs; the answer is what the unit then is.
    pub(super) fn leave_initialization(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if self.phase != Phase::Running {
            self.ask(time, inputs, response)?;
            self.begin_running(time)?;
        }
        self.ask(time, inputs, response)
    }
}
