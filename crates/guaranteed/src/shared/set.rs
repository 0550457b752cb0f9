//! All states as forms with shared symbols.

use nalgebra::DMatrix;

use super::majorant::Majorant;
use super::reduction;
use super::stepper::Spread;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;

/// Up to so many states error symbols of several steps are kept before they are reduced: every
/// reduction loses a little.
const MOST_STATES_WITH_MANY_SYMBOLS: usize = 40;

/// The states of all systems as forms, one after the other.
pub(super) struct SymbolicSet {
    pub shape: FormShape,
    pub forms: Vec<f64>,
    /// Whether the flow is affine, so that its sets are best kept along orthogonal directions.
    affine: bool,
    /// Units, powers of two, in which all states grow alike; and the vector that they are near.
    units: Vec<f64>,
    weights: Vec<f64>,
}

impl SymbolicSet {
    /// A symbol for every box that is not a point; states beyond the boxes are zero.
    pub fn new(
        problem: &Problem,
        boxes: &[Interval],
        symbols: &[Option<usize>],
        shape: FormShape,
    ) -> Self {
        let dimension = problem.dimension();
        let mut forms = vec![0.0; dimension * shape.width()];
        let named = boxes.iter().zip(symbols);

        for (form, (range, symbol)) in forms.chunks_exact_mut(shape.width()).zip(named) {
            form[0] = range.middle();
            if let Some(symbol) = symbol {
                form[1 + symbol] = range.radius();
            }
        }
        Self {
            shape,
            forms,
            affine: problem.affine,
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
        self.shape.ranges(&self.forms)
    }

    /// How much of it is a matter of its first symbols, where states amount to `scale`.
    pub fn spread(&self, scale: &[f64]) -> Spread {
        let mut effects = vec![0.0; self.shape.primaries];
        let mut boxes = Vec::with_capacity(self.dimension());
        let mut own = vec![0.0; self.shape.width()];

        for (form, scale) in self.iter().zip(scale) {
            own[..self.shape.first_error()].copy_from_slice(&form[..self.shape.first_error()]);
            boxes.push(self.shape.range(&own));
            for (effect, coefficient) in effects.iter_mut().zip(&form[1..]) {
                *effect += coefficient.abs() / scale.max(f64::MIN_POSITIVE);
            }
        }
        Spread { boxes, effects }
    }

    /// Measures states in units in which they grow alike; returns how fast.
    pub fn balance(&mut self, majorant: &Majorant) -> f64 {
        let rate = majorant.balance(&mut self.weights);
        let exponents = self.weights.iter().map(|weight| weight.log2().round());
        self.units = exponents.map(power_of_two).collect();
        rate
    }

    /// Units, powers of two, in which all states grow alike.
    pub fn units(&self) -> &[f64] {
        &self.units
    }

    /// Adds symbols, given as columns, and boxes of these radii.
    pub fn add_errors(&mut self, columns: &DMatrix<f64>, radii: &[f64]) {
        self.shape.widen_each(&mut self.forms, radii);
        let mut all = self.error_columns();
        let known = all.ncols();
        all = all.resize_horizontally(known + columns.ncols(), 0.0);
        all.columns_mut(known, columns.ncols()).copy_from(columns);
        let columns = self.reduced(all);
        self.replace_errors(&columns);
    }

    /// Takes the radii of all forms away.
    pub fn take_radii(&mut self) -> Vec<f64> {
        let radius = self.shape.radius();
        let forms = self.forms.chunks_exact_mut(self.shape.width());
        forms
            .map(|form| std::mem::take(&mut form[radius]))
            .collect()
    }

    /// Moves each state by a number within its range.
    pub fn move_by(&mut self, moves: &[Interval]) {
        let forms = self.forms.chunks_exact_mut(self.shape.width());
        for (form, range) in forms.zip(moves) {
            self.shape.add_constant(form, *range);
        }
        self.absorb();
    }
}

/// Error symbols.
impl SymbolicSet {
    /// Makes radii error symbols, and keeps their number in bounds.
    pub fn absorb(&mut self) {
        let columns = self.reduced(self.error_columns());
        self.replace_errors(&columns);
    }

    /// The states with a radius, each with it.
    fn open_radii(&self) -> Vec<(usize, f64)> {
        let radii = self.iter().map(|form| form[self.shape.radius()]);
        radii
            .enumerate()
            .filter(|(_, radius)| *radius != 0.0)
            .collect()
    }

    /// The coefficients of error symbols, and of one more for every radius.
    fn error_columns(&self) -> DMatrix<f64> {
        let known = self.shape.errors;
        let first = self.shape.first_error();
        let open = self.open_radii();
        let mut columns = DMatrix::zeros(self.dimension(), known + open.len());

        for (state, form) in self.iter().enumerate() {
            for symbol in 0..known {
                columns[(state, symbol)] = form[first + symbol];
            }
        }

        for (new, &(state, radius)) in open.iter().enumerate() {
            columns[(state, known + new)] = radius;
        }
        columns
    }

    /// Puts `columns` in the place of error symbols and radii.
    fn replace_errors(&mut self, columns: &DMatrix<f64>) {
        let first = self.shape.first_error();
        let next = FormShape {
            errors: columns.ncols(),
            ..self.shape
        };
        let mut forms = vec![0.0; self.dimension() * next.width()];
        let pairs = forms.chunks_exact_mut(next.width()).zip(self.iter());

        for (state, (form, before)) in pairs.enumerate() {
            form[..first].copy_from_slice(&before[..first]);
            for symbol in 0..columns.ncols() {
                form[first + symbol] = columns[(state, symbol)];
            }
        }

        self.forms = forms;
        self.shape = next;
    }

    /// All symbols at once, never system by system.
    fn reduced(&self, columns: DMatrix<f64>) -> DMatrix<f64> {
        let dimension = columns.nrows();
        let many = dimension <= MOST_STATES_WITH_MANY_SYMBOLS;
        let (limit, target) = match (self.affine, many) {
            (true, true) => (4 * dimension, dimension),
            (true, false) => (dimension, dimension),
            (false, true) => (12 * dimension, 10 * dimension),
            (false, false) => (3 * dimension, 2 * dimension),
        };

        if columns.ncols() <= limit {
            columns
        } else if self.affine {
            reduction::orthogonal(&columns, &self.units)
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
