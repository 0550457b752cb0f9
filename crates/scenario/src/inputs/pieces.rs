//! Rows of a table made into polynomials, one piece after the other.

use dovetail_core::Signal;

use super::rows::TableError;
use super::table_file::{Beyond, CheckedRows, Interpolation, TableUse};

/// What differs from a straight line by less than this part of its values is on it, but for rounding.
const ON_THE_LINE: f64 = 1e-13;

/// All columns between two times: polynomials in the time since `start`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    pub start: f64,
    pub end: f64,
    pub coefficients: Vec<[f64; 4]>,
}

impl Piece {
    pub fn signal(&self, column: usize, from: f64) -> Signal {
        let signal = Signal::new(&self.coefficients[column]);
        let elapsed = from - self.start;
        match elapsed == 0.0 || signal.degree() == 0 {
            true => signal,
            false => signal.shifted(elapsed),
        }
    }
}

/// The pieces of a table in the order of time, the last of which has no end. Rows that change nothing
/// (on a straight line, say) make no piece of their own.
pub(crate) struct Pieces {
    table: TableUse,
    rows: Cycle,
    /// The last row of the piece before, and the next ones: those of the piece under way among them.
    before: Option<Row>,
    left: Option<Row>,
    right: Option<Row>,
    after: Option<Row>,
    spare: Vec<Row>,
    /// Nobody asks for anything after this time.
    stop: f64,
}

type Row = Vec<f64>;

/// The rows of a table, again and again where it is periodic.
struct Cycle {
    rows: CheckedRows,
    shift: f64,
    cycle: f64,
    /// The time of the last row.
    last: f64,
}

impl Cycle {
    fn open(table: &TableUse, start: f64) -> Result<Self, TableError> {
        let period = table.span.1 - table.span.0;
        let cycle = match table.beyond {
            Beyond::Periodic => ((start - table.span.0) / period).floor(),
            _ => 0.0,
        };
        Ok(Self {
            rows: CheckedRows::open(table)?,
            shift: cycle * period,
            cycle,
            last: f64::NAN,
        })
    }

    fn next(&mut self, table: &TableUse, row: &mut Row) -> Result<bool, TableError> {
        let mut more = self.rows.next(row)?;
        if !more && table.beyond == Beyond::Periodic {
            self.cycle += 1.0;
            self.shift = self.cycle * (table.span.1 - table.span.0);
            self.rows = CheckedRows::open(table)?;
            more = self.rows.next(row)?;
            row[0] = self.last; // one cycle begins where the other ends, to the last bit
        } else {
            row[0] += self.shift;
        }
        self.last = row[0];
        Ok(more)
    }
}

impl Pieces {
    /// From the piece on that holds at `start`, for a run to `stop`.
    pub fn open(table: &TableUse, (start, stop): (f64, f64)) -> Result<Self, TableError> {
        let rows = Cycle::open(table, start)?;
        let mut pieces = Self {
            table: table.clone(),
            rows,
            before: None,
            left: None,
            right: None,
            after: None,
            spare: Vec::new(),
            stop,
        };
        pieces.right = pieces.read()?;
        pieces.after = pieces.read()?;
        pieces.skip_to(start)?;
        Ok(pieces)
    }

    /// Leaves out what is over at `start`.
    fn skip_to(&mut self, start: f64) -> Result<(), TableError> {
        while self.right.as_ref().is_some_and(|right| right[0] <= start) {
            self.shift()?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Row>, TableError> {
        let mut row = self.spare.pop().unwrap_or_default();
        row.resize(self.table.columns.len() + 1, 0.0);
        let more = self.rows.next(&self.table, &mut row)?;
        Ok(more.then_some(row))
    }

    /// One row on.
    fn shift(&mut self) -> Result<(), TableError> {
        let next = self.read()?;
        self.spare.extend(self.before.take());
        self.before = self.left.take();
        self.left = self.right.take();
        self.right = self.after.take();
        self.after = next;
        Ok(())
    }

    /// The next piece, into `piece`; false after the last one, which has no end.
    pub fn next(&mut self, piece: &mut Piece) -> Result<bool, TableError> {
        // Before the first row its values hold; between two rows of the same time there is nothing.
        while let (Some(left), Some(right)) = (&self.left, &self.right) {
            if right[0] > left[0] {
                break;
            }
            self.shift()?;
        }
        let count = self.table.columns.len();
        piece.coefficients.resize(count, [0.0; 4]);

        match (&self.left, &self.right) {
            (None, None) => return Ok(false),
            (None, Some(first)) => {
                (piece.start, piece.end) = (f64::NEG_INFINITY, first[0]);
                constants(first, piece);
                self.shift()?;
                return Ok(true);
            }
            (Some(last), None) => {
                (piece.start, piece.end) = (last[0], f64::INFINITY);
                constants(last, piece);
                self.spare.extend(self.left.take());
                return Ok(true);
            }
            (Some(left), Some(right)) => {
                (piece.start, piece.end) = (left[0], right[0]);
                for column in 0..count {
                    piece.coefficients[column] = self.polynomial(column);
                }
            }
        }
        self.shift()?;
        self.extend(piece)?;
        Ok(true)
    }

    /// Rows that go on as the piece does belong to it.
    fn extend(&mut self, piece: &mut Piece) -> Result<(), TableError> {
        while let (Some(left), Some(right)) = (&self.left, &self.right) {
            if left == right && piece.end < self.stop {
                self.shift()?; // a row twice, as where one cycle meets the next
                continue;
            }
            let goes_on = right[0] > left[0]
                && piece.end < self.stop
                && (0..self.table.columns.len()).all(|column| self.goes_on(piece, column));
            if !goes_on {
                return Ok(());
            }
            piece.end = right[0];
            self.shift()?;
        }
        Ok(())
    }

    /// Whether a column goes on between the next two rows as it has in the piece.
    fn goes_on(&self, piece: &Piece, column: usize) -> bool {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            return false;
        };
        let [value, slope, ..] = piece.coefficients[column];
        match self.interpolation(column) {
            Interpolation::Hold => left[column + 1] == value,
            Interpolation::Linear => {
                let near = |row: &Row| {
                    let line = value + slope * (row[0] - piece.start);
                    let size = value.abs().max(row[column + 1].abs());
                    (line - row[column + 1]).abs() <= ON_THE_LINE * size
                };
                near(left) && near(right)
            }
            Interpolation::Cubic => false,
        }
    }

    fn interpolation(&self, column: usize) -> Interpolation {
        match self.table.columns[column].held {
            true => Interpolation::Hold,
            false => self.table.interpolation,
        }
    }

    /// A column between `left` and `right`.
    fn polynomial(&self, column: usize) -> [f64; 4] {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            return [f64::NAN; 4];
        };
        let size = right[0] - left[0];
        let value = left[column + 1];
        let mean = (right[column + 1] - value) / size;

        match self.interpolation(column) {
            Interpolation::Hold => [value, 0.0, 0.0, 0.0],
            Interpolation::Linear => [value, mean, 0.0, 0.0],
            Interpolation::Cubic => {
                let start = self.slope_at_left(column, mean);
                let end = self.slope_at_right(column, mean);
                let bend = (3.0 * mean - 2.0 * start - end) / size;
                let twist = (start + end - 2.0 * mean) / (size * size);
                [value, start, bend, twist]
            }
        }
    }

    /// The slope at the left row: that of the parabola through it and its neighbors, as far as nothing jumps.
    fn slope_at_left(&self, column: usize, mean: f64) -> f64 {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            return mean;
        };
        let size = right[0] - left[0];
        if let Some(before) = self.before.as_ref().filter(|before| before[0] < left[0]) {
            let earlier = left[0] - before[0];
            let slope = (left[column + 1] - before[column + 1]) / earlier;
            return (size * slope + earlier * mean) / (earlier + size);
        }
        match self.after.as_ref().filter(|after| after[0] > right[0]) {
            Some(after) => {
                let later = after[0] - right[0];
                let slope = (after[column + 1] - right[column + 1]) / later;
                mean + (mean - slope) * size / (size + later)
            }
            None => mean,
        }
    }

    /// The same at the right row.
    fn slope_at_right(&self, column: usize, mean: f64) -> f64 {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            return mean;
        };
        let size = right[0] - left[0];
        if let Some(after) = self.after.as_ref().filter(|after| after[0] > right[0]) {
            let later = after[0] - right[0];
            let slope = (after[column + 1] - right[column + 1]) / later;
            return (later * mean + size * slope) / (size + later);
        }
        match self.before.as_ref().filter(|before| before[0] < left[0]) {
            Some(before) => {
                let earlier = left[0] - before[0];
                let slope = (left[column + 1] - before[column + 1]) / earlier;
                mean + (mean - slope) * size / (size + earlier)
            }
            None => mean,
        }
    }
}

fn constants(row: &Row, piece: &mut Piece) {
    for (coefficients, value) in piece.coefficients.iter_mut().zip(&row[1..]) {
        *coefficients = [*value, 0.0, 0.0, 0.0];
    }
    if piece.start == f64::NEG_INFINITY {
        // Any time before its end will do where nothing changes.
        piece.start = f64::MIN;
    }
}
