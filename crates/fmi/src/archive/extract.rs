//! Unpacking a zip file into a new folder.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::abandonment::is_loading_abandoned;

use super::duplicates;
use super::error::{ArchiveError, EntryProblem, printable};
use super::plan::{ExtractionPlan, Limits, PlannedFile, not_zip, plan};

/// Unpacks `file`, which the user knows as `path`, into the folder `target`, which must be empty.
pub(super) fn extract(
    path: &Path,
    file: &mut File,
    target: &Path,
    limits: &Limits,
) -> Result<ExtractionPlan, ArchiveError> {
    recognize(path, file)?;
    if open(path, file)?.has_duplicate_names() {
        refuse_differing(path, file)?;
    }

    let mut archive = open(path, file)?;
    if archive.is_empty() {
        return Err(ArchiveError::NotZip {
            path: path.to_owned(),
            why: "it is one without any files".into(),
        });
    }

    let plan = plan(path, &mut archive, limits)?;
    for folder in &plan.folders {
        let folder = target.join(folder);
        std::fs::create_dir(&folder)
            .or_else(|error| exists(&folder, error))
            .map_err(|source| write_error(&folder, source))?;
    }

    let mut buffer = vec![0; 1 << 16];
    for file in &plan.files {
        unpack(path, &mut archive, file, target, &mut buffer)?;
    }
    Ok(plan)
}

fn open<'f>(
    path: &Path,
    file: &'f mut File,
) -> Result<ZipArchive<BufReader<&'f mut File>>, ArchiveError> {
    ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, error))
}

/// Entries of one name do no harm where their content is the same.
fn refuse_differing(path: &Path, file: &mut File) -> Result<(), ArchiveError> {
    let why = match duplicates::differing(file) {
        Ok(None) => return Ok(()),
        Ok(Some(entry)) => {
            format!(
                "it has two entries `{}` with different content, and it is not clear which one \
                 counts",
                printable(&entry)
            )
        }
        Err(_) => {
            "it has two entries of the same name, and it is not clear which one counts".to_owned()
        }
    };
    Err(ArchiveError::TooMuch {
        path: path.to_owned(),
        why,
    })
}

/// On file systems that do not tell cases apart, a folder may be there under a similar name, which
/// does no harm.
fn exists(folder: &Path, error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() {
        Ok(())
    } else {
        Err(error)
    }
}

/// A file on its way out of the archive at `path`.
struct Unpacking<'a> {
    path: &'a Path,
    planned: &'a PlannedFile,
    place: PathBuf,
}

impl Unpacking<'_> {
    fn problem(&self, problem: EntryProblem) -> ArchiveError {
        ArchiveError::Entry {
            path: self.path.to_owned(),
            entry: printable(&self.planned.path.to_string_lossy()),
            problem,
        }
    }

    fn damaged(&self, source: io::Error) -> ArchiveError {
        self.problem(EntryProblem::Damaged { source })
    }

    fn create(&self) -> Result<File, ArchiveError> {
        let created = create(&self.place, self.planned.executable);
        created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => self.problem(EntryProblem::Collision),
            io::ErrorKind::InvalidFilename => self.problem(EntryProblem::Name),
            _ => write_error(&self.place, source),
        })
    }

    /// Copies an entry to its file; returns how many bytes it has.
    fn copy(
        &self,
        entry: &mut impl Read,
        file: &mut File,
        buffer: &mut [u8],
    ) -> Result<u64, ArchiveError> {
        let mut written = 0;
        loop {
            let count = match entry.read(buffer) {
                Ok(0) => return Ok(written),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(error)),
            };
            if is_loading_abandoned() {
                let path = self.path.to_owned();
                return Err(ArchiveError::Interrupted { path });
            }
            written += count as u64;
            // Whatever the library promises: no more is written than was declared and allowed.
            if written > self.planned.size {
                return Err(self.damaged(io::Error::other("it is longer than declared")));
            }
            file.write_all(&buffer[..count])
                .map_err(|source| write_error(&self.place, source))?;
        }
    }

    fn check_size(&self, written: u64) -> Result<(), ArchiveError> {
        let declared = self.planned.size;
        if written == declared {
            return Ok(());
        }

        let message = format!("it has {written} bytes where {declared} are declared");
        Err(self.damaged(io::Error::other(message)))
    }
}

fn unpack<R: Read + Seek>(
    path: &Path,
    archive: &mut ZipArchive<R>,
    planned: &PlannedFile,
    target: &Path,
    buffer: &mut [u8],
) -> Result<(), ArchiveError> {
    let place = target.join(&planned.path);
    let unpacking = Unpacking {
        path,
        planned,
        place,
    };
    let entry = archive.by_index(planned.index);
    let mut entry = entry.map_err(|error| unpacking.damaged(error.into()))?;
    let mut file = unpacking.create()?;
    let written = unpacking.copy(&mut entry, &mut file, buffer)?;
    unpacking.check_size(written)?;
    // It must be on the disk before its folder gets its name.
    file.sync_data()
        .map_err(|source| write_error(&unpacking.place, source))
}

/// A new file; one that is there already is an error.
fn create(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o700 } else { 0o600 });
    options.open(path)
}

/// Tells at once what is no zip archive, and what it is instead.
fn recognize(path: &Path, file: &mut File) -> Result<(), ArchiveError> {
    let read = |source| read_error(path, source);
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(read)?;
    Read::by_ref(file)
        .take(512)
        .read_to_end(&mut head)
        .map_err(read)?;
    file.seek(SeekFrom::Start(0)).map_err(read)?;

    match other_kind(&head) {
        Some(why) => Err(no_zip_archive(path, why)),
        None => Ok(()),
    }
}

fn other_kind(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head)
        .trim_start()
        .to_ascii_lowercase();
    Some(match head {
        [] => "it is empty; copy or download it again",
        [b'P', b'K', ..] => return None,
        [0x37, 0x7a, 0xbc, 0xaf, ..] => "it is a 7z archive; pack its content as zip",
        [b'R', b'a', b'r', b'!', ..] => "it is a RAR archive; pack its content as zip",
        [0x1f, 0x8b, ..] => "it is compressed by gzip; pack its content as zip",
        [0x7f, b'E', b'L', b'F', ..] => {
            "it is a library or a program; give the archive that it came from"
        }
        _ if text.starts_with("version https://git-lfs") => {
            "it is a pointer of Git LFS; fetch the file with `git lfs pull`"
        }
        _ if text.starts_with("<!doctype html") || text.starts_with("<html") => {
            "it is a web page, so its download has failed"
        }
        _ if text.starts_with("<?xml") => {
            "it is an XML file; give the archive, or the folder, that holds it"
        }
        // Archives may begin with other data; the library finds them by their end.
        _ => return None,
    })
}

/// The library cannot make sense of the whole.
fn damaged(path: &Path, error: zip::result::ZipError) -> ArchiveError {
    use zip::result::ZipError;
    let begins = File::open(path).and_then(|mut file| {
        let mut magic = [0; 2];
        file.read_exact(&mut magic).map(|()| magic)
    });

    match error {
        ZipError::Io(source)
            if !matches!(
                source.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput
            ) =>
        {
            read_error(path, source)
        }
        _ if begins.is_ok_and(|magic| magic == *b"PK") => {
            let why = "it begins like one but has no valid end, so it was cut short or damaged; \
                       copy or download it again";
            no_zip_archive(path, why)
        }
        ZipError::InvalidArchive(_) => {
            no_zip_archive(path, "neither its beginning nor its end is that of one")
        }
        error => not_zip(path, &error),
    }
}

fn no_zip_archive(path: &Path, why: &str) -> ArchiveError {
    ArchiveError::NotZip {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

fn read_error(path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Read {
        path: path.to_owned(),
        source,
    }
}

pub(super) fn write_error(path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Write {
        path: path.to_owned(),
        source,
    }
}

/// The folder within `content` that holds the archive: `content` itself, or the single folder in
/// it, where somebody packed the folder instead of what is in it.
pub(super) fn inner_folder(content: &Path) -> io::Result<(PathBuf, Option<String>)> {
    let mut single = None;
    for entry in std::fs::read_dir(content)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "__MACOSX" || name == ".DS_Store" {
            continue;
        }
        if single.is_some() || !entry.file_type()?.is_dir() {
            return Ok((content.to_owned(), None));
        }
        single = Some(name);
    }

    let Some(name) = single else {
        return Ok((content.to_owned(), None));
    };
    let shown = printable(&name.to_string_lossy());
    let warning = format!(
        "all files are within the folder `{shown}`, where they should be at the top of the archive"
    );

    Ok((content.join(name), Some(warning)))
}
