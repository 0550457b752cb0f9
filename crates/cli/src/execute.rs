//! One run of this program: with its file, its progress bar and Ctrl-C.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail::report::Selection;
use dovetail::scenario::{RunOptions, Scenario, Session};
use dovetail::{Executed, Execution, Keep, RowFile};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::remedies;

/// A run that is about to begin. Whatever could be refused has been: files may be touched now.
pub(crate) struct Execute<'a> {
    pub scenario: &'a Scenario,
    pub options: &'a RunOptions,
    pub selection: &'a Selection,
    pub keep: Keep,
    pub file: Option<&'a Path>,
    pub shared: &'a SharedArguments,
    pub interrupted: &'a AtomicBool,
}

impl Execute<'_> {
    /// Runs a session.
    pub fn run(self, session: Session<'_>) -> Result<Executed, Failure> {
        output::restore_working_directory();
        let mut progress = Progress::new(
            self.shared.quiet,
            session.method_name().to_owned(),
            self.scenario.start_time,
            self.scenario.stop_time,
        );
        let execution = Execution {
            keep: self.keep,
            file: self.row_file()?,
            output_interval: self.shared.output_interval,
            verify: self.shared.verify,
            observers: vec![&mut progress],
        };
        let mut done = execution.run(
            self.scenario,
            session,
            self.options,
            self.selection,
            self.interrupted,
        );
        remedies::word_summary(&mut done.summary);

        Ok(done)
    }

    fn row_file(&self) -> Result<Option<RowFile>, Failure> {
        let names = self.selection.names();
        self.file.map(|path| open_rows(path, &names)).transpose()
    }
}

fn open_rows(path: &Path, names: &[String]) -> Result<RowFile, Failure> {
    Ok(RowFile {
        name: path.display().to_string(),
        sink: output::open(path, names)?,
    })
}
