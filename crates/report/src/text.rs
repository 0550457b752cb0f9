//! A run for people, on a terminal.

use std::fmt::Display;

use dovetail_core::{EstimatedError, Kept, Refused};

use crate::number::{brief, count, duration, significant};
use crate::summary::{FinalValue, RunSummary, SystemWork};
use crate::table::{Alignment, Table};
use crate::variables::Kind;
use crate::wrap::{LABEL, entry, title, wrapped};

/// More final values than this are a file's affair.
pub(crate) const MOST_VALUES: usize = 20;
/// Of more systems than this the slowest are named.
const MOST_SHARES: usize = 5;

const SYSTEM_HEADS: [(&str, Alignment); 6] = [
    ("system", Alignment::Left),
    ("integrations", Alignment::Right),
    ("trials", Alignment::Right),
    ("linearizations", Alignment::Right),
    ("seconds", Alignment::Right),
    ("share", Alignment::Right),
];

/// Where the time of FMUs goes.
const FMU_HEADS: [(&str, Alignment); 4] = [
    ("seconds in FMUs", Alignment::Left),
    ("step", Alignment::Right),
    ("get and set", Alignment::Right),
    ("save and restore", Alignment::Right),
];

impl RunSummary {
    /// What an engineer asks first: the model, how it was run, how good the result is; warnings
    /// last.
    pub fn to_text(&self) -> String {
        [self.headline(), self.final_table(), self.notices()].concat()
    }

    /// The same with what the run did and how its quality is known.
    pub fn to_detailed_text(&self) -> String {
        let tables = [self.systems_table(), self.fmu_table()];
        let work = joined_parts([self.work_lines(), tables.concat(), self.quality_lines()]);
        let summary = [self.headline(), self.final_table()].concat();
        joined_parts([summary, work, self.notices()])
    }

    fn headline(&self) -> String {
        [
            self.title(),
            self.method_line(),
            self.steps_line(),
            self.verdict_line(),
            self.time_line(),
        ]
        .concat()
    }

    /// The model and how far the run came.
    fn title(&self) -> String {
        let model = match self.model.as_str() {
            "" => String::new(),
            model => format!("{model}   "),
        };
        let start = brief(self.start);
        let stop = brief(self.stop);
        // Why a run ended early is said once, by whoever shows this text.
        let outcome = if self.completed {
            format!("done in {}", duration(self.wall_seconds))
        } else {
            format!("ended early at t = {} s", brief(self.reached))
        };

        title(&format!("{model}{start} … {stop} s   {outcome}"))
    }

    fn method_line(&self) -> String {
        match &self.reason {
            Some(reason) => entry("method", &format!("{} (automatic: {reason})", self.method)),
            None => entry("method", &self.method),
        }
    }

    /// How many steps there were, and how long they were.
    fn steps_line(&self) -> String {
        let sizes = match (self.step, self.quality.step_sizes) {
            (Some(step), _) => format!(" of {} s", brief(step)),
            (None, Some((shortest, longest))) => {
                let [shortest, longest] = [shortest, longest].map(|size| significant(size, 3));
                format!(" of {shortest} … {longest} s")
            }
            (None, None) => String::new(),
        };
        let rejected = match self.rejected {
            0 => String::new(),
            rejected => format!(", {} rejected", count(rejected)),
        };
        entry("steps", &format!("{}{sizes}{rejected}", count(self.steps)))
    }

    /// What the result is worth; nothing of a summary that nobody has judged.
    pub(crate) fn verdict_line(&self) -> String {
        let word = self.quality.verdict.word();
        match self.quality.verdict_reason.text.as_str() {
            "" => String::new(),
            reason => entry("quality", &format!("{word}: {reason}")),
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

    /// Where the time went: to the coupling, and to each system.
    fn time_line(&self) -> String {
        let in_systems: f64 = self.systems.iter().map(|system| system.seconds).sum();
        let coupling = self.coupling_seconds();
        let all = in_systems + coupling.unwrap_or(0.0);
        if all <= 0.0 {
            return String::new();
        }

        let mut systems: Vec<(&str, f64)> = self
            .systems
            .iter()
            .map(|system| (system.name.as_str(), system.seconds))
            .collect();
        systems.sort_by(|one, other| other.1.total_cmp(&one.1));
        let share = |(name, seconds): (&str, f64)| format!("{name} {}", percent(seconds / all));
        let mut parts: Vec<String> = Vec::new();
        parts.extend(coupling.map(|seconds| share(("coupling", seconds))));
        parts.extend(systems.iter().take(MOST_SHARES).copied().map(share));

        if let Some(others) = systems.get(MOST_SHARES..).filter(|rest| !rest.is_empty()) {
            let seconds: f64 = others.iter().map(|(_, seconds)| seconds).sum();
            parts.push(format!(
                "{} others {}",
                others.len(),
                percent(seconds / all)
            ));
        }
        entry("time", &parts.join(", "))
    }

    /// What is left of the time of the run beside that of the systems; not known where systems ran
    /// side by side for longer than the run took.
    fn coupling_seconds(&self) -> Option<f64> {
        let in_systems: f64 = self.systems.iter().map(|system| system.seconds).sum();
        (self.wall_seconds > in_systems).then_some(self.wall_seconds - in_systems)
    }

    /// What was done, in counts, and where.
    fn work_lines(&self) -> String {
        let integrations = counted(self.integrations(), "integration");
        let trials = counted(self.trials(), "trial");
        let linearizations = counted(self.linearizations(), "linearization");
        let iterations = counted(self.iterations, "iteration");
        let work = format!("{integrations} ({trials} among them), {linearizations}, {iterations}");
        let workers = self.workers.as_ref();

        [
            entry("work", &work),
            workers.map_or_else(String::new, |workers| entry("workers", workers)),
        ]
        .concat()
    }

    fn systems_table(&self) -> String {
        if self.systems.is_empty() {
            return String::new();
        }

        let mut table = Table::new(&SYSTEM_HEADS);
        for (system, share) in self.systems.iter().zip(self.shares()) {
            table.row(system_cells(system, share));
        }
        if let Some(seconds) = self.coupling_seconds() {
            let cells = ["coupling", "", "", "", &significant(seconds, 4)];
            let share = percent(seconds / self.wall_seconds);
            let cells = cells.into_iter().map(str::to_owned);
            table.row(cells.chain([share]).collect());
        }
        table.render("")
    }

    /// Where the time of FMUs went; nothing where there are none.
    fn fmu_table(&self) -> String {
        let mut table = Table::new(&FMU_HEADS);
        let mut has_fmus = false;
        for system in &self.systems {
            let Some(costs) = system.fmi else { continue };
            let seconds = [costs.step, costs.values, costs.state].map(|s| significant(s, 3));
            table.row([vec![system.name.clone()], seconds.into()].concat());
            has_fmus = true;
        }

        if has_fmus {
            format!("\n{}", table.render(""))
        } else {
            String::new()
        }
    }

    /// Each system's share of the time of the run, or of that spent in systems where several ran
    /// at a time.
    pub(crate) fn shares(&self) -> Vec<String> {
        let seconds = self.systems.iter().map(|system| system.seconds);
        let in_systems: f64 = seconds.clone().sum();
        let all = in_systems + self.coupling_seconds().unwrap_or(0.0);

        let share = |seconds: f64| {
            if all > 0.0 {
                percent(seconds / all)
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

        let indent = " ".repeat(LABEL);
        let table = table.render(&indent);
        let note = match outputs.len().saturating_sub(MOST_VALUES) {
            0 => String::new(),
            more => format!("{indent}and {more} more outputs\n"),
        };
        // The label stands in the margin of the first row.
        format!("{:<LABEL$}{}{note}", "results", &table[LABEL..])
    }

    /// How the quality is known.
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
                "largest error of a predicted output",
                self.worst_discrepancy(),
            ),
            quality.kept.map(kept_line).unwrap_or_default(),
            quality.refused.map(refused_line).unwrap_or_default(),
            wrapped_lines("note", &quality.details),
        ];
        parts.concat()
    }

    /// What the user should know.
    fn notices(&self) -> String {
        let notes = wrapped_lines("note", &self.quality.remarks);
        let warnings = wrapped_lines("warning", &self.quality.warnings);
        notes + &warnings
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
    format!("reused operators: {linearizations}, {factorizations}\n")
}

/// Nothing where none was refused.
fn refused_line(refused: Refused) -> String {
    if refused == Refused::default() {
        return String::new();
    }

    let Refused { before, after } = refused;
    format!("rejected steps: {before} before integration, {after} after\n")
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

/// The same, in lines that fit a terminal.
fn wrapped_lines<T: Display>(label: &str, texts: &[T]) -> String {
    let line = |text: &T| wrapped("", "  ", &format!("{label}: {text}"));
    texts.iter().map(line).collect()
}

/// A share for people: no digits that nobody needs.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 1.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
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
spring and mass   0 … 10 s   done in 7.12 ms
method    predictive (automatic: all systems support linearization)
steps     500 of 0.02 s, 2 rejected
quality   good: the estimated error of `mass.x` is 3.2e-6 % of its range at most
time      coupling 16 %, spring 63 %, mass 21 %
results   spring.F  -2.500000
          mass.x    0.2500000
warning: `spring` takes its inputs as cubics, not quintics
";
        assert_eq!(example().to_text(), expected);
    }

    #[test]
    fn details_are_added_on_request() {
        let expected = "
work      13 000 integrations (12 000 trials among them), 2 linearizations, 510
          iterations

system    integrations  trials  linearizations   seconds  share
spring             500       0               1  0.004500   63 %
mass            12 500  12 000               1  0.001500   21 %
coupling                                        0.001120   16 %

largest coupling residual: 1.250e-9 at mass.F
largest estimated error: 3.250e-8 at mass.x
largest error of a predicted output: 2.500e-7 at spring.F
reused operators: 996 linearizations, 498 factorizations
rejected steps: 2 before integration, 0 after

warning: `spring` takes its inputs as cubics, not quintics
";
        let text = example().to_detailed_text();
        assert!(text.ends_with(expected), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn chosen_steps_are_shown_by_their_range() {
        let mut run = example();
        run.step = None;
        run.rejected = 0;
        run.quality.step_sizes = Some((3.47e-8, 0.0479));
        let text = run.to_text();
        assert!(
            text.contains("\nsteps     500 of 3.47e-8 … 0.0479 s\n"),
            "{text}"
        );
    }

    #[test]
    fn systems_that_ran_side_by_side_leave_no_time_to_the_coupling() {
        let run = RunSummary {
            wall_seconds: 0.005,
            ..example()
        };
        assert!(
            run.to_text()
                .contains("\ntime      spring 75 %, mass 25 %\n")
        );
    }

    #[test]
    fn a_run_that_ended_early_says_where_and_leaves_the_reason_to_the_outcome() {
        let message = Some("the disk is full".into());
        let run = RunSummary {
            completed: false,
            reached: 2.5,
            message,
            ..example()
        };
        assert!(
            run.to_text()
                .starts_with("spring and mass   0 … 10 s   ended early at t = 2.5 s\n")
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
        assert!(text.contains("          and 30 more outputs\n"));
    }

    #[test]
    fn a_run_without_anything_is_still_summed_up() {
        assert!(RunSummary::default().to_text().contains("steps     0\n"));
    }
}
