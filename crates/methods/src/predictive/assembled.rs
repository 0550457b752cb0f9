//! The identity plus a matrix of fixed pattern that is a sum of numbers, factored where they
//! change.

use std::collections::BTreeMap;

use dovetail_numerics::PatternLu;

/// The matrix and its factors.
pub(super) struct AssembledLu {
    matrix: PatternLu,
    /// For each number and for each entry of the diagonal, where it is added.
    slots: Vec<usize>,
    diagonal: Vec<usize>,
    sums: Vec<f64>,
    /// Whether there are factors; none before the first numbers.
    regular: Option<bool>,
}

impl AssembledLu {
    /// For numbers at these places (row, column), which may coincide.
    pub fn new(size: usize, places: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut known = BTreeMap::new();
        let mut entries = Vec::new();
        let mut slot = |place: (usize, usize)| {
            *known.entry(place).or_insert_with(|| {
                entries.push(place);
                entries.len() - 1
            })
        };
        let diagonal = (0..size).map(|k| slot((k, k))).collect();
        let slots = places.map(&mut slot).collect();

        Self {
            slots,
            diagonal,
            sums: vec![0.0; entries.len()],
            matrix: PatternLu::new(size, entries),
            regular: None,
        }
    }

    /// Sets the numbers; true if they are other ones.
    pub fn set(&mut self, numbers: impl Iterator<Item = f64>) -> bool {
        self.sums.fill(0.0);
        for &slot in &self.diagonal {
            self.sums[slot] = 1.0;
        }
        for (&slot, number) in self.slots.iter().zip(numbers) {
            self.sums[slot] += number;
        }

        let values = self.matrix.values_mut();
        if self.regular.is_some() && *values == self.sums[..] {
            return false;
        }
        values.copy_from_slice(&self.sums);
        self.regular = Some(self.matrix.factor().is_ok());
        true
    }

    /// Whether there is an inverse.
    pub fn is_regular(&self) -> bool {
        self.regular == Some(true)
    }

    /// Solves, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        self.matrix.solve(right);
    }
}
