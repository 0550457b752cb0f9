//! Where the resources of the FMU are.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use dovetail::export::MANIFEST;

/// The folder that the importer names or, where there is nothing of ours, the one beside this very library.
pub(crate) fn find(named: Option<PathBuf>) -> Result<PathBuf, String> {
    let ours = |folder: &PathBuf| folder.join(MANIFEST).is_file();
    let all = [named.clone(), beside_the_library()];
    if let Some(found) = all.into_iter().flatten().find(ours) {
        return Ok(found);
    }
    Err(match named {
        Some(folder) => format!(
            "{} has no {MANIFEST}: the FMU is not unpacked there, or not whole",
            folder.display()
        ),
        None => "the importer does not say where the resources of the FMU are, and they are not beside its library".to_owned(),
    })
}

/// A URI of a file, or a path.
pub(crate) fn path_of(text: &str) -> Option<PathBuf> {
    if text.is_empty() {
        return None;
    }
    let Some(rest) = text.strip_prefix("file:") else {
        return Some(PathBuf::from(text));
    };
    let path = match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/')?..],
        None => rest,
    };
    let bytes = decoded(path.as_bytes());
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)))
}

/// Without percent signs.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, digit(after.first()), digit(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((16 * high + low) as u8);
                rest = &after[2..];
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

/// `binaries/PLATFORM/NAME.so` is beside `resources`.
fn beside_the_library() -> Option<PathBuf> {
    let library = crate::pointers::own_file()?;
    let root = Path::new(&library).parent()?.parent()?.parent()?;
    Some(root.join("resources"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_becomes_a_path_with_its_spaces_and_letters() {
        let path = path_of("file:///tmp/my%20model%C3%A4/resources").expect("a path");
        assert_eq!(path, Path::new("/tmp/my modelä/resources"));
        assert_eq!(path_of("file:/tmp/a%2"), Some(PathBuf::from("/tmp/a%2")));
        assert_eq!(path_of("/tmp/plain/"), Some(PathBuf::from("/tmp/plain/")));
        assert_eq!(path_of(""), None);
        assert_eq!(path_of("file://host"), None);
    }
}
