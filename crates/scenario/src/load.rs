//! What kind of model a file is.

use std::io::Read;
use std::path::Path;

/// The kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A model file of ours.
    Toml,
    /// One FMU.
    Unit,
    /// A system structure: `.ssp`, `.ssd`, or an unpacked folder.
    Structure,
}

/// By its ending, and where that says nothing by what is in it.
pub(crate) fn format_of(path: &Path) -> Format {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("fmu") => Format::Unit,
        Some("ssp" | "ssd") => Format::Structure,
        Some("toml") => Format::Toml,
        _ if path.is_dir() && path.join("modelDescription.xml").is_file() => Format::Unit,
        _ if path.is_dir() && path.join(dovetail_ssp::DEFAULT_SSD).is_file() => Format::Structure,
        _ if begins_like_a_zip(path) => Format::Unit,
        _ => Format::Toml,
    }
}

fn begins_like_a_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"PK\x03\x04"
}
