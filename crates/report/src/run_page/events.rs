//! Events as a page shows them: times with two rows, and what jumps there.

use serde_json::{Value, json};

use super::RunPage;
use super::aliases::{originals, range};
use crate::number::brief;
use crate::variables::Kind;

/// A jump below this part of a variable's range is none.
const VISIBLE: f64 = 1e-6;
/// So many variables are named for one event.
const MOST_NAMED: usize = 3;
/// More events than this are no marks but a gray area.
const MOST_EVENTS: usize = 2000;

struct Column<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    values: &'a [f64],
    range: f64,
}

/// The times at which variables jump, with what jumps most.
pub(super) fn of(page: &RunPage<'_>) -> Vec<Value> {
    let columns = columns(page);
    let times = page.trajectory.times();
    let rows = 1..times.len();
    let jumps = rows.filter(|&row| times[row] == times[row - 1]);
    let events = jumps.filter_map(|row| {
        let text = text(&columns, row)?;
        Some(json!({ "time": times[row], "text": text }))
    });
    events.take(MOST_EVENTS).collect()
}

fn columns<'a>(page: &RunPage<'a>) -> Vec<Column<'a>> {
    let variables = page.selection.variables().iter();
    let values: Vec<&[f64]> = page
        .trajectory
        .columns()
        .map(|(_, values)| values)
        .collect();
    let known = variables
        .zip(page.trajectory.columns())
        .zip(originals(page, &values));
    let drawn = known
        .filter(|((variable, _), original)| variable.kind != Kind::Signal && original.is_none());
    drawn
        .map(|((variable, (name, values)), _)| Column {
            name,
            unit: variable.unit.as_deref(),
            values,
            range: range(values),
        })
        .collect()
}

/// What jumps between this row and the one before; nothing where nothing does.
fn text(columns: &[Column<'_>], row: usize) -> Option<String> {
    let jump = |column: &Column| (column.values[row] - column.values[row - 1]).abs() / column.range;
    let mut jumping: Vec<(&Column, f64)> = columns
        .iter()
        .map(|column| (column, jump(column)))
        .filter(|(_, jump)| *jump > VISIBLE)
        .collect();
    jumping.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named: Vec<String> = jumping
        .iter()
        .take(MOST_NAMED)
        .map(|(column, _)| column.change(row))
        .collect();
    let more = jumping.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };

    (!named.is_empty()).then(|| named.join(", ") + &more)
}

impl Column<'_> {
    /// `load.torque: 0 → 0.6 N·m`
    fn change(&self, row: usize) -> String {
        let unit = match self.unit {
            Some(unit) if unit != "1" => format!(" {unit}"),
            _ => String::new(),
        };
        let before = short(self.values[row - 1]);
        let after = short(self.values[row]);
        format!("{}: {before} → {after}{unit}", self.name)
    }
}

fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    brief(rounded)
}
