//! The results of a run.

use dovetail_core::{Notice, nearest};
use dovetail_report::{RunSummary, Trajectory, Verdict};

use crate::error::Error;
use crate::execution::Executed;

/// A run that is over: its rows as columns, and what is known of it.
#[derive(Debug)]
pub struct Run {
    summary: RunSummary,
    rows: Trajectory,
}

impl Run {
    /// The run, where it came to its end; otherwise why it did not, with what there is.
    pub(crate) fn of(done: Executed) -> Result<Self, Error> {
        let run = Self {
            rows: done.trajectory.unwrap_or_default(),
            summary: done.summary,
        };
        match run.summary.message.clone() {
            None => Ok(run),
            Some(message) => Err(Error::EndedEarly {
                message,
                run: Box::new(run),
            }),
        }
    }

    /// The times of all rows. At an event there are two rows of one time: before it and after it.
    pub fn times(&self) -> &[f64] {
        self.rows.times()
    }

    /// The names of all columns, `system.variable`.
    pub fn names(&self) -> &[String] {
        self.rows.names()
    }

    /// The values of a variable, one for each row.
    pub fn column(&self, name: &str) -> Result<&[f64], Error> {
        self.rows.column(name).ok_or_else(|| self.unknown(name))
    }

    /// The value of a variable where the run ended.
    pub fn last(&self, name: &str) -> Result<f64, Error> {
        let last = self.column(name)?.last().copied();
        last.ok_or_else(|| self.unknown(name))
    }

    /// All columns, with their names.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.rows.columns()
    }

    /// What the run cost, and what is known of its quality.
    pub fn summary(&self) -> &RunSummary {
        &self.summary
    }

    /// Whether its results can be used, as far as that is known.
    pub fn verdict(&self) -> Verdict {
        self.summary.quality.verdict
    }

    /// What the user should know, each with what to try.
    pub fn warnings(&self) -> &[Notice] {
        &self.summary.quality.warnings
    }

    fn unknown(&self, name: &str) -> Error {
        let known = self.names().iter().map(String::as_str);
        let hint = match nearest(name, known) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Error::NoSuchVariable(format!("no variable `{name}` was recorded{hint}"))
    }
}
