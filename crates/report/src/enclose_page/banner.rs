//! What an enclosure says, in words and in a few numbers.

use serde_json::{Value, json};

use crate::enclosure::EnclosureSummary;
use crate::number::{brief, count, significant};
use crate::page::sentence;
use crate::requirement::RequirementSummary;
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
        let (level, title) = match verdict(&summary.requirements) {
            ("good", _) if is_loose && summary.requirements.is_empty() => {
                ("note", "Proved, but the bounds are wide.".to_owned())
            }
            verdict => verdict,
        };
        return json!({ "level": level, "title": title, "text": text });
    };

    let reached = brief(summary.reached);
    let title = format!("Ended early: bounds are proved until {reached} of {stop} s.");
    let valid = "The bounds drawn up to there are valid.";
    json!({ "level": "ended", "title": title, "text": [sentence(message), valid] })
}

/// How bounds that reach the end are to be taken: by what was required of them, the worst first.
fn verdict(requirements: &[RequirementSummary]) -> (&'static str, String) {
    let answered = |answer: &str| {
        let of_them = requirements.iter().filter(|r| r.answer == answer);
        of_them.count()
    };
    let (violated, undecided) = (answered("violated"), answered("undecided"));
    let all = requirements.len();

    if violated > 0 {
        let title = format!(
            "{} violated: a trajectory breaks {}.",
            of_requirements(violated, all),
            if violated == 1 { "it" } else { "each" }
        );
        ("bad", title)
    } else if undecided > 0 {
        let title = format!(
            "{} undecided: neither a proof nor a violation was found.",
            of_requirements(undecided, all)
        );
        ("note", title)
    } else if all > 0 {
        let title = "Proved: every requirement is met, and no trajectory leaves these bounds.";
        ("good", title.to_owned())
    } else {
        (
            "good",
            "Proved: no trajectory leaves these bounds.".to_owned(),
        )
    }
}

/// "The requirement is", "2 of 3 requirements are".
fn of_requirements(some: usize, all: usize) -> String {
    match (some, all) {
        (1, 1) => "The requirement is".to_owned(),
        (1, _) => format!("1 of {all} requirements is"),
        _ => format!("{some} of {all} requirements are"),
    }
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
