//! The linearization of a Model Exchange FMU, by directional derivatives or by differences.

use dovetail_core::{Error, Evaluate, Evaluation, Linearization, Linearize, Signal};

use super::stencil::Stencil;
use super::{DIFFERENCE, ModelExchange};
use crate::call_error::CallError;
use crate::instance::Instance;
use crate::linear_columns::{clear_matrices, fill_directional_columns};

/// Where a linearization is taken.
pub(super) struct DifferencePoint<'a> {
    pub time: f64,
    pub state: &'a [f64],
    pub gap: f64,
}

/// What a difference moves.
#[derive(Clone, Copy)]
pub(super) enum Moved {
    MotionState(usize),
    Input(usize),
    Time,
}

impl<I: Instance> Linearize for ModelExchange<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now.time;
        let done = self.begin_running(now).and_then(|()| self.fill(into));
        self.report(now, done)
    }
}

impl<I: Instance> Evaluate for ModelExchange<I> {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        let now = self.now.time;
        let done = self
            .begin_running(now)
            .and_then(|()| self.look_elsewhere(time, into));
        self.report(now, done)
    }
}

impl<I: Instance> ModelExchange<I> {
    /// A column of the linearization by differences of `f` and `g`, whose values here are in the
    /// first buffers.
    fn difference(
        &mut self,
        point: &DifferencePoint<'_>,
        moved: Moved,
        f: &mut [f64],
        g: &mut [f64],
    ) -> Result<(), CallError> {
        let (gap, stencil) = match moved {
            Moved::MotionState(k) => (gap_at(point.state[k]), Stencil::CENTRAL),
            Moved::Input(k) => (gap_at(self.now.inputs.values[k]), Stencil::CENTRAL),
            Moved::Time => (point.gap, self.stencil(point.time, point.gap)),
        };
        for (place, into) in stencil.places.into_iter().zip(1..) {
            self.look(point, moved, place * gap, into)?;
        }

        for (k, entry) in f.iter_mut().enumerate() {
            let rates = self.buffers.rates.each_ref();
            *entry = stencil.slope(rates.map(|rates| rates[k])) / gap;
        }

        for &at in &self.layout.smooth_output_positions {
            let outputs = self.buffers.outputs.each_ref();
            g[at] = stencil.slope(outputs.map(|outputs| outputs[at])) / gap;
        }
        Ok(())
    }

    /// `f` and `g` with one thing moved.
    fn look(
        &mut self,
        point: &DifferencePoint<'_>,
        moved: Moved,
        distance: f64,
        into: usize,
    ) -> Result<(), CallError> {
        self.look_with(point, moved, distance, |this, time, state, inputs| {
            this.outputs_at(time, 0.0, state, inputs, into)
        })?;
        self.read_rates(into)
    }

    /// A question about the FMU with one thing moved.
    pub(super) fn look_with<T>(
        &mut self,
        point: &DifferencePoint<'_>,
        moved: Moved,
        distance: f64,
        question: impl FnOnce(&mut Self, f64, &[f64], &[Signal]) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut state = std::mem::take(&mut self.buffers.moved);
        let mut inputs = std::mem::take(&mut self.buffers.held);
        state.copy_from_slice(point.state);
        let mut time = point.time;

        match moved {
            Moved::MotionState(k) => state[k] += distance,
            Moved::Input(k) => inputs[k] = Signal::constant(self.now.inputs.values[k] + distance),
            Moved::Time => time += distance,
        }

        let looked = question(self, time, &state, &inputs);
        if let Moved::Input(k) = moved {
            inputs[k] = Signal::constant(self.now.inputs.values[k]);
        }

        self.buffers.moved = state;
        self.buffers.held = inputs;
        looked
    }

    /// Derivatives of the states, where the FMU was put, into one of the buffers.
    pub(super) fn read_rates(&mut self, into: usize) -> Result<(), CallError> {
        let rates = &mut self.buffers.rates[into];
        if rates.is_empty() {
            Ok(())
        } else {
            self.instance.get_derivatives(rates)
        }
    }

    /// `f` and `g` from the first buffers.
    fn take_values(&self, into: &mut Linearization) {
        let rates = &self.buffers.rates[0];
        let outputs = &self.buffers.outputs[0];
        into.f.as_mut_slice().copy_from_slice(rates);
        into.g.as_mut_slice().copy_from_slice(outputs);
    }

    /// `f` and `g` at another time, in another state and under other inputs.
    fn look_elsewhere(&mut self, time: f64, into: &mut Evaluation) -> Result<(), CallError> {
        self.hold_inputs();
        let mut held = std::mem::take(&mut self.buffers.held);

        for &k in &self.layout.smooth_input_positions {
            held[k] = Signal::constant(into.u[k]);
        }

        let looked = self.outputs_at(time, 0.0, into.x.as_slice(), &held, 0);
        self.buffers.held = held;
        looked?;
        self.read_rates(0)?;
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
        clear_matrices(into);
        self.fill_values(state, into)?;
        let point = DifferencePoint {
            time: self.now.time,
            state,
            gap: self.gap(self.now.time, state, into.f.as_slice()),
        };

        if self.abilities.directional {
            fill_directional_columns(
                &mut self.instance,
                &self.layout,
                &self.abilities,
                &mut self.buffers.seed,
                &mut self.buffers.column,
                into,
            )?;
        } else {
            self.difference_columns(&point, into)?;
        }

        into.g_time.fill(0.0);
        let f_time = into.f_time.as_mut_slice();
        let g_time = into.g_time.as_mut_slice();
        self.difference(&point, Moved::Time, f_time, g_time)?;

        self.fill_event(&point, &mut into.event)
    }

    /// State, inputs, `f` and `g` at `now`.
    fn fill_values(&mut self, state: &[f64], into: &mut Linearization) -> Result<(), CallError> {
        self.hold_inputs();
        let held = std::mem::take(&mut self.buffers.held);
        let here = self.outputs_at(self.now.time, 0.0, state, &held, 0);
        self.buffers.held = held;
        here?;
        self.read_rates(0)?;
        self.take_values(into);
        into.x.as_mut_slice().copy_from_slice(state);
        into.u
            .as_mut_slice()
            .copy_from_slice(&self.now.inputs.values);
        let slopes = into.u_slope.as_mut_slice();
        slopes.copy_from_slice(&self.now.inputs.slopes);
        into.affine = 0;
        Ok(())
    }

    fn difference_columns(
        &mut self,
        point: &DifferencePoint<'_>,
        into: &mut Linearization,
    ) -> Result<(), CallError> {
        for k in 0..point.state.len() {
            let mut a = into.a.column_mut(k);
            let mut c = into.c.column_mut(k);
            self.difference(
                point,
                Moved::MotionState(k),
                a.as_mut_slice(),
                c.as_mut_slice(),
            )?;
        }

        let layout = self.layout.clone();
        for &k in &layout.smooth_input_positions {
            let mut b = into.b.column_mut(k);
            let mut d = into.d.column_mut(k);
            self.difference(point, Moved::Input(k), b.as_mut_slice(), d.as_mut_slice())?;
        }
        Ok(())
    }
}

/// How far a quantity is moved for a difference.
pub(super) fn gap_at(value: f64) -> f64 {
    DIFFERENCE * (value.abs() + 1.0)
}
