//! What a Co-Simulation FMU answers: outputs and their slopes, at the end of a step or about the
//! present.

use dovetail_core::{Knot, MacroStep, Response, Signal, SignalKind};

use super::stepping::Arrival;
use super::{CoSimulation, Phase, Position};
use crate::abilities::OutputSlopes;
use crate::call_error::CallError;
use crate::exchange::read_other_outputs;
use crate::instance::Instance;

impl<I: Instance> CoSimulation<I> {
    /// Fills the response from what was read.
    #[inline]
    pub(super) fn answer(
        &mut self,
        step: MacroStep,
        arrival: Arrival,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.answer_values(response)?;
        response.reached = arrival.reached;
        response.ends = arrival.ends || self.over;
        response.next_event = if self.events.pending {
            arrival.reached.min(self.events.next)
        } else {
            self.events.next
        };
        response.located = self.has_found_event(arrival.reached);

        if response.derivatives() > 0 && self.has_slopes() {
            let elapsed = if arrival.reached == step.end {
                step.size()
            } else {
                arrival.reached - step.start
            };
            self.take_slopes(elapsed, inputs, response)?;
        }
        Ok(())
    }

    /// Whether the FMU waits for an event at this time that it has not announced.
    pub(super) fn has_found_event(&self, time: f64) -> bool {
        self.events.pending && time < self.events.next
    }

    fn answer_values(&mut self, response: &mut Response) -> Result<(), CallError> {
        let read = &self.buffers.read;
        for (position, value) in self.layout.outputs_of(read) {
            response.outputs[position] = Knot::value_only(value);
        }

        for (position, value) in self.layout.states_of(read) {
            response.states[position] = value;
        }

        let others = &mut self.buffers.others;
        read_other_outputs(
            &mut self.instance,
            &self.layout,
            others,
            |position, value| {
                response.outputs[position] = Knot::value_only(value);
            },
        )
    }

    /// Whether the slopes of outputs are known where the instance stands.
    fn has_slopes(&self) -> bool {
        self.abilities.slopes != OutputSlopes::Unknown
            && self.phase == Phase::Stepping
            && self.knows_slopes_here()
    }

    pub(super) fn knows_slopes_here(&self) -> bool {
        self.past.stepped || self.abilities.slopes_at_start
    }

    /// Output derivatives, by whichever way the FMU has.
    pub(super) fn take_slopes(
        &mut self,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.hold_discrete_outputs(response);
        match self.abilities.slopes {
            OutputSlopes::Unknown => Ok(()),
            OutputSlopes::Reported(orders) => {
                let most = orders.min(response.derivatives());
                (1..=most).try_for_each(|order| self.take_reported_slopes(order, response))
            }
            OutputSlopes::Chained => self.take_chained_slopes(elapsed, inputs, response),
        }
    }

    /// Outputs that are not continuous do not move.
    fn hold_discrete_outputs(&self, response: &mut Response) {
        for (output, knot) in self.interface.outputs.iter().zip(&mut response.outputs) {
            if output.kind != SignalKind::Continuous {
                *knot = Knot::from(knot.value);
            }
        }
    }

    fn take_reported_slopes(
        &mut self,
        order: usize,
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.read_output_derivatives(order)?;
        let positions = &self.layout.smooth_output_positions;

        for (&value, &position) in self.buffers.slopes.iter().zip(positions) {
            let knot = &mut response.outputs[position];
            match order {
                1 => knot.slope = value,
                _ => knot.curvature = value,
            }
        }
        Ok(())
    }

    /// Derivatives of continuous outputs, as the FMU reports them, into the buffer of slopes.
    pub(super) fn read_output_derivatives(&mut self, order: usize) -> Result<(), CallError> {
        let references = &self.layout.smooth_outputs;
        let orders = &mut self.buffers.orders[..references.len()];
        let values = &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
        orders.fill(order as i32);
        self.instance.output_derivatives(references, orders, values)
    }

    /// y' = C f + D u', one directional derivative in the direction in which the FMU moves.
    fn take_chained_slopes(
        &mut self,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let layout = &self.layout;
        let states = layout.states.len();
        let seed = &mut self.buffers.seed[..layout.known_values()];
        self.instance
            .get_floats(&layout.derivative_references, &mut seed[..states])?;
        layout.fill_smooth_inputs(&mut seed[states..], |position| {
            inputs[position].derivative(1, elapsed)
        });
        let values = &mut self.buffers.slopes[..layout.asked_output_positions.len()];
        self.instance
            .directional(&layout.asked_outputs, &self.abilities.knowns, seed, values)?;

        for (&value, &position) in values.iter().zip(&layout.asked_output_positions) {
            response.outputs[position].slope = value;
        }

        for &(position, state) in &layout.identities {
            response.outputs[position].slope = seed[state];
        }
        Ok(())
    }
}

fn values_of(response: &Response) -> Vec<f64> {
    response.outputs.iter().map(|knot| knot.value).collect()
}

/// Questions about the present.
impl<I: Instance> CoSimulation<I> {
    /// In initialization mode, and at an event in event mode, the FMU answers to these inputs; in
    /// step mode what it has answered last is read again, since nothing may be read after it was
    /// set without a step in between.
    pub(super) fn ask(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.apply_before_the_run(time, inputs)?;
        if self.phase == Phase::Stepping {
            self.return_to_now()?;
        }
        if self.over {
            return self.read_present(self.now, true, inputs, response);
        }

        if self.meets_event(time, inputs) {
            return self.ask_at_event(time, inputs, response);
        }
        self.read_present(time, false, inputs, response)
    }

    /// An event is handled. Where it sets states anew, or makes outputs jump at a time that was
    /// known, nobody knows what it makes of errors: it may keep in mind what its inputs were.
    fn ask_at_event(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let found = self.has_found_event(time);
        let due = self.events.pending || self.events.next <= time;
        self.read()?;
        self.answer_values(response)?;
        let before = (response.states.clone(), values_of(response));
        let ends = self.handle_event(inputs, 0.0)?;
        self.over |= ends;
        self.at_event |= due;
        self.note_applied(inputs);
        if matches!(self.abilities.slopes, OutputSlopes::Reported(_)) {
            // What the FMU reports it reports of inputs that stand still: so they are set in events.
            self.applied.slopes.fill(0.0);
        }
        self.position = Position::AtNow;
        self.read_present(time, ends, inputs, response)?;
        let samples = !found && !inputs.is_empty() && before.1 != values_of(response);
        response.crossed = due && (before.0 != response.states || samples);
        Ok(())
    }

    /// Leaves initialization mode under these inputs; the answer is what the FMU then is.
    pub(super) fn leave_initialization(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.apply_before_the_run(time, inputs)?;
        let ends = self.begin_stepping(time)?;
        self.over |= ends;
        self.read_present(time, ends, inputs, response)
    }

    /// Sets inputs in initialization mode, if it was not left.
    fn apply_before_the_run(&mut self, time: f64, inputs: &[Signal]) -> Result<(), CallError> {
        self.ensure_initialized(time)?;
        if self.phase == Phase::Initializing {
            self.apply(inputs, 0.0)?;
            self.note_applied(inputs);
        }
        Ok(())
    }

    /// Whether a question about the present is answered in event mode (3.0): where something is
    /// due, or an input has jumped.
    fn meets_event(&self, time: f64, inputs: &[Signal]) -> bool {
        let is_due = self.events.pending || self.events.next <= time;
        self.abilities.event_mode
            && self.phase == Phase::Stepping
            && (is_due || self.applied.differ_from(inputs))
    }

    fn note_applied(&mut self, inputs: &[Signal]) {
        self.applied.values.copy_from_slice(&self.buffers.all);
        self.applied.note_slopes(inputs, 0.0);
    }

    fn read_present(
        &mut self,
        time: f64,
        ends: bool,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.read()?;
        let present = MacroStep::instant(time);
        let arrival = Arrival {
            reached: time,
            ends,
        };

        self.answer(present, arrival, inputs, response)
    }

    /// Outputs and states where the instance stands.
    pub(super) fn read(&mut self) -> Result<(), CallError> {
        self.instance
            .get_floats(&self.layout.read, &mut self.buffers.read)
    }

    /// The inputs as they are at the end of a step, for whoever linearizes there.
    pub(super) fn remember_end(&mut self, step: MacroStep, inputs: &[Signal]) {
        if self.abilities.linearizes || self.abilities.event_mode {
            self.applied.note(inputs, step.size());
        }
    }
}
