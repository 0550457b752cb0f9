//! What an entry of the cache must hold: the sizes of its files, kept in a file beside them.

use std::io;
use std::path::{Path, PathBuf};

use super::plan::ExtractionPlan;

/// The first word of a manifest; another one is that of another version of this program.
const MAGIC: &str = "dovetail-archive-1";

/// The files of an archive with their sizes, and what was odd about it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) files: Vec<(PathBuf, u64)>,
    pub(super) warnings: Vec<String>,
}

/// How an entry of the cache compares with its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnpackState {
    /// All files are there, as long as they should be.
    Whole,
    /// All files are there, but some have other sizes: FMUs write into their own files.
    Altered,
    /// Files are missing.
    Broken,
}

impl Manifest {
    pub(super) fn of(plan: &ExtractionPlan) -> Self {
        let files = plan
            .files
            .iter()
            .map(|file| (file.path.clone(), file.size))
            .collect();
        Self {
            files,
            warnings: plan.warnings.clone(),
        }
    }

    /// The size of all files together.
    pub(super) fn total(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }

    /// Records that end with a byte that no path has.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = format!("{MAGIC} {}\0", self.files.len()).into_bytes();
        for (path, size) in &self.files {
            bytes.extend_from_slice(format!("{size} ").as_bytes());
            bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
            bytes.push(0);
        }

        for warning in &self.warnings {
            bytes.extend_from_slice(warning.as_bytes());
            bytes.push(0);
        }
        std::fs::write(path, bytes)
    }

    /// Reads a manifest; `None` where it is not one, or not all of one.
    pub(super) fn read(path: &Path) -> Option<Self> {
        // Names of entries are text, so the whole file is.
        let text = std::fs::read_to_string(path).ok()?;
        let mut records = text.strip_suffix('\0')?.split('\0');
        let count: usize = records.next()?.strip_prefix(MAGIC)?.trim().parse().ok()?;
        let mut manifest = Self::default();

        for _ in 0..count {
            let (size, path) = records.next()?.split_once(' ')?;
            manifest
                .files
                .push((PathBuf::from(path), size.parse().ok()?));
        }

        manifest.warnings.extend(records.map(str::to_owned));
        Some(manifest)
    }

    /// Compares a folder with what it should hold.
    pub(super) fn check(&self, folder: &Path) -> UnpackState {
        let mut state = UnpackState::Whole;
        for (path, size) in &self.files {
            match std::fs::symlink_metadata(folder.join(path)) {
                Ok(found) if found.is_file() && found.len() == *size => {}
                Ok(found) if found.is_file() => state = UnpackState::Altered,
                _ => return UnpackState::Broken,
            }
        }
        state
    }
}
