//! The coupled equations for an integrator outside: what Model Exchange consists of.
//!
//! Between events everything that switches is held, so that the integrator sees smooth equations on both sides of an event. It
//! finds the event by *indicators*, one for each switching function: each is positive on one side and negative on the other, or
//! leaves the positive side where its function leaves what is held. They are moved a little away from zero, so that a state that
//! starts on a threshold, or one that an event leaves there, has a side.

use dovetail_core::{Archive, Checkpoint, Connections, Error, visit_fields};

use super::algebra::CoupledDynamics;
use super::clauses::CoupledClauses;
use super::compose::{NotComposable, compose};
use crate::held::SwitchKind;
use crate::native::Definition;

/// An indicator is moved by this part of the largest value that its function has had at events.
const HYSTERESIS: f64 = 1e-12;
/// Where a function has always been zero at events.
const LEAST_HYSTERESIS: f64 = 1e-200;
/// A time that differs from the next event by no more than this, relative, is that event: integrators compute times.
const SAME_TIME: f64 = 1e-10;

/// The coupled equations for an integrator outside.
pub struct ExchangeEquations {
    dynamics: CoupledDynamics,
    clauses: CoupledClauses,
    discrete: Vec<bool>,
    next_event: f64,
    /// Of each switching function the largest magnitude at events.
    magnitudes: Vec<f64>,
}

impl ExchangeEquations {
    /// The systems, coupled algebraically, for runs from `start`.
    pub fn new(
        definitions: &[Definition],
        connections: &Connections,
        start: f64,
    ) -> Result<Self, NotComposable> {
        let coupled = compose(definitions, connections)?;
        let dynamics = CoupledDynamics::new(&coupled);
        Ok(Self {
            clauses: CoupledClauses::new(&coupled.whens, start),
            magnitudes: vec![0.0; dynamics.indicators()],
            dynamics,
            discrete: coupled.discrete,
            next_event: start,
        })
    }

    /// Begins loops that have several solutions at these outputs (stacked).
    pub fn starting_at(mut self, outputs: &[f64]) -> Self {
        self.dynamics.begin_at(outputs);
        self
    }

    /// For each state whether only events change it.
    pub fn discrete(&self) -> &[bool] {
        &self.discrete
    }

    /// How many numbers [`Self::observe`] gives.
    pub fn observables(&self) -> usize {
        self.dynamics.observables()
    }

    /// How many numbers [`Self::indicators`] gives.
    pub fn indicator_count(&self) -> usize {
        self.magnitudes.len()
    }

    /// The next time at which something is known to switch.
    pub fn next_event(&self) -> f64 {
        self.next_event
    }

    /// At the start, and at every event: takes the side of everything that switches, and runs what is to run. The states become
    /// what clauses set.
    pub fn handle_event(&mut self, time: f64, states: &mut [f64]) -> Result<(), Error> {
        let ahead = self.next_event - time;
        let time = match ahead > 0.0 && ahead <= SAME_TIME * time.abs().max(self.next_event.abs()) {
            true => self.next_event,
            false => time,
        };
        self.dynamics.enter(time);
        self.dynamics.take_sides(time, states)?;
        self.clauses.run(&mut self.dynamics, time, states)?;

        let tick = self.clauses.next_tick();
        self.next_event = self.dynamics.next_switch(time).min(tick);
        let functions = self.dynamics.function_values(time, states)?;
        for (magnitude, (value, _, _)) in self.magnitudes.iter_mut().zip(functions) {
            *magnitude = magnitude.max(value.abs());
        }
        Ok(())
    }

    /// The derivatives of all states, the loops solved; those of discrete ones are zero.
    pub fn derivatives(
        &mut self,
        time: f64,
        states: &[f64],
        derivatives: &mut [f64],
    ) -> Result<(), Error> {
        self.dynamics.derivative(time, states, derivatives);
        self.dynamics.failure().map_or(Ok(()), Err)
    }

    /// Outputs, then inputs, of all systems.
    pub fn observe(&mut self, time: f64, states: &[f64], into: &mut [f64]) -> Result<(), Error> {
        self.dynamics.observe(time, states, into)
    }

    /// The indicators of events.
    pub fn indicators(&mut self, time: f64, states: &[f64], into: &mut [f64]) -> Result<(), Error> {
        let functions = self.dynamics.function_values(time, states)?;
        let all = into.iter_mut().zip(functions).zip(&self.magnitudes);
        for ((indicator, (value, side, kind)), magnitude) in all {
            let gap = (HYSTERESIS * magnitude).max(LEAST_HYSTERESIS);
            *indicator = match kind {
                SwitchKind::Side if side == 0.0 => value + gap,
                SwitchKind::Side => value - gap,
                SwitchKind::Floor => (value - side + gap).min(side + 1.0 - value),
            };
        }
        Ok(())
    }

    /// The derivatives of derivatives, and then those of what [`Self::observe`] gives, in a direction of the states.
    pub fn directional(
        &mut self,
        time: f64,
        states: &[f64],
        direction: &[f64],
        into: (&mut [f64], &mut [f64]),
    ) -> Result<(), Error> {
        self.dynamics.directional(time, states, direction, into)
    }
}

impl Checkpoint for ExchangeEquations {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.next_event, self.magnitudes);
        self.clauses.visit(archive)?;
        self.dynamics.visit(archive)
    }
}
