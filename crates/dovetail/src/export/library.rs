//! Where the engine is as a library.

use std::path::PathBuf;

/// The file that every exported FMU has a copy of.
pub const LIBRARY_FILE: &str = "libdovetail_fmu.so";

/// The library is not where it should be.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the engine as a library ({LIBRARY_FILE}), of which an exported FMU holds a copy, is not there: looked for {}",
    list(.looked)
)]
pub struct MissingLibrary {
    /// Where it was looked for.
    pub looked: Vec<PathBuf>,
}

fn list(paths: &[PathBuf]) -> String {
    let shown = paths.iter().map(|path| path.display().to_string());
    shown.collect::<Vec<_>>().join(", ")
}

/// The library in this file or, where none is named, beside the program.
pub fn find_library(named: Option<PathBuf>) -> Result<PathBuf, MissingLibrary> {
    let looked = match named {
        Some(path) => vec![path],
        None => beside_the_program(),
    };
    let found = looked.iter().find(|path| path.is_file()).cloned();
    found.ok_or(MissingLibrary { looked })
}

/// Where a build or an installation puts it.
fn beside_the_program() -> Vec<PathBuf> {
    let Ok(program) = std::env::current_exe() else {
        return vec![PathBuf::from(LIBRARY_FILE)];
    };
    let folder = program.parent().map(PathBuf::from).unwrap_or_default();
    let installed = folder.parent().map(|above| above.join("lib"));
    let folders = [Some(folder), installed];
    let folders = folders.into_iter().flatten();
    folders.map(|folder| folder.join(LIBRARY_FILE)).collect()
}
