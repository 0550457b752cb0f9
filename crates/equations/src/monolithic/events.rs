//! Events of the coupled equations: seen between the steps of the integrator, and narrowed down by
//! halving, integrating anew each time.
//!
//! Slow, and on purpose unlike what systems do: this is what they are judged by.

use std::ops::ControlFlow;

use dovetail_numerics::{Hint, IntegrationError, Integrator, Rhs, Tolerance};
use nalgebra::DMatrix;

use super::algebra::CoupledDynamics;

/// Places within a step of the integrator at which sides are looked at.
const LOOKS: usize = 8;
/// Steps of a model without states.
const STRIDES: usize = 64;
/// Halvings of the interval around an event.
const MOST_HALVINGS: usize = 100;

/// The coupled equations, in time elapsed since `start`.
pub(super) struct CoupledRhs<'a> {
    pub dynamics: &'a mut CoupledDynamics,
    pub start: f64,
    /// No evaluation is later than this: at a switching time itself the other side begins.
    pub latest: f64,
}

impl CoupledRhs<'_> {
    fn time(&self, elapsed: f64) -> f64 {
        (self.start + elapsed).min(self.latest)
    }
}

impl Rhs for CoupledRhs<'_> {
    fn size(&self) -> usize {
        self.dynamics.states()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        let time = self.time(elapsed);
        self.dynamics.derivative(time, states, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        let time = self.time(elapsed);
        self.dynamics.jacobian(time, states, jacobian);
    }
}

/// An integration from `start` on, as far as the first event.
pub(super) struct EventSearch<'a> {
    pub dynamics: &'a mut CoupledDynamics,
    pub integrator: &'a mut Integrator,
    pub hint: &'a mut Hint,
    pub tolerance: Tolerance<'a>,
    pub start: f64,
    /// No evaluation is later than this.
    pub latest: f64,
}

/// Between these times something has changed sides.
#[derive(Clone, Copy)]
struct Alarm {
    before: f64,
    after: f64,
}

impl EventSearch<'_> {
    /// Over `span`, or to the first event: its time, elapsed, just beyond it.
    pub fn advance(
        &mut self,
        span: f64,
        states: &mut [f64],
    ) -> Result<Option<f64>, IntegrationError> {
        let mut from = 0.0;
        loop {
            let mut origin = states.to_vec();
            let Some(alarm) = self.watch(from, span, states, &mut origin)? else {
                return Ok(None);
            };
            if let Some(event) = self.halve(alarm, &origin, states)? {
                *self.hint = Hint::default();
                return Ok(Some(event));
            }
            from = alarm.after; // the interpolation saw what the solution does not do
        }
    }

    /// Over `span` or to where something changes sides; then `origin` is the state before.
    fn watch(
        &mut self,
        from: f64,
        span: f64,
        states: &mut [f64],
        origin: &mut [f64],
    ) -> Result<Option<Alarm>, IntegrationError> {
        let rhs = CoupledRhs {
            dynamics: self.dynamics,
            start: self.start,
            latest: self.latest,
        };
        let mut watched = WatchedRhs::new(rhs, from, origin);
        if states.is_empty() {
            return Ok(watched.stride(from, span));
        }

        let outcome = self.integrator.integrate(
            &mut watched,
            from,
            span,
            states,
            self.tolerance,
            *self.hint,
        )?;
        *self.hint = outcome.hint;
        origin.copy_from_slice(&watched.before.states);
        Ok(watched.alarm)
    }

    /// The far end of the shortest interval around the event, with the states there; none if the
    /// solution does not change sides.
    fn halve(
        &mut self,
        alarm: Alarm,
        origin: &[f64],
        states: &mut [f64],
    ) -> Result<Option<f64>, IntegrationError> {
        let mut low = alarm.before;
        let mut high = alarm.after;
        if self.is_on_its_sides(alarm.before, high, origin, states)? {
            return Ok(None);
        }

        for _ in 0..MOST_HALVINGS {
            let middle = 0.5 * (low + high);
            let spacing = f64::EPSILON * (self.start + high).abs();
            if middle <= low || middle >= high || high - low <= spacing {
                break;
            }
            if self.is_on_its_sides(alarm.before, middle, origin, states)? {
                low = middle;
            } else {
                high = middle;
            }
        }

        self.is_on_its_sides(alarm.before, high, origin, states)?;
        Ok(Some(high))
    }

    /// Integrates from `origin` and looks.
    fn is_on_its_sides(
        &mut self,
        from: f64,
        to: f64,
        origin: &[f64],
        states: &mut [f64],
    ) -> Result<bool, IntegrationError> {
        states.copy_from_slice(origin);
        let hint = Hint {
            step: to - from,
            ..*self.hint
        };
        let tolerance = self.tolerance;
        let mut rhs = CoupledRhs {
            dynamics: self.dynamics,
            start: self.start,
            latest: self.latest,
        };
        if !states.is_empty() && to > from {
            self.integrator
                .integrate(&mut rhs, from, to, states, tolerance, hint)?;
        }
        let time = rhs.time(to);
        Ok(self.dynamics.is_on_its_sides(time, states))
    }
}

/// A point of the solution.
struct WatchedPoint {
    elapsed: f64,
    states: Vec<f64>,
    slopes: Vec<f64>,
}

/// The coupled equations, watched: the integration ends where something changes sides.
struct WatchedRhs<'a> {
    rhs: CoupledRhs<'a>,
    before: WatchedPoint,
    alarm: Option<Alarm>,
}

impl<'a> WatchedRhs<'a> {
    fn new(mut rhs: CoupledRhs<'a>, elapsed: f64, states: &[f64]) -> Self {
        let mut slopes = vec![0.0; states.len()];
        rhs.derivative(elapsed, states, &mut slopes);
        let before = WatchedPoint {
            elapsed,
            states: states.to_vec(),
            slopes,
        };

        Self {
            rhs,
            before,
            alarm: None,
        }
    }

    fn is_on_its_sides(&mut self, elapsed: f64, states: &[f64]) -> bool {
        let time = self.rhs.time(elapsed);
        self.rhs.dynamics.is_on_its_sides(time, states)
    }

    /// Without states: in small strides.
    fn stride(&mut self, from: f64, span: f64) -> Option<Alarm> {
        let mut before = from;
        for stride in 1..=STRIDES {
            let after = from + (span - from) * stride as f64 / STRIDES as f64;
            if !self.is_on_its_sides(after, &[]) {
                return Some(Alarm { before, after });
            }
            before = after;
        }
        None
    }

    /// Where, between the last point and this one, something has changed sides.
    fn look(&mut self, after: &WatchedPoint) -> Option<f64> {
        let size = after.elapsed - self.before.elapsed;
        let mut between = vec![0.0; after.states.len()];

        for look in 1..=LOOKS {
            let share = look as f64 / LOOKS as f64;
            for (i, state) in between.iter_mut().enumerate() {
                *state = cubic(share, size, &self.before, after, i);
            }
            let elapsed = match look {
                LOOKS => after.elapsed,
                _ => self.before.elapsed + share * size,
            };
            if !self.is_on_its_sides(elapsed, &between) {
                return Some(elapsed);
            }
        }
        None
    }
}

/// A state between two points.
fn cubic(s: f64, size: f64, before: &WatchedPoint, after: &WatchedPoint, state: usize) -> f64 {
    if s == 1.0 {
        return after.states[state];
    }

    let r = 1.0 - s;
    let ends = r * r * (1.0 + 2.0 * s) * before.states[state]
        + s * s * (1.0 + 2.0 * r) * after.states[state];
    ends + size * s * r * (r * before.slopes[state] - s * after.slopes[state])
}

impl Rhs for WatchedRhs<'_> {
    fn size(&self) -> usize {
        self.rhs.size()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        self.rhs.derivative(elapsed, states, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        self.rhs.jacobian(elapsed, states, jacobian);
    }

    fn arrived(&mut self, elapsed: f64, states: &[f64]) -> ControlFlow<()> {
        let mut slopes = vec![0.0; states.len()];
        self.rhs.derivative(elapsed, states, &mut slopes);
        let after = WatchedPoint {
            elapsed,
            states: states.to_vec(),
            slopes,
        };
        if let Some(changed) = self.look(&after) {
            self.alarm = Some(Alarm {
                before: self.before.elapsed,
                after: changed,
            });
            return ControlFlow::Break(());
        }

        self.before = after;
        ControlFlow::Continue(())
    }
}
