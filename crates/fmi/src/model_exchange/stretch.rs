//! The integrator at work on an FMU, up to the next event, which it locates.

use dovetail_numerics::{Hint, IntegrationError, Integrator, Rhs, Tolerance};

use crate::call_error::CallError;
use crate::flow::{Flow, FlowBuffers, Suspect};
use crate::instance::Instance;

/// A state event is located to so much of the step of the integrator around it.
const EVENT_PRECISION: f64 = 1e-12;
/// Rounds in which an event is narrowed down: each halves the interval at the least.
const MOST_ROUNDS: usize = 80;
/// The root of an indicator is looked for within this part of the first interval around that of its
/// secant.
const NEAR_SECANT: f64 = 0.1;
/// An FMU without states is looked at so often within a step.
const LOOKS_WITHOUT_STATES: usize = 20;

pub(super) enum Trouble {
    Call(CallError),
    Integration(IntegrationError),
}

/// The integrator at work on a flow.
pub(super) struct Stretch<'a, 'f, I> {
    pub flow: &'a mut Flow<'f, I>,
    pub integrator: &'a mut Integrator,
    pub tolerance: Tolerance<'a>,
    pub hint: Hint,
}

impl<I: Instance> Stretch<'_, '_, I> {
    /// To `target` or to the first event.
    pub fn go(
        &mut self,
        from: f64,
        target: f64,
        state: &mut [f64],
    ) -> Result<(f64, bool), (f64, Trouble)> {
        self.flow
            .note_origin(from, state)
            .map_err(|error| (from, Trouble::Call(error)))?;
        let mut at = from;

        while at < target {
            let reached = self.step(at, target, state)?;
            if let Some(suspect) = self.flow.suspect.take() {
                let (found, elapsed) = self.locate(suspect, state)?;
                if found {
                    return Ok((elapsed, true));
                }
                // A false alarm: the interpolation saw what the solution does not do.
                at = elapsed;
                self.flow
                    .note_origin(at, state)
                    .map_err(|error| (at, Trouble::Call(error)))?;
                continue;
            }
            if std::mem::take(&mut self.flow.step_event) || self.flow.ends {
                return Ok((reached, true));
            }
            at = reached;
        }
        Ok((target, false))
    }

    /// To `target`, or to where the flow breaks off.
    fn step(&mut self, from: f64, target: f64, state: &mut [f64]) -> Result<f64, (f64, Trouble)> {
        if state.is_empty() {
            self.step_without_states(from, target)
        } else {
            self.integrate(from, target, state)
        }
    }

    fn integrate(
        &mut self,
        from: f64,
        target: f64,
        state: &mut [f64],
    ) -> Result<f64, (f64, Trouble)> {
        let done =
            self.integrator
                .integrate(self.flow, from, target, state, self.tolerance, self.hint);
        match (done, self.flow.error.take()) {
            (Ok(outcome), None) => {
                self.hint = outcome.hint;
                Ok(outcome.reached)
            }
            (Ok(outcome), Some(error)) => Err((outcome.reached, Trouble::Call(error))),
            (Err(_), Some(error)) => Err((self.flow.arrived.max(from), Trouble::Call(error))),
            (Err(error), None) => Err((time_of(&error), Trouble::Integration(error))),
        }
    }

    /// There is nothing to integrate: events are looked for in small strides.
    fn step_without_states(&mut self, from: f64, target: f64) -> Result<f64, (f64, Trouble)> {
        if self.flow.buffers.indicators.is_empty() && !self.flow.completes {
            return Ok(target);
        }

        for stride in 1..=LOOKS_WITHOUT_STATES {
            let share = stride as f64 / LOOKS_WITHOUT_STATES as f64;
            let at = if stride == LOOKS_WITHOUT_STATES {
                target
            } else {
                from + share * (target - from)
            };
            if self.flow.arrived(at, &[]).is_break() {
                let error = self.flow.error.take();
                return error.map_or(Ok(at), |error| Err((at, Trouble::Call(error))));
            }
        }
        Ok(target)
    }

    /// Narrows an event down by integrating again from before it. Whether there is one, and where
    /// the state now is.
    fn locate(
        &mut self,
        suspect: Suspect,
        state: &mut [f64],
    ) -> Result<(bool, f64), (f64, Trouble)> {
        let origin = self.flow.buffers.last.clone();
        let low = suspect.before;
        let high = suspect.after;
        let failed = |at: f64| move |error: CallError| (at, Trouble::Call(error));
        self.integrate_quietly(suspect.before, high, &origin, state)?;
        if !self.flow.changed(high, state).map_err(failed(high))? {
            return Ok((false, high));
        }

        let mut bracket = Bracket {
            low,
            high,
            below: self.indicators_at(low, &origin).map_err(failed(low))?,
            above: self.indicators_at(high, state).map_err(failed(high))?,
            past: state.to_vec(),
        };
        let first = high - low;
        let precision =
            EVENT_PRECISION * first + 2.0 * f64::EPSILON * (self.flow.start + high).abs();

        for _ in 0..MOST_ROUNDS {
            let width = bracket.width();
            if width <= precision {
                break;
            }
            // A smooth indicator is nearer to its secant the shorter that is.
            let reach = (NEAR_SECANT * width * width / first).max(0.25 * precision);
            let root = bracket.secant(self.flow.buffers);
            self.look_at(root - reach, &mut bracket, (suspect.before, &origin), state)?;
            self.look_at(root + reach, &mut bracket, (suspect.before, &origin), state)?;
            if bracket.width() > 0.5 * width {
                let middle = 0.5 * (bracket.low + bracket.high);
                self.look_at(middle, &mut bracket, (suspect.before, &origin), state)?;
            }
        }

        state.copy_from_slice(&bracket.past);
        Ok((true, bracket.high))
    }

    /// Narrows the bracket by a look at a time in it; times outside are nothing to look at.
    fn look_at(
        &mut self,
        at: f64,
        bracket: &mut Bracket,
        origin: (f64, &[f64]),
        state: &mut [f64],
    ) -> Result<(), (f64, Trouble)> {
        if !(bracket.low < at && at < bracket.high) {
            return Ok(());
        }

        self.integrate_quietly(origin.0, at, origin.1, state)?;
        let failed = |error: CallError| (at, Trouble::Call(error));
        let changed = self.flow.changed(at, state).map_err(failed)?;
        let values = &self.flow.buffers.indicators;

        if changed {
            bracket.high = at;
            bracket.above.copy_from_slice(values);
            bracket.past.copy_from_slice(state);
        } else {
            bracket.low = at;
            bracket.below.copy_from_slice(values);
        }
        Ok(())
    }

    fn indicators_at(&mut self, at: f64, state: &[f64]) -> Result<Vec<f64>, CallError> {
        self.flow.changed(at, state)?;
        Ok(self.flow.buffers.indicators.clone())
    }

    /// Integrates without looking for events.
    fn integrate_quietly(
        &mut self,
        from: f64,
        to: f64,
        origin: &[f64],
        state: &mut [f64],
    ) -> Result<(), (f64, Trouble)> {
        state.copy_from_slice(origin);
        if state.is_empty() {
            return Ok(());
        }

        let mut quiet = Quiet(self.flow);
        let done =
            self.integrator
                .integrate(&mut quiet, from, to, state, self.tolerance, self.hint);

        // What the FMU refused on the way does not matter if the integrator found another.
        match (done, self.flow.error.take()) {
            (Ok(_), _) => Ok(()),
            (Err(_), Some(error)) => Err((from, Trouble::Call(error))),
            (Err(error), None) => Err((time_of(&error), Trouble::Integration(error))),
        }
    }
}

/// Two times, before and after an event, and what is known there.
struct Bracket {
    low: f64,
    high: f64,
    /// The indicators at either.
    below: Vec<f64>,
    above: Vec<f64>,
    /// The state after the event.
    past: Vec<f64>,
}

impl Bracket {
    fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Where the first of the indicators that change would do so, were they straight.
    fn secant(&self, flow: &FlowBuffers) -> f64 {
        let pairs = self.below.iter().zip(&self.above).enumerate();
        let changing = pairs.filter(|(i, (_, above))| flow.is_beyond(*i, **above));
        let shares = changing.map(|(_, (below, above))| below / (below - above));
        let first = shares.fold(1.0, f64::min);
        self.low + first.clamp(0.0, 1.0) * self.width()
    }
}

fn time_of(error: &IntegrationError) -> f64 {
    match error {
        IntegrationError::NotFinite { time, .. }
        | IntegrationError::TooManySteps { time, .. }
        | IntegrationError::StepTooSmall { time, .. } => *time,
    }
}

/// A flow that nobody watches.
struct Quiet<'a, 'f, I>(&'a mut Flow<'f, I>);

impl<I: Instance> Rhs for Quiet<'_, '_, I> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        self.0.derivative(time, state, derivative);
    }
}
