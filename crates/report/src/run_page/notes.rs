//! What was chosen, substituted or reduced in a run, and its warnings, in sentences.

use super::RunPage;
use crate::page::sentence;

pub(super) fn of(page: &RunPage<'_>) -> Vec<String> {
    let summary = page.summary;
    let mut notes = Vec::new();
    notes.push(match &summary.reason {
        Some(reason) => format!("Method {}, chosen because {reason}.", summary.method),
        None => format!("Method {}, as it was asked for.", summary.method),
    });
    notes.extend(summary.workers.iter().map(|workers| sentence(workers)));
    for members in super::structure::loops(page) {
        let names: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
        notes.push(format!(
            "Algebraic loop through {}, solved at the start.",
            names.join(" and ")
        ));
    }
    notes.extend(
        summary
            .quality
            .remarks
            .iter()
            .map(|remark| sentence(remark)),
    );

    let warnings = &summary.quality.warnings;
    if warnings.is_empty() {
        notes.push("No warnings: nothing was substituted or reduced.".into());
    }
    let warning = |text: String| format!("Warning: {text}");
    notes.extend(
        warnings
            .iter()
            .map(|notice| warning(sentence(&notice.text))),
    );
    notes
}
