//! `dovetail resume`: runs that go on from a checkpoint.

use std::path::Path;

use clap::Parser;
use dovetail::RunCheckpoint;

use crate::arguments::{ResumeArguments, RunArguments};
use crate::command_line::{Arguments, Command};
use crate::failure::Failure;
use crate::resumed::{Origin, Resumed, refuse};
use crate::run;

pub(crate) fn resume(arguments: &ResumeArguments) -> Result<(), Failure> {
    let file = &arguments.file;
    let bytes = std::fs::read(file).map_err(|error| refuse(file, &error.to_string()))?;
    let checkpoint = RunCheckpoint::from_bytes(&bytes);
    let checkpoint = checkpoint.map_err(|error| refuse(file, &error.to_string()))?;
    let origin = Origin::from_bytes(&checkpoint.about);
    let mut origin = origin.ok_or_else(|| refuse(file, "another program has written it"))?;
    origin.check_files(file)?;

    let mut run = run_arguments(&origin, file)?;
    arguments.apply(&mut run, &origin.folder);
    origin.stop_time = arguments.stop_time.or(origin.stop_time);
    if let Some(stop) = origin.stop_time {
        run.shared.changes.stop_time = Some(stop);
        // The usual step is a part of the run: of the run as it was.
        run.step = run.step.or(checkpoint.step.map(|step| format!("{step:?}")));
    }
    let resumed = Resumed {
        file: file.clone(),
        checkpoint,
        origin,
        record: arguments.record.clone(),
    };
    run::carry_out(&run, Some(&resumed))
}

/// The arguments of the run.
fn run_arguments(origin: &Origin, checkpoint: &Path) -> Result<RunArguments, Failure> {
    let parsed = Arguments::try_parse_from(&origin.arguments);
    match parsed.map(|arguments| arguments.command) {
        Ok(Command::Run(run)) => Ok(run),
        _ => Err(refuse(
            checkpoint,
            "its run cannot be called any more as it was",
        )),
    }
}
