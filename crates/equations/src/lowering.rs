//! From syntax to graph: names are looked up, kinds are checked.

use std::f64::consts::PI;
use std::ops::Range;

use crate::declarations::{Declarations, Meaning};
use crate::error::{Fault, Span};
use crate::graph::{Graph, Leaf, LeafKinds, NodeId};
use crate::lexer::{MOST_FAULTS, shortened};
use crate::model::Delay;
use crate::operation::{Binary, Unary, ValueKind};
use crate::source::Source;
use crate::switches::Switches;
use crate::syntax::{Syntax, SyntaxId, SyntaxNode};

/// An expression in the graph and what it stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed {
    pub node: NodeId,
    pub kind: ValueKind,
}

impl Typed {
    fn number(node: NodeId) -> Self {
        Self {
            node,
            kind: ValueKind::Number,
        }
    }
}

/// Which variables the texts mention.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub inputs: Vec<bool>,
    pub slopes: Vec<bool>,
    pub parameters: Vec<bool>,
    pub definitions: Vec<bool>,
}

fn unmentioned(names: &[&str]) -> Vec<bool> {
    vec![false; names.len()]
}

impl Uses {
    pub fn none(source: &Source<'_>, definitions: usize) -> Self {
        Self {
            inputs: unmentioned(&source.inputs),
            slopes: unmentioned(&source.inputs),
            parameters: unmentioned(&source.parameters),
            definitions: vec![false; definitions],
        }
    }

    /// A name of this meaning is mentioned.
    fn record(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Input(index) => self.inputs[index as usize] = true,
            Meaning::Parameter(index) => self.parameters[index as usize] = true,
            Meaning::State(_) | Meaning::Discrete(_) => {}
            Meaning::Intermediate(definition) => self.definitions[definition] = true,
        }
    }
}

/// The graph under construction.
pub(crate) struct Lowering<'d, 's> {
    pub declarations: &'d Declarations<'s>,
    pub graph: Graph,
    pub switches: Switches,
    pub delays: Vec<Delay>,
    /// The definitions lowered so far; one with a mistake stays `None`.
    pub definitions: Vec<Option<Typed>>,
    pub uses: Uses,
    /// How many mistakes have been recorded, in all texts together.
    pub recorded: usize,
}

/// One text being lowered.
struct Text<'t> {
    text: &'t str,
    nodes: &'t [SyntaxNode],
    first: usize,
    values: Vec<Option<Typed>>,
    faults: Vec<Fault>,
    /// How many more mistakes are worth recording.
    most_faults: usize,
}

impl Text<'_> {
    fn span(&self, id: SyntaxId) -> Span {
        self.nodes[id.index()].span
    }

    fn value(&self, id: SyntaxId) -> Option<Typed> {
        self.values[id.index() - self.first]
    }

    /// The expression at `id`, if it is of the kind wanted. A mistake is reported once.
    fn operand(&mut self, id: SyntaxId, wanted: ValueKind) -> Option<NodeId> {
        let value = self.value(id)?;
        if value.kind == wanted {
            return Some(value.node);
        }

        self.fault(wanted.mismatch(self.span(id), value.kind));
        None
    }

    fn takes_faults(&self) -> bool {
        self.faults.len() < self.most_faults
    }

    fn fault(&mut self, fault: Fault) {
        if self.takes_faults() {
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
        let mut text = Text {
            text,
            nodes,
            first: range.start,
            values: Vec::with_capacity(range.len()),
            faults: Vec::new(),
            most_faults: MOST_FAULTS.saturating_sub(self.recorded),
        };
        for node in &nodes[range] {
            let value = self.node(*node, &mut text);
            text.values.push(value);
        }

        self.recorded += text.faults.len();
        faults.append(&mut text.faults);
        text.values.pop().flatten()
    }

    fn node(&mut self, node: SyntaxNode, text: &mut Text<'_>) -> Option<Typed> {
        match node.syntax {
            Syntax::Number(value) => Some(Typed::number(self.graph.constant(value))),
            Syntax::Time => Some(Typed::number(self.graph.leaf(Leaf::Time))),
            Syntax::Pi => Some(Typed::number(self.pi())),
            Syntax::Name => self.name(node.span, text),
            Syntax::DerivativeOf => self.derivative(node.span, text),
            Syntax::PreviousOf => self.previous(node.span, text),
            Syntax::DelayOf(time) => self.delay(node.span, time, text),
            Syntax::Unary(operation, operand) => self.unary(operation, operand, text),
            Syntax::Binary(operation, left, right) => self.binary(operation, left, right, text),
            Syntax::Select(condition, then, otherwise) => {
                self.select(condition, then, otherwise, text)
            }
        }
    }

    fn unary(&mut self, operation: Unary, operand: SyntaxId, text: &mut Text<'_>) -> Option<Typed> {
        let kind = operation.kind();
        let operand = text.operand(operand, kind)?;

        Some(Typed {
            node: self.graph.unary(operation, operand),
            kind,
        })
    }

    /// Four times the arc tangent of 1: the nearest `f64` as a number, and an enclosure on
    /// intervals.
    fn pi(&mut self) -> NodeId {
        debug_assert_eq!(4.0 * 1f64.atan(), PI);
        let one = self.graph.constant(1.0);
        let four = self.graph.constant(4.0);
        let quarter = self.graph.unary(Unary::Atan, one);
        self.graph.binary(Binary::Multiply, four, quarter)
    }

    fn name(&mut self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        let Some(meaning) = self.declarations.meaning(name) else {
            return self.unknown(span, text);
        };
        self.uses.record(meaning);
        let leaf = match meaning {
            Meaning::Input(index) => Leaf::Input(index),
            Meaning::Parameter(index) => Leaf::Parameter(index),
            Meaning::State(index) | Meaning::Discrete(index) => Leaf::State(index),
            Meaning::Intermediate(definition) => return self.definitions[definition],
        };

        Some(Typed::number(self.graph.leaf(leaf)))
    }

    /// `der(name)`: the slope of an input, or the right-hand side of a state.
    fn derivative(&mut self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        match self.declarations.meaning(name) {
            Some(Meaning::Input(index)) => {
                self.uses.slopes[index as usize] = true;
                let slope = self.graph.leaf(Leaf::InputSlope(index));
                Some(Typed::number(slope))
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

    /// `previous(name)`: a discrete state before the event that is being handled. It is what the
    /// state is wherever expressions are evaluated: clauses see the values before their event, and
    /// between events nothing changes.
    fn previous(&mut self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        match self.declarations.meaning(name) {
            Some(Meaning::Discrete(index)) => {
                let leaf = self.graph.leaf(Leaf::State(index));
                Some(Typed::number(leaf))
            }
            Some(meaning) => {
                let what = meaning.describe();
                let message = format!("`{}` is {what}", shortened(name));
                text.fault(Fault::new(span, message).help("`previous` takes a discrete state"));
                None
            }
            None => self.unknown(span, text),
        }
    }

    /// `delay(name, time)`: an input as it was before. Among the leaves it comes after all inputs.
    fn delay(&mut self, span: Span, time: SyntaxId, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        let time_span = text.span(time);
        let time = text.operand(time, ValueKind::Number)?;
        let input = match self.declarations.meaning(name) {
            Some(Meaning::Input(index)) => index as usize,
            Some(meaning) => {
                let message = format!("`{}` is {}", shortened(name), meaning.describe());
                text.fault(Fault::new(span, message).help("`delay` takes an input"));
                return None;
            }
            None => return self.unknown(span, text),
        };

        if !self.graph.kinds(time).within(LeafKinds::PARAMETERS) {
            let message = "the time of a delay changes during a run";
            text.fault(Fault::new(time_span, message).help("it takes numbers and parameters"));
            return None;
        }

        self.uses.inputs[input] = true;
        let delay = Delay { input, time };
        let known = self.delays.iter().position(|known| *known == delay);
        let index = known.unwrap_or(self.delays.len());
        if known.is_none() {
            self.delays.push(delay);
        }
        let leaf = Leaf::Input((self.uses.inputs.len() + index) as u32);
        Some(Typed::number(self.graph.leaf(leaf)))
    }

    fn unknown(&self, span: Span, text: &mut Text<'_>) -> Option<Typed> {
        let name = span.of(text.text);
        // A search among all names for every mistake would take long in a text full of them.
        if text.takes_faults() {
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
        let left = left?;
        let right = right?;
        let graph = &mut self.graph;
        let node = match operation {
            Binary::Less | Binary::LessEqual => {
                self.switches.comparison(graph, operation, left, right)
            }
            _ => graph.binary(operation, left, right),
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
        let condition = text.operand(condition, ValueKind::Boolean);
        let kind = text.value(then)?.kind;
        let otherwise = text.operand(otherwise, kind);
        let then = text.operand(then, kind)?;

        Some(Typed {
            node: self.graph.select(condition?, then, otherwise?),
            kind,
        })
    }
}
