//! One run of this program: with its file, its progress bar and Ctrl-C.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail::Observer;
use dovetail::report::Selection;
use dovetail::scenario::{RunOptions, Scenario, Session};
use dovetail::{CheckpointPlan, Executed, Execution, Keep, RealTime, RowFile};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::remedies;
use crate::resumed::Resumed;

/// A run that is about to begin. Whatever could be refused has been: files may be touched now.
pub(crate) struct Execute<'a> {
    pub scenario: &'a Scenario,
    pub options: &'a RunOptions,
    pub selection: &'a Selection,
    pub keep: Keep,
    /// What is kept for a page.
    pub drawn: Option<Selection>,
    pub file: Option<&'a Path>,
    /// Simulated seconds for each second of the clock, where the run is paced by it.
    pub real_time: Option<f64>,
    pub shared: &'a SharedArguments,
    pub interrupted: &'a AtomicBool,
    /// Checkpoints on the way.
    pub checkpoints: Option<CheckpointPlan<'a>>,
    /// Where the run goes on, if it was begun before; the session is restored.
    pub resumed: Option<&'a Resumed>,
}

impl<'a> Execute<'a> {
    /// Runs a session.
    pub fn run(mut self, session: Session<'_>) -> Result<Executed, Failure> {
        output::restore_working_directory();
        let mut progress = Progress::new(
            self.shared.quiet,
            session.method_name().to_owned(),
            self.scenario.start_time,
            self.scenario.stop_time,
        );
        let mut pace = self.real_time.map(|factor| self.pace(factor));
        let mut observers: Vec<&mut dyn Observer> = vec![&mut progress];
        observers.extend(pace.as_mut().map(|pace| pace as &mut dyn Observer));
        let execution = Execution {
            keep: self.keep,
            drawn: self.drawn.clone(),
            file: self.row_file()?,
            output_interval: self.shared.output_interval,
            verify: self.shared.verify,
            observers,
            checkpoints: self.checkpoints.take(),
        };
        let (scenario, options, selection) = (self.scenario, self.options, self.selection);
        let mut done = match self.resumed {
            None => execution.run(scenario, session, options, selection, self.interrupted),
            Some(resumed) => execution
                .resume(
                    scenario,
                    session,
                    options,
                    selection,
                    self.interrupted,
                    &resumed.checkpoint,
                )
                .map_err(Failure::misuse_by)?,
        };
        if let Some(pace) = &pace {
            pace.summarize(&mut done.summary);
        }
        remedies::word_summary(&mut done.summary);

        Ok(done)
    }

    fn pace(&self, factor: f64) -> RealTime<'a> {
        let pace = RealTime::new(factor, self.interrupted);
        match self.resumed {
            None => pace,
            Some(resumed) => {
                let systems = self.scenario.connections.systems();
                pace.going_on_from(resumed.checkpoint.time, systems)
            }
        }
    }

    fn row_file(&self) -> Result<Option<RowFile>, Failure> {
        let open = |path: &Path| {
            let units = self.shared.output_units;
            Ok(RowFile {
                name: path.display().to_string(),
                sink: output::open(path, self.selection, units)?,
            })
        };
        self.file.map(open).transpose()
    }
}
