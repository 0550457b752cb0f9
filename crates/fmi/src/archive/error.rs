//! Why an archive cannot be opened.

use std::io;
use std::path::PathBuf;

/// Why an archive cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Nothing is there.
    #[error("there is no file or folder `{}`", .path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },

    /// A pipe, a device or the like.
    #[error("`{}` is neither a file nor a folder", .path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
    },

    /// It is there but cannot be read.
    #[error("`{}` cannot be read: {source}", .path.display())]
    Read {
        /// What was asked for.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },

    /// The file is something else, or damaged as a whole.
    #[error("`{}` is not a zip archive: {why}", .path.display())]
    NotZip {
        /// The archive.
        path: PathBuf,
        /// What it is instead, and what to try.
        why: String,
    },

    /// One entry cannot be unpacked.
    #[error("`{}` cannot be unpacked: its entry `{entry}` {problem}", .path.display())]
    Entry {
        /// The archive.
        path: PathBuf,
        /// The name of the entry.
        entry: String,
        /// What is wrong with it.
        problem: EntryProblem,
    },

    /// The archive as a whole is more than should be unpacked.
    #[error("`{}` is not unpacked: {why}", .path.display())]
    TooMuch {
        /// The archive.
        path: PathBuf,
        /// What there is too much of.
        why: String,
    },

    /// The file became another one while it was read.
    #[error(
        "`{}` was changed while it was being read; open it again when it is complete",
        .path.display()
    )]
    Changed {
        /// The archive.
        path: PathBuf,
    },

    /// The cache cannot be written.
    #[error("`{}` cannot be written: {source}; {}", .path.display(), remedy(.source))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },

    /// The folder for the cache belongs to somebody else.
    #[error(
        "the cache folder `{}` can be written by other users, who could put their own programs \
         there; set DOVETAIL_CACHE to a \
         folder of your own",
        .path.display()
    )]
    Unsafe {
        /// The folder.
        path: PathBuf,
    },

    /// Entries of the cache are damaged and in use, all of them.
    #[error(
        "the files of `{}` in the cache `{}` are damaged and in use by other programs; end these, \
         or set DOVETAIL_CACHE to \
         another folder",
        .path.display(),
        .cache.display()
    )]
    Busy {
        /// The archive.
        path: PathBuf,
        /// Where the cache is.
        cache: PathBuf,
    },
    /// Nobody wants it any longer.
    #[error("{} was not unpacked: the program was interrupted", .path.display())]
    Interrupted {
        /// The archive.
        path: PathBuf,
    },
}

/// What is wrong with one entry of an archive.
#[derive(Debug, thiserror::Error)]
pub enum EntryProblem {
    /// Its path is absolute, climbs out of the folder, or cannot be a path at all.
    #[error(
        "would be written outside of the folder of the archive; the archive is damaged or malicious"
    )]
    Outside,

    /// Its name is no name.
    #[error("has a name that no file can have; the archive is damaged or malicious")]
    Name,

    /// It is a symbolic link.
    #[error(
        "is a symbolic link, which is refused for safety; pack the archive again with the files \
         that links point to"
    )]
    Link,

    /// It is a device, a pipe or a socket.
    #[error("is neither a file nor a folder; pack the archive again without it")]
    Special,

    /// It needs a password.
    #[error("is encrypted; pack the archive again without a password")]
    Encrypted,

    /// It is compressed in a way that is not supported.
    #[error(
        "is compressed by {method}, which is not supported; pack the archive again with Deflate \
         or without compression"
    )]
    Compression {
        /// The method.
        method: String,
    },

    /// Another entry has the same path.
    #[error("is there twice, so that it is not clear which one counts; pack the archive again")]
    Duplicate,

    /// One entry is a file where another needs a folder.
    #[error("is a file and a folder at once; pack the archive again")]
    FileAndFolder,

    /// The file system sees no difference between two names.
    #[error(
        "has the name of another entry but for letter case or accents, which this file system \
         does not tell apart"
    )]
    Collision,

    /// It is so much larger than its compressed form that nobody can mean it.
    #[error(
        "grows from {compressed} to {size} bytes, which looks like an attack by a decompression \
         bomb"
    )]
    Bomb {
        /// In the archive.
        compressed: u64,
        /// As declared.
        size: u64,
    },

    /// It shares bytes of the archive with another entry.
    #[error(
        "overlaps with another entry, as in a decompression bomb; the archive is damaged or \
         malicious"
    )]
    Overlap,

    /// What comes out is not what was promised.
    #[error("is damaged ({source}); copy or download the archive again")]
    Damaged {
        /// What went wrong.
        source: io::Error,
    },
}

/// What to try when the cache cannot be written.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or set DOVETAIL_CACHE to a folder on another disk"
        }
        _ => "set DOVETAIL_CACHE to a folder that can be written",
    }
}

/// A name from an archive, for messages: of bounded length, without what would give orders to a
/// terminal.
pub(super) fn printable(name: &str) -> String {
    const MOST: usize = 120;
    let mut shown: String = name
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();

    if name.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_closed_folder_have_their_own_remedies() {
        let message = |kind: io::ErrorKind| {
            ArchiveError::Write {
                path: "cache".into(),
                source: kind.into(),
            }
            .to_string()
        };
        assert!(message(io::ErrorKind::StorageFull).contains("free some space"));
        assert!(
            message(io::ErrorKind::PermissionDenied)
                .ends_with("set DOVETAIL_CACHE to a folder that can be written")
        );
    }
}
