//! What a probe found out, so that another process need not probe again.

use std::sync::Arc;

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::unit::{Prepared, Settings, Unit, UnitError};

/// What the probe of a unit found: enough to prepare it elsewhere in the same way, without trying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    rollback: bool,
    linearizes: bool,
    directional: bool,
    inputs: InputWay,
    slopes: Slopes,
    /// For each output, the inputs on which it depends at once.
    depends_on: Vec<Vec<usize>>,
}

impl Knowledge {
    fn of(abilities: &Abilities, depends_on: Vec<Vec<usize>>) -> Self {
        let Abilities { rollback, linearizes, directional, inputs, slopes, .. } = *abilities;
        Self { rollback, linearizes, directional, inputs, slopes, depends_on }
    }

    /// What is left of these abilities, as declared.
    fn apply(&self, declared: &Abilities) -> Abilities {
        let Self { rollback, linearizes, directional, inputs, slopes, .. } = *self;
        Abilities { rollback, linearizes, directional, inputs, slopes, ..declared.clone() }
    }

    /// As numbers that can be sent.
    pub fn to_numbers(&self) -> Vec<u64> {
        let (way, degree) = match self.inputs {
            InputWay::Held => (0, 0),
            InputWay::Derivatives(degree) => (1, degree),
            InputWay::Intermediate => (2, 0),
        };
        let (known, orders) = match self.slopes {
            Slopes::Unknown => (0, 0),
            Slopes::Told(orders) => (1, orders),
            Slopes::Chained => (2, 0),
        };
        let truths = [self.rollback, self.linearizes, self.directional].map(u64::from);
        let mut numbers = [&truths[..], &[way, degree as u64, known, orders as u64]].concat();
        for inputs in &self.depends_on {
            numbers.push(inputs.len() as u64);
            numbers.extend(inputs.iter().map(|&input| input as u64));
        }
        numbers
    }

    /// What [`to_numbers`](Self::to_numbers) gave.
    pub fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let (&[rollback, linearizes, directional, way, degree, known, orders], mut left) =
            numbers.split_first_chunk()?;
        let inputs = match way {
            0 => InputWay::Held,
            1 => InputWay::Derivatives(degree as usize),
            _ => InputWay::Intermediate,
        };
        let slopes = match known {
            0 => Slopes::Unknown,
            1 => Slopes::Told(orders as usize),
            _ => Slopes::Chained,
        };
        let mut depends_on = Vec::new();
        while let Some((&count, rest)) = left.split_first() {
            let (inputs, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
            depends_on.push(inputs.iter().map(|&input| input as usize).collect());
            left = rest;
        }
        let [rollback, linearizes, directional] = [rollback, linearizes, directional].map(|truth| truth != 0);
        Some(Self { rollback, linearizes, directional, inputs, slopes, depends_on })
    }
}

impl Prepared {
    /// What was found out about the unit.
    pub fn knowledge(&self) -> Knowledge {
        let depends_on = self.layout.outputs.iter().map(|output| output.depends_on.clone()).collect();
        let knowledge = Knowledge::of(&self.abilities, depends_on);
        debug_assert_eq!(
            knowledge.apply(&self.declared),
            self.abilities,
            "BUG: the probe found more than it passes on"
        );
        knowledge
    }
}

impl Unit {
    /// Lays the unit out as where it was tried; neither is it loaded nor does it run.
    pub fn prepare_known(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        knowledge: &Knowledge,
    ) -> Result<Prepared, UnitError> {
        let mut prepared = self.lay_out(settings, step)?;
        prepared.abilities = knowledge.apply(&prepared.declared);
        let layout = Arc::make_mut(&mut prepared.layout);
        for (output, inputs) in layout.outputs.iter_mut().zip(&knowledge.depends_on) {
            output.depends_on.clone_from(inputs);
        }
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knowledge_travels_as_numbers() {
        for inputs in [InputWay::Held, InputWay::Derivatives(4), InputWay::Intermediate] {
            for slopes in [Slopes::Unknown, Slopes::Told(2), Slopes::Chained] {
                let depends_on = vec![vec![], vec![0, 2], vec![1]];
                let knowledge =
                    Knowledge { rollback: true, linearizes: false, directional: true, inputs, slopes, depends_on };
                assert_eq!(Knowledge::of_numbers(&knowledge.to_numbers()), Some(knowledge));
            }
        }
        assert_eq!(Knowledge::of_numbers(&[1, 2]), None);
    }
}
