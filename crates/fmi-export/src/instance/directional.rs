//! Derivatives in a direction of states and inputs.

use dovetail::scenario::{ExchangeKnown, ExchangeUnknown, FaceRole, OuterLinearization};

use super::exchange::EVALUATED;
use super::{Engine, Instance, Phase};

/// A direction: what moves, and how.
struct Direction {
    knowns: Vec<ExchangeKnown>,
    seed: Vec<f64>,
}

impl Instance {
    /// Derivatives of `unknowns` in the direction in which `knowns` move as `seed` says.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        into: &mut [f64],
    ) -> Result<(), String> {
        if !self.manifest.capabilities.directional_derivatives {
            return Err("this FMU declares no directional derivatives".to_owned());
        }
        let phases = [&EVALUATED[..], &[Phase::Stepping]].concat();
        self.expect(&phases, "a directional derivative is asked for")?;
        let unknowns: Result<Vec<_>, _> = unknowns.iter().map(|&r| self.unknown(r)).collect();
        let knowns: Result<Vec<_>, _> = knowns.iter().map(|&r| self.known(r)).collect();
        let unknowns = unknowns?;
        let direction = Direction {
            knowns: knowns?,
            seed: seed.to_vec(),
        };

        let signals = self.signals();
        match self.engine()? {
            Engine::Equations(model) => {
                let done = model.directional(&unknowns, &direction.knowns, seed, into);
                done.map_err(|error| error.to_string())
            }
            Engine::Coupled(run) => {
                let here = run.linearize(&signals)?;
                for (value, unknown) in into.iter_mut().zip(&unknowns) {
                    *value = direction.of(here, *unknown);
                }
                Ok(())
            }
        }
    }

    fn unknown(&self, reference: u32) -> Result<ExchangeUnknown, String> {
        let face = &self.variable(reference)?.face;
        match face.role {
            FaceRole::Output(stacked) => Ok(ExchangeUnknown::Output(stacked)),
            FaceRole::Derivative(state) => Ok(ExchangeUnknown::Derivative(state)),
            _ => Err(format!(
                "`{}` is neither an output nor the derivative of a state",
                face.name
            )),
        }
    }

    fn known(&self, reference: u32) -> Result<ExchangeKnown, String> {
        let face = &self.variable(reference)?.face;
        match face.role {
            FaceRole::Input(slot) => Ok(ExchangeKnown::Input(slot)),
            FaceRole::State(state) => Ok(ExchangeKnown::State(state)),
            _ => Err(format!("`{}` is neither an input nor a state", face.name)),
        }
    }
}

impl Direction {
    /// The derivative of something that follows.
    fn of(&self, here: &OuterLinearization, unknown: ExchangeUnknown) -> f64 {
        let parts = self.knowns.iter().zip(&self.seed);
        let parts = parts.map(|(known, part)| part * entry(here, unknown, *known));
        parts.sum()
    }
}

fn entry(here: &OuterLinearization, unknown: ExchangeUnknown, known: ExchangeKnown) -> f64 {
    let matrices = &here.coupled;
    let (by_states, by_inputs, row) = match unknown {
        ExchangeUnknown::Derivative(state) => (&matrices.a, &matrices.b, Some(state)),
        ExchangeUnknown::Output(stacked) => (
            &matrices.c,
            &matrices.d,
            here.outputs.get(stacked).copied().flatten(),
        ),
    };
    let (matrix, column) = match known {
        ExchangeKnown::State(state) => (by_states, Some(state)),
        ExchangeKnown::Input(slot) => (by_inputs, here.inputs.get(slot).copied()),
    };
    let place = row.zip(column);
    place
        .and_then(|place| matrix.get(place).copied())
        .unwrap_or(0.0)
}
