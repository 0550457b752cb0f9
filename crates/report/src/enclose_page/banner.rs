//! What an enclosure says, in words and in a few numbers.

use serde_json::{Value, json};

use crate::enclosure::EnclosureSummary;
use crate::number::{brief, count, significant};
use crate::page::sentence;
use crate::run_page::facts::duration;

pub(super) fn of(summary: &EnclosureSummary) -> Value {
    let start = brief(summary.start);
    let stop = brief(summary.stop);
    let Some(message) = &summary.message else {
        let within = format!(
            "From every start value and for every parameter in the given boxes, every solution stays within the bands from {start} to {stop} s."
        );
        let loose = summary
            .loose
            .as_ref()
            .map(|loose| sentence(&loose.sentence()));
        let is_loose = loose.is_some();
        let text = [Some(within), loose.or(widest(summary))];
        let text: Vec<String> = text.into_iter().flatten().collect();
        if is_loose {
            return json!({ "level": "note", "title": "Proved, but the bounds are wide.", "text": text });
        }
        return json!({ "level": "good", "title": "Proved: no trajectory leaves these bounds.", "text": text });
    };

    let reached = brief(summary.reached);
    let title = format!("Ended early: bounds are proved until {reached} of {stop} s.");
    let valid = "The bounds drawn up to there are valid.";
    json!({ "level": "ended", "title": title, "text": [sentence(message), valid] })
}

fn widest(summary: &EnclosureSummary) -> Option<String> {
    let (name, width) = summary.widest_state()?;
    let width = significant(width, 3);
    Some(format!(
        "The widest band at the end is that of `{name}`: {width}."
    ))
}

/// Label, value and remark of each tile.
pub(super) fn facts(summary: &EnclosureSummary) -> Vec<Value> {
    let choices = summary.choices.clone().unwrap_or_default();
    let rejected = match summary.rejected {
        0 => String::new(),
        many => format!("{} rejected", count(many)),
    };
    let until = if summary.message.is_none() {
        "the end"
    } else {
        "not further"
    };
    let mut facts = vec![
        json!(["Method", summary.method, choices]),
        json!(["Steps", count(summary.steps), rejected]),
        json!([
            "Proved until",
            format!("{} s", brief(summary.reached)),
            until
        ]),
    ];
    facts.extend(
        summary
            .widest_state()
            .map(|(name, width)| json!(["Widest at the end", significant(width, 3), name])),
    );
    facts.push(json!(["Took", duration(summary.wall_seconds)]));
    facts
}
