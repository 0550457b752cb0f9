//! What an event does to the error of the run.
//!
//! Where the states are off by ε, an event that they decide comes at another time: with the
//! switching function σ of the event, by
//!
//! ```text
//! δτ = −(σ + σ_x ε + σ_u ε_u) / σ̇,   σ̇ = σ_t + σ_x f + σ_u u',
//! ```
//!
//! where σ itself is what its location has left. During δτ the true states still move as before
//! the event, and the computed ones as after it, so that with the derivative R of what the event
//! sets anew `ε ← R ε + (R f_before − f_after) δτ`. A kink has the same f on both sides and
//! changes nothing.

use dovetail_core::{EventGradient, Linearization};

use super::Predictive;
use super::tuning::{GRAZING, NEGLIGIBLE_JUMP, SIMULTANEOUS};
use crate::finite::finite_or_zero;
use crate::interface_system::CoupledInput;

/// The near side of an event that is about to be crossed.
#[derive(Default)]
pub(super) struct EventError {
    /// By how much the event is late, in all systems that have it; NaN where that is not known.
    late: Option<f64>,
    /// The size of the step before it.
    size: f64,
    /// The derivatives of all states before it.
    before: Vec<f64>,
}

impl Predictive<'_> {
    /// The step has ended at an event, and systems have not crossed it yet.
    pub(super) fn note_event(&mut self, size: f64) {
        let Some(error) = &self.errors.global else {
            return;
        };
        let mut before = std::mem::take(&mut self.errors.event.before);
        before.clear();
        let mut late = None;
        let mut first = 0;

        for (system, here) in self.interface_system.linearizations().enumerate() {
            for state in 0..here.x.len() {
                before.push(self.consistent_slope(system, here, state));
            }
            if here.event.due > 0 {
                let states = &error.states[first..][..here.x.len()];
                let slopes = &before[first..];
                let delay = self.delay_of(system, &here.event, states, slopes);
                late = Some(agreed(late, delay, size));
            }
            first += here.x.len();
        }

        self.errors.event = EventError { late, size, before };
    }

    /// `f` under the inputs that agree.
    fn consistent_slope(&self, system: usize, here: &Linearization, state: usize) -> f64 {
        let by_input = |column: &CoupledInput| {
            let now = self.coupling.start[column.variable];
            let value = here.b[(state, column.input)] * (now.value - here.u[column.input]);
            let bend = here.b_slope[(state, column.input)];
            let slope = finite_or_zero(bend * (now.slope - here.u_slope[column.input]));
            value + slope
        };
        let columns = self.interface_system.columns[system].iter();

        here.f[state] + columns.map(by_input).sum::<f64>()
    }

    /// `δτ` by the event of one system.
    fn delay_of(
        &self,
        system: usize,
        event: &EventGradient,
        errors: &[f64],
        slopes: &[f64],
    ) -> f64 {
        let Some(error) = &self.errors.global else {
            return f64::NAN;
        };
        let here = self.interface_system.linearization(system);
        let mut residual = event.value;
        let mut rate = event.time;

        for i in 0..errors.len() {
            residual += event.x[i] * errors[i];
            rate += event.x[i] * slopes[i];
        }

        for column in &self.interface_system.columns[system] {
            let now = self.coupling.start[column.variable];
            let stacked = self.coupling.variables[column.variable].stacked;
            let by_value = event.u[column.input];
            let by_slope = event.u_slope[column.input];
            residual += by_value * (now.value - here.u[column.input] + error.outputs[stacked]);
            rate += by_value * finite_or_zero(now.slope);
            if by_slope != 0.0 {
                residual += by_slope * (now.slope - here.u_slope[column.input]);
                rate += by_slope * finite_or_zero(now.curvature);
            }
        }
        -residual / rate
    }

    /// The event has been crossed.
    pub(super) fn carry_over_event(&mut self) {
        let EventError { late, size, .. } = self.errors.event;
        let Some(late) = late else {
            return; // its time was known: only what it sets anew counts
        };
        let grazes = late.is_nan() || late.abs() > GRAZING * size;
        let mut jumps = false;
        let mut first = 0;
        let Some(error) = &mut self.errors.global else {
            return;
        };

        for here in self.interface_system.linearizations() {
            let states = first..first + here.x.len();
            let before = &self.errors.event.before[states.clone()];
            for (i, state) in states.clone().enumerate() {
                let jump = before[i] - here.f[i];
                let least = NEGLIGIBLE_JUMP * (before[i].abs() + here.f[i].abs());
                if jump.abs() > least {
                    jumps = true;
                    error.states[state] += jump * finite_or_zero(late);
                }
            }
            first = states.end;
        }

        self.errors.knowledge.unsure |= grazes && jumps;
        error.estimate_outputs(&self.coupling, &self.interface_system);
    }
}

/// One delay for all: that of simultaneous events if they agree about it.
fn agreed(known: Option<f64>, new: f64, size: f64) -> f64 {
    let Some(known) = known else { return new };
    let margin = SIMULTANEOUS * known.abs().max(new.abs()) + NEGLIGIBLE_JUMP * size;
    if (known - new).abs() <= margin {
        known
    } else {
        f64::NAN
    }
}
