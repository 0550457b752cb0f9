//! What there is to say about an enclosure.

use dovetail_guaranteed::Interval;
use serde_json::{Map, Value, json};

use crate::number::{brief, count, duration, exponent, scientific, significant};
use crate::requirement::RequirementSummary;
use crate::table::{Alignment, Table};
use crate::text::{MOST_VALUES, joined_parts, labeled_lines, more_note};
use crate::wrap::{entry, title};

/// Digits of bounds for people; those who need all of them read the file.
const DIGITS: usize = 8;

/// An enclosure in figures, for machines ([`EnclosureSummary::to_json`]) and people
/// ([`EnclosureSummary::to_text`]).
#[derive(Clone, Debug, Default)]
pub struct EnclosureSummary {
    /// The name of the model.
    pub model: String,
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
    /// Bounds that say little, if there are any.
    pub loose: Option<LooseBound>,
    /// How long it took.
    pub wall_seconds: f64,
    /// Why it ended early, if it did.
    pub message: Option<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What may interest the user.
    pub remarks: Vec<String>,
}

/// Bounds that have grown so wide that they say little.
#[derive(Clone, Debug, PartialEq)]
pub struct LooseBound {
    /// The state.
    pub name: String,
    /// How wide its bounds are at the end.
    pub width: f64,
    /// And how far apart all that it may have been in the first half of the run.
    pub before: f64,
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
        self.text(String::new())
    }

    /// The same with what is of interest to few.
    pub fn to_detailed_text(&self) -> String {
        let volume = significant(self.volume(), 6);
        let notes = labeled_lines("note", &self.remarks);
        self.text(format!("volume: {volume}\n{notes}"))
    }

    fn text(&self, details: String) -> String {
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
            details + &labeled_lines("warning", &self.warnings),
        ];
        joined_parts(parts)
    }

    fn headline(&self) -> String {
        let choices = match &self.choices {
            Some(choices) => format!("{} ({choices})", self.method),
            None => self.method.clone(),
        };
        let rejected = match self.rejected {
            0 => String::new(),
            many => format!(", {} rejected", count(many)),
        };
        let pieces = match self.pieces {
            0 | 1 => String::new(),
            many => format!(", boxes cut into {} pieces", count(many)),
        };
        let steps = format!("{}{rejected}{pieces}", count(self.steps));

        [
            self.title(),
            entry("method", &choices),
            entry("steps", &steps),
            entry("bounds", &self.verdict()),
        ]
        .concat()
    }

    /// The model, the span and how far bounds came.
    fn title(&self) -> String {
        let model = match self.model.as_str() {
            "" => String::new(),
            model => format!("{model}   "),
        };
        let (start, stop) = (brief(self.start), brief(self.stop));
        let outcome = match &self.message {
            Some(_) => format!("ended early at t = {} s", self.reached()),
            None => format!("done in {}", duration(self.wall_seconds)),
        };
        title(&format!("{model}{start} … {stop} s   {outcome}"))
    }

    /// What bounds are worth.
    fn verdict(&self) -> String {
        let widest = self.widest_state();
        let width = widest.map_or_else(String::new, |(name, width)| {
            format!(
                "; the widest at the end is that of `{name}`, {}",
                significant(width, 4)
            )
        });
        match (&self.message, &self.loose) {
            (Some(_), _) => format!("proved until t = {} s{}", self.reached(), self.usefulness()),
            (None, Some(loose)) => format!("proved, but wide: {}", loose.sentence()),
            (None, None) => format!("proved for all trajectories{width}"),
        }
    }

    /// Until when bounds that ended early said something.
    fn usefulness(&self) -> String {
        let until = self.useful_until.map(brief);
        until.map_or_else(String::new, |until| format!(", useful until {until} s"))
    }

    /// The state whose bounds are the widest at the end.
    pub(crate) fn widest_state(&self) -> Option<(&str, f64)> {
        let widths = self.widths().map(|(name, width)| (name.as_str(), width));
        widths.max_by(|one, other| one.1.total_cmp(&other.1))
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
}

impl LooseBound {
    /// In words, without a period.
    pub fn sentence(&self) -> String {
        format!(
            "`{}` is within {} at the end, and was within {} in the first half of the run; \
             smaller boxes or shorter steps may give more",
            self.name,
            significant(self.width, 4),
            significant(self.before, 4)
        )
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
            model: "two masses".into(),
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
two masses   0 … 10 s   done in 12.5 ms
method    shared-symbols
steps     40, 2 rejected
bounds    proved for all trajectories; the widest at the end is that of `one.x`,
          2.000

states at t = 10 s
  state         from         to   width
  one.x  -0.50000000  1.5000000   2.000
  two.x    1.0000000  1.2500000  0.2500

warning: `imposed-step` has no meaning
";
        let text = example().to_text();
        assert_eq!(text, expected);
        let detailed = example().to_detailed_text();
        assert!(detailed.contains("volume: 0.500000\nnote: the order is 20\nwarning: "));
    }

    #[test]
    fn bounds_that_say_little_are_called_wide() {
        let loose = LooseBound {
            name: "one.x".into(),
            width: 21_041.0,
            before: 3.0,
        };
        let text = EnclosureSummary {
            loose: Some(loose),
            ..example()
        }
        .to_text();
        assert!(
            text.contains("bounds    proved, but wide: `one.x` is within 21041 at"),
            "{text}"
        );
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
                .contains("two masses   0 … 10 s   ended early at t = 0.999999999999 s")
        );
        assert_eq!(early.to_json()["completed"], false);
        let useful = EnclosureSummary {
            useful_until: Some(0.25),
            ..early
        };
        assert!(useful.to_text().contains("s, useful until 0.25 s\n"));
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
