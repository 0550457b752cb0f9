//! What a checkpoint says of its run: what it was made from, and where it has come to.

use std::path::{Path, PathBuf};

use dovetail::core::readable;
use dovetail::scenario::{Scenario, Session};
use dovetail::{RunCheckpoint, fingerprint};
use serde_json::{Value, json};

use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::made_from;
use crate::output;

/// A run that goes on.
pub(crate) struct Resumed {
    /// The file, as it was named.
    pub file: PathBuf,
    pub checkpoint: RunCheckpoint,
    pub origin: Origin,
    /// What is recorded from now on, where that is something else.
    pub record: Vec<String>,
}

impl Resumed {
    /// Makes a session what it was.
    pub fn restore(&self, scenario: &Scenario, session: &mut Session<'_>) -> Result<(), Failure> {
        let (time, stop) = (self.checkpoint.time, scenario.stop_time);
        if stop < time {
            return Err(self.refuse(&format!(
                "it is of t = {} s, beyond the stop time of {} s",
                readable(time),
                readable(stop)
            )));
        }
        let restored = self.checkpoint.restore(session);
        restored.map_err(|error| self.refuse(&error.to_string()))
    }

    fn refuse(&self, why: &str) -> Failure {
        refuse(&self.file, why)
    }
}

/// What is wrong with a file.
pub(crate) fn refuse(file: &Path, why: &str) -> Failure {
    Failure::misuse(format!("{}: {why}", file.display()))
}

/// From what a run was made: how the program was called, where, and what the files were.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// Each with its fingerprint.
    files: Vec<(PathBuf, String)>,
    /// Where the run is to end, if that was changed when it was resumed.
    pub stop_time: Option<f64>,
}

impl Origin {
    /// Of the run that this program was called for.
    pub fn of(run: &RunArguments, scenario: &Scenario) -> Result<Self, Failure> {
        let arguments = std::env::args_os().map(|argument| argument.into_string());
        let arguments: Result<Vec<String>, _> = arguments.collect();
        let arguments = arguments.map_err(|argument| {
            let argument = argument.display();
            Failure::misuse(format!("--checkpoint: the argument {argument} is no text"))
        })?;
        let files = made_from::files(&run.model, &run.shared.changes, scenario)?;
        Ok(Self {
            arguments,
            folder: output::from_home(Path::new("")),
            files,
            stop_time: None,
        })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let files = self.files.iter();
        let files: Vec<Value> = files
            .map(|(path, found)| json!([text(path), found]))
            .collect();
        let object = json!({
            "arguments": self.arguments,
            "folder": text(&self.folder),
            "files": files,
            "stop_time": self.stop_time.map(f64::to_bits),
        });
        object.to_string().into_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let object: Value = serde_json::from_slice(bytes).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let file = |value: &Value| {
            let path = PathBuf::from(text(value.get(0)?)?);
            Some((path, text(value.get(1)?)?))
        };
        Some(Self {
            arguments: object["arguments"]
                .as_array()?
                .iter()
                .map(text)
                .collect::<Option<_>>()?,
            folder: PathBuf::from(text(&object["folder"])?),
            files: object["files"]
                .as_array()?
                .iter()
                .map(file)
                .collect::<Option<_>>()?,
            stop_time: object["stop_time"].as_u64().map(f64::from_bits),
        })
    }

    /// Refuses files that are not what they were.
    pub fn check_files(&self, checkpoint: &Path) -> Result<(), Failure> {
        for (path, known) in &self.files {
            let shown = path.display();
            let found = fingerprint(path).map_err(|error| {
                refuse(
                    checkpoint,
                    &format!("its run was made from {shown}: {error}"),
                )
            })?;
            if found != *known {
                let why = format!(
                    "{shown} has changed since the checkpoint was written: run the model anew"
                );
                return Err(refuse(checkpoint, &why));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_reads_back() {
        let origin = Origin {
            arguments: vec!["dovetail".into(), "run".into(), "a \"model\".toml".into()],
            folder: "/somewhere".into(),
            files: vec![("/somewhere/a.toml".into(), "00ff".into())],
            stop_time: Some(0.1),
        };
        assert_eq!(Origin::from_bytes(&origin.to_bytes()), Some(origin));
        assert_eq!(Origin::from_bytes(b"{}"), None);
        assert_eq!(Origin::from_bytes(b"something"), None);
    }
}
