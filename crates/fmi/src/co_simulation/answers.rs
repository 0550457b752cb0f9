//! What a Co-Simulation unit answers: outputs and their slopes, at the end of a step or about the present.

use dovetail_core::{Knot, MacroStep, Nature, Response, Signal};

use super::stepping::Arrival;
use super::{CoSimulation, Phase};
use crate::abilities::Slopes;
use crate::call_error::CallError;
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
        for &(place, position) in &self.layout.read_output {
            response.outputs[position] = Knot::value_only(self.buffers.read[place]);
        }
        for &(place, position) in &self.layout.read_state {
            response.states[position] = self.buffers.read[place];
        }
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance
                .get_values(group.kind, &group.references, values)?;
            values
                .iter()
                .zip(&group.positions)
                .for_each(|(&value, &at)| response.outputs[at] = Knot::value_only(value));
        }
        (response.reached, response.ends) = (arrival.reached, arrival.ends || self.over);
        response.next_event = if self.event_pending {
            arrival.reached
        } else {
            self.next_event
        };
        let told =
            self.phase == Phase::Stepping && (self.stepped || self.abilities.slopes_at_start);
        if response.derivatives() > 0 && self.abilities.slopes != Slopes::Unknown && told {
            let elapsed = if arrival.reached == step.end {
                step.size()
            } else {
                arrival.reached - step.start
            };
            self.take_slopes(elapsed, inputs, response)?;
        }
        Ok(())
    }

    /// Output derivatives, by whichever way the unit has.
    pub(super) fn take_slopes(
        &mut self,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let held = self.interface.outputs.iter().zip(&mut response.outputs);
        held.filter(|(output, _)| output.nature != Nature::Continuous)
            .for_each(|(_, knot)| *knot = Knot::from(knot.value));
        let count = self.layout.smooth_outputs.len();
        match self.abilities.slopes {
            Slopes::Unknown => {}
            Slopes::Told(orders) => {
                for order in 1..=orders.min(response.derivatives()) {
                    self.buffers.orders[..count].fill(order as i32);
                    let values =
                        &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
                    self.instance.output_derivatives(
                        &self.layout.smooth_outputs,
                        &self.buffers.orders[..count],
                        values,
                    )?;
                    for (&value, &position) in
                        values.iter().zip(&self.layout.smooth_output_positions)
                    {
                        let knot = &mut response.outputs[position];
                        *(if order == 1 {
                            &mut knot.slope
                        } else {
                            &mut knot.curvature
                        }) = value;
                    }
                }
            }
            Slopes::Chained => {
                // y' = C f + D u', one directional derivative in the direction in which the unit moves.
                let states = self.layout.states.len();
                let seed =
                    &mut self.buffers.seed[..states + self.layout.smooth_input_positions.len()];
                self.instance
                    .get_floats(&self.layout.derivative_references, &mut seed[..states])?;
                for (value, &position) in seed[states..]
                    .iter_mut()
                    .zip(&self.layout.smooth_input_positions)
                {
                    *value = inputs[position].derivative(1, elapsed);
                }
                let values = &mut self.buffers.slopes[..self.layout.asked_output_positions.len()];
                self.instance.directional(
                    &self.layout.asked_outputs,
                    &self.abilities.knowns,
                    seed,
                    values,
                )?;
                for (&value, &position) in values.iter().zip(&self.layout.asked_output_positions) {
                    response.outputs[position].slope = value;
                }
                for &(position, state) in &self.layout.identities {
                    response.outputs[position].slope = seed[state];
                }
            }
        }
        Ok(())
    }

    /// A question about the present. In initialization mode, and at an event in event mode, the unit answers to these inputs; in step
    /// mode what it has said last is read again, since nothing may be read after it was set without a step in between.
    pub(super) fn ask(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if self.phase == Phase::Made {
            self.initialize(time)?;
        }
        if self.phase == Phase::Initializing {
            self.apply(inputs, 0.0)?;
            self.note_applied(inputs);
        } else {
            self.return_to_now()?;
        }
        if self.over {
            return self.read_present(self.now, true, inputs, response);
        }
        let mut ends = false;
        if self.meets_event(time, inputs) {
            ends = self.handle_event(inputs, 0.0)?;
            self.over |= ends;
            self.note_applied(inputs);
            self.saved = false;
        }
        self.read_present(time, ends, inputs, response)
    }

    /// Leaves initialization mode under these inputs; the answer is what the unit then is.
    pub(super) fn leave_initialization(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if self.phase == Phase::Made {
            self.initialize(time)?;
        }
        if self.phase == Phase::Initializing {
            self.apply(inputs, 0.0)?;
            self.note_applied(inputs);
        }
        let ends = self.begin_stepping(time)?;
        self.over |= ends;
        self.read_present(time, ends, inputs, response)
    }

    /// Whether a question about the present is answered in event mode (3.0): where something is due, or an input has jumped.
    fn meets_event(&self, time: f64, inputs: &[Signal]) -> bool {
        let jumps = || {
            inputs
                .iter()
                .zip(&self.applied)
                .any(|(signal, applied)| signal.value(0.0) != *applied)
        };
        self.abilities.event_mode
            && self.phase == Phase::Stepping
            && (self.event_pending || self.next_event <= time || jumps())
    }

    fn note_applied(&mut self, inputs: &[Signal]) {
        self.applied.copy_from_slice(&self.buffers.all);
        self.remember_slopes(inputs, 0.0);
    }

    fn read_present(
        &mut self,
        time: f64,
        ends: bool,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.instance
            .get_floats(&self.layout.read, &mut self.buffers.read)?;
        let present = MacroStep::instant(time);
        self.answer(
            present,
            Arrival {
                reached: time,
                ends,
            },
            inputs,
            response,
        )
    }

    pub(super) fn remember_slopes(&mut self, inputs: &[Signal], elapsed: f64) {
        for (slope, signal) in self.applied_slopes.iter_mut().zip(inputs) {
            *slope = signal.derivative(1, elapsed);
        }
    }

    /// The inputs as they are at the end of a step, for whoever linearises there.
    pub(super) fn remember_end(&mut self, step: MacroStep, inputs: &[Signal]) {
        if self.abilities.linearizes || self.abilities.event_mode {
            for (applied, signal) in self.applied.iter_mut().zip(inputs) {
                *applied = signal.value(step.size());
            }
            self.remember_slopes(inputs, step.size());
        }
    }
}
