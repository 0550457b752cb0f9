//! The linearizations of all systems as far as they are coupled, block by block.
//!
//! Of every system A, the columns of B and D that coupling variables feed, and the rows of C and D
//! that are coupling variables. Where they stand among the numbers never changes.

use dovetail_core::Linearization;
use nalgebra::DMatrix;

use crate::interface_system::InterfaceSystem;

/// Where the blocks of all systems are, and what they lead from and to.
pub(super) struct BlockLayout {
    pub systems: Vec<SystemLayout>,
    pub states: usize,
    pub variables: usize,
    /// How many numbers all blocks have.
    pub numbers: usize,
}

/// The same of one system: its blocks follow one another, row by row.
pub(super) struct SystemLayout {
    pub first_state: usize,
    pub states: usize,
    /// Rows of C and D, and the coupling variables that they are.
    positions: Vec<usize>,
    pub rows: Vec<usize>,
    /// Columns of B and D, and the coupling variables that feed them.
    inputs: Vec<usize>,
    pub columns: Vec<usize>,
    first_number: usize,
}

/// The blocks of one system.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
    pub c: &'a [f64],
    pub d: &'a [f64],
}

/// What a number of the blocks is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// A or B: what states move by.
    Slope,
    /// C: what coupling variables are of states.
    Output,
    /// D: what they are of one another.
    Feedthrough,
}

impl SystemLayout {
    fn numbers(&self) -> usize {
        (self.states + self.rows.len()) * (self.states + self.columns.len())
    }

    pub fn blocks<'a>(&self, numbers: &'a [f64]) -> Blocks<'a> {
        let own = &numbers[self.first_number..][..self.numbers()];
        let (a, rest) = own.split_at(self.states * self.states);
        let (b, rest) = rest.split_at(self.states * self.columns.len());
        let (c, d) = rest.split_at(self.rows.len() * self.states);

        Blocks { a, b, c, d }
    }

    pub fn own<'a>(&self, states: &'a [f64]) -> &'a [f64] {
        &states[self.first_state..][..self.states]
    }

    /// Copies the blocks of the system as it stands.
    fn copy(&self, here: &Linearization, numbers: &mut [f64]) {
        let own = &mut numbers[self.first_number..][..self.numbers()];
        let (a, rest) = own.split_at_mut(self.states * self.states);
        let (b, rest) = rest.split_at_mut(self.states * self.columns.len());
        let (c, d) = rest.split_at_mut(self.rows.len() * self.states);

        copy_lines(a, &here.a, 0..self.states, 0..self.states);
        copy_lines(b, &here.b, 0..self.states, self.inputs.iter().copied());
        copy_lines(c, &here.c, self.positions.iter().copied(), 0..self.states);
        let positions = self.positions.iter().copied();
        copy_lines(d, &here.d, positions, self.inputs.iter().copied());
    }
}

/// Copies these rows and columns of a matrix, row by row.
fn copy_lines(
    into: &mut [f64],
    matrix: &DMatrix<f64>,
    rows: impl Iterator<Item = usize>,
    columns: impl Iterator<Item = usize> + Clone,
) {
    let entries = rows.flat_map(|i| columns.clone().map(move |j| (i, j)));
    for (place, entry) in into.iter_mut().zip(entries) {
        *place = matrix[entry];
    }
}

/// The lines of a block, each of so many numbers; none where they are empty.
pub(super) fn lines(block: &[f64], length: usize) -> impl Iterator<Item = &[f64]> {
    block.chunks_exact(length.max(1))
}

fn product(line: &[f64], vector: impl Iterator<Item = f64>) -> f64 {
    line.iter().zip(vector).map(|(a, x)| a * x).sum()
}

impl BlockLayout {
    pub fn new(interface_system: &InterfaceSystem, variables: usize) -> Self {
        let mut layout = Self {
            systems: Vec::new(),
            states: 0,
            variables,
            numbers: 0,
        };
        for (system, here) in interface_system.linearizations().enumerate() {
            let rows = interface_system.rows[system].iter();
            let columns = interface_system.columns[system].iter();
            let new = SystemLayout {
                first_state: layout.states,
                states: here.x.len(),
                positions: rows.clone().map(|row| row.position).collect(),
                rows: rows.map(|row| row.variable).collect(),
                inputs: columns.clone().map(|column| column.input).collect(),
                columns: columns.map(|column| column.variable).collect(),
                first_number: layout.numbers,
            };
            layout.states += new.states;
            layout.numbers += new.numbers();
            layout.systems.push(new);
        }
        layout
    }

    /// Copies the blocks of the systems as they stand.
    pub fn copy(&self, interface_system: &InterfaceSystem, numbers: &mut [f64]) {
        for (system, here) in self.systems.iter().zip(interface_system.linearizations()) {
            system.copy(here, numbers);
        }
    }

    /// For each number what it is part of, its row and its column in `(A, B; C, D)`: states come
    /// first, then coupling variables.
    pub fn places(&self) -> Vec<(Block, usize, usize)> {
        let mut all = Vec::with_capacity(self.numbers);
        for system in &self.systems {
            let own = system.first_state..system.first_state + system.states;
            let rows = || system.rows.iter().map(|row| self.states + row);
            let columns = || system.columns.iter().map(|column| self.states + column);
            let slope = |i: usize| move |j: usize| (Block::Slope, i, j);
            all.extend(own.clone().flat_map(|i| own.clone().map(slope(i))));
            all.extend(own.clone().flat_map(|i| columns().map(slope(i))));
            all.extend(rows().flat_map(|i| own.clone().map(move |j| (Block::Output, i, j))));
            all.extend(rows().flat_map(|i| columns().map(move |j| (Block::Feedthrough, i, j))));
        }
        all
    }

    /// Whether some coupling variable depends at once on another one.
    pub fn passes_through(&self, numbers: &[f64]) -> bool {
        let mut all = self.systems.iter().map(|system| system.blocks(numbers).d);
        all.any(|d| d.iter().any(|gain| *gain != 0.0))
    }

    /// `C x`.
    pub fn observe(&self, numbers: &[f64], states: &[f64], variables: &mut [f64]) {
        for system in &self.systems {
            let c = lines(system.blocks(numbers).c, system.states);
            let own = system.own(states);
            if own.is_empty() {
                system.rows.iter().for_each(|&row| variables[row] = 0.0);
            }
            for (&row, line) in system.rows.iter().zip(c) {
                variables[row] = product(line, own.iter().copied());
            }
        }
    }

    /// `A x + B Φᵀ v`.
    pub fn drive(&self, numbers: &[f64], states: &[f64], variables: &[f64], slopes: &mut [f64]) {
        for system in &self.systems {
            let Blocks { a, b, .. } = system.blocks(numbers);
            let own = system.own(states);
            let slopes = &mut slopes[system.first_state..][..system.states];
            for (slope, line) in slopes.iter_mut().zip(lines(a, own.len())) {
                *slope = product(line, own.iter().copied());
            }
            let fed = || system.columns.iter().map(|&column| variables[column]);
            for (slope, line) in slopes.iter_mut().zip(lines(b, system.columns.len())) {
                *slope += product(line, fed());
            }
        }
    }
}
