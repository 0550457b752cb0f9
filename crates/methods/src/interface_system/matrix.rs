//! The matrix `I − K` of the interface at the end of a step: values and slopes, or curvatures too.

use dovetail_numerics::{PatternLu, SingularMatrix};

use super::{CoupledInput, CoupledOutput};
use crate::coupling::Coupling;

/// The most numbers that an end has: value, slope and curvature.
pub(crate) const MOST_ORDERS: usize = 3;

/// The fewest: value and slope.
const LEAST_ORDERS: usize = 2;

/// A linear system for so many derivatives of all coupling variables.
///
/// Unknowns are the values of all coupling variables, then their slopes times the step, then their
/// curvatures times its square: then all have one unit. The pattern is that of the connections and
/// never changes.
pub(crate) struct InterfaceMatrix {
    orders: usize,
    variables: usize,
    matrix: PatternLu,
    /// Where entries are, row by row: those of the diagonal, derivative by derivative, then for each
    /// column of the system those by which its derivatives act.
    places: Vec<u32>,
    /// Where those of each system begin.
    starts: Vec<u32>,
}

/// The matrices for cubic inputs and, where they are wanted, for quintic ones.
pub(crate) struct InterfaceMatrices {
    all: Vec<InterfaceMatrix>,
}

impl InterfaceMatrices {
    pub fn new(
        quintics: bool,
        coupling: &Coupling<'_>,
        rows: &[Vec<CoupledOutput>],
        columns: &[Vec<CoupledInput>],
    ) -> Self {
        let most = if quintics { MOST_ORDERS } else { LEAST_ORDERS };
        let matrix = |orders: usize| InterfaceMatrix::new(orders, coupling, rows, columns);

        Self {
            all: (LEAST_ORDERS..=most).map(matrix).collect(),
        }
    }

    /// The matrix for so many derivatives.
    pub fn of(&mut self, orders: usize) -> &mut InterfaceMatrix {
        &mut self.all[orders - LEAST_ORDERS]
    }
}

impl InterfaceMatrix {
    pub fn new(
        orders: usize,
        coupling: &Coupling<'_>,
        rows: &[Vec<CoupledOutput>],
        columns: &[Vec<CoupledInput>],
    ) -> Self {
        let variables = coupling.variables.len();
        let at = |order: usize, variable: usize| (order * variables + variable) as u32;
        let mut listed = Vec::new();
        let mut starts = Vec::with_capacity(rows.len());

        for (rows, columns) in rows.iter().zip(columns) {
            starts.push(listed.len() as u32);
            for row in rows {
                let row = |order: usize| at(order, row.variable);
                listed.extend((0..orders).map(|order| (row(order), row(order))));
                for column in columns {
                    for to in 0..orders {
                        let by = 0..orders;
                        listed.extend(by.map(|by| (row(to), at(by, column.variable))));
                    }
                }
            }
        }
        let (matrix, places) = PatternLu::new(orders * variables, &listed);
        Self {
            orders,
            variables,
            matrix,
            places,
            starts,
        }
    }

    /// Fills the rows of a system in, so many by so many columns, given what the derivative `to` of
    /// an output (a row) gains by the derivative `by` of an input (a column); derivatives are
    /// scaled by powers of `size`.
    pub fn assemble(
        &mut self,
        system: usize,
        (rows, columns): (usize, usize),
        size: f64,
        gain: impl Fn(usize, usize, usize, usize) -> f64,
    ) {
        let values = self.matrix.values_mut();
        let orders = self.orders;
        let of_row = orders + columns * orders * orders;
        let places = &self.places[self.starts[system] as usize..][..rows * of_row];

        for (row, places) in places.chunks_exact(of_row).enumerate() {
            let (diagonal, blocks) = places.split_at(orders);
            blocks
                .iter()
                .for_each(|&place| values[place as usize] = 0.0);
            diagonal
                .iter()
                .for_each(|&place| values[place as usize] = 1.0);
            for (column, block) in blocks.chunks_exact(orders * orders).enumerate() {
                for (to, line) in block.chunks_exact(orders).enumerate() {
                    for (by, &place) in line.iter().enumerate() {
                        values[place as usize] -=
                            gain(row, to, column, by) * size.powi(to as i32 - by as i32);
                    }
                }
            }
        }
    }

    pub fn factor(&mut self) -> Result<(), SingularMatrix> {
        self.matrix.factor()
    }

    /// `(I − K)⁻¹`, in place.
    pub fn solve(&mut self, size: f64, right: &mut [f64]) {
        self.scale(right, size);
        self.matrix.solve(right);
        self.scale(right, 1.0 / size);
    }

    fn scale(&self, stacked: &mut [f64], size: f64) {
        let mut factor = size;
        for order in stacked.chunks_mut(self.variables.max(1)).skip(1) {
            order.iter_mut().for_each(|number| *number *= factor);
            factor *= size;
        }
    }
}
