//! Loops through feedthrough, closed before anything is integrated.
//!
//! The unknowns `v` of the loops solve `r(t, x, v) = 0`. Where `r` is affine in them they are eliminated symbolically. Where
//! it is not, they become states: along a solution `v' = −r_v⁻¹ (r_t + r_x f)`, and `r = 0` holds for ever if it does once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_core::list_names;
use dovetail_equations::{
    Binary, Coupled, Dual, Evaluator, Graph, Leaf, LeafKinds, Node, NodeId, Number, Program,
    Symbol, Unary,
};
use nalgebra::DMatrix;

use crate::interval::Interval;
use crate::problem::Refusal;

/// A coupled model without loops, but perhaps with more states.
pub(crate) struct Closed {
    pub graph: Graph,
    pub derivatives: Vec<NodeId>,
    pub loops: Option<Loops>,
}

/// Nonlinear loops: their unknowns are states, and their equations still hold.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    /// The names of the unknowns.
    pub unknowns: Vec<String>,
    /// Equations that are zero, of states and of unknowns as the states after them.
    pub residuals: Vec<NodeId>,
    /// Where to begin the search for the solution.
    pub guesses: Vec<f64>,
    /// Whether a switch is among them, so that unknowns jump when it changes.
    pub switched: bool,
}

/// Removes the unknowns, or makes them states.
pub(crate) fn close(
    coupled: Coupled,
    start: &[Interval],
    parameters: &[Interval],
    start_time: f64,
) -> Result<Closed, Refusal> {
    if coupled.unknowns.is_empty() {
        return Ok(Closed {
            graph: coupled.graph,
            derivatives: coupled.derivatives,
            loops: None,
        });
    }
    let closing = Closing::new(&coupled, start, parameters, start_time);
    let derivatives = coupled.derivatives.clone();
    let jacobian = closing.jacobian(&coupled.residuals);
    let graph = closing.graph.borrow();
    let bent = jacobian
        .iter()
        .flatten()
        .any(|entry| graph.kinds(entry.node()).meets(LeafKinds::UNKNOWNS));
    drop(graph);
    if jumps(&coupled, LeafKinds::UNKNOWNS)
        || (bent && jumps(&coupled, LeafKinds::STATES | LeafKinds::TIME))
    {
        return Err(Refusal::JumpingLoop {
            variables: list_names(&coupled.unknowns),
        });
    }
    let unknowns = closing.leaves(Leaf::Unknown, coupled.unknowns.len());
    let singular = || Refusal::SingularLoop {
        variables: list_names(&coupled.unknowns),
    };
    if !bent {
        let zeros = vec![closing.zero(); unknowns.len()];
        let constants = closing.evaluate(&coupled.residuals, &zeros);
        let opposite = constants.iter().map(Number::negate).collect();
        let solution = closing.solve(jacobian, opposite).ok_or_else(singular)?;
        let derivatives = closing
            .evaluate(&derivatives, &solution)
            .iter()
            .map(Symbol::node)
            .collect();
        return Ok(Closed {
            graph: closing.into_graph(),
            derivatives,
            loops: None,
        });
    }
    let states = closing.states.len();
    let drift = closing.drift(&coupled.residuals, &derivatives);
    let opposite = drift.iter().map(Number::negate).collect();
    let rates = closing.solve(jacobian, opposite).ok_or_else(singular)?;
    let as_states: Vec<Symbol> = (0..unknowns.len())
        .map(|i| Symbol::leaf(&closing.graph, Leaf::State((states + i) as u32)))
        .collect();
    let roots: Vec<NodeId> = derivatives
        .iter()
        .copied()
        .chain(rates.iter().map(Symbol::node))
        .collect();
    let derivatives = closing
        .evaluate(&roots, &as_states)
        .iter()
        .map(Symbol::node)
        .collect();
    let residuals: Vec<NodeId> = closing
        .evaluate(&coupled.residuals, &as_states)
        .iter()
        .map(Symbol::node)
        .collect();
    let graph = closing.graph.borrow();
    let switched = residuals
        .iter()
        .any(|&residual| graph.kinds(residual).meets(LeafKinds::SWITCHES));
    drop(graph);
    let loops = Loops {
        unknowns: coupled.unknowns.clone(),
        residuals,
        guesses: coupled.guesses.clone(),
        switched,
    };
    Ok(Closed {
        graph: closing.into_graph(),
        derivatives,
        loops: Some(loops),
    })
}

/// Whether the equations of the loops have a jump, or a condition, that depends on leaves of these kinds. Derivatives do not see
/// them: an affine loop would be solved on one side, and the unknowns of others would have to jump.
fn jumps(coupled: &Coupled, kinds: LeafKinds) -> bool {
    let mut waiting = coupled.residuals.clone();
    let mut seen = vec![false; coupled.graph.len()];
    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let node = coupled.graph.node(id);
        let jump = match node {
            Node::Unary(Unary::Sign | Unary::Floor | Unary::Ceil, _) => true,
            Node::Binary(operation, ..) => {
                let ordered = matches!(operation, Binary::Less | Binary::LessEqual | Binary::Equal);
                ordered || matches!(operation, Binary::Modulo | Binary::Atan2)
            }
            _ => false,
        };
        if jump && coupled.graph.kinds(id).meets(kinds) {
            return true;
        }
        waiting.extend(node.operands());
    }
    false
}

/// The graph while loops are closed in it.
struct Closing {
    graph: Rc<RefCell<Graph>>,
    states: Vec<Symbol>,
    parameters: Vec<Symbol>,
    switches: Vec<Symbol>,
    /// Numbers to choose pivots by.
    sample: Sample,
}

struct Sample {
    time: f64,
    states: Vec<f64>,
    unknowns: Vec<f64>,
    parameters: Vec<f64>,
    switches: Vec<f64>,
}

impl Closing {
    fn new(coupled: &Coupled, start: &[Interval], parameters: &[Interval], time: f64) -> Self {
        let graph = Rc::new(RefCell::new(coupled.graph.clone()));
        let leaves = |leaf: fn(u32) -> Leaf, count: usize| {
            (0..count)
                .map(|i| Symbol::leaf(&graph, leaf(i as u32)))
                .collect::<Vec<_>>()
        };
        let middles = |boxes: &[Interval]| boxes.iter().map(|b| b.middle()).collect::<Vec<_>>();
        Self {
            states: leaves(Leaf::State, start.len()),
            parameters: leaves(Leaf::Parameter, parameters.len()),
            switches: leaves(Leaf::Switch, coupled.switches.len()),
            sample: Sample {
                time,
                states: middles(start),
                unknowns: coupled.guesses.clone(),
                parameters: middles(parameters),
                switches: vec![1.0; coupled.switches.len()],
            },
            graph,
        }
    }

    fn zero(&self) -> Symbol {
        Symbol::constant(&self.graph, 0.0)
    }

    fn leaves(&self, leaf: fn(u32) -> Leaf, count: usize) -> Vec<Symbol> {
        (0..count)
            .map(|i| Symbol::leaf(&self.graph, leaf(i as u32)))
            .collect()
    }

    fn program(&self, roots: &[NodeId]) -> Arc<Program> {
        Arc::new(Program::compile(&self.graph.borrow(), roots))
    }

    /// The expressions with these in the place of the unknowns.
    fn evaluate(&self, roots: &[NodeId], unknowns: &[Symbol]) -> Vec<Symbol> {
        let mut evaluator = Evaluator::new(self.program(roots), &self.zero(), &self.parameters);
        evaluator.set_time(&Symbol::leaf(&self.graph, Leaf::Time));
        evaluator.set_switches(&self.switches);
        evaluator.set_states(&self.states);
        evaluator.set_unknowns(unknowns);
        let mut results = vec![self.zero(); roots.len()];
        evaluator.run(&mut results);
        results
    }

    /// How the expressions vary with time, states and unknowns that vary like this.
    fn varied(
        &self,
        roots: &[NodeId],
        time: f64,
        states: &[Symbol],
        unknowns: &[Symbol],
    ) -> Vec<Symbol> {
        let still = |symbols: &[Symbol]| {
            symbols
                .iter()
                .cloned()
                .map(Dual::constant)
                .collect::<Vec<_>>()
        };
        let moving = |values: &[Symbol], rates: &[Symbol]| {
            values
                .iter()
                .cloned()
                .zip(rates.iter().cloned())
                .map(|(v, r)| Dual::new(v, r))
                .collect::<Vec<_>>()
        };
        let zero = Dual::constant(self.zero());
        let mut evaluator = Evaluator::new(self.program(roots), &zero, &still(&self.parameters));
        let rate = Symbol::constant(&self.graph, time);
        evaluator.set_time(&Dual::new(Symbol::leaf(&self.graph, Leaf::Time), rate));
        evaluator.set_switches(&still(&self.switches));
        evaluator.set_states(&moving(&self.states, states));
        evaluator.set_unknowns(&moving(
            &self.leaves(Leaf::Unknown, unknowns.len()),
            unknowns,
        ));
        let mut results = vec![zero; roots.len()];
        evaluator.run(&mut results);
        results.into_iter().map(|dual| dual.derivative).collect()
    }

    /// `r_v`, row by row.
    fn jacobian(&self, residuals: &[NodeId]) -> Vec<Vec<Symbol>> {
        let count = residuals.len();
        let still = vec![self.zero(); self.states.len()];
        let column = |j: usize| {
            let mut direction = vec![self.zero(); count];
            direction[j] = Symbol::constant(&self.graph, 1.0);
            self.varied(residuals, 0.0, &still, &direction)
        };
        let columns: Vec<Vec<Symbol>> = (0..count).map(column).collect();
        (0..count)
            .map(|i| columns.iter().map(|column| column[i].clone()).collect())
            .collect()
    }

    /// `r_t + r_x f`.
    fn drift(&self, residuals: &[NodeId], derivatives: &[NodeId]) -> Vec<Symbol> {
        let rates: Vec<Symbol> = derivatives
            .iter()
            .map(|&node| Symbol::new(&self.graph, node))
            .collect();
        self.varied(residuals, 1.0, &rates, &vec![self.zero(); residuals.len()])
    }

    /// Solves a linear system symbolically, its rows in the order that suits the sample.
    fn solve(&self, mut matrix: Vec<Vec<Symbol>>, mut right: Vec<Symbol>) -> Option<Vec<Symbol>> {
        let count = right.len();
        for (column, row) in pivots(&self.sampled(&matrix))?.into_iter().enumerate() {
            matrix.swap(column, row);
            right.swap(column, row);
        }
        for pivot in 0..count {
            for row in pivot + 1..count {
                if matrix[row][pivot].is_zero() {
                    continue;
                }
                let factor = matrix[row][pivot].divide(&matrix[pivot][pivot]);
                let (above, below) = matrix.split_at_mut(row);
                for (entry, pivotal) in below[0].iter_mut().zip(&above[pivot]).skip(pivot + 1) {
                    *entry = entry.subtract(&factor.multiply(pivotal));
                }
                right[row] = right[row].subtract(&factor.multiply(&right[pivot]));
            }
        }
        for row in (0..count).rev() {
            for column in row + 1..count {
                right[row] = right[row].subtract(&matrix[row][column].multiply(&right[column]));
            }
            right[row] = right[row].divide(&matrix[row][row]);
        }
        Some(right)
    }

    fn sampled(&self, matrix: &[Vec<Symbol>]) -> DMatrix<f64> {
        let roots: Vec<NodeId> = matrix.iter().flatten().map(Symbol::node).collect();
        let mut evaluator = Evaluator::new(self.program(&roots), &0.0, &self.sample.parameters);
        evaluator.set_time(&self.sample.time);
        evaluator.set_switches(&self.sample.switches);
        evaluator.set_states(&self.sample.states);
        evaluator.set_unknowns(&self.sample.unknowns);
        let mut values = vec![0.0; roots.len()];
        evaluator.run(&mut values);
        DMatrix::from_row_slice(matrix.len(), matrix.len(), &values)
    }

    fn into_graph(self) -> Graph {
        self.graph.borrow().clone()
    }
}

/// The row to exchange with each row of Gaussian elimination in turn; `None` for a singular matrix.
fn pivots(matrix: &DMatrix<f64>) -> Option<Vec<usize>> {
    let mut matrix = matrix.clone();
    let count = matrix.nrows();
    let mut order = Vec::with_capacity(count);
    for pivot in 0..count {
        let best = (pivot..count).max_by(|&a, &b| {
            matrix[(a, pivot)]
                .abs()
                .total_cmp(&matrix[(b, pivot)].abs())
        })?;
        let value = matrix[(best, pivot)];
        if !(value.abs() > 1e-12 && value.is_finite()) {
            return None;
        }
        matrix.swap_rows(pivot, best);
        order.push(best);
        for row in pivot + 1..count {
            let factor = matrix[(row, pivot)] / matrix[(pivot, pivot)];
            for column in pivot..count {
                matrix[(row, column)] -= factor * matrix[(pivot, column)];
            }
        }
    }
    Some(order)
}
