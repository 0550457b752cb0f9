//! Archives as they come: honest ones are unpacked, hostile and damaged ones are refused with a
//! sentence, and nothing is ever written outside of the cache.

mod zips;

use std::io::Write;
use std::path::Path;

use dovetail_fmi::archive::{Archive, ArchiveError, Cache};
use proptest::prelude::*;
use zips::{Entry, Folder, entry, unit, zip};

/// Opens an archive of these bytes; afterwards the cache holds at most its entry.
fn open(bytes: &[u8]) -> Result<(Folder, Archive), ArchiveError> {
    let folder = Folder::new();
    let path = folder.write("some unit.fmu", bytes);
    let cache = Cache::at(&folder.path().join("cache"));
    let opened = Archive::open_in(&path, &cache);
    let written: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        written.len() <= 2,
        "something was written beside the cache: {written:?}"
    );
    if let Ok(temporary) = std::fs::read_dir(folder.path().join("cache/archives-1/temporary")) {
        assert_eq!(
            temporary.count(),
            0,
            "something was left in the folder of temporary files"
        );
    }
    opened.map(|archive| (folder, archive))
}

fn refusal(entries: &[Entry]) -> String {
    open(&zip(entries))
        .err()
        .expect("the archive should have been refused")
        .to_string()
}

fn text(archive: &Archive, name: &str) -> String {
    std::fs::read_to_string(archive.folder().join(name)).unwrap()
}

#[test]
fn an_honest_archive_becomes_a_folder() {
    let (_folder, archive) = open(&unit()).unwrap();
    assert!(archive.folder().is_absolute() && archive.warnings().is_empty());
    assert_eq!(
        text(&archive, "modelDescription.xml"),
        "<fmiModelDescription/>"
    );
    assert_eq!(text(&archive, "resources/mesures été/温度.csv"), "0,1\n");
    assert_eq!(
        std::fs::read(archive.folder().join("binaries/linux64/unit.so")).unwrap(),
        vec![7; 5000]
    );
    assert_eq!(archive.hash().len(), 64);
}

#[test]
fn programs_stay_programs() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, archive) = open(&unit()).unwrap();
    let mode = |name: &str| {
        std::fs::metadata(archive.folder().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o111
    };
    assert_ne!(mode("resources/solver"), 0);
    assert_eq!(mode("binaries/linux64/unit.so"), 0);
}

#[test]
fn a_folder_is_taken_as_it_is() {
    let folder = Folder::new();
    folder.write("modelDescription.xml", b"<a/>");
    let open =
        || Archive::open_in(folder.path(), &Cache::at(Path::new("/nowhere/at/all"))).unwrap();
    let first = open();
    assert_eq!(first.folder(), folder.path().canonicalize().unwrap());
    std::fs::create_dir(folder.path().join("resources")).unwrap();
    folder.write("resources/log.txt", b"written by the unit");
    assert_eq!(open().hash(), first.hash());
    folder.write("modelDescription.xml", b"<b/>");
    assert_ne!(open().hash(), first.hash());
}

#[test]
fn backslashes_separate_folders() {
    let (_folder, archive) = open(&zip(&[
        entry("modelDescription.xml", "x"),
        entry("resources\\a\\b.txt", "b"),
    ]))
    .unwrap();
    assert_eq!(text(&archive, "resources/a/b.txt"), "b");
}

#[test]
fn a_packed_folder_is_entered_with_a_warning() {
    let (_folder, archive) = open(&zip(&[
        entry("unit/", ""),
        entry("unit/modelDescription.xml", "x"),
        entry("__MACOSX/y", "y"),
    ]))
    .unwrap();
    assert_eq!(text(&archive, "modelDescription.xml"), "x");
    assert!(
        archive.warnings()[0].contains("within the folder `unit`"),
        "{:?}",
        archive.warnings()
    );
}

#[test]
fn nothing_leaves_the_folder() {
    for name in [
        "../evil",
        "a/../../evil",
        "..\\evil",
        "/etc/evil",
        "C:\\evil",
        "\\\\server\\evil",
        "a/\\../../evil",
    ] {
        let message = refusal(&[entry("modelDescription.xml", "x"), entry(name, "evil")]);
        assert!(
            message.contains("outside of the folder") && message.contains("evil"),
            "{name}: {message}"
        );
    }
    assert!(refusal(&[entry("a\0b", "x")]).contains("a name that no file can have"));
    assert!(refusal(&[entry("./", "x"), entry(".", "x")]).contains("no file can have"));
}

#[test]
fn links_and_devices_are_refused() {
    let with_mode = |mode| Entry {
        mode,
        ..entry("link", "/etc/passwd")
    };
    assert!(refusal(&[with_mode(0o120_777)]).contains("symbolic link"));
    assert!(refusal(&[with_mode(0o020_666)]).contains("neither a file nor a folder"));
    assert!(refusal(&[with_mode(0o010_666)]).contains("neither a file nor a folder"));
}

#[test]
fn what_cannot_be_unpacked_is_named() {
    let message = refusal(&[Entry {
        flags: 1,
        ..entry("secret", "x")
    }]);
    assert!(message.contains("`secret` is encrypted"), "{message}");
    for (method, name) in [
        (12, "BZIP2"),
        (14, "LZMA"),
        (93, "Zstandard"),
        (77, "method 77"),
    ] {
        let message = refusal(&[Entry {
            method,
            ..entry("a", "x")
        }]);
        assert!(
            message.contains(name) && message.contains("Deflate"),
            "{message}"
        );
    }
}

#[test]
fn names_must_be_unambiguous() {
    assert!(
        refusal(&[entry("a", "1"), entry("a", "2")])
            .contains("two entries `a` with different content")
    );
    let (_folder, archive) =
        open(&zip(&[entry("a", "1"), entry("b", "2"), entry("a", "1")])).unwrap();
    assert_eq!(
        (text(&archive, "a"), text(&archive, "b")),
        ("1".into(), "2".into()),
        "what is there twice does no harm"
    );
    assert!(refusal(&[entry("a/b", "1"), entry("a\\b", "2")]).contains("is there twice"));
    assert!(refusal(&[entry("a", "1"), entry("a/b", "2")]).contains("a file and a folder"));
    assert!(refusal(&[entry("a/b", "1"), entry("a", "2")]).contains("a file and a folder"));
    // Where the file system tells cases apart, both are there.
    let (_folder, archive) = open(&zip(&[entry("A.txt", "1"), entry("a.txt", "2")])).unwrap();
    assert_eq!(archive.warnings().len(), 1);
    assert_eq!(
        (text(&archive, "A.txt"), text(&archive, "a.txt")),
        ("1".into(), "2".into())
    );
}

#[test]
fn declared_sizes_must_be_true() {
    for size in [0, 1, 6, u32::MAX - 1] {
        let message = refusal(&[Entry {
            size: Some(size),
            ..entry("a", "hello")
        }]);
        assert!(
            message.contains("is damaged") || message.contains("bomb"),
            "{size}: {message}"
        );
    }
    let mut bytes = zip(&[entry("a", "hello")]);
    bytes[32] ^= 1;
    assert!(
        open(&bytes)
            .err()
            .unwrap()
            .to_string()
            .contains("is damaged")
    );
}

#[test]
fn entries_that_share_their_bytes_are_refused() {
    let message = refusal(&[
        entry("a", "hello"),
        Entry {
            header: Some(0),
            ..entry("a", "jello")
        },
    ]);
    assert!(message.contains("different content"), "{message}");
    let message = refusal(&[
        entry("a", "hello"),
        Entry {
            header: Some(0),
            ..entry("b", "hello")
        },
    ]);
    assert!(
        message.contains("overlaps") || message.contains("damaged"),
        "{message}"
    );
}

/// A compressed file of zeros.
fn zeros(size: usize) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    writer.start_file("zeros", options).unwrap();
    writer.write_all(&vec![0; size]).unwrap();
    writer.finish().unwrap().into_inner()
}

fn open_limited(bytes: &[u8], change: impl Fn(&mut Cache)) -> Result<(), ArchiveError> {
    let folder = Folder::new();
    let mut cache = Cache::at(folder.path());
    change(&mut cache);
    Archive::open_in(&folder.write("a.fmu", bytes), &cache).map(|_| ())
}

#[test]
fn tables_of_zeros_are_honest_and_bombs_are_not() {
    let bytes = zeros(10 << 20);
    open_limited(&bytes, |_| {}).unwrap();
    let error = open_limited(&bytes, |cache| {
        (cache.limits.unsuspicious, cache.limits.ratio) = (1 << 20, 500)
    })
    .unwrap_err();
    assert!(error.to_string().contains("decompression bomb"), "{error}");
    let error = open_limited(&bytes, |cache| cache.limits.total = 1 << 20).unwrap_err();
    assert!(
        error.to_string().contains("more than 1048576 bytes"),
        "{error}"
    );
}

#[test]
fn by_default_a_bomb_of_256_megabytes_is_refused_before_anything_is_written() {
    // So much zlib makes of zeros; what the bytes are does not matter, since they are not looked
    // at.
    let message = refusal(&[Entry {
        method: 8,
        size: Some(256 << 20),
        ..entry("resources/zeros", vec![0; 260_916])
    }]);
    assert!(
        message.contains("from 260916 to 268435456 bytes"),
        "{message}"
    );
}

#[test]
fn archives_of_too_many_entries_are_refused() {
    let entries: Vec<_> = (0..50).map(|n| entry(format!("f{n}"), "")).collect();
    let error = open_limited(&zip(&entries), |cache| cache.limits.entries = 49).unwrap_err();
    assert!(error.to_string().contains("50 entries"), "{error}");
    let deep: Vec<_> = (0..40).map(|n| entry(format!("{n}/a/b/c"), "")).collect();
    let error = open_limited(&zip(&deep), |cache| cache.limits.entries = 49).unwrap_err();
    assert!(error.to_string().contains("folders"), "{error}");
}

#[test]
fn what_is_no_archive_is_told_what_it_is() {
    let message = |bytes: &[u8]| open(bytes).err().unwrap().to_string();
    assert!(message(b"").contains("it is empty"));
    assert!(message(b"<!DOCTYPE html><html>404").contains("a web page"));
    assert!(message(b"version https://git-lfs.github.com/spec/v1\n").contains("git lfs pull"));
    assert!(message(b"7z\xbc\xaf\x27\x1c").contains("7z"));
    assert!(message(b"\x1f\x8b\x08").contains("gzip"));
    assert!(message(b"<?xml version='1.0'?><fmiModelDescription/>").contains("an XML file"));
    assert!(message(b"just some text").contains("not a zip archive"));
    assert!(message(&zip(&[])).contains("without any files"));
    let missing =
        Archive::open_in(Path::new("no such file.fmu"), &Cache::at(Path::new("x"))).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "there is no file or folder `no such file.fmu`"
    );
}

#[test]
fn an_archive_that_was_cut_short_is_refused_wherever_it_was_cut() {
    let bytes = unit();
    for part in 0..50 {
        let error = open(&bytes[..bytes.len() * part / 50])
            .err()
            .expect("a part of an archive was taken for a whole");
        let message = error.to_string();
        assert!(
            message.contains("copy or download it again"),
            "{part}/50: {message}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let path = folder.write("a.fmu", &unit());
    let error = Archive::open_in(&path, &Cache::at(Path::new("/proc/nowhere")))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/proc/nowhere") && error.contains("DOVETAIL_CACHE"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(open(&bytes).is_err());
    }

    #[test]
    fn a_damaged_archive_never_writes_elsewhere(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = unit();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = open(&bytes); // which looks at what was written
    }

    #[test]
    fn whatever_the_names_are_nothing_is_written_elsewhere(names in prop::collection::vec(r"[a-c./\\: ]{0,12}", 1..6)) {
        let entries: Vec<_> = names.iter().map(|name| entry(name, "x")).collect();
        let _ = open(&zip(&entries));
    }
}

#[test]
fn many_files_that_are_unsuspicious_alone_are_a_bomb_together() {
    // 80 files of 99 MB from 100 kB each: 7.9 GB from 8 MB, as it was tried.
    let bomb = |n: usize| Entry {
        method: 8,
        size: Some(99_000_000),
        ..entry(format!("resources/zeros{n}"), vec![0; 101_000])
    };
    let message = refusal(&(0..80).map(bomb).collect::<Vec<_>>());
    assert!(message.contains("made to fill the disk"), "{message}");
}
