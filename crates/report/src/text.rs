//! A run for people, on a terminal.

use dovetail_core::{EstimatedError, Refused};

use crate::number::significant;
use crate::number::{brief, count};
use crate::summary::{FinalValue, RunSummary};
use crate::table::{Alignment, Table};
use crate::variables::Kind;

/// More final values than this are a file's affair.
pub(crate) const MOST_VALUES: usize = 20;

impl RunSummary {
    /// A readable summary, warnings last.
    pub fn to_text(&self) -> String {
        let parts = [
            self.headline(),
            self.systems_table(),
            self.final_table(),
            self.quality_lines(),
        ];
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn headline(&self) -> String {
        let reason = self
            .reason
            .as_ref()
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        // Why a run ended early is told once, by whoever shows this text.
        let mut lines = format!(
            "{}{}{reason}\n{}\n",
            self.verdict_line(),
            self.method,
            self.progress()
        );
        lines += &format!("{}\n{}\n", self.steps_line(), self.work_line());
        lines
    }

    /// What the result is worth; nothing of a summary that nobody has judged.
    pub(crate) fn verdict_line(&self) -> String {
        let quality = &self.quality;
        if quality.verdict_reason.is_empty() {
            return String::new();
        }
        format!(
            "verdict: {} ({})\n",
            quality.verdict.word(),
            quality.verdict_reason
        )
    }

    /// How far the run came.
    pub(crate) fn progress(&self) -> String {
        let (start, reached) = (brief(self.start), brief(self.reached));
        if self.completed {
            return format!(
                "ran from t = {start} s to {reached} s in {} s",
                significant(self.wall_seconds, 4)
            );
        }
        format!(
            "ended early at t = {reached} s of {start} s to {} s",
            brief(self.stop)
        )
    }

    /// How far the run came, and why not further.
    pub(crate) fn outcome(&self) -> String {
        let why = self
            .message
            .as_ref()
            .filter(|_| !self.completed)
            .map(|message| format!(": {message}"));
        self.progress() + &why.unwrap_or_default()
    }

    fn steps_line(&self) -> String {
        let size = self
            .step
            .map(|step| format!(" of {} s", brief(step)))
            .unwrap_or_default();
        let steps = format!("{}{size}", counted(self.steps, "step"));
        format!(
            "{steps}, {} rejected, {}",
            count(self.rejected),
            counted(self.iterations, "iteration")
        )
    }

    fn work_line(&self) -> String {
        let integrations = counted(self.integrations(), "integration");
        let trials = counted(self.trials(), "trial");
        format!(
            "{integrations} ({trials} among them), {}",
            counted(self.linearizations(), "linearization")
        )
    }

    fn systems_table(&self) -> String {
        use Alignment::{Left, Right};
        if self.systems.is_empty() {
            return String::new();
        }
        let heads = [
            ("system", Left),
            ("integrations", Right),
            ("trials", Right),
            ("linearizations", Right),
            ("seconds", Right),
            ("share", Right),
        ];
        // FMUs tell where their time goes; without any, the columns are not there.
        let fmi = self.systems.iter().any(|system| system.fmi.is_some());
        let more = [
            ("step", Right),
            ("get and set", Right),
            ("save and restore", Right),
        ];
        let heads: Vec<_> = heads
            .into_iter()
            .chain(more.into_iter().filter(|_| fmi))
            .collect();
        let mut table = Table::new(&heads);
        for (system, share) in self.systems.iter().zip(self.shares()) {
            let counts = [system.integrations, system.trials, system.linearizations].map(count);
            let times = [significant(system.seconds, 4), share];
            let costs = system
                .fmi
                .map(|costs| [costs.step, costs.values, costs.state].map(|s| significant(s, 3)));
            let costs = costs.unwrap_or_default().into_iter().filter(|_| fmi);
            table.row(
                [system.name.clone()]
                    .into_iter()
                    .chain(counts)
                    .chain(times)
                    .chain(costs)
                    .collect(),
            );
        }
        table.render("")
    }

    /// Each system's share of the time spent in systems.
    pub(crate) fn shares(&self) -> Vec<String> {
        let all: f64 = self.systems.iter().map(|system| system.seconds).sum();
        let share = |seconds: f64| {
            if all > 0.0 {
                format!("{:.1} %", 100.0 * seconds / all)
            } else {
                "-".into()
            }
        };
        self.systems
            .iter()
            .map(|system| share(system.seconds))
            .collect()
    }

    fn final_table(&self) -> String {
        let outputs: Vec<&FinalValue> = self
            .final_values
            .iter()
            .filter(|last| last.kind == Kind::Output)
            .collect();
        if outputs.is_empty() {
            return String::new();
        }
        let mut table = Table::without_heads(&[Alignment::Left, Alignment::Right, Alignment::Left]);
        for last in outputs.iter().take(MOST_VALUES) {
            table.row(vec![
                last.name.clone(),
                significant(last.value, 7),
                last.unit.clone().unwrap_or_default(),
            ]);
        }
        let more = outputs.len().saturating_sub(MOST_VALUES);
        let note = if more > 0 {
            format!("  and {more} more outputs\n")
        } else {
            String::new()
        };
        format!(
            "outputs at t = {} s\n{}{note}",
            brief(self.reached),
            table.render("  ")
        )
    }

    fn quality_lines(&self) -> String {
        let quality = &self.quality;
        let place = quality
            .residual_variable
            .as_ref()
            .map(|name| format!(" at {name}"))
            .unwrap_or_default();
        let mut lines = format!(
            "largest coupling residual: {}{place}\n",
            significant(quality.residual, 4)
        );
        if let Some((name, worst)) = self.worst_estimate() {
            lines += &format!(
                "largest estimated error: {} at {name}\n",
                significant(worst, 4)
            );
        }
        if let Some((name, worst)) = largest(self.quality.verified_error.as_deref()) {
            lines += &format!(
                "largest verified error: {} at {name}\n",
                significant(worst, 4)
            );
        }
        if let Some((name, worst)) = self.worst_discrepancy() {
            let worst = significant(worst, 4);
            lines += &format!(
                "largest distance of an integrated output from its prediction: {worst} at {name}\n"
            );
        }
        if let Some(kept) = quality.kept {
            let (linearizations, factorizations) = (kept.linearizations, kept.factorizations);
            let kept = [
                counted(linearizations, "linearization"),
                counted(factorizations, "factorization"),
            ]
            .join(" and ");
            lines += &format!("kept from step to step: the operators of {kept}\n");
        }
        if let Some(Refused { before, after }) = quality
            .refused
            .filter(|refused| *refused != Refused::default())
        {
            lines +=
                &format!("refused steps: {before} before they were integrated, {after} after\n");
        }
        lines.extend(
            quality
                .remarks
                .iter()
                .map(|remark| format!("note: {remark}\n")),
        );
        lines.extend(
            quality
                .warnings
                .iter()
                .map(|warning| format!("warning: {warning}\n")),
        );
        lines
    }

    /// The output that was predicted worst.
    pub(crate) fn worst_discrepancy(&self) -> Option<(&str, f64)> {
        let all = self.quality.discrepancy.iter();
        all.map(|(name, miss)| (name.as_str(), *miss))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The variable with the largest estimated error.
    pub(crate) fn worst_estimate(&self) -> Option<(&str, f64)> {
        largest(self.quality.estimated_error.as_deref())
    }
}

/// The variable with the largest of these errors.
fn largest(all: Option<&[(String, EstimatedError)]>) -> Option<(&str, f64)> {
    all?.iter()
        .map(|(name, e)| (name.as_str(), e.max))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// `1 step`, `2 steps`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!(
        "{} {thing}{}",
        count(number),
        if number == 1 { "" } else { "s" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::example;

    #[test]
    fn a_run_is_summed_up_like_this() {
        let expected = "\
verdict: good (the estimated error of `mass.x` is 3.2e-6 % of its range at most)
dovetail (every system can be linearised)
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
    fn a_run_that_ended_early_says_where_and_leaves_the_reason_to_the_outcome() {
        let message = Some("the disk is full".to_owned());
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
        assert_eq!(
            run.outcome(),
            "ended early at t = 2.5 s of 0 s to 10 s: the disk is full"
        );
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
