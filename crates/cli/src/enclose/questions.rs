//! What was required of all trajectories, and the answers.

use dovetail::guaranteed::{Answer, Verdict};
use dovetail::report::{AnsweredRequirement, EnclosureSummary, RequirementSummary};
use dovetail::scenario::Scenario;

use super::arguments::EncloseArguments;
use crate::failure::Failure;
use crate::output;

/// The answers in figures.
pub(super) fn summaries(scenario: &Scenario, verdicts: &[Verdict]) -> Vec<RequirementSummary> {
    let summary = |verdict: &Verdict| RequirementSummary {
        text: verdict.text.clone(),
        answer: verdict.answer.name().to_owned(),
        time: verdict.time,
        counterexample: verdict
            .counterexample
            .as_ref()
            .map(|example| scenario.start_values(example)),
    };
    verdicts.iter().map(summary).collect()
}

/// The same for a page.
pub(super) fn answered(summary: &EnclosureSummary) -> Vec<AnsweredRequirement> {
    let requirements = summary.requirements.iter();
    requirements
        .map(|requirement| AnsweredRequirement {
            text: requirement.text.clone(),
            answer: requirement.answer.clone(),
            remark: requirement.remark(),
        })
        .collect()
}

/// Says how to replay counterexamples, and whether all is well: with requirements, that they are proved; without, that the
/// bounds reach the end.
pub(super) fn judge(
    summary: &EnclosureSummary,
    arguments: &EncloseArguments,
) -> Result<(), Failure> {
    if !arguments.json && !arguments.quiet {
        for requirement in &summary.requirements {
            if let Some(replay) = replay(requirement, arguments) {
                output::print(&replay)?;
            }
        }
    }

    let proved = Answer::Proved.name();
    let others = summary.requirements.iter().filter(|r| r.answer != proved);
    let others: Vec<String> = others
        .map(|r| format!("`{}` is {}", r.text, r.answer))
        .collect();
    if !others.is_empty() {
        return Err(Failure::NotProved(others.join("; ")));
    }
    match &summary.message {
        Some(message) if summary.requirements.is_empty() => {
            Err(Failure::EndedEarly(message.clone()))
        }
        _ => Ok(()),
    }
}

/// The command that runs a counterexample.
fn replay(requirement: &RequirementSummary, arguments: &EncloseArguments) -> Option<String> {
    let values = requirement.assignments()?;
    let mut command = format!("dovetail run {}", arguments.model.display());
    let given = arguments
        .set
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let found = values.iter().filter_map(|value| value.split_once('='));
    let replaced = |name: &str| {
        values
            .iter()
            .any(|v| v.split_once('=').is_some_and(|(n, _)| n == name))
    };
    for (name, value) in given.filter(|(name, _)| !replaced(name)).chain(found) {
        command.push_str(&format!(" --set {name}={value}"));
    }
    for (flag, time) in [
        ("--start-time", arguments.start_time),
        ("--stop-time", arguments.stop_time),
    ] {
        if let Some(time) = time {
            command.push_str(&format!(" {flag} {time}"));
        }
    }
    Some(format!(
        "`{}` is violated by: {command}\n",
        requirement.text
    ))
}
