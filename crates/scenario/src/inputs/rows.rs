//! Tables as rows of numbers, one after the other.

use std::fmt;

use crate::units::unit_named;

/// The rows of a table, from the first on: time, then the columns that were asked for.
pub(crate) trait Rows: Send {
    /// Reads the next row; false after the last.
    fn next(&mut self, row: &mut [f64]) -> Result<bool, TableError>;

    /// Something is wrong with the row that was read last.
    fn wrong(&self, message: String) -> TableError;

    /// The head of one of the columns that were asked for.
    fn head(&self, column: usize) -> &str;
}

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableError {
    pub file: String,
    /// The line, counted from 1, of a text; the row of another file.
    pub line: Option<u64>,
    pub message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// A column of a table: its head, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// As it is written, `speed [km/h]`.
    pub head: String,
    pub name: String,
    pub unit: Option<String>,
}

impl Column {
    /// `speed [km/h]`; where the unit is a known one also `speed[km/h]` and `speed (km/h)`.
    pub fn of(head: &str) -> Self {
        let head = head.trim();
        let between = |open: &str, close: char| {
            let rest = head.strip_suffix(close)?;
            rest.rsplit_once(open)
        };
        // `T[1]` is an element and `der(m)` a name.
        let is_unit = |&(_, unit): &(&str, &str)| {
            let is_index = unit.trim().parse::<f64>().is_ok();
            !is_index && unit_named(unit).is_some()
        };
        let bracket = between(" [", ']')
            .or_else(|| between("[", ']').filter(is_unit))
            .or_else(|| between(" (", ')').filter(is_unit));
        let (name, unit) = match bracket {
            Some((name, unit)) => (name.trim(), Some(unit.trim().to_owned())),
            None => (head, None),
        };
        Self {
            head: head.to_owned(),
            name: name.to_owned(),
            unit: unit.filter(|unit| !unit.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_in_brackets_and_indices_are_none() {
        let parts = |head: &str| {
            let column = Column::of(head);
            (column.name, column.unit)
        };
        let with = |name: &str, unit: &str| (name.to_owned(), Some(unit.to_owned()));
        let without = |name: &str| (name.to_owned(), None);
        assert_eq!(parts("speed [km/h]"), with("speed", "km/h"));
        assert_eq!(parts(" speed[km/h] "), with("speed", "km/h"));
        assert_eq!(parts("speed (km/h)"), with("speed", "km/h"));
        assert_eq!(parts("speed [apples]"), with("speed", "apples"));
        for name in ["speed[apples]", "speed (old)", "T[1]", "der(m)", "speed []"] {
            let expected = name.trim_end_matches(" []");
            assert_eq!(parts(name), without(expected), "{name}");
        }
    }
}
