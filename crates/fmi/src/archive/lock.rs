//! Locks between processes, and between threads of one, by files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A lock that is given back when this value is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

/// How to lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LockMode {
    /// Together with others.
    Shared,
    /// Alone.
    Exclusive,
}

impl Lock {
    /// Waits for the lock.
    pub(super) fn wait(path: &Path, mode: LockMode) -> io::Result<Self> {
        loop {
            let file = open(path)?;
            let locked = match mode {
                LockMode::Shared => file.lock_shared(),
                LockMode::Exclusive => file.lock(),
            };
            match locked {
                Ok(()) => {}
                // Some network file systems know no locks: then entries are protected by their age
                // only.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if is_still(&file, path) {
                return Ok(Self { file });
            }
        }
    }

    /// The lock for oneself alone, unless others have it.
    pub(super) fn attempt(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(is_still(&file, path).then_some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            // Without locks nobody can tell whether others use it.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(None)
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Notes that what is locked is in use now.
    pub(super) fn touch(&self) {
        // Only the order in which entries are removed depends on it.
        let _ = self.file.set_modified(SystemTime::now());
    }
}

fn open(path: &Path) -> io::Result<File> {
    let writable = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    // A cache that somebody else fills and we only read is locked too.
    writable.or_else(|error| File::open(path).map_err(|_| error))
}

/// Whether the file that was locked is still the one at its path: it is removed together with what
/// it protects.
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
        _ => false,
    }
}
