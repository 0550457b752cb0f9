//! Any bytes are unpacked into the cache or refused, and nothing is written elsewhere.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use dovetail_fmi::archive::{Archive, Cache};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = folder();
    let path = folder.join("unit.fmu");
    std::fs::write(&path, bytes).expect("the folder can be written");
    let root = folder.join("cache");
    let mut cache = Cache::at(&root);
    (cache.limits.total, cache.limits.entries, cache.limits.unsuspicious) = (1 << 20, 100, 1 << 16);
    match Archive::open_in(&path, &cache) {
        Ok(archive) => {
            assert!(archive.folder().starts_with(&root) && archive.folder().is_dir());
            let again = Archive::open_in(&path, &cache).expect("an archive can be opened twice");
            assert_eq!((archive.folder(), archive.warnings()), (again.folder(), again.warnings()));
        }
        Err(error) => assert!(error.to_string().contains("unit.fmu"), "{error}"),
    }
    assert_eq!(std::fs::read_dir(root.join("archives-1/temporary")).expect("the folder is there").count(), 0);
    let beside = std::fs::read_dir(folder).expect("the folder is there").count();
    assert_eq!(beside, 2, "something was written beside the cache");
    std::fs::remove_dir_all(&root).expect("the cache can be removed");
});

/// A folder for this process, within another one, so that what climbs out is seen.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("dovetail-fuzz-archive-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        folder
    })
}
