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
use super::run_state::Doubt;
use super::tuning::{GRAZING, NEGLIGIBLE_JUMP, SIMULTANEOUS};
use crate::finite::finite_or_zero;
use crate::interface_system::CoupledInput;
use crate::row_product::row_product;

/// The near side of an event that is about to be crossed.
#[derive(Default)]
pub(super) struct EventError {
    /// By how much the event is late, in all systems that have it: none where its time was known,
    /// NaN where it is not known.
    late: Option<f64>,
    /// The size of the step before it.
    size: f64,
    /// What the event makes of the derivatives of all states before it, and of their errors.
    slopes: Vec<f64>,
    errors: Vec<f64>,
}

impl EventError {
    /// Room for so many states.
    pub fn new(states: usize) -> Self {
        Self {
            slopes: Vec::with_capacity(states),
            errors: Vec::with_capacity(states),
            ..Self::default()
        }
    }
}

impl Predictive<'_> {
    /// The step has ended at an event, and systems have not crossed it yet.
    pub(super) fn note_event(&mut self, size: f64) {
        let error = &self.errors.global;
        let mut event = std::mem::take(&mut self.errors.event);
        event.slopes.clear();
        event.errors.clear();
        event.late = None;
        event.size = size;

        for (system, here) in self.interface_system.linearizations().enumerate() {
            let first = event.slopes.len();
            let errors = &error.states[first..][..here.x.len()];
            for state in 0..here.x.len() {
                event
                    .slopes
                    .push(self.consistent_slope(system, here, state));
            }
            if here.event.due > 0 {
                let slopes = &event.slopes[first..];
                let delay = self.delay_of(system, &here.event, errors, slopes);
                event.late = Some(agreed(event.late, delay, size));
            }
            event.errors.extend(errors);
            if here.event.resets() {
                self.reset_small_changes(system, &mut event.slopes[first..], false);
                self.reset_small_changes(system, &mut event.errors[first..], true);
            }
        }

        self.errors.event = event;
    }

    /// What the event makes of a small change of a system's states and inputs: of their errors, or
    /// of how they move.
    fn reset_small_changes(&self, system: usize, states: &mut [f64], errors: bool) {
        let here = self.interface_system.linearization(system);
        let before = states.to_vec();

        for (i, state) in states.iter_mut().enumerate() {
            *state = row_product(&here.event.reset, i, &before);
            for column in &self.interface_system.columns[system] {
                let gain = here.event.reset_by_inputs[(i, column.input)];
                if gain == 0.0 {
                    continue;
                }
                let stacked = self.coupling.variables[column.variable].stacked;
                let slope = self.coupling.start[column.variable].slope;
                let change = match errors {
                    true => self.errors.global.outputs[stacked],
                    false => finite_or_zero(slope),
                };
                *state += gain * change;
            }
        }
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
        let error = &self.errors.global;
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
        let error = &mut self.errors.global;
        let event = &self.errors.event;
        let late = event.late.unwrap_or(0.0);
        let grazes = late.abs() > GRAZING * event.size;
        let mut jumps = false;
        error.states.copy_from_slice(&event.errors);

        for (state, after) in self.interface_system.state_slopes().enumerate() {
            let before = event.slopes[state];
            let jump = before - after;
            if jump.abs() > NEGLIGIBLE_JUMP * (before.abs() + after.abs()) {
                jumps = true;
                error.states[state] += jump * finite_or_zero(late);
            }
        }

        let lost = error.states.iter().any(|state| state.is_nan());
        if lost {
            error.states.fill(0.0);
        }
        if lost || (late.is_nan() && jumps) {
            self.errors.knowledge.doubt(Doubt::Crossed);
        } else if grazes && jumps {
            self.errors.knowledge.doubt(Doubt::Grazed);
        }

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
