//! The operations of the language, shared by its syntax, its graphs and its tapes.

use serde::{Deserialize, Serialize};

use crate::error::{Fault, Span};

/// Operations on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unary {
    Negate,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    /// The natural logarithm.
    Log,
    Log10,
    Sqrt,
    Abs,
    /// -1, 0 or 1.
    Sign,
    Floor,
    Ceil,
    /// Of a truth value: 1 for 0, 0 for anything else.
    Not,
}

/// Operations on two operands. Truth values are the numbers 1 and 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// `atan2(y, x)`: the angle of the point `(x, y)`.
    Atan2,
    Min,
    Max,
    /// The remainder with the sign of the divisor: `a - b * floor(a / b)`.
    Modulo,
    Less,
    LessEqual,
    Equal,
    And,
    Or,
}

/// What an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Number,
    Boolean,
}

impl ValueKind {
    fn describe(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Boolean => "a condition",
        }
    }

    /// The mistake of writing something of another kind.
    pub fn mismatch(self, span: Span, found: Self) -> Fault {
        let wanted = self.describe();
        let found = found.describe();
        Fault::new(span, format!("expected {wanted}, found {found}"))
    }
}

impl Unary {
    /// The kind of the operand and of the result alike.
    pub(crate) fn kind(self) -> ValueKind {
        match self {
            Self::Not => ValueKind::Boolean,
            _ => ValueKind::Number,
        }
    }
}

impl Binary {
    pub(crate) fn operand_kind(self) -> ValueKind {
        match self {
            Self::And | Self::Or => ValueKind::Boolean,
            _ => ValueKind::Number,
        }
    }

    pub(crate) fn result_kind(self) -> ValueKind {
        match self {
            Self::And | Self::Or | Self::Less | Self::LessEqual | Self::Equal => ValueKind::Boolean,
            _ => ValueKind::Number,
        }
    }

    pub(crate) fn commutes(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Multiply | Self::Equal | Self::And | Self::Or
        )
    }
}

/// A function that the language knows by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    One(Unary),
    Two(Binary),
    /// Two arguments or more, combined from left to right.
    Many(Binary),
}

const BUILTINS: [(&str, Builtin); 22] = [
    ("sin", Builtin::One(Unary::Sin)),
    ("cos", Builtin::One(Unary::Cos)),
    ("tan", Builtin::One(Unary::Tan)),
    ("asin", Builtin::One(Unary::Asin)),
    ("acos", Builtin::One(Unary::Acos)),
    ("atan", Builtin::One(Unary::Atan)),
    ("sinh", Builtin::One(Unary::Sinh)),
    ("cosh", Builtin::One(Unary::Cosh)),
    ("tanh", Builtin::One(Unary::Tanh)),
    ("exp", Builtin::One(Unary::Exp)),
    ("log", Builtin::One(Unary::Log)),
    ("ln", Builtin::One(Unary::Log)),
    ("log10", Builtin::One(Unary::Log10)),
    ("sqrt", Builtin::One(Unary::Sqrt)),
    ("abs", Builtin::One(Unary::Abs)),
    ("sign", Builtin::One(Unary::Sign)),
    ("floor", Builtin::One(Unary::Floor)),
    ("ceil", Builtin::One(Unary::Ceil)),
    ("atan2", Builtin::Two(Binary::Atan2)),
    ("mod", Builtin::Two(Binary::Modulo)),
    ("min", Builtin::Many(Binary::Min)),
    ("max", Builtin::Many(Binary::Max)),
];

impl Builtin {
    pub fn named(name: &str) -> Option<Self> {
        BUILTINS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, builtin)| builtin)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTINS.iter().map(|&(name, _)| name)
    }

    /// Whether it takes this many arguments.
    pub fn accepts(self, arguments: usize) -> bool {
        match self {
            Self::One(_) => arguments == 1,
            Self::Two(_) => arguments == 2,
            Self::Many(_) => arguments >= 2,
        }
    }

    pub fn arity(self) -> &'static str {
        match self {
            Self::One(_) => "one argument",
            Self::Two(_) => "two arguments",
            Self::Many(_) => "two or more arguments",
        }
    }
}
