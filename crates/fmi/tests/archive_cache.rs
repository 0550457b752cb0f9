//! The cache of unpacked archives: shared, mended, cleaned.

mod zips;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use dovetail_fmi::archive::{Archive, Cache};
use zips::{Folder, entry, unit, zip};

/// A process that is being started shares, for a moment, the locks of all files that are open here,
/// so that an entry looks used which is not. Tests that start processes and tests that look at what
/// is removed take turns.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn entries(folder: &Folder) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder.path().join("archives-1"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    found
        .filter(|path| path.is_dir() && !path.ends_with("temporary"))
        .collect()
}

/// Makes a file or folder look old.
fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    std::fs::File::open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

fn lock_of(archive: &Archive) -> PathBuf {
    let entry = archive.folder().parent().unwrap();
    entry.with_file_name(format!(
        "{}.lock",
        entry.file_name().unwrap().to_str().unwrap()
    ))
}

#[test]
fn archives_of_equal_content_share_an_entry() {
    let folder = Folder::new();
    let cache = Cache::at(folder.path());
    let first = Archive::open_in(&folder.write("a.fmu", &unit()), &cache).unwrap();
    let second = Archive::open_in(&folder.write("b.fmu", &unit()), &cache).unwrap();
    let third = Archive::open_in(&folder.write("c.fmu", &zip(&[entry("x", "x")])), &cache).unwrap();
    assert_eq!(
        (first.folder(), first.hash()),
        (second.folder(), second.hash())
    );
    assert_ne!(first.folder(), third.folder());
    assert_eq!(entries(&folder).len(), 2);
}

#[test]
fn many_threads_open_the_same_archive_at_once() {
    let folder = Folder::new();
    let path = folder.write("a.fmu", &unit());
    let cache = Cache::at(folder.path());
    let barrier = Barrier::new(16);
    std::thread::scope(|scope| {
        let open = || {
            barrier.wait();
            let archive = Archive::open_in(&path, &cache).unwrap();
            assert_eq!(
                std::fs::read(archive.folder().join("binaries/linux64/unit.so"))
                    .unwrap()
                    .len(),
                5000
            );
            archive.folder().to_owned()
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
        let mut folders: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        folders.dedup();
        assert_eq!(folders.len(), 1);
    });
    assert_eq!(
        std::fs::read_dir(folder.path().join("archives-1/temporary"))
            .unwrap()
            .count(),
        0
    );
}

/// What the processes of the next test do: opens the archive again and again, while others damage
/// the entry and clean.
#[test]
fn open_as_a_child_process() {
    let Some(folder) = std::env::var_os("DOVETAIL_TEST_FOLDER").map(PathBuf::from) else {
        return;
    };
    let mut cache = Cache::at(&folder);
    (cache.keep_size, cache.clean_every) = (0, Duration::ZERO);
    for round in 0..25 {
        let archive = Archive::open_in(&folder.join("a.fmu"), &cache).unwrap();
        for _ in 0..3 {
            assert_eq!(
                std::fs::read(archive.folder().join("binaries/linux64/unit.so"))
                    .unwrap()
                    .len(),
                5000
            );
            assert!(archive.folder().join("modelDescription.xml").exists());
        }
        drop(archive);
        if round % 5 == 0 {
            // Cleaning leaves other archives, and itself, the time to remove this one.
            Archive::open_in(&folder.join("b.fmu"), &cache).unwrap();
        }
    }
}

#[test]
fn many_processes_share_a_cache_that_is_cleaned_all_the_time() {
    let _alone = alone();
    let folder = Folder::new();
    folder.write("a.fmu", &unit());
    folder.write("b.fmu", &zip(&[entry("x", "x")]));
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "open_as_a_child_process"])
            .env("DOVETAIL_TEST_FOLDER", folder.path());
        command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..8).map(|_| start()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn a_damaged_entry_is_made_anew() {
    let _alone = alone();
    let folder = Folder::new();
    let path = folder.write("a.fmu", &unit());
    let cache = Cache::at(folder.path());
    let open = || Archive::open_in(&path, &cache).unwrap();
    let place = open().folder().to_owned();
    std::fs::remove_file(place.join("modelDescription.xml")).unwrap();
    assert!(open().folder().join("modelDescription.xml").exists());
    std::fs::write(place.join("binaries/linux64/unit.so"), b"").unwrap();
    assert_eq!(
        std::fs::read(open().folder().join("binaries/linux64/unit.so"))
            .unwrap()
            .len(),
        5000
    );
    std::fs::write(place.join("../manifest"), b"nonsense").unwrap();
    assert_eq!(open().folder(), place);
    std::fs::remove_dir_all(&place).unwrap();
    assert!(open().folder().join("modelDescription.xml").exists());
    assert_eq!(entries(&folder).len(), 1);
}

#[test]
fn what_a_unit_writes_beside_its_files_stays() {
    let folder = Folder::new();
    let path = folder.write("a.fmu", &unit());
    let cache = Cache::at(folder.path());
    let first = Archive::open_in(&path, &cache).unwrap();
    std::fs::write(first.folder().join("resources/log.txt"), b"hello").unwrap();
    let second = Archive::open_in(&path, &cache).unwrap();
    assert!(second.folder().join("resources/log.txt").exists());
}

#[test]
fn an_entry_that_is_damaged_while_in_use_is_left_to_its_user() {
    let _alone = alone();
    let folder = Folder::new();
    let path = folder.write("a.fmu", &unit());
    let cache = Cache::at(folder.path());
    let user = Archive::open_in(&path, &cache).unwrap();
    // An FMU that changes its own files: everybody lives with it.
    std::fs::write(
        user.folder().join("resources/solver"),
        b"longer than it was before",
    )
    .unwrap();
    assert_eq!(
        Archive::open_in(&path, &cache).unwrap().folder(),
        user.folder()
    );
    // A file that is gone: others get a copy.
    std::fs::remove_file(user.folder().join("modelDescription.xml")).unwrap();
    let copy = Archive::open_in(&path, &cache).unwrap();
    assert_ne!(copy.folder(), user.folder());
    assert!(copy.folder().join("modelDescription.xml").exists() && user.folder().exists());
}

#[test]
fn entries_that_nobody_uses_go_and_those_in_use_stay() {
    let _alone = alone();
    let folder = Folder::new();
    let cache = Cache::at(folder.path());
    let names = ["old", "used", "young"];
    let paths = names.map(|name| folder.write(name, &zip(&[entry(name, name)])));
    let [old, used, young] = paths
        .each_ref()
        .map(|path| Archive::open_in(path, &cache).unwrap());
    let places = [&old, &used, &young].map(|archive| archive.folder().to_owned());
    age(&lock_of(&old), 31);
    age(&lock_of(&used), 31);
    age(&lock_of(&young), 29);
    let leftover = folder.path().join("archives-1/temporary/1-1-1");
    let recent = folder.path().join("archives-1/temporary/2-2-2");
    std::fs::create_dir(&leftover).unwrap();
    std::fs::create_dir(&recent).unwrap();
    age(&leftover, 2);
    drop((old, young));
    // Nothing happens before its time.
    drop(Archive::open_in(&paths[2], &cache).unwrap());
    assert_eq!(entries(&folder).len(), 3);
    age(&folder.path().join("archives-1/cleaned"), 2);
    drop(Archive::open_in(&paths[2], &cache).unwrap());
    assert_eq!(
        places.each_ref().map(|place| place.exists()),
        [false, true, true]
    );
    assert_eq!((leftover.exists(), recent.exists()), (false, true));
    drop(used);
}

#[test]
fn the_least_used_entries_go_while_the_cache_is_too_large() {
    let _alone = alone();
    let folder = Folder::new();
    let mut cache = Cache::at(folder.path());
    cache.keep_size = 2500;
    let mut places = Vec::new();
    for day in [3, 2, 1] {
        let path = folder.write(&format!("{day}.fmu"), &zip(&[entry("x", vec![day; 1000])]));
        let archive = Archive::open_in(&path, &cache).unwrap();
        age(&lock_of(&archive), day.into());
        places.push(archive.folder().to_owned());
    }
    // The third made the cache too large, so the first had to go.
    assert_eq!(
        places
            .iter()
            .map(|place| place.exists())
            .collect::<Vec<_>>(),
        [false, true, true]
    );
}

#[test]
fn a_library_that_was_changed_is_unpacked_anew() {
    let folder = Folder::new();
    let cache = Cache::at(folder.path());
    let library = "binaries/linux64/unit.so";
    let path = folder.write(
        "a.fmu",
        &zip(&[entry(library, "good code"), entry("x", "x")]),
    );
    let first = Archive::open_in(&path, &cache).unwrap();
    let cached = first.folder().join(library);
    drop(first);
    // As long as before, so that sizes tell nothing; what a power cut may leave is like that too.
    for damage in ["evil code", "\0\0\0\0\0\0\0\0\0"] {
        std::fs::write(&cached, damage).unwrap();
        let again = Archive::open_in(&path, &cache).unwrap();
        let found = std::fs::read_to_string(again.folder().join(library)).unwrap();
        assert_eq!(found, "good code");
    }
}

#[test]
fn the_cache_is_private_whatever_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let root = folder.path().join("archives-1");
    std::fs::create_dir(&root).unwrap();
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o777)).unwrap();
    let cache = Cache::at(folder.path());
    let archive = Archive::open_in(&folder.write("a.fmu", &unit()), &cache).unwrap();
    for path in [
        root.as_path(),
        archive.folder(),
        archive.folder().parent().unwrap(),
    ] {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn an_entry_that_leads_elsewhere_is_not_used() {
    let folder = Folder::new();
    let cache = Cache::at(folder.path());
    let path = folder.write("a.fmu", &zip(&[entry("x", "x")]));
    let first = Archive::open_in(&path, &cache).unwrap();
    let place = first.folder().parent().unwrap().to_owned();
    drop(first);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&place, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
    let again = Archive::open_in(&path, &cache).unwrap();
    let found = again.folder().canonicalize().unwrap();
    assert!(!found.starts_with(elsewhere.canonicalize().unwrap()));
}

#[test]
fn what_a_dead_process_left_is_removed_at_once() {
    let _alone = alone();
    let folder = Folder::new();
    let cache = Cache::at(folder.path());
    let temporary = folder.path().join("archives-1/temporary");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let [dead, living, foreign] = [
        format!("4194999-0-1-{}", &boot[..8]),
        format!("{}-0-1-{}", std::process::id(), &boot[..8]),
        "4194999-0-1-0elsewher".to_owned(),
    ]
    .map(|name| temporary.join(name));
    for leftover in [&dead, &living, &foreign] {
        std::fs::create_dir_all(leftover).unwrap();
    }
    Archive::open_in(&folder.write("a.fmu", &unit()), &cache).unwrap();
    assert_eq!(
        (dead.exists(), living.exists(), foreign.exists()),
        (false, true, true)
    );
}
