//! From tokens to a syntax arena: statements. Expressions are in `expression.rs`.
//!
//! A statement ends with its line unless its expression cannot end there: inside parentheses, after
//! an operator, or before a line that begins with one. The parser need not look for this. It reads
//! as much of an expression as there is, and a new statement must begin a line.

use crate::error::{Fault, Span};
use crate::lexer::{MOST_FAULTS, Token, TokenKind, shortened, tokens};
use crate::names::is_reserved;
use crate::syntax::{Statement, Syntax, SyntaxId, SyntaxNode, Target};

/// How deep parentheses, functions, signs, powers and conditions may nest.
const DEEPEST_NESTING: usize = 200;

/// How many nodes a model may have.
pub(crate) const MOST_NODES: usize = 250_000;

/// Boxed, since every level of nesting keeps one on the stack.
pub(crate) type Parsed<T> = Result<T, Box<Fault>>;

/// The definitions in the text of the equations.
#[derive(Debug)]
pub(crate) struct Equations {
    pub nodes: Vec<SyntaxNode>,
    pub definitions: Vec<Statement>,
}

/// Parses statements, one per line or separated by `;`.
pub(crate) fn parse_equations(text: &str) -> Result<Equations, Vec<Fault>> {
    let mut parser = Parser::new(text)?;
    let mut definitions = Vec::new();
    let mut faults = Vec::new();

    while parser.skip_semicolons() && faults.len() < MOST_FAULTS {
        let start = parser.next;
        match parser.statement() {
            Ok(definition) => definitions.push(definition),
            Err(fault) => {
                faults.push(*fault);
                parser.recover(start);
            }
        }
    }
    if faults.is_empty() {
        Ok(Equations {
            nodes: parser.nodes,
            definitions,
        })
    } else {
        Err(faults)
    }
}

/// Parses one expression; its root is the last node.
pub(crate) fn parse_expression(text: &str) -> Result<Vec<SyntaxNode>, Vec<Fault>> {
    let mut parser = Parser::new(text)?;
    if let Err(fault) = parser.expression() {
        return Err(vec![*fault]);
    }

    match parser.peek().kind {
        TokenKind::End => Ok(parser.nodes),
        _ => Err(vec![parser.not_the_end()]),
    }
}

/// Where the parser is, and what it has built.
pub(crate) struct Parser<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
    pub next: usize,
    nodes: Vec<SyntaxNode>,
    depth: usize,
    /// How many parentheses are open; inside them a line break means nothing.
    pub open: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, Vec<Fault>> {
        let tokens = tokens(text)?;
        Ok(Self {
            text,
            tokens,
            next: 0,
            nodes: Vec::new(),
            depth: 0,
            open: 0,
        })
    }

    pub fn peek(&self) -> Token {
        self.tokens[self.next]
    }

    /// Takes the next token; the end can be taken any number of times.
    pub fn take(&mut self) -> Token {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn take_if(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.take())
    }

    pub fn expect(&mut self, kind: TokenKind, wanted: &str) -> Parsed<Token> {
        self.take_if(kind).ok_or_else(|| {
            let message = format!("expected {wanted} before {}", self.found());
            self.fault_here(message).into()
        })
    }

    /// A mistake at the next token.
    pub fn fault_here(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.peek().span, message)
    }

    /// The next token, to quote in a message.
    pub fn found(&self) -> String {
        match self.peek() {
            Token {
                kind: TokenKind::End,
                ..
            } => "the end of the text".into(),
            token => format!("`{}`", shortened(token.span.of(self.text))),
        }
    }

    pub fn push(&mut self, syntax: Syntax, span: Span) -> Parsed<SyntaxId> {
        if self.nodes.len() >= MOST_NODES {
            return Err(Fault::new(span, "the text is too long").into());
        }

        self.nodes.push(SyntaxNode { syntax, span });
        Ok(SyntaxId(self.nodes.len() as u32 - 1))
    }

    pub fn span(&self, node: SyntaxId) -> Span {
        self.nodes[node.index()].span
    }

    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST_NESTING {
            let fault = self.fault_here("nested too deeply");
            return Err(fault
                .help("give a part of it a name, on a line of its own")
                .into());
        }

        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;

        parsed
    }
}

/// Statements.
impl Parser<'_> {
    /// Whether there is anything after the semicolons.
    fn skip_semicolons(&mut self) -> bool {
        while self.take_if(TokenKind::Semicolon).is_some() {}
        self.peek().kind != TokenKind::End
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.depth = 0;
        self.open = 0;
        let (target, name) = self.target()?;
        let assign = self.expect(TokenKind::Assign, "`=`");
        assign.map_err(|fault| self.not_solved(*fault))?;
        let first = self.nodes.len();
        self.expression()?;
        let next = self.peek();
        let ended = next.starts_line || matches!(next.kind, TokenKind::Semicolon | TokenKind::End);
        if !ended {
            return Err(self.not_the_end().into());
        }

        Ok(Statement {
            target,
            name,
            nodes: first..self.nodes.len(),
        })
    }

    /// A statement whose left side is more than what it defines.
    fn not_solved(&self, fault: Fault) -> Box<Fault> {
        let rest = self.tokens[self.next..].iter();
        let mut line = rest
            .take_while(|token| !token.starts_line)
            .map(|token| token.span);
        let mut words = std::iter::from_fn(|| line.next().map(|span| span.of(self.text)));
        let state = match words.find(|word| *word == "der") {
            Some(_) => words.nth(1),
            None => return fault.into(),
        };
        match state {
            Some(state) => {
                let help = format!("solve for the derivative: `der({state}) = …`");
                fault.help(help).into()
            }
            None => fault.into(),
        }
    }

    fn target(&mut self) -> Parsed<(Target, Span)> {
        let token = self.peek();
        let name = token.span.of(self.text);

        if token.kind == TokenKind::Name && name == "der" {
            self.take();
            return Ok((Target::Derivative, self.name_in_parentheses("der")?));
        }
        // `name` is a token, so only a keyword is reserved without being a name.
        if is_reserved(name) {
            return Err(reserved(token.span, name).into());
        }

        if token.kind != TokenKind::Name {
            let message = format!("expected a definition, found {}", self.found());
            let help = "a statement is `der(state) = expression` or `name = expression`";
            return Err(Fault::new(token.span, message).help(help).into());
        }

        self.take();
        Ok((Target::Intermediate, token.span))
    }

    /// `(name)`, after this word.
    pub fn name_in_parentheses(&mut self, word: &str) -> Parsed<Span> {
        self.expect(TokenKind::OpenParenthesis, "`(`")?;
        let name = self.expect(TokenKind::Name, "the name of a variable")?;
        let closed = self.expect(TokenKind::CloseParenthesis, "`)`");
        let help = || format!("`{word}` takes the name of a variable");
        closed.map_err(|fault| fault.help(help()))?;
        Ok(name.span)
    }

    /// Skips to what looks like the next statement, at least one token past `start`.
    fn recover(&mut self, start: usize) {
        self.next = self.next.max(start + 1).min(self.tokens.len() - 1);
        while self.peek().kind != TokenKind::End && !self.begins_statement() {
            if self.take().kind == TokenKind::Semicolon {
                return;
            }
        }
    }

    fn begins_statement(&self) -> bool {
        let first = self.peek();
        let begins = first.starts_line && first.kind == TokenKind::Name;
        let second = self.tokens.get(self.next + 1);

        match second.map(|token| token.kind) {
            Some(TokenKind::Assign) => begins,
            Some(TokenKind::OpenParenthesis) => begins && first.span.of(self.text) == "der",
            _ => false,
        }
    }

    /// What to say when an expression is over but its text is not.
    fn not_the_end(&self) -> Fault {
        let Token { kind, span, .. } = self.peek();
        let found = self.found();
        let unexpected = Fault::new(span, format!("unexpected {found}"));

        match kind {
            TokenKind::CloseParenthesis => Fault::new(span, "this `)` closes nothing"),
            TokenKind::Assign => unexpected
                .help("`==` compares; a line that ends with an operator continues on the next"),
            TokenKind::Comma => unexpected.help("commas separate the arguments of functions"),
            TokenKind::Name | TokenKind::Number(_) | TokenKind::OpenParenthesis => {
                let fault = Fault::new(span, format!("expected an operator before {found}"));
                fault.help("a product needs `*`")
            }
            _ => unexpected,
        }
    }
}

fn reserved(span: Span, name: &str) -> Fault {
    Fault::new(
        span,
        format!("`{name}` is a word of the language and cannot be defined"),
    )
}
