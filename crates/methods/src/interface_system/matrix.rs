//! The matrix `I − K` of the interface at the end of a step: values and slopes, or curvatures too.

use std::collections::BTreeMap;

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
    /// For each system and each of its rows, where the entries are.
    places: Vec<Vec<Places>>,
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

/// Where the entries of an output are.
struct Places {
    diagonal: [usize; MOST_ORDERS],
    /// For each column of the system: derivative by derivative, as far as there are any.
    blocks: Vec<[[usize; MOST_ORDERS]; MOST_ORDERS]>,
}

impl InterfaceMatrix {
    pub fn new(
        orders: usize,
        coupling: &Coupling<'_>,
        rows: &[Vec<CoupledOutput>],
        columns: &[Vec<CoupledInput>],
    ) -> Self {
        let variables = coupling.variables.len();
        let mut entries: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut listed = Vec::new();
        let mut place = |entry: (usize, usize)| {
            *entries.entry(entry).or_insert_with(|| {
                listed.push(entry);
                listed.len() - 1
            })
        };
        let at = |order: usize, variable: usize| order.min(orders - 1) * variables + variable;
        let mut places = Vec::with_capacity(rows.len());

        for (rows, columns) in rows.iter().zip(columns) {
            let mut of_system = Vec::with_capacity(rows.len());
            for row in rows {
                let diagonal = [0, 1, 2]
                    .map(|order| place((at(order, row.variable), at(order, row.variable))));
                let mut block = |column: &CoupledInput| {
                    [0, 1, 2].map(|to| {
                        [0, 1, 2].map(|by| place((at(to, row.variable), at(by, column.variable))))
                    })
                };
                let blocks = columns.iter().map(&mut block).collect();
                of_system.push(Places { diagonal, blocks });
            }
            places.push(of_system);
        }
        Self {
            orders,
            variables,
            matrix: PatternLu::new(orders * variables, listed),
            places,
        }
    }

    /// Fills the rows of a system in, given what the derivative `to` of an output (a row) gains by
    /// the derivative `by` of an input (a column); derivatives are scaled by powers of `size`.
    pub fn assemble(
        &mut self,
        system: usize,
        size: f64,
        gain: impl Fn(usize, usize, usize, usize) -> f64,
    ) {
        let values = self.matrix.values_mut();
        let orders = self.orders;

        for (row, places) in self.places[system].iter().enumerate() {
            let blocks = || {
                places
                    .blocks
                    .iter()
                    .flat_map(|block| block[..orders].iter().flat_map(|by| &by[..orders]))
            };
            blocks().for_each(|&place| values[place] = 0.0);
            places.diagonal[..orders]
                .iter()
                .for_each(|&place| values[place] = 1.0);
            for (column, block) in places.blocks.iter().enumerate() {
                for (to, line) in block[..orders].iter().enumerate() {
                    for (by, &place) in line[..orders].iter().enumerate() {
                        values[place] -=
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
