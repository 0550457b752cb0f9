//! Unpacked archives, kept under the hashes of their contents and shared by all processes.
//!
//! ```text
//! archives-1/HASH.N/content/…      an entry: the files of an archive; N is 0 but for copies
//!                                  of entries damaged in use
//! archives-1/HASH.N/manifest       what it must hold
//! archives-1/HASH.N.lock           held shared by those who use the entry; its time is that of
//!                                  the last use
//! archives-1/HASH.make             held by the one who makes entries of this hash
//! archives-1/temporary/…           entries in the making, and those on their way out
//! archives-1/cleaned               when old entries were last looked for
//! ```
//!
//! An entry appears by renaming, whole or not at all.
//!
//! What it saves: opening an FMU takes 1.4 ms when it is unpacked and 0.09 ms when it is in the
//! cache (`VanDerPol` of the Reference FMUs, 76 kB), 185 ms and 13 ms with a resource of 60 MiB (10
//! MB in the archive; what is left is the hash of its content). Medians of 20 openings by
//! `Archive::open_in` with an empty cache each, and of 20 second openings, in one process on two
//! cores of a shared machine, on an ordinary disk. A run opens each FMU twice at least, once to try
//! it out in another process, and each worker process opens its own again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::ArchiveError;
use super::extract::{extract, inner_folder, write_error};
use super::lock::{Lock, LockMode};
use super::manifest::{Manifest, UnpackState};
use super::plan::Limits;
use super::{Archive, clean, hash};

/// So many copies of an entry there may be, if all before are damaged and in use.
const COPIES: usize = 16;

/// Where unpacked archives are kept, and how much of them for how long.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    /// What an archive may demand of the disk.
    pub limits: Limits,
    /// Entries that were not used for so long are removed.
    pub keep_for: Duration,
    /// While the files of all entries together have more bytes than these, those that were not used
    /// for longest are removed.
    pub keep_size: u64,
    /// So often is looked for entries to remove, beside the times at which new ones are made.
    pub clean_every: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Cache {
    /// The usual cache: in `$DOVETAIL_CACHE`, else `$XDG_CACHE_HOME/dovetail`, else
    /// `$HOME/.cache/dovetail`, else in the folder for temporary files.
    pub fn standard() -> Result<Self, ArchiveError> {
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        if let Some(given) = std::env::var_os("DOVETAIL_CACHE").filter(|given| !given.is_empty()) {
            let given = PathBuf::from(given);
            // Units may change the working directory.
            let root = std::path::absolute(&given).map_err(|source| write_error(&given, source))?;
            return Ok(Self::at(&root));
        }
        if let Some(folder) = absolute("XDG_CACHE_HOME") {
            return Ok(Self::at(&folder.join("dovetail")));
        }
        if let Some(folder) = absolute("HOME") {
            return Ok(Self::at(&folder.join(".cache/dovetail")));
        }

        private_folder(&std::env::temp_dir()).map(|root| Self::at(&root))
    }

    /// A cache in a folder, which is made when it is needed.
    pub fn at(root: &Path) -> Self {
        let root = root.join("archives-1");
        Self {
            root,
            limits: Limits::default(),
            keep_for: 30 * DAY,
            keep_size: 4 << 30,
            clean_every: DAY,
        }
    }

    pub(super) fn open(&self, path: &Path) -> Result<Archive, ArchiveError> {
        let read = |source| ArchiveError::Read {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(read)?;
        let stamp = stamp(&file);
        let hash = hash::of_file(&mut file).map_err(read)?;
        let temporary = self.temporary();
        make_private(&temporary).map_err(|source| write_error(&temporary, source))?;
        self.check_owner()?;

        for copy in 0..COPIES {
            let entry = Entry {
                cache: self,
                path,
                stamp,
                name: format!("{hash}.{copy}"),
            };
            if let Some((lock, made)) = entry.obtain(&mut file, &hash)? {
                clean::clean(self, made);
                return entry.archive(hash, lock).map_err(read);
            }
        }
        Err(ArchiveError::Busy {
            path: path.to_owned(),
            cache: self.root.clone(),
        })
    }

    /// Libraries are run from here: a folder of somebody else is refused, and ours is for us alone.
    fn check_owner(&self) -> Result<(), ArchiveError> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let root = &self.root;
        let found = std::fs::symlink_metadata(root).map_err(|source| write_error(root, source))?;
        if !found.is_dir() || !is_ours(&found) {
            let path = root.clone();
            return Err(ArchiveError::Unsafe { path });
        }

        if found.mode() & 0o077 != 0 && found.uid() == user() {
            let private = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(root, private).map_err(|source| write_error(root, source))?;
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("temporary")
    }

    /// A path in the folder of temporary files that nobody else has.
    pub(super) fn fresh(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();

        // The time tells processes apart that have the same number on different machines, and the
        // last part who can say whether the process still lives.
        self.temporary().join(format!(
            "{}-{count}-{:x}-{}",
            std::process::id(),
            since.as_nanos(),
            clean::machine()
        ))
    }
}

/// One entry of a cache.
struct Entry<'a> {
    cache: &'a Cache,
    /// The archive, as the user knows it.
    path: &'a Path,
    /// What the archive was like when its hash was computed.
    stamp: Option<(u64, SystemTime)>,
    name: String,
}

impl Entry<'_> {
    /// The lock under which the entry is whole, and whether it was made anew; `None` where it is
    /// damaged and in use.
    fn obtain(&self, file: &mut File, hash: &str) -> Result<Option<(Lock, bool)>, ArchiveError> {
        if let Some(lock) = self.usable()? {
            return Ok(Some((lock, false)));
        }

        // One makes it, the others wait; whoever comes next finds it made.
        let make = self.cache.root.join(format!("{hash}.make"));
        let _making =
            Lock::wait(&make, LockMode::Exclusive).map_err(|source| write_error(&make, source))?;
        if let Some(lock) = self.usable()? {
            return Ok(Some((lock, false)));
        }

        let lock_path = self.lock_path();
        let alone = Lock::attempt(&lock_path).map_err(|source| write_error(&lock_path, source))?;

        if self.folder().exists() {
            if alone.is_none() {
                // Somebody works with the damaged entry. If files have but changed, that is what
                // they do.
                return Ok(self
                    .usable_if(|state| state != UnpackState::Broken)?
                    .map(|lock| (lock, false)));
            }
            self.remove()?;
        }

        if let Some(lock) = &alone {
            lock.touch();
        }

        self.make(file)?;
        drop(alone);
        // Between the two locks somebody who cleans might remove it again: then the next copy is
        // tried.
        Ok(self.usable()?.map(|lock| (lock, true)))
    }

    fn usable(&self) -> Result<Option<Lock>, ArchiveError> {
        self.usable_if(|state| state == UnpackState::Whole)
    }

    /// The lock of the entry if it is there in a state that will do.
    fn usable_if(
        &self,
        will_do: impl Fn(UnpackState) -> bool,
    ) -> Result<Option<Lock>, ArchiveError> {
        let folder = self.folder();
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() && is_ours(&found) => {}
            _ => return Ok(None),
        }

        let lock_path = self.lock_path();
        let lock = Lock::wait(&lock_path, LockMode::Shared)
            .map_err(|source| write_error(&lock_path, source))?;
        let manifest = Manifest::read(&folder.join("manifest"));
        let state = manifest.map_or(UnpackState::Broken, |manifest| {
            manifest.check(&folder.join("content"))
        });
        if !will_do(state) {
            return Ok(None);
        }

        lock.touch();
        Ok(Some(lock))
    }

    fn make(&self, file: &mut File) -> Result<(), ArchiveError> {
        let fresh = self.cache.fresh();
        let made =
            self.fill(file, &fresh)
                .and_then(|()| match std::fs::rename(&fresh, self.folder()) {
                    Ok(()) => Ok(()),
                    // Where locks do not work, somebody else may have made it in the meantime.
                    Err(_) if self.folder().exists() => Ok(()),
                    Err(source) => Err(write_error(&self.folder(), source)),
                });
        let _ = std::fs::remove_dir_all(&fresh);

        made
    }

    fn fill(&self, file: &mut File, fresh: &Path) -> Result<(), ArchiveError> {
        let content = fresh.join("content");
        make_private(&content).map_err(|source| write_error(&content, source))?;
        let plan = extract(self.path, file, &content, &self.cache.limits)?;

        if stamp(file) != self.stamp {
            return Err(ArchiveError::Changed {
                path: self.path.to_owned(),
            });
        }

        // A power cut after the entry is there must not leave empty files in it.
        let folders = plan.folders.iter().map(|folder| content.join(folder));
        for folder in folders.chain([content.clone()]) {
            sync_folder(&folder).map_err(|source| write_error(&folder, source))?;
        }

        let manifest = fresh.join("manifest");
        Manifest::of(&plan, &content)
            .and_then(|made| made.write(&manifest))
            .and_then(|()| sync_folder(fresh))
            .map_err(|source| write_error(&manifest, source))
    }

    /// Moves the entry away at once and removes it at leisure.
    fn remove(&self) -> Result<(), ArchiveError> {
        let fresh = self.cache.fresh();
        std::fs::rename(self.folder(), &fresh)
            .map_err(|source| write_error(&self.folder(), source))?;
        let _ = std::fs::remove_dir_all(&fresh);
        Ok(())
    }

    fn archive(&self, hash: String, lock: Lock) -> std::io::Result<Archive> {
        let manifest = Manifest::read(&self.folder().join("manifest")).unwrap_or_default();
        let (folder, nested) = inner_folder(&self.folder().join("content"))?;
        let warnings = manifest.warnings.into_iter().chain(nested).collect();

        Ok(Archive {
            folder,
            hash,
            warnings,
            _lock: Some(lock),
        })
    }

    fn folder(&self) -> PathBuf {
        self.cache.root.join(&self.name)
    }

    fn lock_path(&self) -> PathBuf {
        self.cache.root.join(format!("{}.lock", self.name))
    }
}

/// What changes when somebody writes to a file.
fn stamp(file: &File) -> Option<(u64, SystemTime)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// A folder, with those above it, that nobody else may read or write.
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// The names in a folder are on the disk.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The user of this process. The standard library has no way to ask for them, but the process
/// directory belongs to them.
fn user() -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").map_or(0, |process| process.uid())
}

/// Whether something belongs to us, or to the administrator, who may fill a cache for all.
fn is_ours(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == user() || found.uid() == 0
}

/// A folder of our own within one that others can write too: libraries from there are run.
fn private_folder(shared: &Path) -> Result<PathBuf, ArchiveError> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let user = user();
    let folder = shared.join(format!("dovetail-{user}"));
    let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);

    if let Err(source) = made
        && source.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(write_error(&folder, source));
    }

    let found =
        std::fs::symlink_metadata(&folder).map_err(|source| write_error(&folder, source))?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        return Err(ArchiveError::Unsafe { path: folder });
    }
    Ok(folder)
}
