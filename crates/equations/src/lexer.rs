//! From text to tokens.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::error::{Fault, Span};
use crate::names::{begins_name, continues_name};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenKind {
    Number(f64),
    Name,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    Assign,
    OpenParenthesis,
    CloseParenthesis,
    Comma,
    Semicolon,
    If,
    Then,
    ElseIf,
    Else,
    And,
    Or,
    Not,
    /// Past the last token; there is always one.
    End,
}

/// A word, number or sign of the language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// Whether a line break separates it from the token before.
    pub starts_line: bool,
}

/// More mistakes than these are not listed for one text.
pub(crate) const MOST_FAULTS: usize = 20;

/// The tokens of `text`, the last of which is `End`; or everything in it that is not a token.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Vec<Fault>> {
    let mut lexer = Lexer {
        text,
        characters: text.char_indices().peekable(),
    };
    let mut tokens: Vec<Token> = Vec::new();
    let mut faults = Vec::new();
    let mut ended = false;

    while !ended && faults.len() < MOST_FAULTS {
        let starts_line = lexer.skip_blanks() || tokens.is_empty();
        match lexer.token() {
            Ok((kind, span)) => {
                ended = kind == TokenKind::End;
                tokens.push(Token {
                    kind,
                    span,
                    starts_line,
                });
            }
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(tokens)
    } else {
        Err(without_echoes(faults))
    }
}

/// The `:` of `a ? b : c` is no second mistake.
fn without_echoes(mut faults: Vec<Fault>) -> Vec<Fault> {
    let question = faults.iter().find(|fault| fault.message.contains("`?`"));
    if let Some(question) = question.map(|fault| fault.span.start()) {
        faults.retain(|fault| !(fault.message.contains("`:`") && fault.span.start() > question));
    }
    faults
}

struct Lexer<'t> {
    text: &'t str,
    characters: Peekable<CharIndices<'t>>,
}

impl Lexer<'_> {
    fn position(&mut self) -> usize {
        self.characters
            .peek()
            .map_or(self.text.len(), |&(offset, _)| offset)
    }

    fn rest(&mut self) -> &str {
        let position = self.position();
        &self.text[position..]
    }

    /// Skips blanks and comments; whether a line ended among them.
    fn skip_blanks(&mut self) -> bool {
        let mut line_ended = false;
        loop {
            if self.rest().starts_with('#') || self.rest().starts_with("//") {
                self.skip_while(|character| character != '\n');
            }
            match self
                .characters
                .next_if(|&(_, character)| character.is_whitespace())
            {
                Some((_, character)) => line_ended |= character == '\n',
                None => return line_ended,
            }
        }
    }

    fn skip_while(&mut self, mut matches: impl FnMut(char) -> bool) {
        while self
            .characters
            .next_if(|&(_, character)| matches(character))
            .is_some()
        {}
    }

    fn token(&mut self) -> Result<(TokenKind, Span), Fault> {
        let start = self.position();
        let Some(&(_, first)) = self.characters.peek() else {
            return Ok((TokenKind::End, Span::new(start, start)));
        };

        if begins_name(first) {
            self.skip_while(continues_name);
            let span = Span::new(start, self.position());
            Ok((word(span.of(self.text)), span))
        } else if first.is_ascii_digit() || self.begins_fraction() {
            self.number(start)
        } else {
            self.sign(start, first)
        }
    }

    fn begins_fraction(&mut self) -> bool {
        let mut bytes = self.rest().bytes();
        bytes.next() == Some(b'.') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Takes everything that clings to a number, so that `1.2.3` and `2x` are one mistake each.
    fn number(&mut self, start: usize) -> Result<(TokenKind, Span), Fault> {
        let mut last = ' ';
        self.skip_while(|character| {
            let exponent_sign = matches!(character, '+' | '-') && matches!(last, 'e' | 'E');
            last = character;
            exponent_sign || character == '.' || continues_name(character)
        });
        let span = Span::new(start, self.position());
        let written = span.of(self.text);

        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((TokenKind::Number(value), span)),
            Ok(_) => {
                let fault = Fault::new(span, "number too large");
                Err(fault.help("the largest is about 1.8e308"))
            }
            Err(_) => Err(malformed(span, written)),
        }
    }

    fn sign(&mut self, start: usize, first: char) -> Result<(TokenKind, Span), Fault> {
        let pair = pair(self.rest());
        let foreign = foreign_pair(self.rest());
        self.characters.next();

        if let Some((sign, help)) = foreign {
            self.characters.next();
            let span = Span::new(start, self.position());
            return Err(Fault::new(span, format!("unexpected `{sign}`")).help(help));
        }

        if pair.is_some() {
            self.characters.next();
        }

        let span = Span::new(start, self.position());
        match pair.or_else(|| single(first)) {
            Some(kind) => Ok((kind, span)),
            None => Err(unexpected(span, first)),
        }
    }
}

fn word(name: &str) -> TokenKind {
    match name {
        "if" => TokenKind::If,
        "then" => TokenKind::Then,
        "elseif" => TokenKind::ElseIf,
        "else" => TokenKind::Else,
        "and" => TokenKind::And,
        "or" => TokenKind::Or,
        "not" => TokenKind::Not,
        _ => TokenKind::Name,
    }
}

/// The sign of two characters that a text begins with.
fn pair(text: &str) -> Option<TokenKind> {
    match text.get(..2)? {
        "<=" => Some(TokenKind::LessEqual),
        ">=" => Some(TokenKind::GreaterEqual),
        "==" => Some(TokenKind::EqualEqual),
        "!=" => Some(TokenKind::NotEqual),
        _ => None,
    }
}

/// Signs of two characters of other languages, and what is written here.
fn foreign_pair(text: &str) -> Option<(&'static str, &'static str)> {
    const KNOWN: [(&str, &str); 3] = [
        ("&&", "write `and`"),
        ("||", "write `or`"),
        (":=", "write `=`"),
    ];
    KNOWN.into_iter().find(|(sign, _)| text.starts_with(sign))
}

fn single(character: char) -> Option<TokenKind> {
    Some(match character {
        '+' => TokenKind::Plus,
        '-' => TokenKind::Minus,
        '*' => TokenKind::Star,
        '/' => TokenKind::Slash,
        '^' => TokenKind::Caret,
        '<' => TokenKind::Less,
        '>' => TokenKind::Greater,
        '=' => TokenKind::Assign,
        '(' => TokenKind::OpenParenthesis,
        ')' => TokenKind::CloseParenthesis,
        ',' => TokenKind::Comma,
        ';' => TokenKind::Semicolon,
        _ => return None,
    })
}

fn malformed(span: Span, written: &str) -> Fault {
    let fault = Fault::new(span, format!("malformed number `{}`", shortened(written)));
    let digits = written.trim_start_matches(|character: char| character.is_ascii_digit());
    let begins_name = digits.chars().next().is_some_and(begins_name);
    let is_exponent = digits.starts_with(['e', 'E']);
    if !begins_name || is_exponent {
        return fault.help("numbers look like 1, 1.5, .5 or 1e-3");
    }

    let number = &written[..written.len() - digits.len()];
    let name = shortened(digits);
    fault.help(format!("a product needs `*`: `{number} * {name}`"))
}

fn unexpected(span: Span, character: char) -> Fault {
    let fault = Fault::new(
        span,
        format!("unexpected character `{}`", character.escape_debug()),
    );
    match character {
        '&' => fault.help("write `and`"),
        '|' => fault.help("write `or`"),
        '!' => fault.help("write `not`"),
        '\u{2212}' | '\u{2013}' => fault.help("write `-`"),
        '\u{d7}' | '\u{b7}' | '\u{22c5}' => fault.help("write `*`"),
        '?' => fault.help("write `if condition then value else value`"),
        '[' | ']' | '{' | '}' => fault.help("only `(` and `)` group"),
        _ => fault,
    }
}

/// The beginning of a text, to quote in a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text)
            .unwrap()
            .into_iter()
            .map(|token| token.kind)
            .collect()
    }

    fn fault(text: &str) -> (String, u32, u32) {
        let fault = tokens(text).unwrap_err().remove(0);
        (fault.message, fault.span.offset, fault.span.length)
    }

    #[test]
    fn numbers_come_in_four_forms() {
        let numbers = [
            ("1", 1.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("1e-3", 1e-3),
            ("2E+2", 200.0),
        ];
        for (text, value) in numbers {
            assert_eq!(
                kinds(text),
                [TokenKind::Number(value), TokenKind::End],
                "{text}"
            );
        }
    }

    #[test]
    fn a_sum_of_numbers_is_not_an_exponent() {
        use TokenKind::{End, Minus, Number};
        assert_eq!(kinds("1-3"), [Number(1.0), Minus, Number(3.0), End]);
        assert_eq!(kinds("1e2-3"), [Number(100.0), Minus, Number(3.0), End]);
    }

    #[test]
    fn malformed_numbers_are_one_mistake_each() {
        assert_eq!(
            fault("a + 1.2.3"),
            ("malformed number `1.2.3`".into(), 4, 5)
        );
        assert_eq!(fault("1e"), ("malformed number `1e`".into(), 0, 2));
        assert_eq!(fault("1e999").0, "number too large");
        let product = tokens("2x").unwrap_err().remove(0);
        assert_eq!(product.help.unwrap(), "a product needs `*`: `2 * x`");
    }

    #[test]
    fn comments_and_blank_lines_only_end_a_line() {
        let tokens = tokens("a # rest\n\n // more\n b c").unwrap();
        let starts: Vec<bool> = tokens.iter().map(|token| token.starts_line).collect();
        assert_eq!(starts, [true, true, false, false]);
    }

    #[test]
    fn foreign_signs_are_translated() {
        for (text, help) in [
            ("a && b", "write `and`"),
            ("a := b", "write `=`"),
            ("a ? b : c", "write `if condition then value else value`"),
            ("!a", "write `not`"),
            ("a − b", "write `-`"),
        ] {
            let faults = tokens(text).unwrap_err();
            let all: Vec<_> = faults.iter().map(|fault| fault.help.as_deref()).collect();
            assert_eq!(all, [Some(help)], "{text}");
        }
        assert_eq!(fault("a \0").0, "unexpected character `\\0`");
    }
}
