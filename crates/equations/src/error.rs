//! What is wrong with a text, where, and what its author may have meant.

use std::fmt;

/// Which of the texts of a model an error is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The text of the equations.
    Equations,
    /// The expression of the output with this index.
    Output(usize),
    /// The condition of the clause with this index.
    Condition(usize),
    /// What a clause sets: the indices of the clause and of the assignment in it, discrete states
    /// first.
    Assignment(usize, usize),
    /// A variable's name, as declared.
    Name(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equations => write!(f, "equations"),
            Self::Output(index) => write!(f, "output {}", index + 1),
            Self::Condition(when) => write!(f, "condition {}", when + 1),
            Self::Assignment(when, index) => {
                write!(f, "assignment {} of condition {}", index + 1, when + 1)
            }
            Self::Name(name) => write!(f, "name `{}`", name.escape_debug()),
        }
    }
}

/// A mistake in the text of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The text the mistake is in.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// Where it begins: bytes from the start of the text.
    pub offset: usize,
    /// How far it extends, in bytes.
    pub length: usize,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The character of that line it begins at, from 1.
    pub column: usize,
    /// What may mend it.
    pub help: Option<String>,
    /// Where the thing is that this one repeats: bytes from the start of the text.
    pub first: Option<usize>,
}

impl SyntaxError {
    /// What is wrong with a variable, wherever it is used.
    pub fn about_name(name: &str, message: String) -> Self {
        let fault = Fault::new(Span::new(0, name.len()), message);
        fault.in_text(Place::Name(name.to_owned()), name)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, line {}, column {}: {}",
            self.place, self.line, self.column, self.message
        )?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// A stretch of bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub offset: u32,
    pub length: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            offset: start as u32,
            length: (end - start) as u32,
        }
    }

    pub fn start(self) -> usize {
        self.offset as usize
    }

    pub fn end(self) -> usize {
        (self.offset + self.length) as usize
    }

    /// From the start of `self` to the end of `last`.
    pub fn through(self, last: Self) -> Self {
        Self::new(self.start(), last.end().max(self.end()))
    }

    pub fn of(self, text: &str) -> &str {
        &text[self.start()..self.end()]
    }
}

/// A mistake whose text is known to the caller.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    pub first: Option<usize>,
}

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
            first: None,
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" when there is something near.
    pub fn suggest(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Whether this is a misspelt name, and the other mistake says that the right one is missing.
    pub fn suggests_what(&self, other: &Self) -> bool {
        let name = self.help.as_ref().and_then(|help| {
            let name = help.strip_prefix("did you mean `")?;
            name.strip_suffix("`?")
        });
        name.is_some_and(|name| other.message == format!("state `{name}` has no equation"))
    }

    pub fn in_text(self, place: Place, text: &str) -> SyntaxError {
        let (line, column) = position(text, self.span.start());
        SyntaxError {
            place,
            message: self.message,
            offset: self.span.start(),
            length: self.span.length as usize,
            line,
            column,
            help: self.help,
            first: self.first,
        }
    }
}

/// Line and column, from 1, of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let lines_before = before.bytes().filter(|&byte| byte == b'\n').count();
    let characters_before = before[line_start..].chars().count();
    (lines_before + 1, characters_before + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_offsets_count_bytes() {
        let text = "a = 1\nθ = ?";
        let offset = text.find('?').unwrap();
        assert_eq!(offset, 11);
        assert_eq!(position(text, offset), (2, 5));
    }

    #[test]
    fn an_error_reads_as_one_line() {
        let fault = Fault::new(Span::new(4, 5), "unknown name `b`").suggest(Some("a"));
        let error = fault.in_text(Place::Equations, "a = b");
        let line = "equations, line 1, column 5: unknown name `b` (did you mean `a`?)";
        assert_eq!(error.to_string(), line);
    }
}
