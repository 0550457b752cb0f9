//! The linearisation of a Model Exchange unit, by directional derivatives or by differences.

use dovetail_core::{Error, Linearization, Linearize, Signal};

use super::stencil::Stencil;
use super::{DIFFERENCE, ModelExchange};
use crate::call_error::CallError;
use crate::instance::Instance;
use crate::layout::Layout;

/// Where a linearisation is taken.
struct Point<'a> {
    time: f64,
    state: &'a [f64],
    gap: f64,
}

/// What a difference moves.
#[derive(Clone, Copy)]
enum Moved {
    State(usize),
    Input(usize),
    Time,
}

impl<I: Instance> Linearize for ModelExchange<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now.time;
        let done = self.begin_running(now).and_then(|()| self.fill(into));
        done.map_err(|error| self.failure(now, error.into()))
    }

    fn evaluate_into(&mut self, time: f64, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now.time;
        let done = self
            .begin_running(now)
            .and_then(|()| self.look_elsewhere(time, into));
        done.map_err(|error| self.failure(now, error.into()))
    }
}

impl<I: Instance> ModelExchange<I> {
    /// A column of the linearisation by differences of `f` and `g`, whose values here are in the first buffers.
    fn difference(
        &mut self,
        point: &Point<'_>,
        moved: Moved,
        into: (&mut [f64], &mut [f64]),
    ) -> Result<(), CallError> {
        let scale = match moved {
            Moved::State(k) => point.state[k].abs() + 1.0,
            Moved::Input(k) => self.now.inputs[k].abs() + 1.0,
            Moved::Time => 1.0,
        };
        let (gap, stencil) = match moved {
            Moved::Time => (point.gap, self.stencil(point.time, point.gap)),
            _ => (DIFFERENCE * scale, Stencil::CENTRAL),
        };
        for (place, into) in stencil.places.into_iter().zip(1..) {
            self.look(point, moved, place * gap, into)?;
        }
        let (f, g) = into;
        for (k, entry) in f.iter_mut().enumerate() {
            *entry = stencil.slope(self.buffers.rates.each_ref().map(|rates| rates[k])) / gap;
        }
        for &at in &self.layout.smooth_output_positions {
            g[at] = stencil.slope(self.buffers.outputs.each_ref().map(|outputs| outputs[at])) / gap;
        }
        Ok(())
    }

    /// `f` and `g` with one thing moved.
    fn look(
        &mut self,
        point: &Point<'_>,
        moved: Moved,
        distance: f64,
        into: usize,
    ) -> Result<(), CallError> {
        let mut state = std::mem::take(&mut self.buffers.moved);
        let mut inputs = std::mem::take(&mut self.buffers.held);
        state.copy_from_slice(point.state);
        let mut time = point.time;
        match moved {
            Moved::State(k) => state[k] += distance,
            Moved::Input(k) => inputs[k] = Signal::constant(self.now.inputs[k] + distance),
            Moved::Time => time += distance,
        }
        let looked = self.outputs_at(time, 0.0, &state, &inputs, into);
        if let Moved::Input(k) = moved {
            inputs[k] = Signal::constant(self.now.inputs[k]);
        }
        (self.buffers.moved, self.buffers.held) = (state, inputs);
        looked?;
        if point.state.is_empty() {
            Ok(())
        } else {
            self.instance.get_derivatives(&mut self.buffers.rates[into])
        }
    }

    /// `f` and `g` at another time, in another state and under other inputs.
    fn look_elsewhere(&mut self, time: f64, into: &mut Linearization) -> Result<(), CallError> {
        self.hold_inputs();
        let mut held = std::mem::take(&mut self.buffers.held);
        for &k in &self.layout.smooth_input_positions {
            held[k] = Signal::constant(into.u[k]);
        }
        let looked = self.outputs_at(time, 0.0, into.x.as_slice(), &held, 0);
        self.buffers.held = held;
        looked?;
        if !into.x.is_empty() {
            self.instance.get_derivatives(&mut self.buffers.rates[0])?;
        }
        into.f
            .as_mut_slice()
            .copy_from_slice(&self.buffers.rates[0]);
        into.g
            .as_mut_slice()
            .copy_from_slice(&self.buffers.outputs[0]);
        Ok(())
    }

    /// All matrices at `now`.
    fn fill(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.now.values);
        let filled = self.fill_at(&state, into);
        self.now.values = state;
        filled
    }

    fn fill_at(&mut self, state: &[f64], into: &mut Linearization) -> Result<(), CallError> {
        let layout = self.layout.clone();
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
        self.hold_inputs();
        let held = std::mem::take(&mut self.buffers.held);
        let here = self.outputs_at(self.now.time, 0.0, state, &held, 0);
        self.buffers.held = held;
        here?;
        if !state.is_empty() {
            self.instance.get_derivatives(&mut self.buffers.rates[0])?;
        }
        into.f
            .as_mut_slice()
            .copy_from_slice(&self.buffers.rates[0]);
        into.g
            .as_mut_slice()
            .copy_from_slice(&self.buffers.outputs[0]);
        into.x.as_mut_slice().copy_from_slice(state);
        into.u.as_mut_slice().copy_from_slice(&self.now.inputs);
        into.u_slope
            .as_mut_slice()
            .copy_from_slice(&self.now.slopes);
        into.affine = 0;
        let gap = self.gap(self.now.time, state, into.f.as_slice());
        let point = Point {
            time: self.now.time,
            state,
            gap,
        };
        if self.abilities.directional {
            self.directional_columns(&layout, into)?;
        } else {
            for k in 0..state.len() {
                let columns = (&mut into.a.column_mut(k), &mut into.c.column_mut(k));
                self.difference(
                    &point,
                    Moved::State(k),
                    (columns.0.as_mut_slice(), columns.1.as_mut_slice()),
                )?;
            }
            for &k in &layout.smooth_input_positions {
                let columns = (&mut into.b.column_mut(k), &mut into.d.column_mut(k));
                self.difference(
                    &point,
                    Moved::Input(k),
                    (columns.0.as_mut_slice(), columns.1.as_mut_slice()),
                )?;
            }
        }
        into.g_time.fill(0.0);
        self.difference(
            &point,
            Moved::Time,
            (into.f_time.as_mut_slice(), into.g_time.as_mut_slice()),
        )
    }

    fn directional_columns(
        &mut self,
        layout: &Layout,
        into: &mut Linearization,
    ) -> Result<(), CallError> {
        let states = layout.states.len();
        let knowns = states + layout.smooth_input_positions.len();
        self.buffers.seed.fill(0.0);
        for column in 0..knowns {
            self.buffers.seed[column] = 1.0;
            let (unknowns, knowns) = (&self.abilities.unknowns, &self.abilities.knowns);
            self.instance.directional(
                unknowns,
                knowns,
                &self.buffers.seed,
                &mut self.buffers.column,
            )?;
            self.buffers.seed[column] = 0.0;
            layout.place_column(column, &self.buffers.column, into);
        }
        Ok(())
    }
}
