//! What an integrator outside asks of the coupled equations, besides their derivatives.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::algebra::{CoupledDynamics, copy_derivatives};
use crate::held::SwitchKind;

impl CoupledDynamics {
    /// How many switching functions there are.
    pub fn indicators(&self) -> usize {
        self.kinds.len()
    }

    /// The switching functions, with what is held of each.
    pub fn function_values(
        &mut self,
        time: f64,
        states: &[f64],
    ) -> Result<impl Iterator<Item = (f64, f64, SwitchKind)>, Error> {
        if !self.kinds.is_empty() {
            self.solve_loops(time, states)?;
            let values = &mut self.values;
            self.functions.run(time, states, &self.unknowns, values);
        }
        let held = self.sides.iter().zip(&self.kinds);
        let all = self.values.iter().zip(held);
        Ok(all.map(|(value, (side, kind))| (*value, *side, *kind)))
    }

    /// The derivatives of `x'`, and of outputs and inputs, in a direction of the states, the unknowns following.
    pub fn directional(
        &mut self,
        time: f64,
        states: &[f64],
        direction: &[f64],
        (rates, observed): (&mut [f64], &mut [f64]),
    ) -> Result<(), Error> {
        self.solve_loops(time, states)?;
        self.factor(time, states)?;
        self.rest(states);
        for (state, part) in self.newton.states.iter_mut().zip(direction) {
            state.derivative = *part;
        }
        self.move_unknowns(time);
        let newton = &self.newton;
        let moved = self.f.directional(time, &newton.states, &newton.unknowns);
        copy_derivatives(moved, rates);
        let moved = self
            .observed
            .directional(time, &newton.states, &newton.unknowns);
        copy_derivatives(moved, observed);
        self.rest(states);
        Ok(())
    }
}

impl Checkpoint for CoupledDynamics {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.sides, self.entered, self.unknowns);
        if archive.restores() {
            self.enter(self.entered);
        }
        Ok(())
    }
}
