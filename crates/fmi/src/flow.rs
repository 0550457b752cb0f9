//! The right-hand side of a Model Exchange FMU under input signals, with a watch for its events.

use std::ops::ControlFlow;

use dovetail_core::Signal;
use dovetail_numerics::Rhs;

use crate::call_error::CallError;
use crate::instance::Instance;
use crate::layout::Layout;

/// Between two steps of the integrator the indicators are looked at here too: a step of high order
/// is long.
const LOOKS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// Where a sign of an indicator changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspect {
    /// No event up to here, in elapsed time.
    pub before: f64,
    /// Something has changed by here.
    pub after: f64,
}

/// Buffers that live as long as the system.
pub(crate) struct FlowBuffers {
    /// Values of the double-precision inputs.
    pub inputs: Vec<f64>,
    /// Signs of the indicators as the FMU knows them, since the last event.
    pub positive: Vec<bool>,
    /// How far on the other side an indicator may still be that an event has just sent away from
    /// there.
    pub slack: Vec<f64>,
    pub indicators: Vec<f64>,
    /// How fast they move, where that was asked for.
    pub indicator_rates: Vec<f64>,
    /// The state at the last step of the integrator, and its derivative.
    pub last: Vec<f64>,
    pub last_rate: Vec<f64>,
    rate: Vec<f64>,
    between: Vec<f64>,
}

impl FlowBuffers {
    pub fn new(states: usize, inputs: usize, indicators: usize) -> Self {
        let zeros = vec![0.0; states];
        Self {
            inputs: vec![0.0; inputs],
            positive: vec![false; indicators],
            slack: vec![0.0; indicators],
            indicators: vec![0.0; indicators],
            indicator_rates: vec![0.0; indicators],
            last: zeros.clone(),
            last_rate: zeros.clone(),
            rate: zeros.clone(),
            between: zeros,
        }
    }

    /// Whether an indicator with this value is elsewhere than the FMU knows.
    pub fn is_beyond(&self, indicator: usize, value: f64) -> bool {
        let slack = self.slack[indicator];
        if self.positive[indicator] {
            value.is_nan() || value <= -slack
        } else {
            value > slack
        }
    }

    /// Whether one of the indicators last read is elsewhere than the FMU knows.
    fn any_beyond(&self) -> bool {
        let mut values = self.indicators.iter().enumerate();
        values.any(|(indicator, &value)| self.is_beyond(indicator, value))
    }

    /// An indicator that was last read on its side has no slack any more.
    pub fn tighten(&mut self) {
        for (i, value) in self.indicators.iter().enumerate() {
            if (*value > 0.0) == self.positive[i] {
                self.slack[i] = 0.0;
            }
        }
    }

    /// The indicators last read are what the FMU knows.
    fn take_signs(&mut self) {
        self.slack.fill(0.0);
        self.positive
            .iter_mut()
            .zip(&self.indicators)
            .for_each(|(positive, &value)| *positive = value > 0.0);
    }
}

/// `x' = f` under input signals, in time elapsed since the macro-step began.
pub(crate) struct Flow<'a, I> {
    pub instance: &'a mut I,
    pub layout: &'a Layout,
    pub inputs: &'a [Signal],
    /// The time at which the macro-step began.
    pub start: f64,
    /// No evaluation is later than this: a time event belongs to the other side.
    pub latest: f64,
    pub buffers: &'a mut FlowBuffers,
    /// Whether the FMU is told of completed steps: not in a trial, which leaves no trace.
    pub completes: bool,
    /// Elapsed time of the last step of the integrator.
    pub arrived: f64,
    pub suspect: Option<Suspect>,
    /// The FMU asked for an event after a completed step, or for the end of the run.
    pub step_event: bool,
    pub ends: bool,
    /// The first failure: a right-hand side has no other way to tell.
    pub error: Option<CallError>,
}

impl<I: Instance> Flow<'_, I> {
    /// Puts the FMU at a place.
    pub fn place(&mut self, elapsed: f64, state: &[f64]) -> Result<(), CallError> {
        self.instance
            .set_time((self.start + elapsed).min(self.latest))?;
        if !state.is_empty() {
            self.instance.set_states(state)?;
        }

        let value = |position: usize| self.inputs[position].value(elapsed);
        self.layout
            .fill_smooth_inputs(&mut self.buffers.inputs, value);
        self.instance
            .set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)
    }

    /// Whether a sign has changed at this place.
    pub fn changed(&mut self, elapsed: f64, state: &[f64]) -> Result<bool, CallError> {
        self.place(elapsed, state)?;
        self.read_indicators()?;
        Ok(self.buffers.any_beyond())
    }

    fn read_indicators(&mut self) -> Result<(), CallError> {
        self.instance.get_indicators(&mut self.buffers.indicators)
    }

    /// Indicators and how fast they move, by a difference over `gap`, which may point back.
    pub fn measure(
        &mut self,
        elapsed: f64,
        state: &[f64],
        rates: &[f64],
        gap: f64,
    ) -> Result<(), CallError> {
        let mut moved = std::mem::take(&mut self.buffers.between);
        for (moved, (&x, &rate)) in moved.iter_mut().zip(state.iter().zip(rates)) {
            *moved = x + gap * rate;
        }
        let looked = self
            .place(elapsed + gap, &moved)
            .and_then(|()| self.read_indicators());
        self.buffers.between = moved;
        looked?;

        let buffers = &mut *self.buffers;
        std::mem::swap(&mut buffers.indicators, &mut buffers.indicator_rates);
        self.place(elapsed, state)?;
        self.read_indicators()?;
        let buffers = &mut *self.buffers;
        for (rate, here) in buffers.indicator_rates.iter_mut().zip(&buffers.indicators) {
            *rate = (*rate - here) / gap;
        }
        Ok(())
    }

    /// What the FMU knows of its indicators right after an event, where it now is.
    pub fn note_event(&mut self) -> Result<(), CallError> {
        if self.buffers.indicators.is_empty() {
            return Ok(());
        }
        self.read_indicators()?;
        self.buffers.take_signs();
        Ok(())
    }

    /// Signs as they are at this place, from which changes count. They belong to the last event,
    /// not to the last step: an input that jumps between two steps is an event as well.
    pub fn note_signs(&mut self, elapsed: f64, state: &[f64]) -> Result<(), CallError> {
        if self.buffers.indicators.is_empty() {
            return Ok(());
        }

        self.place(elapsed, state)?;
        self.note_event()
    }

    /// Whether a sign is other than after the last event; where there are no indicators, never.
    pub fn sign_changed(&mut self, elapsed: f64, state: &[f64]) -> Result<bool, CallError> {
        if self.buffers.indicators.is_empty() {
            Ok(false)
        } else {
            self.changed(elapsed, state)
        }
    }

    /// The place from which the integrator goes on.
    pub fn note_origin(&mut self, elapsed: f64, state: &[f64]) -> Result<(), CallError> {
        self.arrived = elapsed;
        if self.buffers.indicators.is_empty() || state.is_empty() {
            return Ok(());
        }

        self.place(elapsed, state)?;
        self.buffers.last.copy_from_slice(state);
        self.instance.get_derivatives(&mut self.buffers.last_rate)
    }

    fn rate(
        &mut self,
        elapsed: f64,
        state: &[f64],
        derivative: &mut [f64],
    ) -> Result<(), CallError> {
        self.place(elapsed, state)?;
        self.instance.get_derivatives(derivative)
    }

    /// Looks for events between the last step of the integrator and this one.
    fn look(&mut self, elapsed: f64, state: &[f64]) -> Result<Option<Suspect>, CallError> {
        let before = self.arrived;
        let size = elapsed - before;
        let mut rate = std::mem::take(&mut self.buffers.rate);
        let mut between = std::mem::take(&mut self.buffers.between);
        let mut found = None;
        self.place(elapsed, state)?;

        if !state.is_empty() {
            self.instance.get_derivatives(&mut rate)?;
        }

        for share in LOOKS {
            self.interpolate(share, size, (state, &rate), &mut between);
            let at = before + share * size;
            if self.changed(at, &between)? {
                found = Some(Suspect { before, after: at });
                break;
            }
        }

        if found.is_none() && self.changed(elapsed, state)? {
            found = Some(Suspect {
                before,
                after: elapsed,
            });
        }

        if found.is_none() {
            self.buffers.last.copy_from_slice(state);
            self.buffers.last_rate.copy_from_slice(&rate);
            self.arrived = elapsed;
        }

        (self.buffers.rate, self.buffers.between) = (rate, between);
        Ok(found)
    }

    /// The state at a share of a step of this size, by the cubic through its ends.
    fn interpolate(&self, share: f64, size: f64, end: (&[f64], &[f64]), between: &mut [f64]) {
        let (state, rate) = end;
        let last = &self.buffers.last;
        let last_rate = &self.buffers.last_rate;

        for (i, value) in between.iter_mut().enumerate() {
            let start = knot(last[i], last_rate[i]);
            let signal = Signal::hermite(size, start, knot(state[i], rate[i]));
            *value = signal.value(share * size);
        }
    }

    fn arrive(&mut self, elapsed: f64, state: &[f64]) -> Result<ControlFlow<()>, CallError> {
        if !self.buffers.indicators.is_empty() {
            self.suspect = self.look(elapsed, state)?;
            if self.suspect.is_some() {
                return Ok(ControlFlow::Break(()));
            }
        }

        if self.completes {
            self.place(elapsed, state)?;
            let asked = self.instance.completed_step()?;
            (self.step_event, self.ends) = (asked.event, asked.terminate);
            if asked.event || asked.terminate {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn knot(value: f64, slope: f64) -> dovetail_core::Knot {
    dovetail_core::Knot {
        value,
        slope,
        curvature: f64::NAN,
    }
}

impl<I: Instance> Rhs for Flow<'_, I> {
    fn size(&self) -> usize {
        self.layout.states.len()
    }

    fn derivative(&mut self, elapsed: f64, state: &[f64], derivative: &mut [f64]) {
        if let Err(error) = self.rate(elapsed, state, derivative) {
            // What an FMU refuses here it may accept nearer by: the integrator shortens its step at
            // a NaN.
            self.error.get_or_insert(error);
            derivative.fill(f64::NAN);
        }
    }

    fn arrived(&mut self, elapsed: f64, state: &[f64]) -> ControlFlow<()> {
        self.error = None; // the step was accepted after all
        self.arrive(elapsed, state).unwrap_or_else(|error| {
            self.error = Some(error);
            ControlFlow::Break(())
        })
    }
}
