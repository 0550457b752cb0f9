//! A table as signals: as many of its pieces as are needed are in memory.

use std::collections::VecDeque;

use dovetail_core::{Drive, MacroStep, Signal};

use super::pieces::{Piece, Pieces};
use super::table_file::TableUse;

/// A table in a file that is read as a run goes on.
pub(crate) struct TableDrive {
    table: TableUse,
    /// Start and end of the run.
    run: (f64, f64),
    pieces: Pieces,
    /// The pieces from the time on up to which all is forgotten.
    window: VecDeque<Piece>,
    spare: Vec<Piece>,
}

impl TableDrive {
    /// The table, for a run from the first to the second of these times.
    pub fn open(table: &TableUse, run: (f64, f64)) -> Result<Self, String> {
        let pieces = Pieces::open(table, run).map_err(|error| error.to_string())?;
        Ok(Self {
            table: table.clone(),
            run,
            pieces,
            window: VecDeque::new(),
            spare: Vec::new(),
        })
    }

    /// The position of the piece that holds right after `time`.
    fn find(&mut self, time: f64) -> Result<usize, String> {
        if self.window.front().is_some_and(|first| time < first.start) {
            // A run that was taken back to an earlier time: pieces are those of a run that was not.
            *self = Self::open(&self.table, self.run)?;
        }
        if let Some(found) = self.window.iter().position(|piece| time < piece.end) {
            return Ok(found);
        }

        loop {
            let mut piece = self.spare.pop().unwrap_or_default();
            let more = self.pieces.next(&mut piece);
            if !more.map_err(|error| error.to_string())? {
                return Err(format!(
                    "the table {} has no end",
                    self.table.path.display()
                ));
            }
            let holds = time < piece.end;
            self.window.push_back(piece);
            if holds {
                return Ok(self.window.len() - 1);
            }
            // Nobody asks for what was skipped, unless it comes after what is still there.
            if self.window.len() == 1 {
                self.spare.extend(self.window.pop_front());
            }
        }
    }
}

impl Drive for TableDrive {
    fn piece_end(&mut self, from: f64) -> Result<f64, String> {
        let found = self.find(from)?;
        Ok(self.window[found].end)
    }

    fn signals(&mut self, step: MacroStep, into: &mut [Signal]) -> Result<(), String> {
        let found = self.find(step.start)?;
        let piece = &self.window[found];
        for (column, signal) in into.iter_mut().enumerate() {
            *signal = piece.signal(column, step.start);
        }
        Ok(())
    }

    fn forget(&mut self, before: f64) {
        // What ends at this very time is over: all that is asked for from now on is right of it.
        while self.window.len() > 1 && self.window[0].end <= before {
            self.spare.extend(self.window.pop_front());
        }
    }
}
