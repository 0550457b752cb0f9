//! Tables of text with aligned columns.

/// Which side of its column a cell keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells; columns are as wide as their widest cell and two spaces apart.
#[derive(Clone, Debug, Default)]
pub struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new(heads: &[(&str, Alignment)]) -> Self {
        let alignments = heads.iter().map(|(_, alignment)| *alignment);
        let titles = heads.iter().map(|(head, _)| head.to_string());

        Self {
            alignments: alignments.collect(),
            rows: vec![titles.collect()],
        }
    }

    /// A table without heads.
    pub fn without_heads(alignments: &[Alignment]) -> Self {
        Self {
            alignments: alignments.to_vec(),
            rows: vec![],
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(
            cells.len(),
            self.alignments.len(),
            "BUG: a row with another number of cells"
        );
        self.rows.push(cells);
    }

    /// The length of the longest line.
    pub fn width(&self) -> usize {
        let gaps = self.alignments.len().saturating_sub(1);
        self.widths().iter().sum::<usize>() + 2 * gaps
    }

    /// The table, each line after `indent` and ended by a line feed.
    pub fn render(&self, indent: &str) -> String {
        let widths = self.widths();
        let lines = self.rows.iter().map(|cells| self.line(cells, &widths));
        lines
            .map(|line| format!("{indent}{line}").trim_end().to_owned() + "\n")
            .collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut padded = Vec::with_capacity(cells.len());
        for (column, cell) in cells.iter().enumerate() {
            padded.push(pad(cell, widths[column], self.alignments[column]));
        }
        padded.join("  ")
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.alignments.len())
            .map(|column| self.column_width(column))
            .collect()
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| &row[column]);
        let widths = cells.map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

fn pad(cell: &str, width: usize, side: Alignment) -> String {
    match side {
        Alignment::Left => format!("{cell:<width$}"),
        Alignment::Right => format!("{cell:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("name", Alignment::Left), ("value", Alignment::Right)]);
        table.row(vec!["φ".into(), "12.5".into()]);
        table.row(vec!["a long name".into(), "-3".into()]);
        assert_eq!(
            table.render("  "),
            "  name         value\n  φ             12.5\n  a long name     -3\n"
        );
        assert_eq!(table.width(), 18);
    }
}
