//! The identity plus a matrix of fixed pattern that is a sum of numbers, factored where they
//! change.

use dovetail_numerics::PatternLu;

/// The matrix and its factors.
pub(super) struct AssembledLu {
    matrix: PatternLu,
    /// Where each entry of the diagonal, and then each number, is added.
    slots: Vec<u32>,
    size: usize,
    sums: Vec<f64>,
    /// Whether there are factors; none before the first numbers.
    regular: Option<bool>,
}

impl AssembledLu {
    /// For numbers at these places (row, column), which may coincide.
    pub fn new(size: usize, places: impl Iterator<Item = (usize, usize)>) -> Self {
        let diagonal = (0..size).map(|k| (k, k));
        let places: Vec<(u32, u32)> = diagonal
            .chain(places)
            .map(|(row, column)| (row as u32, column as u32))
            .collect();
        let (matrix, slots) = PatternLu::new(size, &places);

        Self {
            slots,
            size,
            sums: vec![0.0; matrix.entries()],
            matrix,
            regular: None,
        }
    }

    /// Sets the numbers; true if they are other ones.
    pub fn set(&mut self, numbers: impl Iterator<Item = f64>) -> bool {
        self.sums.fill(0.0);
        let (diagonal, places) = self.slots.split_at(self.size);
        for &slot in diagonal {
            self.sums[slot as usize] = 1.0;
        }
        for (&slot, number) in places.iter().zip(numbers) {
            self.sums[slot as usize] += number;
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
