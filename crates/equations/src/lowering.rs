//! From syntax to graph: names are looked up, kinds are checked.

use std::f64::consts::PI;
use std::ops::Range;

use crate::declarations::{Declarations, Meaning};
use crate::error::{Fault, Span};
use crate::graph::{Graph, Leaf, NodeId};
use crate::lexer::{MOST_FAULTS, shortened};
use crate::operation::{Binary, Kind, Unary};
use crate::switches::Switches;
use crate::syntax::{Syntax, SyntaxId, SyntaxNode};

/// An expression in the graph and what it stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed {
    pub node: NodeId,
    pub kind: Kind,
}

/// Which variables the texts mention.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub inputs: Vec<bool>,
    pub slopes: Vec<bool>,
    pub parameters: Vec<bool>,
    pub definitions: Vec<bool>,
}

/// The graph under construction.
pub(crate) struct Lowering<'d, 's> {
    pub declarations: &'d Declarations<'s>,
    pub graph: Graph,
    pub switches: Switches,
    /// The definitions lowered so far; one with a mistake stays `None`.
    pub definitions: Vec<Option<Typed>>,
    pub uses: Uses,
    /// How many mistakes have been noted, in all texts together.
    pub noted: usize,
}

/// One text being lowered.
struct Text<'t> {
    text: &'t str,
    nodes: &'t [SyntaxNode],
    first: usize,
    values: Vec<Option<Typed>>,
    faults: Vec<Fault>,
    /// How many more mistakes are worth noting.
    room: usize,
}

impl Text<'_> {
    fn span(&self, id: SyntaxId) -> Span {
        self.nodes[id.index()].span
    }

    fn value(&self, id: SyntaxId) -> Option<Typed> {
        self.values[id.index() - self.first]
    }

    /// The expression at `id`, if it is of the kind wanted. A mistake is reported once.
    fn operand(&mut self, id: SyntaxId, wanted: Kind) -> Option<NodeId> {
        let value = self.value(id)?;
        if value.kind == wanted {
            return Some(value.node);
        }
        let (wanted, found) = (wanted.describe(), value.kind.describe());
        self.fault(Fault::new(
            self.span(id),
            format!("expected {wanted}, found {found}"),
        ));
        None
    }

    fn has_room(&self) -> bool {
        self.faults.len() < self.room
    }

    fn fault(&mut self, fault: Fault) {
        if self.has_room() {
            self.faults.push(fault);
        }
    }
}

impl Lowering<'_, '_> {
    /// Lowers one expression, whose root is the last of `range`.
    pub fn lower(
        &mut self,
        text: &str,
        nodes: &[SyntaxNode],
        range: Range<usize>,
        faults: &mut Vec<Fault>,
    ) -> Option<Typed> {
        let values = Vec::with_capacity(range.len());
        let room = MOST_FAULTS.saturating_sub(self.noted);
        let first = range.start;
        let mut text = Text {
            text,
            nodes,
            first,
            values,
            faults: Vec::new(),
            room,
        };
        for node in &nodes[range] {
            let value = self.node(*node, &mut text);
            text.values.push(value);
        }
        self.noted += text.faults.len();
        faults.append(&mut text.faults);
        text.values.pop().flatten()
    }

    fn node(&mut self, node: SyntaxNode, text: &mut Text<'_>) -> Option<Typed> {
        let number = |node| {
            Some(Typed {
                node,
                kind: Kind::Number,
            })
        };
        match node.syntax {
            Syntax::Number(value) => number(self.graph.constant(value)),
            Syntax::Time => number(self.graph.leaf(Leaf::Time)),
            Syntax::Pi => number(self.pi()),
            Syntax::Name => self.name(node.span, text),
            Syntax::DerivativeOf => self.derivative(node.span, text),
            Syntax::Unary(operation, operand) => {
                let operand = text.operand(operand, operation.kind())?;
                Some(Typed {
                    node: self.graph.unary(operation, operand),
                    kind: operation.kind(),
                })
            }
            Syntax::Binary(operation, left, right) => self.binary(operation, left, right, text),
            Syntax::Select(condition, then, otherwise) => {
                self.select(condition, then, otherwise, text)
            }
        }
    }

    /// Four times the arc tangent of 1: the nearest `f64` as a number, and an enclosure on intervals.
    fn pi(&mut self) -> NodeId {
        debug_assert_eq!(4.0 * 1f64.atan(), PI);
        let (one, four) = (self.graph.constant(1.0), self.graph.constant(4.0));
        let quarter = self.graph.unary(Unary::Atan, one);
        self.graph.binary(Binary::Multiply, four, quarter)
    }

    fn name(&mut self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        let leaf = match self.declarations.meaning(name) {
            Some(Meaning::Input(index)) => {
                self.uses.inputs[index as usize] = true;
                Leaf::Input(index)
            }
            Some(Meaning::Parameter(index)) => {
                self.uses.parameters[index as usize] = true;
                Leaf::Parameter(index)
            }
            Some(Meaning::State(index)) => Leaf::State(index),
            Some(Meaning::Intermediate(definition)) => {
                self.uses.definitions[definition] = true;
                return self.definitions[definition];
            }
            None => return self.unknown(span, text),
        };
        Some(Typed {
            node: self.graph.leaf(leaf),
            kind: Kind::Number,
        })
    }

    /// `der(name)`: the slope of an input, or the right-hand side of a state.
    fn derivative(&mut self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        match self.declarations.meaning(name) {
            Some(Meaning::Input(index)) => {
                self.uses.slopes[index as usize] = true;
                let node = self.graph.leaf(Leaf::InputSlope(index));
                Some(Typed {
                    node,
                    kind: Kind::Number,
                })
            }
            Some(Meaning::State(index)) => {
                let definition = self.declarations.derivatives[index as usize]?;
                self.definitions[definition]
            }
            Some(_) => {
                let message = format!("`{}` has no derivative here", shortened(name));
                text.fault(Fault::new(span, message).help("`der` takes a state or an input"));
                None
            }
            None => self.unknown(span, text),
        }
    }

    fn unknown(&self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        // A search among all names for every mistake would take long in a text full of them.
        if text.has_room() {
            let fault = Fault::new(span, format!("unknown name `{}`", shortened(name)));
            text.fault(fault.suggest(self.declarations.nearest(name)));
        }
        None
    }

    fn binary(
        &mut self,
        operation: Binary,
        left: SyntaxId,
        right: SyntaxId,
        text: &mut Text<'_>,
    ) -> Option<Typed> {
        // Both are looked at before either failure ends this, so that both are reported.
        let left = text.operand(left, operation.operand_kind());
        let right = text.operand(right, operation.operand_kind());
        let (left, right) = (left?, right?);
        let node = match operation {
            Binary::Less | Binary::LessEqual => {
                self.switches
                    .comparison(&mut self.graph, operation, left, right)
            }
            _ => self.graph.binary(operation, left, right),
        };
        Some(Typed {
            node,
            kind: operation.result_kind(),
        })
    }

    fn select(
        &mut self,
        condition: SyntaxId,
        then: SyntaxId,
        otherwise: SyntaxId,
        text: &mut Text<'_>,
    ) -> Option<Typed> {
        let condition = text.operand(condition, Kind::Boolean);
        let kind = text.value(then)?.kind;
        let otherwise = text.operand(otherwise, kind);
        let then = text.operand(then, kind)?;
        Some(Typed {
            node: self.graph.select(condition?, then, otherwise?),
            kind,
        })
    }
}
