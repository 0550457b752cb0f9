//! The interface at one time: the values of all coupling variables, then their slopes, then, where
//! inputs are quintics, their curvatures, (49).

use std::ops::{Deref, DerefMut};

use dovetail_core::Knot;
use serde::{Deserialize, Serialize};

/// Where the numbers of coupling variables are in a stacked vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stacking {
    /// How many coupling variables there are.
    pub variables: usize,
}

impl Stacking {
    /// The place of a derivative (0: the value) of a variable.
    pub fn place(self, order: usize, variable: usize) -> usize {
        order * self.variables + variable
    }

    /// The places of all derivatives of a variable in a vector of this length.
    pub fn places(self, variable: usize, length: usize) -> impl Iterator<Item = usize> {
        (variable..length).step_by(self.variables)
    }

    /// A derivative of a variable, if the vector goes so far.
    pub fn get(self, stacked: &[f64], order: usize, variable: usize) -> Option<f64> {
        stacked.get(self.place(order, variable)).copied()
    }

    /// Value, slope and curvature of a variable, NaN where the vector does not go so far.
    pub fn knot(self, stacked: &[f64], variable: usize) -> Knot {
        let number = |order: usize| self.get(stacked, order, variable).unwrap_or(f64::NAN);
        Knot {
            value: number(0),
            slope: number(1),
            curvature: number(2),
        }
    }

    /// Writes value, slope and curvature of a variable, as far as the vector goes.
    pub fn put(self, stacked: &mut [f64], variable: usize, knot: Knot) {
        let places = self.places(variable, stacked.len());
        for (place, number) in places.zip(numbers_of(knot)) {
            stacked[place] = number;
        }
    }
}

/// Value, slope and curvature.
pub(crate) fn numbers_of(knot: Knot) -> [f64; 3] {
    [knot.value, knot.slope, knot.curvature]
}

/// A stacked vector that knows where its numbers are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InterfaceVector {
    stacking: Stacking,
    numbers: Vec<f64>,
}

impl InterfaceVector {
    /// Zeros: so many numbers for each of so many variables.
    pub fn zeros(orders: usize, variables: usize) -> Self {
        Self {
            stacking: Stacking { variables },
            numbers: vec![0.0; orders * variables],
        }
    }

    /// The values of all variables.
    pub fn values(&self) -> &[f64] {
        &self.numbers[..self.stacking.variables]
    }

    /// The slope of a variable.
    pub fn slope(&self, variable: usize) -> f64 {
        self.numbers[self.stacking.place(1, variable)]
    }

    /// The same, to be changed.
    pub fn slope_mut(&mut self, variable: usize) -> &mut f64 {
        &mut self.numbers[self.stacking.place(1, variable)]
    }
}

impl Deref for InterfaceVector {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.numbers
    }
}

impl DerefMut for InterfaceVector {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stacked_by_order() {
        let stacking = Stacking { variables: 2 };
        let mut vector = InterfaceVector::zeros(3, 2);
        let knot = Knot {
            value: 1.0,
            slope: 2.0,
            curvature: 3.0,
        };
        stacking.put(&mut vector, 1, knot);
        assert_eq!(*vector, [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]);
        assert_eq!(stacking.knot(&vector, 1), knot);
        assert_eq!(vector.values(), [0.0, 1.0]);
        assert_eq!(vector.slope(1), 2.0);
        assert!(stacking.knot(&vector[..4], 1).curvature.is_nan());
        assert_eq!(stacking.places(1, 4).collect::<Vec<_>>(), [1, 3]);
    }
}
