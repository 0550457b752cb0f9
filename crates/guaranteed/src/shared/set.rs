//! All states as forms with shared symbols.

use nalgebra::DMatrix;

use super::majorant::Majorant;
use super::reduction;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::rounding::above;

/// Up to so many states error symbols of several steps are kept before they are reduced: every reduction loses a little.
const MOST_STATES_WITH_MANY_SYMBOLS: usize = 40;

/// The states of all systems as forms, one after the other.
pub(super) struct Set {
    pub shape: FormShape,
    pub forms: Vec<f64>,
    /// Whether the flow is affine, so that its sets are best kept along orthogonal directions.
    affine: bool,
    /// Units, powers of two, in which all states grow alike; and the vector that they are near.
    units: Vec<f64>,
    weights: Vec<f64>,
}

impl Set {
    /// A symbol for every box that is not a point; states beyond the boxes are zero.
    pub fn new(
        dimension: usize,
        boxes: &[Interval],
        symbols: &[Option<usize>],
        shape: FormShape,
        affine: bool,
    ) -> Self {
        let mut forms = vec![0.0; dimension * shape.width()];
        for ((form, range), symbol) in forms
            .chunks_exact_mut(shape.width())
            .zip(boxes)
            .zip(symbols)
        {
            form[0] = range.middle();
            if let Some(symbol) = symbol {
                form[1 + symbol] = range.radius();
            }
        }
        Self {
            shape,
            forms,
            affine,
            units: vec![1.0; dimension],
            weights: Vec::new(),
        }
    }

    pub fn dimension(&self) -> usize {
        self.units.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.forms.chunks_exact(self.shape.width())
    }

    /// The boxes of all states.
    pub fn boxes(&self) -> Vec<Interval> {
        self.iter().map(|form| self.shape.range(form)).collect()
    }

    /// Measures states in units in which they grow alike; returns how fast.
    pub fn balance(&mut self, majorant: &Majorant) -> f64 {
        let rate = majorant.balance(&mut self.weights);
        self.units = self
            .weights
            .iter()
            .map(|w| power_of_two(w.log2().round()))
            .collect();
        rate
    }

    /// Adds boxes of these radii.
    pub fn widen(&mut self, radii: &[f64]) {
        let shape = self.shape;
        for (form, more) in self.forms.chunks_exact_mut(shape.width()).zip(radii) {
            form[shape.radius()] = above(form[shape.radius()] + more);
        }
        self.absorb();
    }

    /// Makes radii error symbols, and keeps their number in bounds.
    pub fn absorb(&mut self) {
        let (shape, dimension) = (self.shape, self.dimension());
        let (width, first) = (shape.width(), shape.first_error());
        let open: Vec<(usize, f64)> = self
            .iter()
            .map(|form| form[shape.radius()])
            .enumerate()
            .filter(|(_, radius)| *radius != 0.0)
            .collect();
        let mut columns = DMatrix::zeros(dimension, shape.errors + open.len());
        for (i, form) in self.iter().enumerate() {
            (0..shape.errors).for_each(|j| columns[(i, j)] = form[first + j]);
        }
        for (j, &(i, radius)) in open.iter().enumerate() {
            columns[(i, shape.errors + j)] = radius;
        }
        let columns = self.reduced(columns);
        let next = FormShape {
            errors: columns.ncols(),
            ..shape
        };
        let mut forms = vec![0.0; dimension * next.width()];
        for (i, form) in forms.chunks_exact_mut(next.width()).enumerate() {
            form[..first].copy_from_slice(&self.forms[i * width..i * width + first]);
            (0..columns.ncols()).for_each(|j| form[first + j] = columns[(i, j)]);
        }
        self.forms = forms;
        self.shape = next;
    }

    /// All symbols at once, never system by system.
    fn reduced(&self, columns: DMatrix<f64>) -> DMatrix<f64> {
        let (dimension, count) = columns.shape();
        let many = dimension <= MOST_STATES_WITH_MANY_SYMBOLS;
        if self.affine {
            let limit = if many { 4 * dimension } else { dimension };
            return if count > limit {
                reduction::orthogonal(&columns, &self.units)
            } else {
                columns
            };
        }
        let (limit, target) = if many {
            (12 * dimension, 10 * dimension)
        } else {
            (3 * dimension, 2 * dimension)
        };
        if count <= limit {
            columns
        } else {
            reduction::girard(&columns, target, &self.units)
        }
    }
}

/// A power of two, exactly.
fn power_of_two(exponent: f64) -> f64 {
    const BIAS: i64 = 1023;
    const MANTISSA: u32 = 52;
    f64::from_bits(((exponent.clamp(-900.0, 900.0) as i64 + BIAS) as u64) << MANTISSA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two() {
        assert_eq!(
            [0.0, 1.0, -3.0, 10.0].map(power_of_two),
            [1.0, 2.0, 0.125, 1024.0]
        );
        assert!(power_of_two(f64::INFINITY).is_finite() && power_of_two(f64::NEG_INFINITY) > 0.0);
        assert_eq!(power_of_two(f64::NAN), 1.0);
    }
}
