//! A system whose inputs are converted on their way in: units of measure, transformations of connections.

use crate::error::Error;
use crate::forward_to_system;
use crate::interface::{Interface, SignalKind};
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::offer_as_system;
use crate::signal::{MAX_DEGREE, Signal};
use crate::system::{Evaluate, Linearize, System, Trial};
use crate::task::Response;
use crate::wrapping::{evaluation_of, linearization_of, trial_of};

/// What happens to a value between an output and an input.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Mapping {
    /// Nothing.
    #[default]
    Identity,
    /// `factor · value + offset`.
    Affine {
        /// Factor.
        factor: f64,
        /// Offset, in the unit of the input.
        offset: f64,
    },
    /// Numbers for numbers; what is not listed passes as it is. For discrete values only.
    Table(Vec<(f64, f64)>),
}

impl Mapping {
    /// Of a value.
    pub fn value(&self, value: f64) -> f64 {
        match self {
            Self::Identity => value,
            Self::Affine { factor, offset } => factor * value + offset,
            Self::Table(pairs) => pairs
                .iter()
                .find(|(from, _)| *from == value)
                .map_or(value, |(_, to)| *to),
        }
    }

    /// Of a signal. What a table maps is held, and its signal a constant.
    pub fn signal(&self, signal: Signal) -> Signal {
        match self {
            Self::Identity => signal,
            Self::Affine { factor, offset } => {
                let mut coefficients = [0.0; MAX_DEGREE + 1];
                coefficients
                    .iter_mut()
                    .zip(signal.coefficients())
                    .for_each(|(to, from)| *to = factor * from);
                coefficients[0] += offset;
                Signal::new(&coefficients)
            }
            Self::Table(_) => Signal::constant(self.value(signal.value(0.0))),
        }
    }

    /// The value that is mapped to this one, where there is only one.
    fn inverse(&self, value: f64) -> f64 {
        match self {
            Self::Affine { factor, offset } if *factor != 0.0 => (value - offset) / factor,
            Self::Table(pairs) => pairs
                .iter()
                .find(|(_, to)| *to == value)
                .map_or(value, |(from, _)| *from),
            _ => value,
        }
    }

    fn factor(&self) -> f64 {
        if let Self::Affine { factor, .. } = self {
            *factor
        } else {
            1.0
        }
    }
}

/// A system behind mappings of its inputs, one for each.
pub struct Mapped<S> {
    system: S,
    mappings: Vec<Mapping>,
    interface: Interface,
    inputs: Vec<Signal>,
    /// Room for values and slopes of inputs as they are before the mapping.
    kept: Vec<[f64; 2]>,
}

impl<S: System> Mapped<S> {
    /// Puts the mappings in front of `system`.
    pub fn new(system: S, mappings: Vec<Mapping>) -> Self {
        let interface = Self::outer_interface(system.interface(), &mappings);
        let inputs = vec![Signal::constant(0.0); mappings.len()];
        let kept = vec![[0.0; 2]; mappings.len()];

        Self {
            system,
            mappings,
            interface,
            inputs,
            kept,
        }
    }

    /// How a system looks from outside of its mappings: start values are those of the outside.
    pub fn outer_interface(interface: &Interface, mappings: &[Mapping]) -> Interface {
        assert_eq!(
            interface.inputs.len(),
            mappings.len(),
            "BUG: one mapping for each input"
        );
        let mut face = interface.clone();

        for (input, mapping) in face.inputs.iter_mut().zip(mappings) {
            if *mapping != Mapping::Identity {
                (input.start, input.unit) = (mapping.inverse(input.start), None);
            }
            if let Mapping::Table(_) = mapping {
                input.kind = SignalKind::Discrete;
            }
        }
        face
    }

    fn map(&mut self, inputs: &[Signal]) {
        for ((mapped, mapping), signal) in self.inputs.iter_mut().zip(&self.mappings).zip(inputs) {
            *mapped = mapping.signal(*signal);
        }
    }
}

impl<S: System> System for Mapped<S> {
    forward_to_system!(system: checkpoint, presence, join_lane, precision, input_degree, output_derivatives, step_rule);
    offer_as_system!(system: trial, linearize, evaluate);

    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.map(inputs);
        self.system.advance(step, &self.inputs, response)
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.map(inputs);
        self.system.begin(step, &self.inputs, response)
    }
}

impl<S: System> Trial for Mapped<S> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.map(inputs);
        trial_of(&mut self.system).respond(step, &self.inputs, response)
    }
}

impl<S: System> Linearize for Mapped<S> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        linearization_of(&mut self.system).linearize_into(into)?;

        for (i, mapping) in self.mappings.iter().enumerate() {
            let factor = mapping.factor();
            for matrix in [
                &mut into.b,
                &mut into.d,
                &mut into.b_slope,
                &mut into.d_slope,
            ] {
                matrix.column_mut(i).scale_mut(factor);
            }
            into.u[i] = mapping.inverse(into.u[i]);
            into.u_slope[i] = if factor == 0.0 {
                0.0
            } else {
                into.u_slope[i] / factor
            };
        }
        // A system leaves matrices alone that bear its digest. These are other ones, and must not be scaled again.
        if into.affine != 0
            && self
                .mappings
                .iter()
                .any(|mapping| *mapping != Mapping::Identity)
        {
            into.affine = into.affine.rotate_left(11);
        }
        Ok(())
    }
}

impl<S: System> Evaluate for Mapped<S> {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        for (i, mapping) in self.mappings.iter().enumerate() {
            self.kept[i] = [into.u[i], into.u_slope[i]];
            (into.u[i], into.u_slope[i]) =
                (mapping.value(into.u[i]), into.u_slope[i] * mapping.factor());
        }

        let done = evaluation_of(&mut self.system).evaluate_into(time, into);

        for (i, [value, slope]) in self.kept.iter().enumerate() {
            (into.u[i], into.u_slope[i]) = (*value, *slope);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_and_values_are_mapped_alike() {
        let celsius = Mapping::Affine {
            factor: 1.0,
            offset: -273.15,
        };
        let signal = celsius.signal(Signal::new(&[300.0, 2.0, -1.0]));
        assert_eq!(signal.value(0.5), celsius.value(300.0 + 1.0 - 0.25));
        assert!((celsius.inverse(celsius.value(12.5)) - 12.5).abs() < 1e-12);
    }

    #[test]
    fn a_table_holds() {
        let table = Mapping::Table(vec![(0.0, 5.0), (1.0, 7.0)]);
        assert_eq!(
            (table.value(1.0), table.value(3.0), table.inverse(7.0)),
            (7.0, 3.0, 1.0)
        );
        assert_eq!(
            table.signal(Signal::new(&[1.0, 9.0])),
            Signal::constant(7.0)
        );
    }
}
