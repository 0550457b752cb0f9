//! The linearisation of a Co-Simulation unit, by its directional derivatives.

use dovetail_core::{Error, Linearization, Linearize};

use super::CoSimulation;
use crate::abilities::{InputWay, Slopes};
use crate::call_error::CallError;
use crate::instance::Instance;

impl<I: Instance> Linearize for CoSimulation<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now;
        let done = self.begin_stepping(now).and_then(|_| self.fill(into));
        done.map_err(|error| self.failure(now, error))
    }
}

impl<I: Instance> CoSimulation<I> {
    /// Fills the matrices, a column for each state and each continuous input.
    fn fill(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        self.return_to_now()?;
        if self.abilities.derivatives_leave_traces {
            self.save()?;
        }
        let filled = self.fill_here(into);
        // What comes next starts from the saved state.
        self.displaced |= self.abilities.derivatives_leave_traces;
        filled
    }

    fn fill_here(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        // Nothing is set: the unit could not be read then. Where its inputs move during a step, it tells where they have come to.
        if self.abilities.inputs != InputWay::Held {
            self.instance
                .get_floats(&self.layout.smooth_inputs, &mut self.buffers.inputs)?;
            for (&value, &position) in self
                .buffers
                .inputs
                .iter()
                .zip(&self.layout.smooth_input_positions)
            {
                self.applied[position] = value;
            }
        }
        let (layout, states) = (&*self.layout, self.layout.states.len());
        for matrix in [
            &mut into.a,
            &mut into.b,
            &mut into.c,
            &mut into.d,
            &mut into.b_slope,
            &mut into.d_slope,
        ] {
            matrix.fill(0.0);
        }
        into.f_time.fill(0.0);
        into.g_time.fill(0.0);
        self.instance
            .get_floats(&layout.derivative_references, into.f.as_mut_slice())?;
        self.instance
            .get_floats(&layout.read, &mut self.buffers.read)?;
        layout
            .read_output
            .iter()
            .for_each(|&(place, at)| into.g[at] = self.buffers.read[place]);
        layout
            .read_state
            .iter()
            .for_each(|&(place, at)| into.x[at] = self.buffers.read[place]);
        for group in &layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance
                .get_values(group.kind, &group.references, values)?;
            values
                .iter()
                .zip(&group.positions)
                .for_each(|(&value, &at)| into.g[at] = value);
        }
        into.u.as_mut_slice().copy_from_slice(&self.applied);
        into.u_slope
            .as_mut_slice()
            .copy_from_slice(&self.applied_slopes);
        into.affine = 0;
        let knowns = states + layout.smooth_input_positions.len();
        let seed = &mut self.buffers.seed[..knowns];
        seed.fill(0.0);
        for column in 0..knowns {
            seed[column] = 1.0;
            self.instance.directional(
                &self.abilities.unknowns,
                &self.abilities.knowns,
                seed,
                &mut self.buffers.column,
            )?;
            seed[column] = 0.0;
            layout.place_column(column, &self.buffers.column, into);
        }
        let told = self.stepped || self.abilities.slopes_at_start;
        if let (Slopes::Told(_), InputWay::Held, true) =
            (self.abilities.slopes, self.abilities.inputs, told)
        {
            self.fill_time(into)?;
        }
        Ok(())
    }

    /// What the unit tells of its outputs' slopes beyond C f is their derivative by time, where its inputs are held.
    fn fill_time(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        let count = self.layout.smooth_outputs.len();
        self.buffers.orders[..count].fill(1);
        let told = &mut self.buffers.slopes[..self.layout.smooth_output_positions.len()];
        self.instance.output_derivatives(
            &self.layout.smooth_outputs,
            &self.buffers.orders[..count],
            told,
        )?;
        for (&slope, &at) in told.iter().zip(&self.layout.smooth_output_positions) {
            let flow: f64 = into
                .c
                .row(at)
                .iter()
                .zip(into.f.iter())
                .map(|(c, f)| c * f)
                .sum();
            let rest = if slope.is_finite() { slope - flow } else { 0.0 };
            // Rounding is no motion.
            into.g_time[at] = if rest.abs() <= 1e-9 * (slope.abs() + flow.abs()) {
                0.0
            } else {
                rest
            };
        }
        Ok(())
    }
}
