//! Expressions.
//!
//! From loose to tight: `or`, `and`, `not`, comparisons, `+ -`, `* /`, unary minus, `^`.
//! Chains are loops; only nesting recurses, and nesting is limited.

use dovetail_core::nearest;

use crate::error::{Fault, Span};
use crate::lexer::{Token, TokenKind, shortened};
use crate::operation::{Binary, Builtin, Unary};
use crate::parser::{Parsed, Parser};
use crate::syntax::{Syntax, SyntaxId};

/// A binary operator: how tightly it binds, and what it means.
#[derive(Clone, Copy)]
struct Infix {
    strength: u8,
    operation: Binary,
    swapped: bool,
    negated: bool,
}

const COMPARISON: u8 = 3;

impl Infix {
    fn of(kind: TokenKind) -> Option<Self> {
        let (strength, operation) = match kind {
            TokenKind::Or => (1, Binary::Or),
            TokenKind::And => (2, Binary::And),
            TokenKind::Less | TokenKind::Greater => (COMPARISON, Binary::Less),
            TokenKind::LessEqual | TokenKind::GreaterEqual => (COMPARISON, Binary::LessEqual),
            TokenKind::EqualEqual | TokenKind::NotEqual => (COMPARISON, Binary::Equal),
            TokenKind::Plus => (4, Binary::Add),
            TokenKind::Minus => (4, Binary::Subtract),
            TokenKind::Star => (5, Binary::Multiply),
            TokenKind::Slash => (5, Binary::Divide),
            _ => return None,
        };
        let swapped = matches!(kind, TokenKind::Greater | TokenKind::GreaterEqual);
        let negated = kind == TokenKind::NotEqual;

        Some(Self {
            strength,
            operation,
            swapped,
            negated,
        })
    }
}

/// Expressions.
impl Parser<'_> {
    pub fn expression(&mut self) -> Parsed<SyntaxId> {
        self.nested(|parser| parser.chain(0))
    }

    /// Operands joined by operators that bind at least as tightly as `weakest`.
    ///
    /// Operators wait until one comes that binds no tighter: a loop, so that precedence takes no
    /// stack.
    fn chain(&mut self, weakest: u8) -> Parsed<SyntaxId> {
        let mut operands = vec![self.signed()?];
        let mut waiting = Vec::new();

        while let Some(infix) = self.infix(weakest) {
            self.refuse_second_comparison(infix, &waiting)?;
            self.join_waiting(&mut operands, &mut waiting, infix.strength)?;
            self.take();
            waiting.push(infix);
            operands.push(self.signed()?);
        }

        self.join_waiting(&mut operands, &mut waiting, weakest)?;
        Ok(operands[0])
    }

    /// The operator that comes next, if it binds at least as tightly as `weakest`.
    fn infix(&self, weakest: u8) -> Option<Infix> {
        let infix = Infix::of(self.peek().kind)?;
        (infix.strength >= weakest).then_some(infix)
    }

    /// Joins the last operands while their operator binds at least as tightly as `strength`.
    fn join_waiting(
        &mut self,
        operands: &mut Vec<SyntaxId>,
        waiting: &mut Vec<Infix>,
        strength: u8,
    ) -> Parsed<()> {
        while let Some(infix) = waiting.pop_if(|infix| infix.strength >= strength) {
            let right = operands.pop().expect("BUG: an operator without operands");
            let left = operands.pop().expect("BUG: an operator with one operand");
            operands.push(self.join(infix, left, right)?);
        }
        Ok(())
    }

    fn join(&mut self, infix: Infix, left: SyntaxId, right: SyntaxId) -> Parsed<SyntaxId> {
        let span = self.span(left).through(self.span(right));
        let (first, second) = if infix.swapped {
            (right, left)
        } else {
            (left, right)
        };
        let joined = self.push(Syntax::Binary(infix.operation, first, second), span)?;

        if infix.negated {
            self.push(Syntax::Unary(Unary::Not, joined), span)
        } else {
            Ok(joined)
        }
    }

    fn refuse_second_comparison(&self, infix: Infix, waiting: &[Infix]) -> Parsed<()> {
        let compares = |infix: &Infix| infix.strength == COMPARISON;
        if compares(&infix) && waiting.iter().any(compares) {
            let fault = self.fault_here("comparisons cannot be chained");
            return Err(fault.help("write `a < b and b < c`").into());
        }
        Ok(())
    }

    /// A power behind any number of signs and negations.
    fn signed(&mut self) -> Parsed<SyntaxId> {
        let token = self.peek();
        match token.kind {
            TokenKind::Plus => {
                self.take();
                self.nested(Self::signed)
            }
            TokenKind::Minus => {
                self.take();
                let operand = self.nested(Self::signed)?;
                self.prefixed(Unary::Negate, token.span, operand)
            }
            TokenKind::Not => {
                self.take();
                let operand = self.nested(|parser| parser.chain(COMPARISON))?;
                self.prefixed(Unary::Not, token.span, operand)
            }
            _ => self.power(),
        }
    }

    fn prefixed(&mut self, sign: Unary, start: Span, operand: SyntaxId) -> Parsed<SyntaxId> {
        self.push(
            Syntax::Unary(sign, operand),
            start.through(self.span(operand)),
        )
    }

    fn power(&mut self) -> Parsed<SyntaxId> {
        let base = self.operand()?;
        if self.take_if(TokenKind::Caret).is_none() {
            return Ok(base);
        }

        let exponent = self.nested(Self::signed)?;
        let span = self.span(base).through(self.span(exponent));
        self.push(Syntax::Binary(Binary::Power, base, exponent), span)
    }

    fn operand(&mut self) -> Parsed<SyntaxId> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number(value) => {
                self.take();
                self.push(Syntax::Number(value), token.span)
            }
            TokenKind::Name => self.name(),
            TokenKind::OpenParenthesis => self.parenthesized(),
            TokenKind::If => self.conditional(),
            _ => Err(self.missing_operand().into()),
        }
    }

    fn missing_operand(&self) -> Fault {
        let token = self.peek();
        let message = format!("a value is missing before {}", self.found());
        let fault = Fault::new(token.span, message);
        let after_star = self.next > 0 && self.tokens[self.next - 1].kind == TokenKind::Star;

        if after_star && token.kind == TokenKind::Star {
            fault.help("`^` is the power")
        } else {
            fault
        }
    }

    fn parenthesized(&mut self) -> Parsed<SyntaxId> {
        let parenthesis = self.take();
        self.open += 1;
        let inner = self.expression()?;
        self.close(parenthesis.span)?;
        Ok(inner)
    }

    fn close(&mut self, parenthesis: Span) -> Parsed<Token> {
        self.open -= 1;
        self.take_if(TokenKind::CloseParenthesis)
            .ok_or_else(|| self.unclosed(parenthesis).into())
    }

    fn unclosed(&self, parenthesis: Span) -> Fault {
        let next = self.peek();
        let over = matches!(
            next.kind,
            TokenKind::End | TokenKind::Semicolon | TokenKind::Assign
        );

        if over || next.starts_line {
            Fault::new(parenthesis, "this `(` is never closed")
        } else {
            Fault::new(
                next.span,
                format!("expected an operator or `)` before {}", self.found()),
            )
        }
    }

    fn conditional(&mut self) -> Parsed<SyntaxId> {
        let start = self.take().span;
        let branches = self.branches()?;
        self.expect(TokenKind::Else, "`else`")?;
        let mut chosen = self.expression()?;
        let span = start.through(self.span(chosen));

        for (condition, value) in branches.into_iter().rev() {
            let select = Syntax::Select(condition, value, chosen);
            chosen = self.push(select, span)?;
        }
        Ok(chosen)
    }

    /// Conditions and values, up to `else`.
    fn branches(&mut self) -> Parsed<Vec<(SyntaxId, SyntaxId)>> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            let compares = self.peek().kind == TokenKind::Assign;
            let then = self.expect(TokenKind::Then, "`then`");
            then.map_err(|fault| {
                if compares {
                    Box::new(fault.help("`==` compares"))
                } else {
                    fault
                }
            })?;
            let value = self.expression()?;
            branches.push((condition, value));
            if self.take_if(TokenKind::ElseIf).is_none() {
                return Ok(branches);
            }
        }
    }
}

/// Names and calls.
impl Parser<'_> {
    fn name(&mut self) -> Parsed<SyntaxId> {
        let token = self.take();
        let called = self.is_called();

        match token.span.of(self.text) {
            "der" => {
                let name = self.name_in_parentheses("der")?;
                self.push(Syntax::DerivativeOf, name)
            }
            "previous" if called => {
                let name = self.name_in_parentheses("previous")?;
                self.push(Syntax::PreviousOf, name)
            }
            "delay" if called => self.delay(),
            name if called => self.call(token.span, name),
            "time" => self.push(Syntax::Time, token.span),
            "pi" => self.push(Syntax::Pi, token.span),
            name if Builtin::named(name).is_some() => {
                let message = format!("`{name}` is a function: write `{name}(...)`");
                Err(Fault::new(token.span, message).into())
            }
            _ => self.push(Syntax::Name, token.span),
        }
    }

    /// Whether arguments follow: a parenthesis on the next line begins another expression.
    fn is_called(&self) -> bool {
        let next = self.peek();
        let same_expression = self.open > 0 || !next.starts_line;
        next.kind == TokenKind::OpenParenthesis && same_expression
    }

    fn call(&mut self, span: Span, name: &str) -> Parsed<SyntaxId> {
        let function = Builtin::named(name).ok_or_else(|| unknown_function(span, name))?;
        let parenthesis = self.take();
        self.open += 1;
        let arguments = self.arguments()?;
        let end = self.close(parenthesis.span)?;
        let span = span.through(end.span);

        if !function.accepts(arguments.len()) {
            let takes = function.arity();
            let given = arguments.len();
            let message = format!("`{name}` takes {takes}, not {given}");
            return Err(Fault::new(span, message).into());
        }
        self.apply(function, &arguments, span)
    }

    /// `delay(name, time)`.
    fn delay(&mut self) -> Parsed<SyntaxId> {
        let help = "`delay(u, 0.1)` is the input `u` as it was 0.1 before";
        let parenthesis = self.take();
        self.open += 1;
        let name = self.expect(TokenKind::Name, "the name of an input");
        let name = name.map_err(|fault| fault.help(help))?;
        let comma = self.expect(TokenKind::Comma, "`,`");
        comma.map_err(|fault| fault.help(help))?;
        let time = self.expression()?;
        self.close(parenthesis.span)?;
        self.push(Syntax::DelayOf(time), name.span)
    }

    fn arguments(&mut self) -> Parsed<Vec<SyntaxId>> {
        let mut arguments = Vec::new();
        if self.peek().kind == TokenKind::CloseParenthesis {
            return Ok(arguments);
        }

        loop {
            arguments.push(self.expression()?);
            if self.take_if(TokenKind::Comma).is_none() {
                return Ok(arguments);
            }
        }
    }

    fn apply(&mut self, function: Builtin, arguments: &[SyntaxId], span: Span) -> Parsed<SyntaxId> {
        match function {
            Builtin::One(operation) => self.push(Syntax::Unary(operation, arguments[0]), span),
            Builtin::Two(operation) | Builtin::Many(operation) => {
                let mut result = arguments[0];
                for &argument in &arguments[1..] {
                    result = self.push(Syntax::Binary(operation, result, argument), span)?;
                }
                Ok(result)
            }
        }
    }
}

fn unknown_function(span: Span, name: &str) -> Fault {
    let fault = Fault::new(span, format!("unknown function `{}`", shortened(name)));
    match (name, nearest(name, Builtin::names())) {
        ("pow", _) => fault.help("`a ^ b` is the power"),
        (_, None) => fault.help("a product needs `*`"),
        (_, near) => fault.suggest(near),
    }
}
