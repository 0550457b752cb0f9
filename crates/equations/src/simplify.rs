//! What a graph simplifies as it is built.
//!
//! Every rule keeps the value on every kind of number, signed zeros aside, with one exception:
//! `0 * x` and `0 / x` become 0 even where `x` might be infinite or undefined. Derivatives are full
//! of such terms, and there the 0 is a true one.
//!
//! Constants are combined only where the result is exact: integers below 2⁵³ under `+ - *`.

use crate::graph::{Graph, Node, NodeId};
use crate::operation::{Binary, Unary};

/// Integers up to here, and their sums and products up to here, are exact.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Beyond this an exponent is treated as any other number.
const LARGEST_EXPONENT: f64 = 1e6;

fn is_exact_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= LARGEST_EXACT
}

impl Graph {
    pub(crate) fn simpler_unary(&mut self, operation: Unary, operand: NodeId) -> Option<NodeId> {
        match (operation, self.node(operand)) {
            (Unary::Negate, Node::Unary(Unary::Negate, inner))
            | (Unary::Not, Node::Unary(Unary::Not, inner)) => Some(inner),
            (Unary::Negate, Node::Constant(bits)) => Some(self.constant(-f64::from_bits(bits))),
            (Unary::Not, Node::Constant(bits)) => Some(self.truth(f64::from_bits(bits) == 0.0)),
            _ => None,
        }
    }

    pub(crate) fn simpler_binary(
        &mut self,
        operation: Binary,
        left: NodeId,
        right: NodeId,
    ) -> Option<NodeId> {
        let folded = self.folded(operation, left, right);
        if folded.is_some() {
            return folded;
        }

        match operation {
            Binary::Add => self.simpler_sum(left, right),
            Binary::Subtract => self.simpler_difference(left, right),
            Binary::Multiply => self.simpler_product(left, right),
            Binary::Divide => self.simpler_quotient(left, right),
            Binary::Power => self.simpler_power(left, right),
            Binary::And | Binary::Or => self.simpler_logic(operation, left, right),
            _ => None,
        }
    }

    fn constant_values(&self, left: NodeId, right: NodeId) -> (Option<f64>, Option<f64>) {
        (self.constant_value(left), self.constant_value(right))
    }

    fn negation(&mut self, id: NodeId) -> NodeId {
        self.unary(Unary::Negate, id)
    }

    fn truth(&mut self, holds: bool) -> NodeId {
        self.constant(f64::from(u8::from(holds)))
    }

    fn negated(&self, id: NodeId) -> Option<NodeId> {
        match self.node(id) {
            Node::Unary(Unary::Negate, inner) => Some(inner),
            _ => None,
        }
    }

    /// Two constants, where that is exact.
    fn folded(&mut self, operation: Binary, left: NodeId, right: NodeId) -> Option<NodeId> {
        let a = self.constant_value(left)?;
        let b = self.constant_value(right)?;
        let value = match operation {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Less => return Some(self.truth(a < b)),
            Binary::LessEqual => return Some(self.truth(a <= b)),
            Binary::Equal => return Some(self.truth(a == b)),
            _ => return None,
        };
        let exact = [a, b, value].into_iter().all(is_exact_integer);

        exact.then(|| self.constant(value))
    }

    fn simpler_sum(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        match self.constant_values(left, right) {
            (Some(0.0), _) => return Some(right),
            (_, Some(0.0)) => return Some(left),
            _ => {}
        }
        if let Some(inner) = self.negated(right) {
            return Some(self.binary(Binary::Subtract, left, inner));
        }

        let inner = self.negated(left)?;
        Some(self.binary(Binary::Subtract, right, inner))
    }

    fn simpler_difference(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        match self.constant_values(left, right) {
            (_, Some(0.0)) => return Some(left),
            (Some(0.0), _) => return Some(self.negation(right)),
            _ => {}
        }

        let inner = self.negated(right)?;
        Some(self.binary(Binary::Add, left, inner))
    }

    fn simpler_product(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        match self.constant_values(left, right) {
            (Some(0.0), _) | (_, Some(0.0)) => Some(self.constant(0.0)),
            (Some(1.0), _) => Some(right),
            (_, Some(1.0)) => Some(left),
            (Some(-1.0), _) => Some(self.negation(right)),
            (_, Some(-1.0)) => Some(self.negation(left)),
            _ => None,
        }
    }

    fn simpler_quotient(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        match self.constant_values(left, right) {
            (_, Some(1.0)) => Some(left),
            (_, Some(-1.0)) => Some(self.negation(left)),
            // A division by a written 0 stays what it is.
            (Some(0.0), Some(0.0)) => None,
            (Some(0.0), _) => Some(self.constant(0.0)),
            _ => None,
        }
    }

    fn simpler_power(&mut self, base: NodeId, exponent: NodeId) -> Option<NodeId> {
        let value = self.constant_value(exponent)?;
        let integer = value.fract() == 0.0 && value.abs() <= LARGEST_EXPONENT;
        integer.then(|| self.power_integer(base, value as i32))
    }

    fn simpler_logic(&mut self, operation: Binary, left: NodeId, right: NodeId) -> Option<NodeId> {
        let (known, other) = match self.constant_values(left, right) {
            (Some(value), _) => (value != 0.0, right),
            (_, Some(value)) => (value != 0.0, left),
            _ => return None,
        };
        let decides = known == (operation == Binary::Or);
        Some(if decides { self.truth(known) } else { other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Leaf;

    fn with_x() -> (Graph, NodeId) {
        let mut graph = Graph::new();
        let x = graph.leaf(Leaf::State(0));
        (graph, x)
    }

    #[test]
    fn neutral_elements_vanish() {
        let (mut graph, x) = with_x();
        let zero = graph.constant(0.0);
        let one = graph.constant(1.0);
        assert_eq!(graph.binary(Binary::Add, x, zero), x);
        assert_eq!(graph.binary(Binary::Add, zero, x), x);
        assert_eq!(graph.binary(Binary::Subtract, x, zero), x);
        assert_eq!(graph.binary(Binary::Multiply, one, x), x);
        assert_eq!(graph.binary(Binary::Divide, x, one), x);
        assert_eq!(graph.binary(Binary::Power, x, one), x);
        assert_eq!(graph.binary(Binary::Multiply, x, zero), zero);
        assert_eq!(graph.binary(Binary::Divide, zero, x), zero);
    }

    #[test]
    fn signs_are_gathered() {
        let (mut graph, x) = with_x();
        let u = graph.leaf(Leaf::Input(0));
        let minus_u = graph.unary(Unary::Negate, u);
        let difference = graph.binary(Binary::Subtract, x, u);
        assert_eq!(graph.binary(Binary::Add, x, minus_u), difference);
        assert_eq!(graph.binary(Binary::Add, minus_u, x), difference);
        assert_eq!(graph.unary(Unary::Negate, minus_u), u);
        let minus_one = graph.constant(-1.0);
        assert_eq!(graph.binary(Binary::Multiply, minus_one, u), minus_u);
    }

    #[test]
    fn only_exact_arithmetic_is_done_ahead() {
        let (mut graph, _) = with_x();
        let two = graph.constant(2.0);
        let three = graph.constant(3.0);
        let tenth = graph.constant(0.1);
        let product = graph.binary(Binary::Multiply, two, three);
        assert_eq!(graph.constant_value(product), Some(6.0));
        let inexact = graph.binary(Binary::Add, two, tenth);
        assert_eq!(graph.constant_value(inexact), None);
        let large = graph.constant(1e15);
        let too_large = graph.binary(Binary::Multiply, large, large);
        assert_eq!(graph.constant_value(too_large), None);
        let third = graph.binary(Binary::Divide, two, three);
        assert_eq!(graph.constant_value(third), None);
    }

    #[test]
    fn a_written_integer_exponent_is_an_operation_of_its_own() {
        let (mut graph, x) = with_x();
        let two = graph.constant(2.0);
        let half = graph.constant(0.5);
        let huge = graph.constant(1e300);
        let square = graph.binary(Binary::Power, x, two);
        assert_eq!(graph.node(square), Node::PowerInteger(x, 2));
        for exponent in [half, huge] {
            let power = graph.binary(Binary::Power, x, exponent);
            assert_eq!(graph.node(power), Node::Binary(Binary::Power, x, exponent));
        }
    }

    #[test]
    fn conditions_on_constants_are_decided() {
        let (mut graph, x) = with_x();
        let zero = graph.constant(0.0);
        let one = graph.constant(1.0);
        let less = graph.binary(Binary::Less, zero, one);
        assert_eq!(less, one);
        let condition = graph.binary(Binary::Less, x, one);
        assert_eq!(graph.binary(Binary::And, less, condition), condition);
        assert_eq!(graph.binary(Binary::Or, condition, less), one);
        assert_eq!(graph.unary(Unary::Not, one), zero);
    }
}
