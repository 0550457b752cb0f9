//! The verdict on a run, as the words at the head of its page.

use serde_json::{Value, json};

use crate::number::{brief, significant};
use crate::page::sentence;
use crate::summary::RunSummary;
use crate::verdict::Verdict;

/// So many warnings stand beside the verdict; all of them are with the notes.
const MOST_WARNINGS: usize = 3;

/// Level, title and sentences.
pub(super) fn of(summary: &RunSummary) -> Value {
    let (level, title) = headline(summary);
    json!({ "level": level, "title": title, "text": sentences(summary) })
}

fn headline(summary: &RunSummary) -> (&'static str, String) {
    if summary.quality.diverged {
        return ("bad", "Not usable: the run diverges.".into());
    }
    if !summary.completed {
        let reached = brief(summary.reached);
        let stop = brief(summary.stop);
        let title = format!("Ended early: computed until t = {reached} s of {stop} s.");
        return ("ended", title);
    }
    match summary.quality.verdict {
        Verdict::Good => ("good", "Good: the result is accurate.".into()),
        Verdict::Doubtful => ("note", "Usable with care: the error may show.".into()),
        Verdict::Unusable => ("bad", "Not usable: the error is too large.".into()),
        Verdict::Unknown => ("note", "Not judged.".into()),
    }
}

fn sentences(summary: &RunSummary) -> Vec<String> {
    let quality = &summary.quality;
    let mut text = Vec::new();
    text.extend(
        summary
            .message
            .iter()
            .map(|message| sentence(&message.text)),
    );
    if !quality.verdict_reason.text.is_empty() {
        text.push(sentence(&quality.verdict_reason.text));
    }
    text.extend(mismatch(summary));
    let warnings = quality.warnings.iter().take(MOST_WARNINGS);
    text.extend(warnings.map(|warning| sentence(&warning.text)));
    if quality.warnings.len() > MOST_WARNINGS {
        text.push(format!(
            "All {} warnings are at the end of the page.",
            quality.warnings.len()
        ));
    }
    if !summary.completed {
        text.push("What was computed up to there is drawn.".into());
    }
    text.dedup();
    text
}

/// By how much what leaves one system and what enters the next differ.
fn mismatch(summary: &RunSummary) -> Option<String> {
    let quality = &summary.quality;
    let variable = quality.residual_variable.as_ref()?;
    let residual = significant(quality.residual, 2);
    let known = summary
        .final_values
        .iter()
        .find(|value| value.name == *variable);
    let unit = known
        .map(|value| value.unit_text())
        .filter(|unit| !unit.is_empty() && unit != "1");
    let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();

    Some(format!(
        "What leaves one system and what enters the next differ by at most {residual}{unit} (`{variable}`)."
    ))
}
