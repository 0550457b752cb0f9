//! Sentences for the importer.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Something to know.
    Warning,
    /// A call failed.
    Error,
}

/// Hands sentences to the importer, in the way of its version of FMI.
pub(crate) type Sink = Box<dyn Fn(Severity, &str)>;

/// What an instance says.
pub(crate) struct Logger {
    sink: Option<Sink>,
    /// Whether the importer wants to hear more than errors.
    pub verbose: bool,
}

impl Logger {
    pub fn new(sink: Option<Sink>, verbose: bool) -> Self {
        Self { sink, verbose }
    }

    pub fn error(&self, text: &str) {
        if let Some(sink) = &self.sink {
            sink(Severity::Error, text);
        }
    }

    pub fn warn(&self, text: &str) {
        if let Some(sink) = self.sink.as_ref().filter(|_| self.verbose) {
            sink(Severity::Warning, text);
        }
    }
}
