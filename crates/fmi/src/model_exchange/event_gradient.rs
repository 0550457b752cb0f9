//! What moves an event of a Model Exchange FMU, and what the event makes of small changes: its
//! indicator and the states that it sets anew, to first order.
//!
//! Both by differences. To see how new states depend on the old ones, the FMU is sent through the
//! event again and again, and back: only where its state can be saved and restored. Where it cannot,
//! the system says so once the event has set states anew. The same trials show whether the FMU keeps
//! a value in mind, as one that samples does: then nobody can tell what becomes of its error.

use dovetail_core::{EventGradient, Signal};

use super::ModelExchange;
use super::crossing::{EventPlace, SAME};
use super::linearization::{DifferencePoint, Moved, gap_at};
use super::stencil::Stencil;
use crate::call_error::CallError;
use crate::instance::Instance;

impl<I: Instance> ModelExchange<I> {
    /// The event at which the system stands, if it does.
    pub(super) fn fill_event(
        &mut self,
        point: &DifferencePoint<'_>,
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        let due = &self.now.events.due;
        into.due = due.iter().filter(|due| **due).count() as u64;
        let first = due.iter().position(|due| *due);
        into.make_reset(false);
        if let Some(indicator) = first {
            self.fill_gradient(point, indicator, into)?;
        }

        let pending = self.now.events.any() || self.next_event <= point.time;
        if pending && self.restores {
            self.foresee_event(point, first, into)?;
        }
        Ok(())
    }

    /// An indicator, and how it depends on time, states and inputs.
    fn fill_gradient(
        &mut self,
        point: &DifferencePoint<'_>,
        indicator: usize,
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        into.value = self.indicator_with(point, Moved::Time, 0.0, indicator)?;
        let here = into.value;
        let back = Stencil::BACKWARD;
        into.time = self.indicator_slope(point, Moved::Time, (back, point.gap), here, indicator)?;

        for k in 0..point.state.len() {
            let stencil = (Stencil::CENTRAL, gap_at(point.state[k]));
            into.x[k] =
                self.indicator_slope(point, Moved::MotionState(k), stencil, here, indicator)?;
        }

        into.u.fill(0.0);
        into.u_slope.fill(0.0);
        let layout = self.layout.clone();
        for &k in &layout.smooth_input_positions {
            let stencil = (Stencil::CENTRAL, gap_at(self.now.inputs.values[k]));
            into.u[k] = self.indicator_slope(point, Moved::Input(k), stencil, here, indicator)?;
        }
        Ok(())
    }

    fn indicator_slope(
        &mut self,
        point: &DifferencePoint<'_>,
        moved: Moved,
        (stencil, gap): (Stencil, f64),
        here: f64,
        indicator: usize,
    ) -> Result<f64, CallError> {
        let [one, other] = stencil.places;
        let one = self.indicator_with(point, moved, one * gap, indicator)?;
        let other = self.indicator_with(point, moved, other * gap, indicator)?;
        Ok(stencil.slope([here, one, other]) / gap)
    }

    fn indicator_with(
        &mut self,
        point: &DifferencePoint<'_>,
        moved: Moved,
        distance: f64,
        indicator: usize,
    ) -> Result<f64, CallError> {
        self.look_with(point, moved, distance, |this, time, state, inputs| {
            this.flow(time, inputs, false).changed(0.0, state)?;
            Ok(this.flow.indicators[indicator])
        })
    }
}

/// What comes out of an event.
struct EventOutcome {
    /// It sets states anew.
    resets: bool,
    /// The states after it.
    states: Vec<f64>,
    /// Derivatives and outputs after it.
    answers: Vec<f64>,
}

/// Where an event is tried.
#[derive(Clone, Copy)]
struct EventTrial<'a> {
    point: &'a DifferencePoint<'a>,
    /// How far ahead the FMU has to be shown for the event to happen.
    lead: f64,
}

/// Resets, and what the FMU keeps in mind.
impl<I: Instance> ModelExchange<I> {
    /// Sends the FMU through the event, to see whether it sets states anew, and what they depend
    /// on; and whether it keeps values in mind, which would carry errors that nobody sees.
    fn foresee_event(
        &mut self,
        point: &DifferencePoint<'_>,
        indicator: Option<usize>,
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        let next_event = self.next_event;
        let ends = self.ends;
        let before = self.answers_after(point.time, point.state)?;
        self.place_now(point)?;
        if self.instance.save().is_err() {
            self.restores = false;
            return Ok(());
        }

        let foreseen = self.fill_reset(point, indicator, into);
        self.next_event = next_event;
        self.ends = ends;
        self.instance.restore()?;
        if foreseen.is_err() {
            // It does not go there and back: what the event does shows when it has happened.
            self.restores = false;
            self.event_effect.foreseen = false;
            into.make_reset(false);
        }
        self.insist_on_return(&before, point)
    }

    /// The FMU is as it was, or the run cannot go on.
    fn insist_on_return(
        &mut self,
        before: &[f64],
        point: &DifferencePoint<'_>,
    ) -> Result<(), CallError> {
        let after = self.answers_after(point.time, point.state)?;
        if same(before, &after) {
            return Ok(());
        }
        Err(CallError::Refused {
            function: "SetFMUState",
            status: "another state",
            message: Some("it says that its state can be restored, and does not do so".to_owned()),
        })
    }

    /// Puts the FMU where it stands.
    fn place_now(&mut self, point: &DifferencePoint<'_>) -> Result<(), CallError> {
        self.look_with(point, Moved::Time, 0.0, |this, time, state, inputs| {
            this.flow(time, inputs, false).place(0.0, state)
        })
    }

    fn fill_reset(
        &mut self,
        point: &DifferencePoint<'_>,
        indicator: Option<usize>,
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        let lead = self.lead_of_event(point)?;
        let trial = EventTrial { point, lead };
        let here = self.try_event(trial, (Moved::Time, 0.0), None)?;
        into.make_reset(here.resets);
        self.event_effect.foreseen = here.resets;
        // Moves go to where the event has been: on the other side it would not happen.
        let down = indicator.is_some_and(|indicator| self.flow.positive[indicator]);
        let side = |slope: f64| if (slope < 0.0) == down { 1.0 } else { -1.0 };

        for k in 0..point.state.len() {
            let gap = side(into.x[k]) * gap_at(point.state[k]);
            let column = self.event_column(trial, (Moved::MotionState(k), gap), &here)?;
            if here.resets {
                into.reset.column_mut(k).copy_from_slice(&column);
            }
        }

        let layout = self.layout.clone();
        for &k in &layout.smooth_input_positions {
            let gap = side(into.u[k]) * gap_at(self.now.inputs.values[k]);
            let column = self.event_column(trial, (Moved::Input(k), gap), &here)?;
            if here.resets {
                into.reset_by_inputs.column_mut(k).copy_from_slice(&column);
            }
        }
        Ok(())
    }

    /// How states after the event depend on what is moved; NaN where it does not happen any more.
    fn event_column(
        &mut self,
        trial: EventTrial<'_>,
        (moved, gap): (Moved, f64),
        here: &EventOutcome,
    ) -> Result<Vec<f64>, CallError> {
        let stencil = Stencil::FORWARD;
        let [near, far] = stencil.places;
        let one = self.try_event(trial, (moved, near * gap), Some(here))?;
        self.event_effect.remembers |= !same(&here.answers, &one.answers);
        if !here.resets {
            return Ok(Vec::new());
        }

        let other = self.try_event(trial, (moved, far * gap), Some(here))?;
        let slope = |i: usize| match one.resets && other.resets {
            true => stencil.slope([here.states[i], one.states[i], other.states[i]]) / gap,
            false => f64::NAN,
        };
        Ok((0..here.states.len()).map(slope).collect())
    }

    /// How far ahead the FMU has to be shown for the event to happen.
    fn lead_of_event(&mut self, point: &DifferencePoint<'_>) -> Result<f64, CallError> {
        let inputs = self.moving_inputs();
        self.end.values.copy_from_slice(point.state);
        let near = self.near_now;
        self.find_sides(EventPlace::new(point.time, 0.0, &inputs, near))?;
        Ok(self.lead(near))
    }

    /// The inputs last applied, as they go on.
    fn moving_inputs(&self) -> Vec<Signal> {
        let applied = &self.now.inputs;
        let pairs = applied.values.iter().zip(&applied.slopes);
        let signal = |(&value, &slope): (&f64, &f64)| match slope.is_finite() {
            true => Signal::new(&[value, slope]),
            false => Signal::constant(value),
        };
        pairs.map(signal).collect()
    }

    /// What comes out of the event with one thing moved. Derivatives and outputs are those in the
    /// states and under the inputs of the event as it is, `like`.
    fn try_event(
        &mut self,
        EventTrial { point, lead }: EventTrial<'_>,
        (moved, distance): (Moved, f64),
        like: Option<&EventOutcome>,
    ) -> Result<EventOutcome, CallError> {
        self.instance.restore()?;
        let mut inputs = self.moving_inputs();
        self.end.values.copy_from_slice(point.state);
        match moved {
            Moved::MotionState(k) => self.end.values[k] += distance,
            Moved::Input(k) => {
                let [value, slope] = [0, 1].map(|order| inputs[k].derivative(order, 0.0));
                inputs[k] = Signal::new(&[value + distance, slope]);
            }
            Moved::Time => {}
        }

        let here = EventPlace::new(point.time, 0.0, &inputs, self.near_now);
        self.place_ahead(here, lead)?;
        self.instance.enter_event_mode()?;
        let resets = self.settle()?;
        let mut states = self.end.values.clone();
        if resets {
            self.take_reset_states()?;
            states.copy_from_slice(&self.end.values);
        }

        let at = like.map_or(&states, |like| &like.states);
        let answers = self.answers_after(point.time, at)?;
        Ok(EventOutcome {
            resets,
            states,
            answers,
        })
    }

    /// Derivatives and outputs of the FMU as it is, in these states and under the inputs last
    /// applied.
    fn answers_after(&mut self, time: f64, states: &[f64]) -> Result<Vec<f64>, CallError> {
        self.hold_inputs();
        let held = std::mem::take(&mut self.buffers.held);
        let read = self.outputs_at(time, 0.0, states, &held, 1);
        self.buffers.held = held;
        read?;
        self.read_rates(1)?;
        Ok([&self.buffers.rates[1][..], &self.buffers.outputs[1]].concat())
    }
}

/// Whether two sets of answers are the same but for rounding.
fn same(some: &[f64], others: &[f64]) -> bool {
    let mut pairs = some.iter().zip(others);
    pairs.all(|(one, other)| (one - other).abs() <= SAME * (one.abs() + other.abs()))
}
