//! Rows for a Parquet file, which are saved like those of any other.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dovetail::report::{ParquetFile, Sink};

use crate::rescue::{Rescue, register};

/// A file, and why it could not be written while nobody was there to be told.
struct Guarded {
    file: ParquetFile<BufWriter<File>>,
    failure: Option<io::Error>,
}

impl Rescue for Guarded {
    fn rescue(&mut self, program_ends: bool) {
        let saved = if program_ends {
            self.file.save()
        } else {
            self.file.save_in_time()
        };
        if let Err(error) = saved {
            self.failure.get_or_insert(error);
        }
    }
}

/// A Parquet file that is saved now and then, and by whoever ends the program.
pub(crate) struct ParquetRows(Arc<Mutex<Guarded>>);

impl ParquetRows {
    /// Creates the file, or empties one that exists.
    pub fn create(path: &Path, names: &[String]) -> io::Result<Self> {
        let file = Arc::new(Mutex::new(Guarded {
            file: ParquetFile::create(path, names)?,
            failure: None,
        }));
        register(&file);
        Ok(Self(file))
    }

    fn guarded(&self) -> MutexGuard<'_, Guarded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for ParquetRows {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        let mut guarded = self.guarded();
        let failed = guarded.failure.take().map_or(Ok(()), Err);
        failed.and_then(|()| guarded.file.row(time, values))
    }

    fn close(&mut self) -> io::Result<()> {
        let mut guarded = self.guarded();
        let failed = guarded.failure.take().map_or(Ok(()), Err);
        guarded.file.close().and(failed)
    }
}
