//! What follows the boxes as they are proved: the file, the page, the progress bar; and Ctrl-C.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail::guaranteed::{EnclosureObserver, Interval};
use dovetail::report::{TubeFile, Tubes};

use super::growth::FirstHalf;
use crate::failure::Failure;
use crate::output::{from_home, not_written};
use crate::progress::Progress;
use crate::rescue::Rescued;

/// What is left of a watch.
pub(super) struct Watched {
    /// The boxes that were kept.
    pub tubes: Option<Tubes>,
    pub half: FirstHalf,
    /// Why rows could not be written.
    pub trouble: Option<String>,
}

/// Hands boxes on.
pub(super) struct Watch<'a> {
    file: Option<(PathBuf, TubeFile<Rescued>)>,
    kept: Option<Tubes>,
    progress: Progress,
    half: FirstHalf,
    interrupted: &'a AtomicBool,
    /// Why rows could not be written.
    trouble: Option<String>,
}

impl<'a> Watch<'a> {
    pub fn new(progress: Progress, half: FirstHalf, interrupted: &'a AtomicBool) -> Self {
        Self {
            file: None,
            kept: None,
            progress,
            half,
            interrupted,
            trouble: None,
        }
    }

    /// Writes boxes of these states to a file.
    pub fn write_to(&mut self, path: &Path, names: &[String]) -> Result<(), Failure> {
        let file = Rescued::create(&from_home(path)).and_then(|file| TubeFile::new(file, names));
        let file = file.map_err(|error| Failure::cannot_write(path, error))?;
        self.file = Some((path.to_owned(), file));
        Ok(())
    }

    /// Keeps boxes of these states in memory.
    pub fn keep(&mut self, names: &[String]) {
        self.kept = Some(Tubes::new(names.to_vec()));
    }

    /// What was seen, and why rows could not be written. What was told before is in the file now.
    pub fn finish(mut self) -> Watched {
        self.progress.clear();
        self.write(TubeFile::close);
        Watched {
            tubes: self.kept,
            half: self.half,
            trouble: self.trouble,
        }
    }

    fn row(&mut self, from: f64, to: f64, states: &[Interval]) {
        if self.trouble.is_none() {
            self.write(|file| file.row(from, to, states));
        }
        if let Some(kept) = &mut self.kept {
            kept.row(from, to, states);
        }
    }

    fn write(&mut self, action: impl FnOnce(&mut TubeFile<Rescued>) -> io::Result<()>) {
        let Some((path, file)) = &mut self.file else {
            return;
        };
        if let Err(error) = action(file) {
            self.trouble.get_or_insert(not_written(path, &error));
        }
    }
}

impl EnclosureObserver for Watch<'_> {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.half.see(time, states);
        self.row(time, time, states);
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.row(from, to, states);
    }

    fn wants_tubes(&self) -> bool {
        self.file.is_some() || self.kept.is_some()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.progress.show(reached);
        self.trouble.is_none() && !self.interrupted.load(Ordering::Relaxed)
    }
}
