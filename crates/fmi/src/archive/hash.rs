//! Hashes by which archives are told apart.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of all that `file` holds from where it stands.
pub(super) fn of_file(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    feed(file, &mut hasher)?;
    Ok(digits(hasher))
}

/// A hash of a folder: its path and the files at its top.
pub(super) fn of_folder(folder: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    hasher.update(folder.as_os_str().as_encoded_bytes());
    let mut names = Vec::new();

    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }

    names.sort();
    for name in names {
        // The end of a name is a byte that no name has.
        hasher.update(b"\0");
        hasher.update(name.as_encoded_bytes());
        hasher.update(b"\0");
        feed(&mut File::open(folder.join(&name))?, &mut hasher)?;
    }
    Ok(digits(hasher))
}

fn feed(source: &mut impl Read, hasher: &mut Sha256) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn digits(hasher: Sha256) -> String {
    hasher
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("BUG: a string cannot be written");
            text
        })
}
