//! Communication steps: as one, or in the parts that a unit insists on.

use dovetail_core::{MacroStep, Signal, StepRule};

use super::CoSimulation;
use crate::abilities::InputWay;
use crate::call_error::CallError;
use crate::description::Version;
use crate::instance::{Instance, StepEnd, StepRequest};

/// A step that is discarded is divided into so many parts at most.
const MOST_PARTS: u64 = 1 << 16;

/// Early returns in a row at the same time.
const MOST_HALTS: usize = 100;

/// Where a step has led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub reached: f64,
    /// The unit asks for the end of the run there.
    pub ends: bool,
}

/// What came of a part of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Covered {
    Whole,
    /// The unit has discarded it (2.0), and says that it was done up to this time.
    Discarded(f64),
    /// The unit asks for the end of the run, at this time.
    Ended(f64),
}

impl<I: Instance> CoSimulation<I> {
    /// From `now` over `step`, in as many parts as the unit insists on.
    pub(super) fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
    ) -> Result<Arrival, CallError> {
        self.stepped = true;
        let mut parts = match self.abilities.step {
            StepRule::Imposed(size) => (step.size() / size).round().max(1.0) as u64,
            StepRule::Free => self.abilities.sub_steps,
        };
        loop {
            match self.cover(step, inputs, parts)? {
                Covered::Whole => {
                    return Ok(Arrival {
                        reached: step.end,
                        ends: false,
                    });
                }
                Covered::Ended(reached) => {
                    return Ok(Arrival {
                        reached,
                        ends: true,
                    });
                }
                Covered::Discarded(last) => parts = self.divide(step, parts, last)?,
            }
        }
    }

    /// The unit discarded a part of the step (2.0): back to the start, and smaller parts.
    pub(super) fn divide(
        &mut self,
        step: MacroStep,
        parts: u64,
        last: f64,
    ) -> Result<u64, CallError> {
        let smaller = 2 * parts;
        let done = last - step.start;
        let fitting = if done > 0.0 && done < step.size() {
            (step.size() / done).ceil() as u64
        } else {
            0
        };
        let parts = smaller.max(fitting.min(4 * smaller));
        if !self.saved || parts > MOST_PARTS || self.abilities.step != StepRule::Free {
            return Err(self.discard("fmi2DoStep"));
        }
        self.restore()?;
        self.instance
            .journal()
            .monitor
            .note(|notes| notes.discarded += 1);
        Ok(parts)
    }

    /// The step in `parts` equal parts, up to the first that is not done as a whole.
    pub(super) fn cover(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        parts: u64,
    ) -> Result<Covered, CallError> {
        if parts == 1 {
            return self.stretch(step, 0.0, inputs);
        }
        let size = step.size() / parts as f64;
        for part in 0..parts {
            let offset = part as f64 * size;
            let start = if part == 0 {
                step.start
            } else {
                step.start + offset
            };
            let end = if part + 1 == parts {
                step.end
            } else {
                step.start + (part + 1) as f64 * size
            };
            let covered = self.stretch(MacroStep::new(start, end), offset, inputs)?;
            if covered != Covered::Whole {
                return Ok(covered);
            }
        }
        Ok(Covered::Whole)
    }

    /// One communication step, `offset` after the beginning of the inputs: with the stops that the unit makes on the way.
    pub(super) fn stretch(
        &mut self,
        step: MacroStep,
        offset: f64,
        inputs: &[Signal],
    ) -> Result<Covered, CallError> {
        let (mut start, mut end, mut halts) = (step.start, step.end, 0);
        // How far the unit goes in one part, once it has discarded a longer one (3.0).
        let mut stride = f64::INFINITY;
        loop {
            // The whole step as it was given: its size is not always the difference of its ends, to the last bit.
            let part = if start == step.start && end == step.end {
                step
            } else {
                MacroStep::new(start, end)
            };
            let ended = self.communicate(part, offset + (start - step.start), inputs)?;
            if ended.terminate {
                return Ok(Covered::Ended(ended.last.clamp(start, end)));
            }
            if ended.discarded {
                if self.version == Version::Two {
                    return Ok(Covered::Discarded(ended.last));
                }
                // 3.0 leaves the state as it was: half the way may be possible.
                end = self.shorten(step, start, end)?;
                stride = end - start;
                continue;
            }
            self.event_pending |= ended.event;
            let reached = if ended.last < end { ended.last } else { end };
            halts = if reached > start { 0 } else { halts + 1 };
            // A few units in the last place short of the end is the end.
            if reached >= step.end - 4.0 * f64::EPSILON * step.end.abs() {
                return Ok(Covered::Whole);
            }
            if halts > MOST_HALTS || !reached.is_finite() || reached < start {
                let message = Some(format!(
                    "it stopped at {reached} on its way to {end} and goes no further"
                ));
                return Err(CallError::Refused {
                    function: "doStep",
                    status: "no progress",
                    message,
                });
            }
            start = reached;
            end = if step.end - start > stride * (1.0 + 1e-9) {
                start + stride
            } else {
                step.end
            };
            if self.event_pending {
                self.instance
                    .journal()
                    .monitor
                    .note(|notes| notes.events += 1);
                if self.handle_event(inputs, offset + (start - step.start))? {
                    self.instance
                        .get_floats(&self.layout.read, &mut self.buffers.read)?;
                    return Ok(Covered::Ended(start));
                }
            }
        }
    }

    pub(super) fn shorten(
        &mut self,
        step: MacroStep,
        start: f64,
        end: f64,
    ) -> Result<f64, CallError> {
        let half = start + 0.5 * (end - start);
        self.instance
            .journal()
            .monitor
            .note(|notes| notes.discarded += 1);
        if half > start
            && end - start > step.size() / MOST_PARTS as f64
            && self.abilities.step == StepRule::Free
        {
            return Ok(half);
        }
        Err(self.discard("fmi3DoStep"))
    }

    pub(super) fn discard(&self, function: &'static str) -> CallError {
        CallError::Refused {
            function,
            status: "discard",
            message: self.instance.journal().explanation(),
        }
    }

    /// Sets inputs, steps, reads outputs and states.
    pub(super) fn communicate(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
    ) -> Result<StepEnd, CallError> {
        if self.abilities.event_mode
            && (self.event_pending || self.discrete_input_changes(inputs, elapsed))
            && self.handle_event(inputs, elapsed)?
        {
            self.instance
                .get_floats(&self.layout.read, &mut self.buffers.read)?;
            return Ok(StepEnd {
                discarded: false,
                last: step.start,
                event: false,
                terminate: true,
            });
        }
        self.take_inputs(inputs, elapsed);
        if self.abilities.sub_steps > 1 {
            self.take_means(inputs, elapsed, step.size());
        }
        if !self.abilities.event_mode {
            self.apply_others()?; // with event mode they are set in events only
        }
        // Values first, then their derivatives: a unit may take a new value for a new constant.
        let mut already_set = false;
        match self.abilities.inputs {
            InputWay::Held => {}
            InputWay::Derivatives(degree) => {
                already_set = self.polynomial || inputs.iter().any(|signal| signal.degree() > 0);
                if already_set {
                    self.instance
                        .set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
                    self.set_derivatives(inputs, elapsed, degree)?;
                }
            }
            InputWay::Intermediate => self.follow(inputs, elapsed, step.start),
        }
        let request = StepRequest {
            step,
            // Whoever tries a step goes back to where it began, but never further: that is the flag of the standard.
            final_step: !self.saved || step.start <= self.now,
            input_references: if already_set {
                &[]
            } else {
                &self.layout.smooth_inputs
            },
            input_values: if already_set {
                &[]
            } else {
                &self.buffers.inputs
            },
            output_references: &self.layout.read,
        };
        self.instance.step(&request, &mut self.buffers.read)
    }

    /// Sub-steps take the mean of each input over their part.
    pub(super) fn take_means(&mut self, inputs: &[Signal], elapsed: f64, size: f64) {
        for (value, &position) in self
            .buffers
            .inputs
            .iter_mut()
            .zip(&self.layout.smooth_input_positions)
        {
            *value = inputs[position].shifted(elapsed).mean(size);
        }
    }

    /// Input derivatives of all orders that the unit takes (2.0).
    pub(super) fn set_derivatives(
        &mut self,
        inputs: &[Signal],
        elapsed: f64,
        degree: usize,
    ) -> Result<(), CallError> {
        let count = self.layout.smooth_inputs.len();
        self.polynomial = false;
        for order in 1..=degree {
            self.buffers.orders[..count].fill(order as i32);
            for (value, &position) in self
                .buffers
                .slopes
                .iter_mut()
                .zip(&self.layout.smooth_input_positions)
            {
                *value = inputs[position].derivative(order, elapsed);
            }
            self.polynomial |= self.buffers.slopes[..count]
                .iter()
                .any(|&value| value != 0.0);
            if let Some(instance) = self.instance.input_derivatives() {
                instance.set_input_derivatives(
                    &self.layout.smooth_inputs,
                    &self.buffers.orders[..count],
                    &self.buffers.slopes[..count],
                )?;
            }
        }
        Ok(())
    }

    /// The inputs are there whenever the unit asks for them (3.0).
    pub(super) fn follow(&mut self, inputs: &[Signal], elapsed: f64, start: f64) {
        self.buffers.followed.clear();
        self.buffers.followed.extend(
            self.layout
                .smooth_input_positions
                .iter()
                .map(|&position| inputs[position]),
        );
        if let Some(instance) = self.instance.intermediate_inputs() {
            instance.follow(
                &self.layout.smooth_inputs,
                &self.buffers.followed,
                start - elapsed,
            );
        }
    }

    /// The inputs are constants that were set.
    pub(super) fn follow_nothing(&mut self) {
        if let Some(instance) = self.instance.intermediate_inputs() {
            instance.follow(&[], &[], 0.0);
        }
    }
}
