//! Archives, such as `.fmu` and `.ssp` files, as folders.
//!
//! A zip file is unpacked once into a cache, under the hash of its content, and shared from then
//! on. Nothing here knows what the files in an archive mean.

mod cache;
mod clean;
mod duplicates;
mod entry;
mod error;
mod extract;
mod hash;
mod lock;
mod manifest;
mod plan;

pub use cache::Cache;
pub use error::{ArchiveError, EntryProblem};
pub use plan::Limits;

use std::path::{Path, PathBuf};

/// An unpacked archive. While this value lives, its folder is not removed from the cache.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    hash: String,
    warnings: Vec<String>,
    _lock: Option<lock::Lock>,
}

impl Archive {
    /// Opens a zip file, or a folder that holds an archive already unpacked.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Self::open_in(path, &Cache::standard()?)
    }

    /// Like [`open`](Self::open), with a cache other than the usual one.
    pub fn open_in(path: &Path, cache: &Cache) -> Result<Self, ArchiveError> {
        let read = |source| ArchiveError::Read {
            path: path.to_owned(),
            source,
        };
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let folder = path.canonicalize().map_err(read)?;
                let hash = hash::of_folder(&folder).map_err(read)?;
                Ok(Self {
                    folder,
                    hash,
                    warnings: Vec::new(),
                    _lock: None,
                })
            }
            Ok(found) if found.is_file() => cache.open(path),
            Ok(_) => Err(ArchiveError::NotAFile {
                path: path.to_owned(),
            }),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(ArchiveError::Missing {
                    path: path.to_owned(),
                })
            }
            Err(source) => Err(read(source)),
        }
    }

    /// Where its files are: an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The SHA-256 of the zip file, in hexadecimal digits. For a folder, a hash of its path and of
    /// the files at its top, which stays the same when an FMU writes into its resources.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What is odd about the archive, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
