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
    /// A table with these column heads, which may have several lines.
    pub fn new(heads: &[(&str, Alignment)]) -> Self {
        let alignments = heads.iter().map(|(_, alignment)| *alignment);
        let lines: Vec<Vec<&str>> = heads
            .iter()
            .map(|(head, _)| head.lines().collect())
            .collect();
        let height = lines.iter().map(Vec::len).max().unwrap_or(1);
        // Short heads stand at the bottom.
        let row = |row: usize| {
            let line = |head: &Vec<&str>| match (row + head.len()).checked_sub(height) {
                Some(line) => head[line].to_owned(),
                None => String::new(),
            };
            lines.iter().map(line).collect()
        };

        Self {
            alignments: alignments.collect(),
            rows: (0..height).map(row).collect(),
        }
    }

    /// The same with the words of its last column in as many lines as it takes to fit this width.
    pub fn narrowed(mut self, width: usize) -> Self {
        let widths = self.widths();
        let Some((last, others)) = widths.split_last() else {
            return self;
        };
        let left = width.saturating_sub(others.iter().sum::<usize>() + 2 * others.len());
        if *last <= left.max(NARROWEST) {
            return self;
        }

        let columns = widths.len();
        let narrow = |mut cells: Vec<String>| {
            let words = cells.pop().unwrap_or_default();
            let mut rows = Vec::new();
            for line in lines_of(&words, left.max(NARROWEST)) {
                cells.resize(columns - 1, String::new());
                let mut row = std::mem::take(&mut cells);
                row.push(line);
                rows.push(row);
            }
            rows
        };
        self.rows = self.rows.into_iter().flat_map(narrow).collect();
        self
    }

    /// A table without heads.
    pub fn without_heads(alignments: &[Alignment]) -> Self {
        Self {
            alignments: alignments.to_vec(),
            rows: vec![],
        }
    }

    /// Adds a row. What would give orders to a terminal, or fill it, is left out of its cells.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(
            cells.len(),
            self.alignments.len(),
            "BUG: a row with another number of cells"
        );
        self.rows.push(cells.into_iter().map(shown).collect());
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

/// No column is narrowed beyond this.
const NARROWEST: usize = 12;

/// A text in lines of at most `width` characters, as far as words permit; at least one.
fn lines_of(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("BUG: there is a line");
        let needed = line.chars().count() + 1 + word.chars().count();
        if line.is_empty() {
            line.push_str(word);
        } else if needed <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// No column is wider than this.
const WIDEST: usize = 400;

/// A cell as it is shown: in one line, of bounded length.
fn shown(cell: String) -> String {
    let fits = cell.len() <= WIDEST && !cell.contains(commands_a_terminal);
    if fits {
        return cell;
    }

    let printable = |c: char| {
        if commands_a_terminal(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    let mut shown: String = cell.chars().take(WIDEST).map(printable).collect();
    if cell.chars().nth(WIDEST).is_some() {
        shown.push('…');
    }
    shown
}

/// Characters that move the cursor, start a sequence of commands or turn the direction of writing:
/// whoever chooses a name must not choose what a terminal shows.
pub fn commands_a_terminal(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{061c}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || turns || breaks
}

/// A text with its lines and tabs, and nothing else that commands a terminal.
pub fn for_terminal(text: &str) -> std::borrow::Cow<'_, str> {
    let bad = |c: char| commands_a_terminal(c) && !matches!(c, '\n' | '\t');
    if !text.contains(bad) {
        return text.into();
    }

    let printable = |c: char| if bad(c) { '\u{fffd}' } else { c };
    text.chars().map(printable).collect::<String>().into()
}

/// By hand: what the standard library pads is at most 65 535 characters wide.
fn pad(cell: &str, width: usize, side: Alignment) -> String {
    let space = " ".repeat(width.saturating_sub(cell.chars().count()));
    match side {
        Alignment::Left => format!("{cell}{space}"),
        Alignment::Right => format!("{space}{cell}"),
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

    #[test]
    fn heads_may_have_several_lines_and_last_columns_may_be_narrowed() {
        let mut table = Table::new(&[
            ("name", Alignment::Left),
            ("input\ndegree", Alignment::Right),
            ("depends on", Alignment::Left),
        ]);
        table.row(vec!["a".into(), "5".into(), "one, two, three, four".into()]);
        let expected = [
            "       input",
            "name  degree  depends on",
            "a          5  one, two,",
            "              three, four",
            "",
        ];
        assert_eq!(table.narrowed(28).render(""), expected.join("\n"));
    }

    #[test]
    fn a_cell_is_shown_in_one_line_of_bounded_length() {
        let mut table = Table::new(&[("name", Alignment::Left), ("value", Alignment::Right)]);
        table.row(vec!["x".repeat(1_000_000), "1".into()]);
        table.row(vec!["a\nb\u{9b}31m\u{202e}c".into(), "2".into()]);
        let shown = table.render("");
        assert_eq!(shown.lines().count(), 3);
        assert!(shown.lines().all(|line| line.chars().count() < 500));
        assert!(!shown.contains(['\u{9b}', '\u{202e}']));
    }

    #[test]
    fn a_text_for_a_terminal_keeps_its_lines_alone() {
        assert_eq!(for_terminal("a\tb\n"), "a\tb\n");
        assert_eq!(for_terminal("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\n");
    }
}
