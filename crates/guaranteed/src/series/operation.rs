//! The operations that series are computed with, and what is known of their results beforehand.

use dovetail_equations::Unary;

use crate::functions::IntervalFunction;
use crate::interval::Interval;

/// A register of the lowered program.
pub(super) type Register = usize;

/// Which guard decides an operation.
pub(super) type GuardIndex = usize;

/// One operation. Its result is a register of its own; some fill the register after it, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    Leaf(LeafKind),
    Arithmetic(Arithmetic),
    Smooth(Smooth),
    Piecewise(Piecewise),
    /// Filled together with the register before.
    Companion,
}

/// What has no operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LeafKind {
    Constant(Interval),
    Parameter(usize),
    Time,
    Switch(usize),
    State(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arithmetic {
    Add(Register, Register),
    Subtract(Register, Register),
    Negate(Register),
    Multiply(Register, Register),
    Square(Register),
    /// The reciprocal of the divisor's value is the register after the quotient.
    Divide(Register, Register),
}

impl Arithmetic {
    /// Some of them twice.
    fn operands(self) -> [Register; 2] {
        match self {
            Self::Add(a, b) | Self::Subtract(a, b) => [a, b],
            Self::Multiply(a, b) | Self::Divide(a, b) => [a, b],
            Self::Negate(a) | Self::Square(a) => [a, a],
        }
    }
}

/// Functions with a differential equation that gives a recursion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Smooth {
    /// The reciprocal of twice the root is the register after it.
    Sqrt(Register),
    Exp(Register),
    /// Sine, then cosine.
    SineCosine(Register),
    /// Hyperbolic sine, then cosine.
    HyperbolicSineCosine(Register),
    /// `tanh`, then `1 − tanh²`.
    Tanh(Register),
    Primitive(Primitive),
    Angle(Angle),
}

impl Smooth {
    /// Some of them several times.
    fn operands(self) -> [Register; 3] {
        match self {
            Self::Sqrt(a) | Self::Exp(a) | Self::Tanh(a) => [a; 3],
            Self::SineCosine(a) | Self::HyperbolicSineCosine(a) => [a; 3],
            Self::Primitive(primitive) => [primitive.argument, primitive.over, primitive.over],
            Self::Angle(angle) => [angle.y, angle.x, angle.over],
        }
    }
}

/// A function whose derivative is ±1 over another register; the reciprocal of that one's value is
/// the register after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Primitive {
    pub function: IntervalFunction,
    pub argument: Register,
    pub over: Register,
    pub sign: f64,
}

/// The angle of `(x, y)`, unless the assumptions let them meet the cut; `over` is `x² + y²`, the
/// reciprocal of its value the register after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Angle {
    pub y: Register,
    pub x: Register,
    pub over: Register,
    pub guard: GuardIndex,
}

/// What is smooth, or constant, where a guard is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piecewise {
    Abs(Register, GuardIndex),
    /// `sign`, `floor` or `ceil`: a constant where it is decided.
    Step(Unary, Register, GuardIndex),
    /// One of two, decided by the condition in the assumptions.
    Select(Register, Register, GuardIndex),
}

impl Piecewise {
    /// Some of them twice.
    fn operands(self) -> [Register; 2] {
        match self {
            Self::Abs(a, _) | Self::Step(_, a, _) => [a, a],
            Self::Select(a, b, _) => [a, b],
        }
    }
}

/// The value of a step function, where it is the same throughout `range`.
pub(super) fn step_value(operation: Unary, range: Interval) -> Option<Interval> {
    let value = match operation {
        Unary::Sign => range.sign(),
        Unary::Floor => range.floor(),
        _ => range.ceil(),
    };
    value.is_point().then_some(value)
}

/// What is known of a register without computing it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterKind {
    /// Whether it is free of symbols.
    pub plain: bool,
    /// Whether it is constant in time.
    pub still: bool,
    /// Whether it is free of states.
    pub stateless: bool,
}

impl RegisterKind {
    const CONSTANT: Self = Self {
        plain: true,
        still: true,
        stateless: true,
    };

    fn and(self, other: Self) -> Self {
        Self {
            plain: self.plain && other.plain,
            still: self.still && other.still,
            stateless: self.stateless && other.stateless,
        }
    }

    /// What the operands leave of it.
    fn inherited(operands: &[Register], kinds: &[Self]) -> Self {
        operands
            .iter()
            .fold(Self::CONSTANT, |kind, &operand| kind.and(kinds[operand]))
    }

    fn of_leaf(leaf: LeafKind, symbols: Option<&[Option<usize>]>) -> Self {
        let constant = Self::CONSTANT;
        match leaf {
            LeafKind::Constant(_) | LeafKind::Switch(_) => constant,
            LeafKind::Parameter(index) => Self {
                plain: symbols.is_none_or(|symbols| symbols[index].is_none()),
                ..constant
            },
            LeafKind::Time => Self {
                still: false,
                ..constant
            },
            LeafKind::State(_) => Self {
                plain: symbols.is_none(),
                still: false,
                stateless: false,
            },
        }
    }

    fn of_piecewise(operation: Piecewise, kinds: &[Self], guard_states: &[bool]) -> Self {
        let inherited = Self::inherited(&operation.operands(), kinds);
        let stateless = inherited.stateless;

        match operation {
            Piecewise::Abs(..) => inherited,
            // Constant where it is decided, and nothing is known where it is not.
            Piecewise::Step(..) => Self {
                stateless,
                ..Self::CONSTANT
            },
            // What decides it counts, too.
            Piecewise::Select(_, _, guard) => Self {
                stateless: stateless && !guard_states[guard],
                ..inherited
            },
        }
    }
}

/// The kind of every register. `guard_states` says of each guard whether it depends on states.
pub(super) fn classify(
    operations: &[Operation],
    guard_states: &[bool],
    symbols: Option<&[Option<usize>]>,
) -> Vec<RegisterKind> {
    let mut kinds: Vec<RegisterKind> = Vec::with_capacity(operations.len());
    for &operation in operations {
        let kind = match operation {
            Operation::Leaf(leaf) => RegisterKind::of_leaf(leaf, symbols),
            Operation::Arithmetic(op) => RegisterKind::inherited(&op.operands(), &kinds),
            Operation::Smooth(op) => RegisterKind::inherited(&op.operands(), &kinds),
            Operation::Piecewise(op) => RegisterKind::of_piecewise(op, &kinds, guard_states),
            Operation::Companion => kinds[kinds.len() - 1],
        };
        kinds.push(kind);
    }
    kinds
}
