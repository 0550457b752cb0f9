//! Vectors of one length, stored one after another.

/// A list of vectors that knows where each of them begins.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    length: usize,
    entries: Vec<f64>,
}

impl Columns {
    /// So many vectors of `length` zeros.
    pub fn zeros(length: usize, count: usize) -> Self {
        Self {
            length,
            entries: vec![0.0; length * count],
        }
    }

    /// All numbers, one vector after another.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub fn fill(&mut self, value: f64) {
        self.entries.fill(value);
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.entries.copy_from_slice(&other.entries);
    }

    /// Adds vector by vector.
    pub fn add(&mut self, other: &Self) {
        for (entry, added) in self.entries.iter_mut().zip(&other.entries) {
            *entry += added;
        }
    }

    pub fn column(&self, index: usize) -> &[f64] {
        &self.entries[index * self.length..][..self.length]
    }

    pub fn column_mut(&mut self, index: usize) -> &mut [f64] {
        &mut self.entries[index * self.length..][..self.length]
    }

    /// The first and the second vector.
    pub fn first_two_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        let (first, rest) = self.entries.split_at_mut(self.length);
        (first, &mut rest[..self.length])
    }

    /// One number of the vector at `index`.
    #[inline]
    pub fn entry(&self, index: usize, row: usize) -> f64 {
        self.entries[index * self.length + row]
    }

    /// `Σ_i weights[i] · column(i)[row]`.
    #[inline]
    pub fn combine(&self, weights: &[f64], row: usize) -> f64 {
        let terms = weights.iter().enumerate();
        terms
            .map(|(index, weight)| weight * self.entry(index, row))
            .sum()
    }
}
