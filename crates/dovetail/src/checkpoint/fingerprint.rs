//! What a file was when a checkpoint was written.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The SHA-256 of a file; of a folder, that of all names and files in it.
pub fn fingerprint(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    if path.is_dir() {
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file);
            // The end of a name is a byte that no name has.
            hasher.update(name.as_os_str().as_encoded_bytes());
            hasher.update(b"\0");
            feed(&file, &mut hasher)?;
        }
    } else {
        feed(path, &mut hasher)?;
    }

    let mut digits = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(digits, "{byte:02x}"); // a text takes whatever it is given
    }
    Ok(digits)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => collect(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

fn feed(path: &Path, hasher: &mut Sha256) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_sha_256_and_a_folder_changes_with_any_file_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("one");
        std::fs::write(&file, "abc").expect("written");
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(fingerprint(&file).expect("read"), known);

        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        let before = fingerprint(folder.path()).expect("read");
        assert_eq!(fingerprint(folder.path()).expect("read"), before);
        std::fs::write(inner.join("two"), "").expect("written");
        assert_ne!(fingerprint(folder.path()).expect("read"), before);
    }
}
