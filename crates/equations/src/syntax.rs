//! What the parser builds: an arena of nodes, children before parents.

use std::ops::Range;

use crate::error::Span;
use crate::operation::{Binary, Unary};

/// The index of a node in its arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxId(pub u32);

impl SyntaxId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One step of an expression. Other comparisons and functions of many arguments are made of these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Syntax {
    Number(f64),
    Time,
    Pi,
    /// A variable; the node's span is its name.
    Name,
    /// `der(name)`; the node's span is the name.
    DerivativeOf,
    /// `previous(name)`; the node's span is the name.
    PreviousOf,
    /// `delay(name, time)`; the node's span is the name.
    DelayOf(SyntaxId),
    Unary(Unary, SyntaxId),
    Binary(Binary, SyntaxId, SyntaxId),
    Select(SyntaxId, SyntaxId, SyntaxId),
}

/// A node and the text it was read from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SyntaxNode {
    pub syntax: Syntax,
    pub span: Span,
}

/// What a statement defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Derivative,
    Intermediate,
}

/// A definition: `der(name) = ...` or `name = ...`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub target: Target,
    pub name: Span,
    /// The nodes of its right-hand side, which ends with the root.
    pub nodes: Range<usize>,
}
