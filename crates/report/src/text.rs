//! A run for people, on a terminal.

use std::fmt::Display;

use dovetail_core::{EstimatedError, Kept, Refused};

use crate::number::significant;
use crate::number::{brief, count};
use crate::summary::{FinalValue, RunSummary, SystemWork};
use crate::table::{Alignment, Table};
use crate::variables::Kind;

/// More final values than this are a file's affair.
pub(crate) const MOST_VALUES: usize = 20;

const SYSTEM_HEADS: [(&str, Alignment); 6] = [
    ("system", Alignment::Left),
    ("integrations", Alignment::Right),
    ("trials", Alignment::Right),
    ("linearizations", Alignment::Right),
    ("seconds", Alignment::Right),
    ("share", Alignment::Right),
];

/// Where the time of FMUs goes.
const FMU_HEADS: [(&str, Alignment); 3] = [
    ("step", Alignment::Right),
    ("get and set", Alignment::Right),
    ("save and restore", Alignment::Right),
];

impl RunSummary {
    /// A readable summary, warnings last.
    pub fn to_text(&self) -> String {
        joined_parts([
            self.headline(),
            self.systems_table(),
            self.final_table(),
            self.quality_lines(),
        ])
    }

    fn headline(&self) -> String {
        let reason = match &self.reason {
            Some(reason) => format!(" ({reason})"),
            None => String::new(),
        };

        let verdict = self.verdict_line();
        // Why a run ended early is said once, by whoever shows this text.
        let progress = self.progress();
        let steps = self.steps_line();
        let work = self.work_line();

        let workers = self.workers_line();

        format!(
            "{verdict}{}{reason}\n{progress}\n{steps}\n{work}\n{workers}",
            self.method
        )
    }

    /// Where the systems ran, where that was chosen.
    fn workers_line(&self) -> String {
        match &self.workers {
            Some(workers) => format!("systems ran in {workers}\n"),
            None => String::new(),
        }
    }

    /// What the result is worth; nothing of a summary that nobody has judged.
    pub(crate) fn verdict_line(&self) -> String {
        let word = self.quality.verdict.word();
        match self.quality.verdict_reason.text.as_str() {
            "" => String::new(),
            reason => format!("verdict: {word} ({reason})\n"),
        }
    }

    /// How far the run came.
    pub(crate) fn progress(&self) -> String {
        let start = brief(self.start);
        let reached = brief(self.reached);

        if self.completed {
            let seconds = significant(self.wall_seconds, 4);
            return format!("ran from t = {start} s to {reached} s in {seconds} s");
        }

        let stop = brief(self.stop);
        format!("ended early at t = {reached} s of {start} s to {stop} s")
    }

    fn steps_line(&self) -> String {
        let steps = counted(self.steps, "step");
        let size = match self.step {
            Some(step) => format!(" of {} s", brief(step)),
            None => String::new(),
        };

        let rejected = count(self.rejected);
        let iterations = counted(self.iterations, "iteration");

        format!("{steps}{size}, {rejected} rejected, {iterations}")
    }

    fn work_line(&self) -> String {
        let integrations = counted(self.integrations(), "integration");
        let trials = counted(self.trials(), "trial");
        let linearizations = counted(self.linearizations(), "linearization");
        format!("{integrations} ({trials} among them), {linearizations}")
    }

    fn systems_table(&self) -> String {
        if self.systems.is_empty() {
            return String::new();
        }

        // FMUs report where their time goes; without any, the columns are not there.
        let has_fmus = self.systems.iter().any(|system| system.fmi.is_some());
        let mut heads = SYSTEM_HEADS.to_vec();

        if has_fmus {
            heads.extend(FMU_HEADS);
        }

        let mut table = Table::new(&heads);
        for (system, share) in self.systems.iter().zip(self.shares()) {
            let mut cells = system_cells(system, share);
            if has_fmus {
                cells.extend(fmu_cells(system));
            }
            table.row(cells);
        }
        table.render("")
    }

    /// Each system's share of the time spent in systems.
    pub(crate) fn shares(&self) -> Vec<String> {
        let seconds = self.systems.iter().map(|system| system.seconds);
        let all: f64 = seconds.clone().sum();

        let share = |seconds: f64| {
            if all > 0.0 {
                format!("{:.1} %", 100.0 * seconds / all)
            } else {
                "-".into()
            }
        };
        seconds.map(share).collect()
    }

    fn final_table(&self) -> String {
        let is_output = |last: &&FinalValue| last.kind == Kind::Output;
        let outputs: Vec<&FinalValue> = self.final_values.iter().filter(is_output).collect();
        if outputs.is_empty() {
            return String::new();
        }

        let mut table = Table::without_heads(&[Alignment::Left, Alignment::Right, Alignment::Left]);
        for last in outputs.iter().take(MOST_VALUES) {
            let name = last.name.clone();
            let value = significant(last.value, 7);
            let unit = last.unit_text();
            table.row(vec![name, value, unit]);
        }

        let reached = brief(self.reached);
        let table = table.render("  ");
        let note = more_note(outputs.len(), "outputs");

        format!("outputs at t = {reached} s\n{table}{note}")
    }

    fn quality_lines(&self) -> String {
        let quality = &self.quality;
        let residual = match &quality.residual_variable {
            Some(name) => worst_line("largest coupling residual", Some((name, quality.residual))),
            None => format!(
                "largest coupling residual: {}\n",
                significant(quality.residual, 4)
            ),
        };

        let verified = largest(quality.verified_error.as_deref());

        let parts = [
            residual,
            worst_line("largest estimated error", self.worst_estimate()),
            worst_line("largest verified error", verified),
            worst_line(
                "largest distance of an integrated output from its prediction",
                self.worst_discrepancy(),
            ),
            quality.kept.map(kept_line).unwrap_or_default(),
            quality.refused.map(refused_line).unwrap_or_default(),
            labeled_lines("note", &quality.remarks),
            labeled_lines("warning", &quality.warnings),
        ];
        parts.concat()
    }

    /// The output that was predicted worst.
    pub(crate) fn worst_discrepancy(&self) -> Option<(&str, f64)> {
        let all = self.quality.discrepancy.iter();
        let misses = all.map(|(name, miss)| (name.as_str(), *miss));
        misses.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The variable with the largest estimated error.
    pub(crate) fn worst_estimate(&self) -> Option<(&str, f64)> {
        largest(self.quality.estimated_error.as_deref())
    }
}

/// The variable with the largest of these errors.
fn largest(all: Option<&[(String, EstimatedError)]>) -> Option<(&str, f64)> {
    let errors = all?.iter().map(|(name, error)| (name.as_str(), error.max));
    errors.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Nothing where nothing is known.
fn worst_line(what: &str, worst: Option<(&str, f64)>) -> String {
    match worst {
        Some((name, value)) => format!("{what}: {} at {name}\n", significant(value, 4)),
        None => String::new(),
    }
}

fn kept_line(kept: Kept) -> String {
    let linearizations = counted(kept.linearizations, "linearization");
    let factorizations = counted(kept.factorizations, "factorization");
    format!("kept from step to step: the operators of {linearizations} and {factorizations}\n")
}

/// Nothing where none was refused.
fn refused_line(refused: Refused) -> String {
    if refused == Refused::default() {
        return String::new();
    }

    let Refused { before, after } = refused;
    format!("refused steps: {before} before they were integrated, {after} after\n")
}

pub(crate) fn system_cells(system: &SystemWork, share: String) -> Vec<String> {
    vec![
        system.name.clone(),
        count(system.integrations),
        count(system.trials),
        count(system.linearizations),
        significant(system.seconds, 4),
        share,
    ]
}

/// Empty cells for a system that is no FMU.
fn fmu_cells(system: &SystemWork) -> [String; 3] {
    match system.fmi {
        Some(costs) => [costs.step, costs.values, costs.state].map(|s| significant(s, 3)),
        None => Default::default(),
    }
}

/// Parts with an empty line between them; empty ones are left out.
pub(crate) fn joined_parts<const N: usize>(parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

/// A line for each text, `label` first.
pub(crate) fn labeled_lines<T: Display>(label: &str, texts: &[T]) -> String {
    let line = |text: &T| format!("{label}: {text}\n");
    texts.iter().map(line).collect()
}

/// How many of `count` things are not shown, where that are any.
pub(crate) fn more_note(count: usize, things: &str) -> String {
    match count.saturating_sub(MOST_VALUES) {
        0 => String::new(),
        more => format!("  and {more} more {things}\n"),
    }
}

/// `1 step`, `2 steps`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::example;

    #[test]
    fn a_run_is_summed_up_like_this() {
        let expected = "\
verdict: good (the estimated error of `mass.x` is 3.2e-6 % of its range at most)
predictive (every system can be linearized)
ran from t = 0 s to 10 s in 0.007120 s
500 steps of 0.02 s, 2 rejected, 510 iterations
13 000 integrations (12 000 trials among them), 2 linearizations

system  integrations  trials  linearizations   seconds   share
spring           500       0               1  0.004500  75.0 %
mass          12 500  12 000               1  0.001500  25.0 %

outputs at t = 10 s
  spring.F  -2.500000
  mass.x    0.2500000

largest coupling residual: 1.250e-9 at mass.F
largest estimated error: 3.250e-8 at mass.x
largest distance of an integrated output from its prediction: 2.500e-7 at spring.F
kept from step to step: the operators of 996 linearizations and 498 factorizations
refused steps: 2 before they were integrated, 0 after
warning: `spring` takes its inputs as cubics, not quintics
";
        assert_eq!(example().to_text(), expected);
    }

    #[test]
    fn a_run_that_ended_early_says_where_and_leaves_the_reason_to_the_error() {
        let message = Some("the disk is full".into());
        let run = RunSummary {
            completed: false,
            reached: 2.5,
            message,
            ..example()
        };
        assert!(
            run.to_text()
                .contains("\nended early at t = 2.5 s of 0 s to 10 s\n")
        );
        assert!(!run.to_text().contains("the disk is full"));
    }

    #[test]
    fn many_outputs_are_cut_with_a_note() {
        let output = |i| FinalValue {
            name: format!("a.y{i}"),
            kind: Kind::Output,
            value: 1.0,
            unit: Some("m".into()),
        };
        let run = RunSummary {
            final_values: (0..50).map(output).collect(),
            ..example()
        };
        let text = run.to_text();
        assert!(text.contains("a.y19") && !text.contains("a.y20"));
        assert!(text.contains("  and 30 more outputs\n"));
    }

    #[test]
    fn a_run_without_anything_is_still_summed_up() {
        assert!(
            RunSummary::default()
                .to_text()
                .contains("0 steps, 0 rejected")
        );
    }
}
