//! The linearization of a Co-Simulation FMU, by its directional derivatives.

use dovetail_core::{Error, Linearization, Linearize};

use super::{CoSimulation, Position};
use crate::abilities::{InputMode, OutputSlopes};
use crate::call_error::CallError;
use crate::exchange::read_other_outputs;
use crate::instance::Instance;
use crate::linear_columns::{clear_matrices, fill_directional_columns};

/// Slopes that differ by less, relative to their size, differ by rounding.
const ROUNDING: f64 = 1e-9;

impl<I: Instance> Linearize for CoSimulation<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now;
        let done = self.begin_stepping(now).and_then(|_| self.fill(into));
        self.report(now, done)
    }
}

impl<I: Instance> CoSimulation<I> {
    /// Fills the matrices, a column for each state and each continuous input.
    fn fill(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        self.return_to_now()?;
        if !self.abilities.derivatives_leave_traces {
            return self.fill_here(into);
        }

        self.save()?;
        let filled = self.fill_here(into);
        // What comes next starts from the saved state.
        self.position = Position::Displaced;

        filled
    }

    fn fill_here(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        // Nothing is set: the FMU could not be read then.
        if self.abilities.inputs != InputMode::Held {
            self.read_inputs()?;
        }

        clear_matrices(into);
        into.f_time.fill(0.0);
        into.g_time.fill(0.0);
        self.fill_values(into)?;
        let buffers = &mut self.buffers;
        let seed = &mut buffers.seed[..self.layout.known_values()];
        fill_directional_columns(
            &mut self.instance,
            &self.layout,
            &self.abilities,
            seed,
            &mut buffers.column,
            into,
        )?;

        // Where an event was found nobody knows what moves it.
        into.event.make_reset(false);
        let found = self.has_found_event(self.now);
        into.event.due = u64::from(found);
        into.event.x.fill(if found { f64::NAN } else { 0.0 });

        if self.reports_slopes_of_held_inputs() {
            self.fill_time(into)?;
        }
        Ok(())
    }

    /// Where its inputs move during a step, the FMU knows where they have come to.
    fn read_inputs(&mut self) -> Result<(), CallError> {
        let values = &mut self.buffers.inputs;
        self.instance
            .get_floats(&self.layout.smooth_inputs, values)?;

        for (&value, &position) in values.iter().zip(&self.layout.smooth_input_positions) {
            self.applied.values[position] = value;
        }
        Ok(())
    }

    /// The state, the inputs and what the FMU answers there.
    fn fill_values(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        self.instance
            .get_floats(&self.layout.derivative_references, into.f.as_mut_slice())?;
        self.read()?;

        for (position, value) in self.layout.outputs_of(&self.buffers.read) {
            into.g[position] = value;
        }

        for (position, value) in self.layout.states_of(&self.buffers.read) {
            into.x[position] = value;
        }

        let others = &mut self.buffers.others;
        read_other_outputs(
            &mut self.instance,
            &self.layout,
            others,
            |position, value| {
                into.g[position] = value;
            },
        )?;
        into.u.as_mut_slice().copy_from_slice(&self.applied.values);
        let slopes = into.u_slope.as_mut_slice();
        slopes.copy_from_slice(&self.applied.slopes);
        into.affine = 0;
        Ok(())
    }

    fn reports_slopes_of_held_inputs(&self) -> bool {
        matches!(self.abilities.slopes, OutputSlopes::Reported(_))
            && self.abilities.inputs == InputMode::Held
            && self.knows_slopes_here()
    }

    /// What the FMU reports of its outputs' slopes beyond C f is their derivative by time, where
    /// its inputs are held.
    fn fill_time(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        self.read_output_derivatives(1)?;
        let positions = &self.layout.smooth_output_positions;

        for (&slope, &at) in self.buffers.slopes.iter().zip(positions) {
            let row = into.c.row(at);
            let flow: f64 = row.iter().zip(into.f.iter()).map(|(c, f)| c * f).sum();
            into.g_time[at] = beyond(slope, flow);
        }
        Ok(())
    }
}

/// What a slope has beyond a part of it that is known; rounding is no motion.
fn beyond(slope: f64, known: f64) -> f64 {
    let rest = if slope.is_finite() {
        slope - known
    } else {
        0.0
    };
    let rounding = ROUNDING * (slope.abs() + known.abs());
    if rest.abs() <= rounding { 0.0 } else { rest }
}
