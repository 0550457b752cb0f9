//! Loops through feedthrough, closed before anything is integrated.
//!
//! The unknowns `v` of the loops solve `r(t, x, v) = 0`. Where `r` is affine in them they are
//! eliminated symbolically. Where it is not, they become states: along a solution `v' = −r_v⁻¹ (r_t
//! + r_x f)`, and `r = 0` holds for ever if it does once.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_core::list_names;
use dovetail_equations::{
    Binary, Coupled, Dual, Evaluator, Graph, Leaf, LeafKinds, Node, NodeId, Number, Program,
    Symbol, Unary,
};
use nalgebra::DMatrix;

use crate::interval::{Interval, middles, position_of_largest};
use crate::refusal::ProblemError;

/// A coupled model without loops, but perhaps with more states.
pub(crate) struct Eliminated {
    pub graph: Graph,
    pub derivatives: Vec<NodeId>,
    /// Other expressions.
    pub observed: Vec<NodeId>,
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

/// A pivot that is smaller counts as zero.
const SINGULAR: f64 = 1e-12;

/// Removes the unknowns, or makes them states.
pub(crate) fn eliminate(
    coupled: Coupled,
    observed: &[NodeId],
    start: &[Interval],
    parameters: &[Interval],
    start_time: f64,
) -> Result<Eliminated, ProblemError> {
    if coupled.unknowns.is_empty() {
        return Ok(Eliminated {
            graph: coupled.graph,
            derivatives: coupled.derivatives,
            observed: observed.to_vec(),
            loops: None,
        });
    }

    let elimination = LoopElimination::new(&coupled, start, parameters, start_time);
    let jacobian = elimination.jacobian(&coupled.residuals);
    let nodes = jacobian.iter().flatten().map(Symbol::node);
    let nonlinear = elimination.any_meets(nodes, LeafKinds::UNKNOWNS);
    refuse_jumps(&coupled, nonlinear)?;

    if nonlinear {
        elimination.into_states(&coupled, observed, jacobian)
    } else {
        elimination.into_substituted(&coupled, observed, jacobian)
    }
}

/// Derivatives do not see jumps: an affine loop would be solved on one side, and the unknowns of
/// others would have to jump.
fn refuse_jumps(coupled: &Coupled, nonlinear: bool) -> Result<(), ProblemError> {
    let moving = LeafKinds::STATES | LeafKinds::TIME;
    if jumps(coupled, LeafKinds::UNKNOWNS) || (nonlinear && jumps(coupled, moving)) {
        return Err(ProblemError::JumpingLoop {
            variables: list_names(&coupled.unknowns),
        });
    }
    Ok(())
}

/// Whether the equations of the loops have a jump, or a condition, that depends on leaves of these
/// kinds.
fn jumps(coupled: &Coupled, kinds: LeafKinds) -> bool {
    let mut waiting = coupled.residuals.clone();
    let mut seen = vec![false; coupled.graph.len()];

    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let node = coupled.graph.node(id);
        if is_jump(&node) && coupled.graph.kinds(id).meets(kinds) {
            return true;
        }
        waiting.extend(node.operands());
    }
    false
}

fn is_jump(node: &Node) -> bool {
    match node {
        Node::Unary(operation, _) => {
            matches!(operation, Unary::Sign | Unary::Floor | Unary::Ceil)
        }
        Node::Binary(operation, ..) => {
            let ordered = matches!(operation, Binary::Less | Binary::LessEqual | Binary::Equal);
            ordered || matches!(operation, Binary::Modulo | Binary::Atan2)
        }
        _ => false,
    }
}

/// The graph while loops are closed in it.
struct LoopElimination {
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

impl Sample {
    fn new(coupled: &Coupled, start: &[Interval], parameters: &[Interval], time: f64) -> Self {
        Self {
            time,
            states: middles(start),
            unknowns: coupled.guesses.clone(),
            parameters: middles(parameters),
            switches: vec![1.0; coupled.switches.len()],
        }
    }
}

fn leaves(graph: &Rc<RefCell<Graph>>, leaf: fn(u32) -> Leaf, range: Range<usize>) -> Vec<Symbol> {
    range.map(|i| Symbol::leaf(graph, leaf(i as u32))).collect()
}

fn nodes(symbols: &[Symbol]) -> Vec<NodeId> {
    symbols.iter().map(Symbol::node).collect()
}

fn negated(symbols: &[Symbol]) -> Vec<Symbol> {
    symbols.iter().map(Number::negate).collect()
}

/// Values that do not vary.
fn still(symbols: &[Symbol]) -> Vec<Dual<Symbol>> {
    symbols.iter().cloned().map(Dual::constant).collect()
}

/// The two ways to close loops.
impl LoopElimination {
    /// Affine loops: their solution is substituted for the unknowns.
    fn into_substituted(
        self,
        coupled: &Coupled,
        observed: &[NodeId],
        jacobian: Vec<Vec<Symbol>>,
    ) -> Result<Eliminated, ProblemError> {
        let zeros = vec![self.zero(); coupled.unknowns.len()];
        let constants = self.evaluate(&coupled.residuals, &zeros);
        let solution = self.solve_loop(coupled, jacobian, &constants)?;
        let derivatives = self.evaluate(&coupled.derivatives, &solution);
        let observed = self.evaluate(observed, &solution);

        Ok(Eliminated {
            derivatives: nodes(&derivatives),
            observed: nodes(&observed),
            graph: self.into_graph(),
            loops: None,
        })
    }

    /// Others: the unknowns become states, after those of the model.
    fn into_states(
        self,
        coupled: &Coupled,
        observed: &[NodeId],
        jacobian: Vec<Vec<Symbol>>,
    ) -> Result<Eliminated, ProblemError> {
        let drift = self.drift(&coupled.residuals, &coupled.derivatives);
        let rates = self.solve_loop(coupled, jacobian, &drift)?;
        let first = self.states.len();
        let added = first..first + coupled.unknowns.len();
        let unknowns = leaves(&self.graph, Leaf::State, added);
        let mut roots = coupled.derivatives.clone();
        roots.extend(nodes(&rates));
        let derivatives = nodes(&self.evaluate(&roots, &unknowns));
        let residuals = nodes(&self.evaluate(&coupled.residuals, &unknowns));
        let observed = nodes(&self.evaluate(observed, &unknowns));
        let loops = Loops {
            unknowns: coupled.unknowns.clone(),
            switched: self.any_meets(residuals.iter().copied(), LeafKinds::SWITCHES),
            residuals,
            guesses: coupled.guesses.clone(),
        };

        Ok(Eliminated {
            graph: self.into_graph(),
            derivatives,
            observed,
            loops: Some(loops),
        })
    }

    /// Solves `jacobian · v = −right`.
    fn solve_loop(
        &self,
        coupled: &Coupled,
        jacobian: Vec<Vec<Symbol>>,
        right: &[Symbol],
    ) -> Result<Vec<Symbol>, ProblemError> {
        self.solve(jacobian, negated(right))
            .ok_or_else(|| ProblemError::SingularLoop {
                variables: list_names(&coupled.unknowns),
            })
    }
}

/// Expressions.
impl LoopElimination {
    fn new(coupled: &Coupled, start: &[Interval], parameters: &[Interval], time: f64) -> Self {
        let graph = Rc::new(RefCell::new(coupled.graph.clone()));
        Self {
            states: leaves(&graph, Leaf::State, 0..start.len()),
            parameters: leaves(&graph, Leaf::Parameter, 0..parameters.len()),
            switches: leaves(&graph, Leaf::Switch, 0..coupled.switches.len()),
            sample: Sample::new(coupled, start, parameters, time),
            graph,
        }
    }

    fn zero(&self) -> Symbol {
        Symbol::constant(&self.graph, 0.0)
    }

    fn zeros(&self, count: usize) -> Vec<Symbol> {
        vec![self.zero(); count]
    }

    fn time(&self) -> Symbol {
        Symbol::leaf(&self.graph, Leaf::Time)
    }

    fn program(&self, roots: &[NodeId]) -> Arc<Program> {
        Arc::new(Program::compile(&self.graph.borrow(), roots))
    }

    /// Whether any of these depends on leaves of these kinds.
    fn any_meets(&self, mut roots: impl Iterator<Item = NodeId>, kinds: LeafKinds) -> bool {
        let graph = self.graph.borrow();
        roots.any(|root| graph.kinds(root).meets(kinds))
    }

    /// The expressions with these in the place of the unknowns.
    fn evaluate(&self, roots: &[NodeId], unknowns: &[Symbol]) -> Vec<Symbol> {
        let mut evaluator = Evaluator::new(self.program(roots), &self.zero(), &self.parameters);
        evaluator.set_time(&self.time());
        evaluator.set_switches(&self.switches);
        evaluator.set_states(&self.states);
        evaluator.set_unknowns(unknowns);

        evaluator.results()
    }

    /// How the expressions vary with time, states and unknowns that vary like this.
    fn varied(
        &self,
        roots: &[NodeId],
        time: f64,
        states: &[Symbol],
        unknowns: &[Symbol],
    ) -> Vec<Symbol> {
        let zero = Dual::constant(self.zero());
        let mut evaluator = Evaluator::new(self.program(roots), &zero, &still(&self.parameters));
        let rate = Symbol::constant(&self.graph, time);
        evaluator.set_time(&Dual::new(self.time(), rate));
        evaluator.set_switches(&still(&self.switches));
        evaluator.set_states(&Dual::moving(&self.states, states));
        let values = leaves(&self.graph, Leaf::Unknown, 0..unknowns.len());
        evaluator.set_unknowns(&Dual::moving(&values, unknowns));
        let results = evaluator.results().into_iter();

        results.map(|dual| dual.derivative).collect()
    }

    /// `r_v`, row by row.
    fn jacobian(&self, residuals: &[NodeId]) -> Vec<Vec<Symbol>> {
        let count = residuals.len();
        let columns: Vec<Vec<Symbol>> = (0..count)
            .map(|unknown| self.jacobian_column(residuals, unknown))
            .collect();
        let row = |i: usize| columns.iter().map(|column| column[i].clone()).collect();

        (0..count).map(row).collect()
    }

    fn jacobian_column(&self, residuals: &[NodeId], unknown: usize) -> Vec<Symbol> {
        let still = self.zeros(self.states.len());
        let mut direction = self.zeros(residuals.len());
        direction[unknown] = Symbol::constant(&self.graph, 1.0);
        self.varied(residuals, 0.0, &still, &direction)
    }

    /// `r_t + r_x f`.
    fn drift(&self, residuals: &[NodeId], derivatives: &[NodeId]) -> Vec<Symbol> {
        let rates = self.symbols(derivatives);
        let still = self.zeros(residuals.len());
        self.varied(residuals, 1.0, &rates, &still)
    }

    fn symbols(&self, nodes: &[NodeId]) -> Vec<Symbol> {
        let nodes = nodes.iter();
        nodes.map(|&node| Symbol::new(&self.graph, node)).collect()
    }

    fn into_graph(self) -> Graph {
        self.graph.borrow().clone()
    }
}

/// Linear systems.
impl LoopElimination {
    /// Solves a linear system symbolically, its rows in the order that suits the sample.
    fn solve(&self, mut matrix: Vec<Vec<Symbol>>, mut right: Vec<Symbol>) -> Option<Vec<Symbol>> {
        for (column, row) in pivots(&self.sampled(&matrix))?.into_iter().enumerate() {
            matrix.swap(column, row);
            right.swap(column, row);
        }

        eliminate_below_diagonal(&mut matrix, &mut right);
        substitute_back(&matrix, &mut right);
        Some(right)
    }

    fn sampled(&self, matrix: &[Vec<Symbol>]) -> DMatrix<f64> {
        let roots: Vec<NodeId> = matrix.iter().flatten().map(Symbol::node).collect();
        let sample = &self.sample;
        let mut evaluator = Evaluator::new(self.program(&roots), &0.0, &sample.parameters);
        evaluator.set_time(&sample.time);
        evaluator.set_switches(&sample.switches);
        evaluator.set_states(&sample.states);
        evaluator.set_unknowns(&sample.unknowns);

        DMatrix::from_row_slice(matrix.len(), matrix.len(), &evaluator.results())
    }
}

fn eliminate_below_diagonal(matrix: &mut [Vec<Symbol>], right: &mut [Symbol]) {
    for pivot in 0..right.len() {
        for row in pivot + 1..right.len() {
            if !matrix[row][pivot].is_zero() {
                subtract_pivot_row(matrix, right, pivot, row);
            }
        }
    }
}

fn subtract_pivot_row(matrix: &mut [Vec<Symbol>], right: &mut [Symbol], pivot: usize, row: usize) {
    let factor = matrix[row][pivot].divide(&matrix[pivot][pivot]);
    let (above, below) = matrix.split_at_mut(row);
    let entries = below[0].iter_mut().zip(&above[pivot]);

    for (entry, pivotal) in entries.skip(pivot + 1) {
        *entry = entry.subtract(&factor.multiply(pivotal));
    }
    right[row] = right[row].subtract(&factor.multiply(&right[pivot]));
}

fn substitute_back(matrix: &[Vec<Symbol>], right: &mut [Symbol]) {
    for row in (0..right.len()).rev() {
        for column in row + 1..right.len() {
            let known = matrix[row][column].multiply(&right[column]);
            right[row] = right[row].subtract(&known);
        }
        right[row] = right[row].divide(&matrix[row][row]);
    }
}

/// The row to exchange with each row of Gaussian elimination in turn; `None` for a singular matrix.
fn pivots(matrix: &DMatrix<f64>) -> Option<Vec<usize>> {
    let mut matrix = matrix.clone();
    let mut order = Vec::with_capacity(matrix.nrows());

    for pivot in 0..matrix.nrows() {
        let best = largest_below_diagonal(&matrix, pivot)?;
        let value = matrix[(best, pivot)];
        if !(value.abs() > SINGULAR && value.is_finite()) {
            return None;
        }
        matrix.swap_rows(pivot, best);
        order.push(best);
        eliminate_column(&mut matrix, pivot);
    }
    Some(order)
}

fn largest_below_diagonal(matrix: &DMatrix<f64>, column: usize) -> Option<usize> {
    let sizes = (column..matrix.nrows()).map(|row| matrix[(row, column)].abs());
    Some(column + position_of_largest(sizes)?)
}

fn eliminate_column(matrix: &mut DMatrix<f64>, pivot: usize) {
    let count = matrix.nrows();
    for row in pivot + 1..count {
        let factor = matrix[(row, pivot)] / matrix[(pivot, pivot)];
        for column in pivot..count {
            matrix[(row, column)] -= factor * matrix[(pivot, column)];
        }
    }
}
