//! What moves an event of a Model Exchange FMU, and what the event makes of small changes: its
//! indicator and the states that it sets anew, to first order.
//!
//! Both by differences. To see how new states depend on the old ones, the FMU is sent through the
//! event again and again, and back: only where its state can be saved and restored. Where it cannot,
//! the system says so once the event has set states anew.

use dovetail_core::{EventGradient, Signal};

use super::ModelExchange;
use super::crossing::EventPlace;
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
        if pending && self.restores && !point.state.is_empty() {
            self.foresee_reset(point, first, into)?;
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

/// Resets.
impl<I: Instance> ModelExchange<I> {
    /// Sends the FMU through the event, to see whether it sets states anew, and what they depend
    /// on.
    fn foresee_reset(
        &mut self,
        point: &DifferencePoint<'_>,
        indicator: Option<usize>,
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        let next_event = self.next_event;
        let ends = self.ends;
        self.place_now(point)?;
        self.instance.save()?;
        let mut after = vec![0.0; point.state.len()];
        let foreseen = self.fill_reset(point, indicator, &mut after, into);
        self.next_event = next_event;
        self.ends = ends;
        self.instance.restore()?;
        foreseen
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
        after: &mut [f64],
        into: &mut EventGradient,
    ) -> Result<(), CallError> {
        let lead = self.lead_of_event(point)?;
        if !self.reset_with(point, lead, (Moved::Time, 0.0), after)? {
            return Ok(());
        }
        into.make_reset(true);
        self.event_effect.foreseen = true;
        // Moves go to where the event has been: on the other side it would not happen.
        let down = indicator.is_some_and(|indicator| self.flow.positive[indicator]);
        let side = |slope: f64| if (slope < 0.0) == down { 1.0 } else { -1.0 };
        let here = after.to_vec();

        for k in 0..point.state.len() {
            let gap = side(into.x[k]) * gap_at(point.state[k]);
            let moved = Moved::MotionState(k);
            let column = self.reset_column(point, lead, (moved, gap), &here, after)?;
            into.reset.column_mut(k).copy_from_slice(&column);
        }

        let layout = self.layout.clone();
        for &k in &layout.smooth_input_positions {
            let gap = side(into.u[k]) * gap_at(self.now.inputs.values[k]);
            let column = self.reset_column(point, lead, (Moved::Input(k), gap), &here, after)?;
            into.reset_by_inputs.column_mut(k).copy_from_slice(&column);
        }
        Ok(())
    }

    /// How new states depend on what is moved; NaN where the event does not happen any more.
    fn reset_column(
        &mut self,
        point: &DifferencePoint<'_>,
        lead: f64,
        (moved, gap): (Moved, f64),
        here: &[f64],
        after: &mut [f64],
    ) -> Result<Vec<f64>, CallError> {
        let stencil = Stencil::FORWARD;
        let [near, far] = stencil.places;
        let mut resets = self.reset_with(point, lead, (moved, near * gap), after)?;
        let one = after.to_vec();
        resets &= self.reset_with(point, lead, (moved, far * gap), after)?;
        let slope = |i: usize| match resets {
            true => stencil.slope([here[i], one[i], after[i]]) / gap,
            false => f64::NAN,
        };
        Ok((0..here.len()).map(slope).collect())
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

    /// The states after the event, with one thing moved; whether it sets any.
    fn reset_with(
        &mut self,
        point: &DifferencePoint<'_>,
        lead: f64,
        (moved, distance): (Moved, f64),
        after: &mut [f64],
    ) -> Result<bool, CallError> {
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
        self.instance.get_states(after)?;
        let before = self.buffers.moved.iter().zip(&self.end.values);
        for (after, (&shown, &state)) in after.iter_mut().zip(before) {
            if *after == shown {
                *after = state;
            }
        }
        Ok(resets)
    }
}
