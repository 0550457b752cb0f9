//! Names of entries and the paths that they stand for.

use std::path::PathBuf;

use super::error::EntryProblem;

/// No honest archive has longer names or deeper folders.
const LONGEST_NAME: usize = 2048;
const DEEPEST: usize = 64;

/// Where an entry is to be written, relative to the folder of the archive. Both slashes separate
/// folders, since some tools write the wrong one.
pub(super) fn path_of(name: &str) -> Result<PathBuf, EntryProblem> {
    if name.len() > LONGEST_NAME || name.contains('\0') {
        return Err(EntryProblem::Name);
    }

    let mut start = name.bytes();
    let drive = start
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && start.next() == Some(b':');
    if drive || name.starts_with(['/', '\\']) {
        return Err(EntryProblem::Outside);
    }

    let mut path = PathBuf::new();
    for (depth, part) in name
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
        .enumerate()
    {
        if part == ".." {
            return Err(EntryProblem::Outside);
        }
        if depth >= DEEPEST {
            return Err(EntryProblem::Name);
        }
        path.push(part);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_slashes_separate_folders() {
        let expected = Path::new("binaries/linux64/a b.so");
        for name in [
            "binaries/linux64/a b.so",
            "binaries\\linux64\\a b.so",
            "./binaries//linux64/a b.so",
        ] {
            assert_eq!(path_of(name).unwrap(), expected);
        }
        assert_eq!(
            path_of("ресурсы/温度.csv").unwrap(),
            Path::new("ресурсы/温度.csv")
        );
        assert_eq!(
            path_of("resources/...").unwrap(),
            Path::new("resources/...")
        );
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in [
            "../x",
            "a/../../x",
            "a\\..\\x",
            "/etc/passwd",
            "\\\\server\\x",
            "C:\\x",
            "c:x",
            "..",
        ] {
            assert!(
                matches!(path_of(name), Err(EntryProblem::Outside)),
                "{name}"
            );
        }
        for name in ["a\0b".to_owned(), "x".repeat(3000), "a/".repeat(500)] {
            assert!(matches!(path_of(&name), Err(EntryProblem::Name)));
        }
    }

    proptest! {
        #[test]
        fn a_path_consists_of_names_only(name in r#"[a-cC:/\\. \u{0}]{0,20}|.{0,20}"#) {
            if let Ok(path) = path_of(&name) {
                let is_normal = |part| matches!(part, Component::Normal(_));
                prop_assert!(path.components().all(is_normal), "{name:?}");
            }
        }
    }
}
