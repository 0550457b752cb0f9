//! What there is to say about an enclosure.

use dovetail_guaranteed::Interval;
use serde_json::{Map, Value, json};

use crate::number::{brief, count, exponent, scientific, significant};
use crate::requirement::RequirementSummary;
use crate::table::{Alignment, Table};
use crate::text::{MOST_VALUES, counted, joined_parts, labeled_lines, more_note};

/// Digits of bounds for people; those who need all of them read the file.
const DIGITS: usize = 8;

/// An enclosure in figures, for machines ([`EnclosureSummary::to_json`]) and people
/// ([`EnclosureSummary::to_text`]).
#[derive(Clone, Debug, Default)]
pub struct EnclosureSummary {
    /// The method.
    pub method: String,
    /// What was chosen of it, where there is a choice.
    pub choices: Option<String>,
    /// Where it began.
    pub start: f64,
    /// Where it was to end.
    pub stop: f64,
    /// Up to when there are bounds.
    pub reached: f64,
    /// Accepted macro-steps.
    pub steps: u64,
    /// Macro-steps that had to be repeated, smaller.
    pub rejected: u64,
    /// Into how many pieces the boxes at the start were cut.
    pub pieces: u64,
    /// Where it ended early, up to when bounds said much.
    pub useful_until: Option<f64>,
    /// The states, `system.state`, and the boxes in which they are at the time reached.
    pub states: Vec<(String, Interval)>,
    /// What was asked for beside the states, and the bounds of it at the time reached.
    pub observed: Vec<(String, Interval)>,
    /// What was required, and the answers.
    pub requirements: Vec<RequirementSummary>,
    /// How long it took.
    pub wall_seconds: f64,
    /// Why it ended early, if it did.
    pub message: Option<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What may interest the user.
    pub remarks: Vec<String>,
}

impl EnclosureSummary {
    /// The product of the final widths of all states.
    pub fn volume(&self) -> f64 {
        self.widths().map(|(_, width)| width).product()
    }

    /// The largest of the final widths.
    pub fn max_width(&self) -> f64 {
        self.widths()
            .fold(0.0, |most, (_, width)| f64::max(most, width))
    }

    fn widths(&self) -> impl Iterator<Item = (&String, f64)> {
        self.states
            .iter()
            .map(|(name, state)| (name, state.width()))
    }

    /// One object. Numbers that are not finite become `null`.
    pub fn to_json(&self) -> Value {
        let all = || self.states.iter().chain(&self.observed);
        let widths = all().map(|(name, range)| (name.clone(), json!(range.width())));
        let last = all().map(|(name, state)| (name.clone(), json!([state.lo, state.hi])));

        let requirements = self.requirements.iter().map(RequirementSummary::to_json);

        json!({
            "method": self.method,
            "reached": self.reached,
            "steps": self.steps,
            "rejected": self.rejected,
            "pieces": self.pieces,
            "useful_until": self.useful_until,
            "volume": self.volume(),
            "max_width": self.max_width(),
            "width": widths.collect::<Map<String, Value>>(),
            "wall_seconds": self.wall_seconds,
            "final": last.collect::<Map<String, Value>>(),
            "requirements": requirements.collect::<Vec<Value>>(),
            "completed": self.message.is_none(),
            "message": self.message,
            "remarks": self.remarks,
            "warnings": self.warnings,
        })
    }

    /// A readable summary, warnings last.
    pub fn to_text(&self) -> String {
        let observed = match self.observed.is_empty() {
            true => String::new(),
            false => self.table("expressions", &self.observed),
        };
        let answers = self.requirements.iter().map(RequirementSummary::to_line);
        let parts = [
            self.headline(),
            self.table("states", &self.states),
            observed,
            answers.collect(),
            self.size_lines(),
        ];
        joined_parts(parts)
    }

    fn headline(&self) -> String {
        let choices = match &self.choices {
            Some(choices) => format!(" ({choices})"),
            None => String::new(),
        };

        let progress = self.progress();
        let steps = counted(self.steps, "step");
        let rejected = count(self.rejected);

        format!(
            "{}{choices}\n{progress}\n{steps}, {rejected} rejected\n",
            self.method
        )
    }

    /// How far it came.
    pub(crate) fn progress(&self) -> String {
        let start = brief(self.start);
        let reached = self.reached();

        if self.message.is_some() {
            let stop = brief(self.stop);
            let useful = self.useful_until.map_or_else(String::new, |until| {
                format!(", its bounds useful until {} s", brief(until))
            });
            return format!("ended early at t = {reached} s of {start} s to {stop} s{useful}");
        }

        let seconds = significant(self.wall_seconds, 4);
        format!("enclosed from t = {start} s to {reached} s in {seconds} s")
    }

    /// The time reached, in few digits only where these say it all: nothing is proved beyond it.
    pub(crate) fn reached(&self) -> String {
        let short = brief(self.reached);
        if short.parse() == Ok(self.reached) {
            short
        } else {
            self.reached.to_string()
        }
    }

    fn table(&self, what: &str, rows: &[(String, Interval)]) -> String {
        use Alignment::{Left, Right};
        if rows.is_empty() {
            return String::new();
        }

        let mut table = Table::new(&[
            (what.trim_end_matches('s'), Left),
            ("from", Right),
            ("to", Right),
            ("width", Right),
        ]);
        for (name, state) in rows.iter().take(MOST_VALUES) {
            table.row(cells(name, *state).into());
        }

        let reached = self.reached();
        let table = table.render("  ");
        let note = more_note(rows.len(), what);

        format!("{what} at t = {reached} s\n{table}{note}")
    }

    fn size_lines(&self) -> String {
        let widest = significant(self.max_width(), 4);
        let volume = significant(self.volume(), 6);
        let notes = labeled_lines("note", &self.remarks);
        let warnings = labeled_lines("warning", &self.warnings);
        format!("largest width: {widest}\nvolume: {volume}\n{notes}{warnings}")
    }
}

/// Name, both bounds and the width, for people: the bounds are rounded outwards, so that they are
/// true as they stand.
pub(crate) fn cells(name: &str, state: Interval) -> [String; 4] {
    [
        name.to_owned(),
        outwards(state.lo, -1.0),
        outwards(state.hi, 1.0),
        significant(state.width(), 4),
    ]
}

/// `value` in a few digits, not below (`side` = 1) or not above it (`side` = -1).
fn outwards(value: f64, side: f64) -> String {
    let nearest = significant(value, DIGITS);
    let read: Result<f64, _> = nearest.parse();
    let is_outside = read.is_ok_and(|read| (read - value) * side >= 0.0);
    if is_outside || !value.is_finite() {
        return nearest;
    }

    // One unit in the last digit shown.
    let scientific = scientific(value, DIGITS);
    let last_digit = 10_f64.powi(exponent(&scientific) + 1 - DIGITS as i32);
    significant(value + side * last_digit, DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn example() -> EnclosureSummary {
        EnclosureSummary {
            method: "shared-symbols".into(),
            stop: 10.0,
            reached: 10.0,
            steps: 40,
            rejected: 2,
            states: vec![
                ("one.x".into(), Interval::new(-0.5, 1.5)),
                ("two.x".into(), Interval::new(1.0, 1.25)),
            ],
            wall_seconds: 0.0125,
            remarks: vec!["the order is 20".into()],
            warnings: vec!["`imposed-step` has no meaning".into()],
            ..EnclosureSummary::default()
        }
    }

    #[test]
    fn an_enclosure_is_summed_up_like_this() {
        let expected = "\
shared-symbols
enclosed from t = 0 s to 10 s in 0.01250 s
40 steps, 2 rejected

states at t = 10 s
  state         from         to   width
  one.x  -0.50000000  1.5000000   2.000
  two.x    1.0000000  1.2500000  0.2500

largest width: 2.000
volume: 0.500000
note: the order is 20
warning: `imposed-step` has no meaning
";
        let text = example().to_text();
        assert_eq!(text, expected);
    }

    #[test]
    fn machines_get_the_documented_keys_in_this_order() {
        let json = example().to_json();
        let keys: Vec<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let all = "method reached steps rejected pieces useful_until volume max_width width wall_seconds final \
                   requirements completed message remarks warnings";
        assert_eq!(keys, all.split(' ').collect::<Vec<_>>());
        assert_eq!(json["width"], json!({ "one.x": 2.0, "two.x": 0.25 }));
        assert_eq!(
            (&json["volume"], &json["max_width"]),
            (&json!(0.5), &json!(2.0))
        );
    }

    #[test]
    fn what_is_not_finite_is_null() {
        let states = vec![("a.x".into(), Interval::ENTIRE)];
        let json = EnclosureSummary {
            states,
            ..example()
        }
        .to_json();
        assert!(
            json["volume"].is_null()
                && json["max_width"].is_null()
                && json["final"]["a.x"] == json!([null, null])
        );
    }

    #[test]
    fn bounds_for_people_are_rounded_outwards() {
        for value in [
            1.0 / 3.0,
            -1.0 / 3.0,
            2.0 / 3.0,
            1e-20 / 3.0,
            -2e20 / 3.0,
            0.0,
            9.999_999_99,
            1.0 + 1e-12,
        ] {
            let read = |side| outwards(value, side).parse::<f64>().unwrap();
            assert!(read(-1.0) <= value && value <= read(1.0), "{value}");
            assert!(read(1.0) - read(-1.0) <= 2e-7 * value.abs(), "{value}");
        }
    }

    #[test]
    fn an_early_end_is_told_with_its_time() {
        let early = EnclosureSummary {
            message: Some("too wide".into()),
            reached: 1.0 - 1e-12,
            ..example()
        };
        assert!(
            early
                .to_text()
                .contains("ended early at t = 0.999999999999 s of 0 s to 10 s")
        );
        assert_eq!(early.to_json()["completed"], false);
        let useful = EnclosureSummary {
            useful_until: Some(0.25),
            ..early
        };
        assert!(
            useful
                .to_text()
                .contains("s to 10 s, its bounds useful until 0.25 s\n")
        );
        assert_eq!(useful.to_json()["useful_until"], 0.25);
    }

    #[test]
    fn many_states_are_cut_with_a_note() {
        let states = (0..50)
            .map(|k| (format!("a.x{k}"), Interval::ONE))
            .collect();
        let text = EnclosureSummary {
            states,
            ..example()
        }
        .to_text();
        assert!(
            text.contains("a.x19")
                && !text.contains("a.x20")
                && text.contains("  and 30 more states\n")
        );
    }
}
