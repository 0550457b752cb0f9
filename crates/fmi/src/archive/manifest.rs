//! What an entry of the cache must hold: the sizes of its files, and the hashes of those that are
//! run or say what is run, kept in a file beside them.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::hash;
use super::plan::ExtractionPlan;

/// The first word of a manifest; another one is that of another version of this program.
const MAGIC: &str = "dovetail-archive-2";

/// A file of an archive.
#[derive(Debug, PartialEq)]
pub(super) struct ListedFile {
    path: PathBuf,
    size: u64,
    /// Of a library, or of the description: nobody has reason to write into these.
    hash: Option<String>,
}

/// The files of an archive, and what was odd about it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) files: Vec<ListedFile>,
    pub(super) warnings: Vec<String>,
}

/// Stands for the hash of a file that has none.
const UNHASHED: &str = "-";

/// Whether a file is a library, or the description that tells which is loaded.
fn is_hashed(path: &Path) -> bool {
    path.iter().any(|part| part == "binaries") || path.ends_with("modelDescription.xml")
}

impl ListedFile {
    /// Whether the file is as it was unpacked.
    fn is_intact(&self, path: &Path) -> bool {
        let found = File::open(path).and_then(|mut file| hash::of_file(&mut file));
        found.is_ok_and(|found| self.hash.as_ref() == Some(&found))
    }
}

/// How an entry of the cache compares with its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnpackState {
    /// All files are there, as long as they should be.
    Whole,
    /// All files are there, but some have other sizes: FMUs write into their own files.
    Altered,
    /// Files are missing, or libraries are not what they were.
    Broken,
}

impl Manifest {
    /// Of a plan that was carried out in this folder.
    pub(super) fn of(plan: &ExtractionPlan, folder: &Path) -> io::Result<Self> {
        let mut files = Vec::with_capacity(plan.files.len());
        for file in &plan.files {
            let hash = if is_hashed(&file.path) {
                Some(hash::of_file(&mut File::open(folder.join(&file.path))?)?)
            } else {
                None
            };
            files.push(ListedFile {
                path: file.path.clone(),
                size: file.size,
                hash,
            });
        }

        Ok(Self {
            files,
            warnings: plan.warnings.clone(),
        })
    }

    /// The size of all files together.
    pub(super) fn total(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Records that end with a byte that no path has.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = format!("{MAGIC} {}\0", self.files.len()).into_bytes();
        for ListedFile { path, size, hash } in &self.files {
            let hash = hash.as_deref().unwrap_or(UNHASHED);
            bytes.extend_from_slice(format!("{size} {hash} ").as_bytes());
            bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
            bytes.push(0);
        }

        for warning in &self.warnings {
            bytes.extend_from_slice(warning.as_bytes());
            bytes.push(0);
        }
        let mut file = File::create(path)?;
        file.write_all(&bytes)?;
        file.sync_all()
    }

    /// Reads a manifest; `None` where it is not one, or not all of one.
    pub(super) fn read(path: &Path) -> Option<Self> {
        // Names of entries are text, so the whole file is.
        let text = std::fs::read_to_string(path).ok()?;
        let mut records = text.strip_suffix('\0')?.split('\0');
        let count: usize = records.next()?.strip_prefix(MAGIC)?.trim().parse().ok()?;
        let mut manifest = Self::default();

        for _ in 0..count {
            let (size, rest) = records.next()?.split_once(' ')?;
            let (hash, path) = rest.split_once(' ')?;
            manifest.files.push(ListedFile {
                path: PathBuf::from(path),
                size: size.parse().ok()?,
                hash: (hash != UNHASHED).then(|| hash.to_owned()),
            });
        }

        manifest.warnings.extend(records.map(str::to_owned));
        Some(manifest)
    }

    /// Compares a folder with what it should hold.
    pub(super) fn check(&self, folder: &Path) -> UnpackState {
        let mut state = UnpackState::Whole;
        for file in &self.files {
            let path = folder.join(&file.path);
            match std::fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() && file.hash.is_some() => {
                    if !file.is_intact(&path) {
                        return UnpackState::Broken;
                    }
                }
                Ok(found) if found.is_file() && found.len() == file.size => {}
                Ok(found) if found.is_file() => state = UnpackState::Altered,
                _ => return UnpackState::Broken,
            }
        }
        state
    }
}
