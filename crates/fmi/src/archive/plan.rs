//! What of an archive is to be written where: all that can be refused is refused before the first
//! byte is written.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipArchive};

use super::entry;
use super::error::{ArchiveError, EntryProblem, printable};

/// What an archive may demand of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of files and folders.
    pub entries: usize,
    /// The size of all files together, in bytes.
    pub total: u64,
    /// How many times larger than its compressed form a file may be, once it is larger than
    /// `unsuspicious`.
    pub ratio: u64,
    /// Files up to this size, in bytes, are never taken for bombs: an honest table of zeros shrinks
    /// a thousandfold too.
    pub unsuspicious: u64,
    /// How many times larger than the archive all its files together may be, once they are larger
    /// than `unsuspicious_total`.
    pub total_ratio: u64,
    /// Files up to this size together, in bytes, are never taken for a bomb.
    pub unsuspicious_total: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 200_000,
            total: 8 << 30,
            ratio: 1000,
            unsuspicious: 100 << 20,
            total_ratio: 200,
            unsuspicious_total: 1 << 30,
        }
    }
}

/// What to write.
pub(super) struct ExtractionPlan {
    /// Folders, parents first.
    pub(super) folders: Vec<PathBuf>,
    /// Files.
    pub(super) files: Vec<PlannedFile>,
    /// What is odd.
    pub(super) warnings: Vec<String>,
}

/// One file to write.
pub(super) struct PlannedFile {
    /// Its number in the archive.
    pub(super) index: usize,
    /// Relative to the folder of the archive.
    pub(super) path: PathBuf,
    /// As declared.
    pub(super) size: u64,
    /// Whether it may be run as a program.
    pub(super) executable: bool,
}

/// Plans the unpacking of the archive that the user knows as `path`.
pub(super) fn plan<R: Read + Seek>(
    path: &Path,
    archive: &mut ZipArchive<R>,
    limits: &Limits,
) -> Result<ExtractionPlan, ArchiveError> {
    let too_much = |why: String| ArchiveError::TooMuch {
        path: path.to_owned(),
        why,
    };
    if archive.len() > limits.entries {
        return Err(too_much(format!(
            "it has {} entries, and {} are allowed",
            archive.len(),
            limits.entries
        )));
    }

    let mut planner = Planner::default();
    for index in 0..archive.len() {
        plan_entry(path, archive, index, limits, &mut planner)?;
        if let Some(why) = planner.excess(limits) {
            return Err(too_much(why));
        }
    }
    if let Some(index) = planner.overlapping() {
        return Err(overlap(path, archive, index));
    }

    Ok(planner.finish())
}

/// Plans the unpacking of one entry.
fn plan_entry<R: Read + Seek>(
    path: &Path,
    archive: &mut ZipArchive<R>,
    index: usize,
    limits: &Limits,
    planner: &mut Planner,
) -> Result<(), ArchiveError> {
    let entry = archive
        .by_index_raw(index)
        .map_err(|error| not_zip(path, &error))?;
    let name = match entry.name() {
        Ok(name) => name.into(),
        Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
    };
    let problem = |problem| ArchiveError::Entry {
        path: path.to_owned(),
        entry: printable(&name),
        problem,
    };
    let target = check(&entry, &name, limits).map_err(problem)?;
    let span = (entry.header_start(), entry.compressed_size(), index);
    planner.spans.push(span);
    planner.compressed = planner.compressed.saturating_add(entry.compressed_size());
    let mode = entry.unix_mode();
    if is_folder(&name, mode) {
        return planner.folder(&target).map_err(problem);
    }

    let file = PlannedFile {
        index,
        path: target,
        size: entry.size(),
        executable: mode.is_some_and(|mode| mode & 0o111 != 0),
    };
    planner.file(file).map_err(problem)
}

/// An entry that shares bytes with another.
fn overlap<R: Read + Seek>(path: &Path, archive: &ZipArchive<R>, index: usize) -> ArchiveError {
    let name = archive.name_for_index(index).and_then(Result::ok);
    ArchiveError::Entry {
        path: path.to_owned(),
        entry: name.map(|name| printable(&name)).unwrap_or_default(),
        problem: EntryProblem::Overlap,
    }
}

/// What the zip library refuses, in words for users.
pub(super) fn not_zip(path: &Path, error: &zip::result::ZipError) -> ArchiveError {
    let why = format!("it begins like one but is damaged ({error}); copy or download it again");
    ArchiveError::NotZip {
        path: path.to_owned(),
        why,
    }
}

/// Checks one entry by itself; gives where it is to be written.
fn check<R: Read>(
    entry: &zip::read::ZipFile<'_, R>,
    name: &str,
    limits: &Limits,
) -> Result<PathBuf, EntryProblem> {
    const KIND: u32 = 0o170_000;
    match entry.unix_mode().map_or(0, |mode| mode & KIND) {
        0 | 0o100_000 | 0o040_000 => {}
        0o120_000 => return Err(EntryProblem::Link),
        _ => return Err(EntryProblem::Special),
    }
    if entry.encrypted() {
        return Err(EntryProblem::Encrypted);
    }

    if !matches!(
        entry.compression(),
        CompressionMethod::Stored | CompressionMethod::Deflated
    ) {
        return Err(EntryProblem::Compression {
            method: method(entry.compression()),
        });
    }

    let compressed = entry.compressed_size();
    let size = entry.size();
    if size > limits.unsuspicious && size / limits.ratio > compressed {
        return Err(EntryProblem::Bomb { compressed, size });
    }

    entry::path_of(name)
}

/// A name for a method of compression that is not supported.
fn method(method: CompressionMethod) -> String {
    #[expect(deprecated, reason = "the only way to learn the number")]
    let CompressionMethod::Unsupported(number) = method else {
        return method.to_string();
    };
    let name = match number {
        1 => "Shrink",
        2..=5 => "Reduce",
        6 => "Implode",
        9 => "Deflate64",
        12 => "BZIP2",
        14 => "LZMA",
        93 => "Zstandard",
        95 => "XZ",
        98 => "PPMd",
        99 => "AES encryption",
        _ => return format!("method {number}"),
    };

    format!("{name} (method {number})")
}

fn is_folder(name: &str, mode: Option<u32>) -> bool {
    name.ends_with(['/', '\\']) || mode.is_some_and(|mode| mode & 0o170_000 == 0o040_000)
}

#[derive(Default)]
struct Planner {
    folders: HashSet<PathBuf>,
    files: Vec<PlannedFile>,
    taken: HashSet<PathBuf>,
    /// Where each entry begins, how long it is, and which it is.
    spans: Vec<(u64, u64, usize)>,
    total: u64,
    compressed: u64,
}

impl Planner {
    /// What there is too much of, if there is.
    fn excess(&self, limits: &Limits) -> Option<String> {
        if self.total > limits.total {
            let most = limits.total;
            return Some(format!(
                "its files have more than {most} bytes, which are allowed"
            ));
        }

        let (total, compressed) = (self.total, self.compressed);
        if total > limits.unsuspicious_total && total / limits.total_ratio > compressed {
            return Some(format!(
                "its files have {total} bytes and more, from {compressed} in the archive: they are \
                 made to fill the disk"
            ));
        }

        if self.folders.len() > limits.entries {
            let most = limits.entries;
            return Some(format!(
                "it has more than {most} folders, which are allowed"
            ));
        }
        None
    }

    /// A folder with all those above it.
    fn folder(&mut self, path: &Path) -> Result<(), EntryProblem> {
        for folder in path
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            if self.taken.contains(folder) {
                return Err(EntryProblem::FileAndFolder);
            }
            if !self.folders.insert(folder.to_owned()) {
                break;
            }
        }
        Ok(())
    }

    fn file(&mut self, file: PlannedFile) -> Result<(), EntryProblem> {
        if file.path.as_os_str().is_empty() {
            return Err(EntryProblem::Name);
        }
        if self.folders.contains(&file.path) {
            return Err(EntryProblem::FileAndFolder);
        }

        if let Some(parent) = file.path.parent() {
            self.folder(parent)?;
        }
        if !self.taken.insert(file.path.clone()) {
            return Err(EntryProblem::Duplicate);
        }

        self.total = self.total.saturating_add(file.size);
        self.files.push(file);
        Ok(())
    }

    /// An entry whose bytes another entry claims too.
    fn overlapping(&mut self) -> Option<usize> {
        // The least that precedes the content: the fixed part of a local header.
        const HEADER: u64 = 30;
        self.spans.sort_unstable();
        let pairs = self.spans.windows(2);
        let mut overlapping = pairs
            .filter(|pair| pair[0].0.saturating_add(HEADER).saturating_add(pair[0].1) > pair[1].0);

        overlapping.next().map(|pair| pair[1].2)
    }

    fn finish(self) -> ExtractionPlan {
        let mut lower = HashMap::new();
        let mut warnings = Vec::new();

        for file in &self.files {
            if let Some(other) =
                lower.insert(file.path.to_string_lossy().to_lowercase(), &file.path)
            {
                let names = (
                    printable(&other.to_string_lossy()),
                    printable(&file.path.to_string_lossy()),
                );
                warnings.push(format!(
                    "the files `{}` and `{}` differ in letter case only",
                    names.0, names.1
                ));
            }
        }

        let mut folders: Vec<PathBuf> = self.folders.into_iter().collect();
        folders.sort_unstable();

        ExtractionPlan {
            folders,
            files: self.files,
            warnings,
        }
    }
}
