//! The operators of a linear system as rows of plain numbers, from plain numbers.

use nalgebra::DMatrix;

use crate::gaver_stehfest::Pole;
use crate::state_space::StateSpace;
use crate::transfer::{Laplace, Transfer};

/// How many there are of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSizes {
    /// States.
    pub states: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// The degree of the inputs.
    pub degree: usize,
    /// There are rows for the states too, below those of the outputs.
    pub with_states: bool,
}

/// A workspace in which the operators of systems of one size are computed.
#[derive(Clone, Debug)]
pub struct OperatorRows {
    sizes: RowSizes,
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    /// C, D and D' have rows for the states below those of the outputs, where there are such rows.
    c: DMatrix<f64>,
    d: DMatrix<f64>,
    b_slope: DMatrix<f64>,
    d_slope: DMatrix<f64>,
    transfer: Transfer,
}

impl OperatorRows {
    /// Allocates the workspace.
    pub fn new(sizes: RowSizes) -> Self {
        let RowSizes {
            states,
            inputs,
            outputs,
            degree,
            with_states,
        } = sizes;
        let rows = outputs + if with_states { states } else { 0 };
        let mut c = DMatrix::zeros(rows, states);
        for state in 0..rows - outputs {
            c[(outputs + state, state)] = 1.0;
        }

        Self {
            sizes,
            a: DMatrix::zeros(states, states),
            b: DMatrix::zeros(states, inputs),
            c,
            d: DMatrix::zeros(rows, inputs),
            b_slope: DMatrix::zeros(states, inputs),
            d_slope: DMatrix::zeros(rows, inputs),
            transfer: Transfer::new(states, inputs, rows, degree),
        }
    }

    /// The operators of the system whose A, B, C, D, B' and D' stand in `matrices`, one after the
    /// other, each column by column, for a step of `delta`.
    ///
    /// A row for value, slope and curvature of each output, and of each state where there are such
    /// rows: for each input the operators of its coefficients, then those of the state, of a
    /// forcing and of its rate. After an error they are of no use.
    pub fn compute(
        &mut self,
        laplace: Laplace,
        matrices: &[f64],
        delta: f64,
        into: &mut [f64],
    ) -> Result<(), Pole> {
        self.read(matrices);
        let space = StateSpace {
            a: &self.a,
            b: &self.b,
            c: &self.c,
            d: &self.d,
            b_slope: &self.b_slope,
            d_slope: &self.d_slope,
        };
        self.transfer.compute_by(laplace, space, delta)?;
        self.write(into);
        Ok(())
    }

    fn read(&mut self, matrices: &[f64]) {
        let RowSizes {
            states, outputs, ..
        } = self.sizes;
        let targets = [
            (&mut self.a, states),
            (&mut self.b, states),
            (&mut self.c, outputs),
            (&mut self.d, outputs),
            (&mut self.b_slope, states),
            (&mut self.d_slope, outputs),
        ];
        let mut rest = matrices;

        for (target, rows) in targets {
            let (entries, after) = rest.split_at(rows * target.ncols());
            rest = after;
            for (column, entries) in entries.chunks_exact(rows.max(1)).enumerate() {
                target
                    .view_mut((0, column), (rows, 1))
                    .copy_from_slice(entries);
            }
        }
    }

    fn write(&self, into: &mut [f64]) {
        let rows = self.c.nrows();
        let RowSizes { states, inputs, .. } = self.sizes;
        let mut places = into.iter_mut();

        for gains in &self.transfer.orders {
            for row in 0..rows {
                let by_inputs =
                    (0..inputs).flat_map(|i| gains.inputs.iter().map(move |gain| gain[(row, i)]));
                let by_states = [&gains.state, &gains.forcing, &gains.ramp].into_iter();
                let by_states = by_states.flat_map(|gain| (0..states).map(move |j| gain[(row, j)]));
                by_inputs
                    .chain(by_states)
                    .for_each(|gain| *places.next().expect("BUG: rows too short") = gain);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: RowSizes = RowSizes {
        states: 2,
        inputs: 1,
        outputs: 1,
        degree: 3,
        with_states: true,
    };
    /// `x'' = -x + u`, `y = x`.
    const MATRICES: [f64; 12] = [0.0, -1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];

    #[test]
    fn an_oscillator_is_answered_in_closed_form() {
        let row = 4 + 3 * 2;
        let mut operators = vec![f64::NAN; 3 * 3 * row];
        let mut rows = OperatorRows::new(SIZES);
        rows.compute(Laplace::Exact, &MATRICES, 0.3, &mut operators)
            .expect("no pole");
        let (sin, cos) = 0.3_f64.sin_cos();
        let near = |place: usize, expected: f64| {
            assert!((operators[place] - expected).abs() < 1e-15, "{place}");
        };
        near(0, 1.0 - cos); // the value under u = 1
        near(1, 0.3 - sin); // under u = t
        near(4, cos); // from x = 1
        near(5, sin); // from v = 1
        near(2 * row + 4, -sin); // v, the second state, from x = 1
        near(3 * row, sin); // the slope under u = 1
    }

    #[test]
    fn a_workspace_that_was_used_before_answers_the_same() {
        let mut fresh = vec![0.0; 3 * 3 * 10];
        let mut again = fresh.clone();
        let mut rows = OperatorRows::new(SIZES);
        rows.compute(Laplace::Exact, &MATRICES, 0.3, &mut fresh)
            .expect("no pole");
        let other = MATRICES.map(|entry| 2.0 * entry + 0.1);
        rows.compute(Laplace::Exact, &other, 0.7, &mut again)
            .expect("no pole");
        rows.compute(Laplace::Exact, &MATRICES, 0.3, &mut again)
            .expect("no pole");
        assert_eq!(fresh, again);
    }
}
