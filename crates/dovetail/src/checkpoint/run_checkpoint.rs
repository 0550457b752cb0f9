//! A run with everything that watches it, at one of its communication times.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dovetail_report::Rows;
use dovetail_scenario::Session;
use serde::{Deserialize, Serialize};

use super::{CheckpointError, format};

/// A run at one of its communication times: its session, its recorders, and what whoever wrote it had to say of it.
///
/// It is resumed by [`Execution::resume`](crate::Execution::resume).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunCheckpoint {
    /// What the writer said of the run: from what it was made, say.
    pub about: Vec<u8>,
    /// The time that was reached.
    pub time: f64,
    /// The macro-step, where it was fixed.
    pub step: Option<f64>,
    /// The times of the rows that were recorded.
    pub(crate) rows: Rows,
    pub(crate) session: Vec<u8>,
    pub(crate) recorders: Vec<u8>,
}

impl RunCheckpoint {
    /// As bytes, with a checksum.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let content = postcard::to_stdvec(self).map_err(io::Error::other)?;
        Ok(format::seal(&content))
    }

    /// From bytes; those of another version of the program, and any that are not whole, are refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let content = format::open(bytes)?;
        postcard::from_bytes(content).map_err(|_| CheckpointError::Damaged)
    }

    /// Makes a session of the same model under the same options what the session of the run was. After an error it cannot be
    /// used any more.
    pub fn restore(&self, session: &mut Session<'_>) -> Result<(), dovetail_core::Error> {
        session.restore(&self.session)
    }

    /// Whether a checkpoint can be written there.
    pub fn check_path(path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let partial = partial(path);
        File::create(&partial)?;
        std::fs::remove_file(partial)
    }

    /// Writes a file in one go: whoever reads it finds the last checkpoint or this one, and never a part of one.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let bytes = self.to_bytes()?;
        let partial = partial(path);
        let written = write_safely(&partial, &bytes).and_then(|()| std::fs::rename(&partial, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&partial); // it may not be there
            return written;
        }
        // The name is on the disk once the folder is. Where folders cannot be opened there is nothing to wait for.
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// What a checkpoint is called until it is whole.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

/// The bytes are on the disk afterwards.
fn write_safely(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> RunCheckpoint {
        RunCheckpoint {
            about: b"a run".to_vec(),
            time: 2.5,
            step: None,
            rows: Rows::Every(0.5),
            session: vec![1, 2, 3],
            recorders: vec![4],
        }
    }

    #[test]
    fn a_file_holds_what_was_written_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.checkpoint");
        for time in [2.5, 3.5] {
            let written = RunCheckpoint {
                time,
                ..checkpoint()
            };
            written.write(&path).expect("written");
            let bytes = std::fs::read(&path).expect("read");
            assert_eq!(RunCheckpoint::from_bytes(&bytes).expect("whole"), written);
        }
        let files = std::fs::read_dir(folder.path())
            .expect("the folder")
            .count();
        assert_eq!(files, 1);
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_last_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none").join("run.checkpoint");
        assert!(checkpoint().write(&missing).is_err());
        let taken = folder.path().join("taken");
        std::fs::create_dir(&taken).expect("a folder");
        assert!(checkpoint().write(&taken).is_err());
        let files = std::fs::read_dir(folder.path())
            .expect("the folder")
            .count();
        assert_eq!(files, 1, "no part of a checkpoint is left");
    }
}
