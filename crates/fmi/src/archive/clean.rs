//! Removing from the cache what nobody has used for long, and what is too much.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cache::Cache;
use super::lock::Lock;
use super::manifest::Manifest;

/// What a process that crashed left behind is removed after so long.
const LEFTOVER: Duration = Duration::from_secs(24 * 60 * 60);

/// Cleans the cache if a new entry was just made, or if it is time to. Whatever fails here will be
/// tried again some day.
pub(super) fn clean(cache: &Cache, made: bool) {
    let stamp = cache.root().join("cleaned");
    if !made && age(&stamp).is_some_and(|age| age < cache.clean_every) {
        return;
    }

    // Two at a time would be in each other's way.
    let Ok(Some(lock)) = Lock::attempt(&stamp) else {
        return;
    };
    lock.touch();
    remove_leftovers(cache);

    remove_entries(cache);
}

fn remove_leftovers(cache: &Cache) {
    let Ok(leftovers) = std::fs::read_dir(cache.temporary()) else {
        return;
    };
    for leftover in leftovers.flatten() {
        let name = leftover.file_name();
        let abandoned = name.to_str().is_some_and(is_abandoned);
        if abandoned || age(&leftover.path()).is_some_and(|age| age > LEFTOVER) {
            let _ = std::fs::remove_dir_all(leftover.path());
        }
    }
}

/// This machine since it was started: processes of the same number are the same here.
pub(super) fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.chars()
        .filter(char::is_ascii_hexdigit)
        .take(8)
        .collect()
}

/// Whether the process that made a temporary folder of this name is gone, as far as can be told.
fn is_abandoned(name: &str) -> bool {
    let mut parts = name.split('-');
    let (process, machine_of) = (parts.next(), parts.nth(2));
    let here = machine();
    let alive = |process: &str| Path::new("/proc").join(process).exists();
    !here.is_empty() && machine_of == Some(&here) && process.is_some_and(|process| !alive(process))
}

/// An entry, when it was last used and how much it holds.
struct CachedArchive {
    folder: PathBuf,
    unused: Duration,
    size: u64,
}

fn remove_entries(cache: &Cache) {
    let mut entries = entries(cache);
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.unused));

    for entry in entries {
        if entry.unused <= cache.keep_for && total <= cache.keep_size {
            break;
        }
        if remove(cache, &entry.folder) {
            total -= entry.size;
        }
    }
}

fn entries(cache: &Cache) -> Vec<CachedArchive> {
    let Ok(found) = std::fs::read_dir(cache.root()) else {
        return Vec::new();
    };
    let folders = found
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && *path != cache.temporary());
    let entry = |folder: PathBuf| {
        let unused = age(&lock_of(&folder))
            .or_else(|| age(&folder))
            .unwrap_or_default();
        let size = Manifest::read(&folder.join("manifest")).map_or(0, |manifest| manifest.total());
        CachedArchive {
            folder,
            unused,
            size,
        }
    };

    folders.map(entry).collect()
}

/// Removes an entry unless somebody uses it; tells whether it did.
fn remove(cache: &Cache, folder: &Path) -> bool {
    let lock_path = lock_of(folder);
    let Ok(Some(_lock)) = Lock::attempt(&lock_path) else {
        return false;
    };
    let away = cache.fresh();
    if std::fs::rename(folder, &away).is_err() {
        return false;
    }

    // Whoever waits for the lock sees that its file is gone, and begins anew.
    let _ = std::fs::remove_file(&lock_path);
    let _ = std::fs::remove_file(folder.with_extension("make"));
    let _ = std::fs::remove_dir_all(&away);

    true
}

fn lock_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// How long ago a file was last written; nothing for one that is not there, or of the future.
fn age(path: &Path) -> Option<Duration> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    Some(modified.elapsed().unwrap_or_default())
}
