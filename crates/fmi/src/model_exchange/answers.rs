//! What a Model Exchange FMU answers: outputs and their slopes, at the end of a step or about the
//! present.

use dovetail_core::{Knot, Response, Signal, SignalKind};

use super::stencil::Stencil;
use super::{DIFFERENCE, ExchangePhase, FlowScratch, ModelExchange};
use crate::call_error::CallError;
use crate::exchange::read_other_outputs;
use crate::instance::Instance;

/// Where slopes are taken: a state, and inputs some time after they began.
struct Moment<'a> {
    time: f64,
    elapsed: f64,
    state: &'a [f64],
    inputs: &'a [Signal],
}

impl<I: Instance> ModelExchange<I> {
    /// Puts the FMU at a state under the inputs after `elapsed` and reads its outputs into one of
    /// the buffers.
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
        self.read()?;
        let FlowScratch {
            read,
            others,
            outputs,
            ..
        } = &mut self.buffers;
        let outputs = &mut outputs[into];

        for (position, value) in self.layout.outputs_of(read) {
            outputs[position] = value;
        }
        read_other_outputs(
            &mut self.instance,
            &self.layout,
            others,
            |position, value| {
                outputs[position] = value;
            },
        )
    }

    /// Double-precision outputs and states, where the FMU was put.
    fn read(&mut self) -> Result<(), CallError> {
        self.instance
            .get_floats(&self.layout.read, &mut self.buffers.read)
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
        self.end.inputs.note(inputs, elapsed);
        response.reached = time;
        response.ends = self.ends;
        let events = &self.end.events;
        let found = if events.any() { time } else { events.near };
        response.located = found < self.next_event && !events.asked;
        response.next_event = found.min(self.next_event);

        done
    }

    fn answer_at(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.outputs_at(time, elapsed, state, inputs, 0)?;
        self.answer_values(response);
        response.states.copy_from_slice(state);
        if response.derivatives() == 0 || !self.has_slopes() {
            return Ok(());
        }

        let mut rates = std::mem::take(&mut self.buffers.rates[0]);
        let moment = Moment {
            time,
            elapsed,
            state,
            inputs,
        };
        let taken = self.take_slopes(&moment, &mut rates, response);

        for (motion, &rate) in response.motion.iter_mut().zip(&rates) {
            *motion = [rate, f64::NAN];
        }

        self.buffers.rates[0] = rates;
        taken
    }

    /// The outputs of the first buffer. Those that are not continuous do not move.
    fn answer_values(&self, response: &mut Response) {
        let outputs = self.interface.outputs.iter();
        let values = self.buffers.outputs[0].iter();

        for (knot, (output, &value)) in response.outputs.iter_mut().zip(outputs.zip(values)) {
            *knot = if output.kind == SignalKind::Continuous {
                Knot::value_only(value)
            } else {
                Knot::from(value)
            };
        }
    }

    fn has_slopes(&self) -> bool {
        self.phase == ExchangePhase::Running && !self.layout.smooth_output_positions.is_empty()
    }

    /// Slopes of the outputs: C f + D u' + ∂g/∂t, exactly where the FMU has directional
    /// derivatives, otherwise by differences along the flow.
    fn take_slopes(
        &mut self,
        moment: &Moment<'_>,
        rates: &mut [f64],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if !moment.state.is_empty() {
            self.instance.get_derivatives(rates)?;
        }

        let exact = self.abilities.directional;
        if exact {
            self.take_exact_slopes(moment, rates, response)?;
        }

        let gap = self.gap(moment.time, moment.state, rates);
        let stencil = self.stencil(moment.time, gap);

        for (place, into) in stencil.places.into_iter().zip(1..) {
            self.look_along(moment, rates, place, gap, into)?;
        }

        for &position in &self.layout.smooth_output_positions {
            let outputs = self.buffers.outputs.each_ref();
            let rate = stencil.slope(outputs.map(|values| values[position])) / gap;
            let slope = &mut response.outputs[position].slope;
            *slope = if exact { *slope + rate } else { rate };
        }
        Ok(())
    }

    /// C f + D u', one directional derivative in the direction in which the FMU moves.
    fn take_exact_slopes(
        &mut self,
        moment: &Moment<'_>,
        rates: &[f64],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let layout = &self.layout;
        let seed = &mut self.buffers.seed;
        let (states, inputs) = seed.split_at_mut(rates.len());
        states.copy_from_slice(rates);
        layout.fill_smooth_inputs(inputs, |position| {
            moment.inputs[position].derivative(1, moment.elapsed)
        });
        let slopes = &mut self.buffers.column[..layout.asked_output_positions.len()];
        self.instance
            .directional(&layout.asked_outputs, &self.abilities.knowns, seed, slopes)?;

        for (&slope, &position) in slopes.iter().zip(&layout.asked_output_positions) {
            response.outputs[position].slope = slope;
        }

        for &(position, state) in &layout.identities {
            response.outputs[position].slope = rates[state];
        }
        Ok(())
    }

    /// Outputs a little earlier or later. State and inputs move with time, unless only the FMU's
    /// own time is meant: where the rest is known exactly.
    fn look_along(
        &mut self,
        moment: &Moment<'_>,
        rates: &[f64],
        place: f64,
        gap: f64,
        into: usize,
    ) -> Result<(), CallError> {
        let along = if self.abilities.directional {
            0.0
        } else {
            place
        };
        let mut moved = std::mem::take(&mut self.buffers.moved);

        for (value, (&state, &rate)) in moved.iter_mut().zip(moment.state.iter().zip(rates)) {
            *value = state + along * gap * rate;
        }

        let time = moment.time + place * gap;
        let elapsed = moment.elapsed + along * gap;
        let looked = self.outputs_at(time, elapsed, &moved, moment.inputs, into);
        self.buffers.moved = moved;

        looked
    }

    /// Where to look for a derivative by time: on both sides, unless one of them is out of the run
    /// or beyond an event.
    pub(super) fn stencil(&self, time: f64, gap: f64) -> Stencil {
        if time + gap > self.span.stop.min(self.next_event) {
            Stencil::BACKWARD
        } else if time - gap < self.start {
            Stencil::FORWARD
        } else {
            Stencil::CENTRAL
        }
    }

    /// A stretch of time over which differences are taken: short against a step and against how
    /// fast the state moves.
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
        self.tried.step = None;
        if self.phase == ExchangePhase::Made {
            self.initialize(time)?;
        }
        if self.phase == ExchangePhase::Initializing {
            return self.ask_before_the_run(time, inputs, response);
        }

        self.end.events.clear();
        if self.ends {
            self.end.values.copy_from_slice(&self.now.values);
            return self.answer(self.now.time, 0.0, inputs, response);
        }

        self.now.time = time;
        self.enter_step(time, inputs)?;
        self.end.values.copy_from_slice(&self.now.values);
        self.answer(time, 0.0, inputs, response)?;
        response.crossed = self.event_effect.is_unclear();
        self.now.inputs.copy_from(&self.end.inputs);
        Ok(())
    }

    pub(super) fn ask_before_the_run(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let value = |position: usize| inputs[position].value(0.0);
        self.layout.fill_smooth_inputs(&mut self.flow.inputs, value);
        self.instance
            .set_floats(&self.layout.smooth_inputs, &self.flow.inputs)?;
        self.set_discrete(inputs, 0.0)?;
        self.read()?;

        for (position, value) in self.layout.outputs_of(&self.buffers.read) {
            response.outputs[position] = Knot::value_only(value);
        }

        for (position, value) in self.layout.states_of(&self.buffers.read) {
            response.states[position] = value;
        }

        let others = &mut self.buffers.others;
        read_other_outputs(
            &mut self.instance,
            &self.layout,
            others,
            |position, value| {
                response.outputs[position] = Knot::from(value);
            },
        )?;
        self.now.inputs.note(inputs, 0.0);
        response.reached = time;
        response.next_event = self.next_event;
        Ok(())
    }

    /// Leaves initialization mode under these inputs; the answer is what the FMU then is.
    pub(super) fn leave_initialization(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if self.phase != ExchangePhase::Running {
            self.ask(time, inputs, response)?;
            self.begin_running(time)?;
        }
        self.ask(time, inputs, response)
    }
}
