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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::table_file::{Beyond, Interpolation, UsedColumn};
    use crate::source::takes::Takes;

    const COLUMN: UsedColumn = UsedColumn {
        position: 1,
        factor: 1.0,
        offset: 0.0,
        held: false,
        takes: Takes::Any,
    };

    /// A table with one column, for a run from 0 to 10.
    fn drive(rows: &str, interpolation: Interpolation, beyond: Beyond) -> TableDrive {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.csv");
        std::fs::write(&path, format!("time,u\n{rows}")).expect("written");
        let mut table = TableUse {
            path,
            time_factor: 1.0,
            columns: vec![COLUMN],
            interpolation,
            beyond,
            span: (0.0, 0.0),
        };
        table.check().expect("a sound table");
        std::mem::forget(folder); // periodic tables are opened again
        TableDrive::open(&table, (0.0, 10.0)).expect("opened")
    }

    fn value(drive: &mut TableDrive, time: f64) -> f64 {
        let mut signals = [Signal::constant(f64::NAN)];
        drive
            .signals(MacroStep::instant(time), &mut signals)
            .expect("a signal");
        signals[0].value(0.0)
    }

    /// All times at which pieces end up to 10.
    fn kinks(drive: &mut TableDrive) -> Vec<f64> {
        let mut kinks = Vec::new();
        let mut time = 0.0;
        loop {
            time = drive.piece_end(time).expect("a piece");
            if time > 10.0 {
                return kinks;
            }
            kinks.push(time);
        }
    }

    #[test]
    fn rows_on_a_line_make_no_kinks_and_repeated_times_are_jumps() {
        let rows = "0,0\n1,1\n2,2\n3,3\n4,2\n4,7\n4,5\n6,5\n8,5\n";
        let mut drive = drive(rows, Interpolation::Linear, Beyond::Hold);
        assert_eq!(kinks(&mut drive), [3.0, 4.0, 8.0]);
        assert_eq!(
            [1.5, 3.5, 4.0, 9.0].map(|t| value(&mut drive, t)),
            [1.5, 2.5, 5.0, 5.0]
        );
    }

    #[test]
    fn what_was_before_can_be_asked_for_again() {
        let mut drive = drive("0,0\n1,1\n2,4\n3,9\n", Interpolation::Linear, Beyond::Hold);
        assert_eq!(value(&mut drive, 2.5), 6.5);
        drive.forget(2.5);
        assert_eq!(value(&mut drive, 0.5), 0.5);
    }

    #[test]
    fn only_what_is_needed_is_in_memory() {
        let rows: String = (0..10_000)
            .map(|k| format!("{},{}\n", k as f64 * 1e-3, k % 2))
            .collect();
        let mut drive = drive(&rows, Interpolation::Linear, Beyond::Hold);
        for step in 0..9_000 {
            let time = f64::from(step) * 1e-3 + 5e-4;
            value(&mut drive, time);
            drive.forget(time);
            assert!(drive.window.len() <= 2);
        }
    }

    #[test]
    fn a_held_signal_changes_where_its_value_does() {
        let mut drive = drive(
            "0,1\n1,1\n2,3\n3,3\n5,2\n",
            Interpolation::Hold,
            Beyond::Hold,
        );
        assert_eq!(kinks(&mut drive), [2.0, 5.0]);
        assert_eq!(
            [1.9, 2.0, 4.0, 7.0].map(|t| value(&mut drive, t)),
            [1.0, 3.0, 3.0, 2.0]
        );
    }

    #[test]
    fn before_the_first_row_its_value_holds() {
        let mut drive = drive("2,5\n3,6\n", Interpolation::Linear, Beyond::Hold);
        assert_eq!(kinks(&mut drive), [2.0, 3.0]);
        assert_eq!(
            [0.0, 2.5, 9.0].map(|t| value(&mut drive, t)),
            [5.0, 5.5, 6.0]
        );
    }

    #[test]
    fn a_periodic_table_goes_on_without_end() {
        let mut drive = drive("1,0\n2,1\n2.5,0\n", Interpolation::Linear, Beyond::Periodic);
        let found = [0.25, 1.0, 1.5, 2.5, 3.0, 4.5, 9.25].map(|t| value(&mut drive, t));
        let expected = [0.75, 0.0, 0.5, 0.0, 0.5, 0.5, 0.75];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        // Where one cycle meets the next nothing is too short to step over.
        let kinks = kinks(&mut drive);
        assert!(
            kinks.windows(2).all(|pair| pair[1] - pair[0] > 0.4),
            "{kinks:?}"
        );
    }

    #[test]
    fn a_constant_periodic_table_ends_with_the_run() {
        let mut drive = drive("0,3\n1,3\n", Interpolation::Hold, Beyond::Periodic);
        assert!(drive.piece_end(0.0).expect("a piece") >= 10.0);
    }

    #[test]
    fn cubics_follow_parabolas_and_converge_with_the_third_order_otherwise() {
        let table = |size: f64, f: &dyn Fn(f64) -> f64| -> String {
            let rows = (0..=(4.0 / size) as u32).map(|k| f64::from(k) * size);
            rows.map(|t| format!("{t:?},{:?}\n", f(t))).collect()
        };
        let parabola = |t: f64| 1.0 + t - 0.5 * t * t;
        let mut exact = drive(&table(0.5, &parabola), Interpolation::Cubic, Beyond::Hold);
        for time in [0.1, 1.3, 3.9] {
            assert!((value(&mut exact, time) - parabola(time)).abs() < 1e-12);
        }

        let error = |size: f64| {
            let mut drive = drive(&table(size, &f64::sin), Interpolation::Cubic, Beyond::Hold);
            let times = (0..400).map(|k| f64::from(k) * 0.01);
            times
                .map(|t| (value(&mut drive, t) - t.sin()).abs())
                .fold(0.0, f64::max)
        };
        let order = (error(0.2) / error(0.1)).log2();
        assert!((2.7..4.2).contains(&order), "{order}");
    }

    #[test]
    fn cubics_do_not_look_across_jumps() {
        let rows = "0,0\n1,0\n2,0\n2,9\n3,9\n4,9\n";
        let mut drive = drive(rows, Interpolation::Cubic, Beyond::Hold);
        assert_eq!([1.5, 2.5].map(|t| value(&mut drive, t)), [0.0, 9.0]);
    }
}
