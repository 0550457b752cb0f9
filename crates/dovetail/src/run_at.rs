//! One of many runs of a model: with values of its own, in a thread that does nothing else.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dovetail_core::Notice;
use dovetail_report::{CsvFile, Quality, Recorder, Selection, Sink, Trajectory, Variables};
use dovetail_scenario::{BadModel, Placement, RunOptions, Scenario, Session};

use crate::execution::{Execution, Keep, RowFile};

/// The options of each of many runs: what is not to be changed by how many there are at a time, so that each has a single thread.
pub(crate) fn options_of_each(options: &RunOptions) -> RunOptions {
    let placement = match options.placement.clone() {
        Placement::Auto => Placement::SingleThread,
        other => other,
    };
    RunOptions {
        placement,
        ..options.clone()
    }
}

/// Whether several runs may be under way at a time: instances of an FMU may share the memory of a process.
pub(crate) fn can_be_parallel(scenario: &Scenario, options: &RunOptions) -> bool {
    scenario.units().is_empty() || matches!(options.placement, Placement::Processes(_))
}

/// Refuses names under which one value is varied twice, and values that something else drives.
pub(crate) fn check_varied<'a>(
    scenario: &Scenario,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let mut known: Vec<(String, &str)> = Vec::new();
    for name in names {
        let full = scenario.full_name(name);
        if let Some((_, before)) = known.iter().find(|(known, _)| *known == full) {
            return Err(format!(
                "`{full}` is varied twice, as `{before}` and as `{name}`"
            ));
        }
        if let Some(driver) = scenario.driver_of(&full) {
            return Err(format!(
                "`{full}` cannot be varied: {driver} gives it its values in every run"
            ));
        }
        known.push((full, name));
    }
    Ok(())
}

/// One run that is to be made.
pub(crate) struct RunAt<'a> {
    /// The model with its values.
    pub scenario: &'a Scenario,
    pub options: &'a RunOptions,
    /// What is measured.
    pub needed: &'a [String],
    /// What is drawn; empty for nothing.
    pub drawn: &'a [String],
    /// Where these variables are written, row by row.
    pub file: Option<(&'a Path, &'a [String])>,
    pub interrupted: &'a AtomicBool,
}

/// A run that came to its end.
pub(crate) struct RanAt<S> {
    pub sink: S,
    pub quality: Quality,
    /// What was to be drawn.
    pub drawn: Option<Trajectory>,
}

impl RunAt<'_> {
    /// Runs, or says why it did not come to its end.
    pub fn run<S: Sink>(
        &self,
        recorder: impl FnOnce(&Session<'_>, &Selection) -> Recorder<S>,
    ) -> Result<RanAt<S>, String> {
        let Self {
            scenario, options, ..
        } = *self;
        let session = scenario.session(options).map_err(sentences)?;
        let variables = Variables::of(&scenario.connections).with_signals(&session.signals());
        let mut recorder = recorder(&session, &variables.named(self.needed));
        let written = self.file.map_or(&[][..], |(_, names)| names);
        let written = variables.named(written);
        let drawn = (!self.drawn.is_empty()).then(|| variables.named(self.drawn));
        let execution = Execution {
            keep: Keep::Nothing,
            drawn,
            file: self.row_file(&written)?,
            observers: vec![&mut recorder],
            ..Execution::default()
        };
        let done = execution.run(scenario, session, options, &written, self.interrupted);
        self.name_file()?;
        let quality = done.summary.quality;

        match done.summary.message {
            Some(Notice { text, .. }) => Err(text),
            None if quality.diverged => Err(quality.verdict_reason.text),
            None => Ok(RanAt {
                sink: recorder.into_sink(),
                quality,
                drawn: done.drawn.map(|drawn| drawn.trajectory),
            }),
        }
    }

    /// The file of the trajectory, under a name that says that it is not complete.
    fn row_file(&self, written: &Selection) -> Result<Option<RowFile>, String> {
        let Some((path, _)) = self.file else {
            return Ok(None);
        };
        let file = CsvFile::create(incomplete(path), &written.names());
        let file = file.map_err(|error| not_written(path, &error))?;
        Ok(Some(RowFile {
            name: path.display().to_string(),
            sink: Box::new(file),
        }))
    }

    /// What is there has its name as a whole.
    fn name_file(&self) -> Result<(), String> {
        let Some((path, _)) = self.file else {
            return Ok(());
        };
        let named = std::fs::rename(incomplete(path), path);
        named.map_err(|error| not_written(path, &error))
    }
}

fn incomplete(path: &Path) -> PathBuf {
    path.with_extension("csv.part")
}

fn not_written(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}

/// What is wrong with a model with some values, in one line.
pub(crate) fn sentences(bad: BadModel) -> String {
    let problems = bad.problems.iter();
    let sentences: Vec<String> = problems.map(|problem| problem.sentence()).collect();
    sentences.join("; ")
}
