//! Finds and loads the library of an FMU.

#![allow(
    unsafe_code,
    reason = "loading a library runs its initializers, and symbols have no types"
)]

use std::path::{Path, PathBuf};

use crate::description::Version;

/// A loaded library. It stays loaded until the process ends: FMUs leave threads, handlers and
/// pointers behind, and a library that is unmapped under them crashes long after its run.
pub(crate) struct Library {
    handle: std::mem::ManuallyDrop<libloading::Library>,
}

/// A function that an FMU needs to have and does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its library has no function `{0}`, which is needed here")]
pub struct MissingSymbol(pub &'static str);

/// Why there is no library to call.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// None for this machine.
    #[error(
        "it has no library for this machine: {} is not there; it has {present}", .expected.display()
    )]
    Absent {
        /// What was looked for, within the archive.
        expected: PathBuf,
        /// The platforms that are there.
        present: String,
    },
    /// It is there and does not load.
    #[error("its library {} does not load: {reason}", .file.display())]
    NotLoaded {
        /// The file.
        file: PathBuf,
        /// What the loader says, and what to do.
        reason: String,
    },
}

/// The folder in `binaries/` for this machine.
fn platform(version: Version) -> &'static str {
    match version {
        _ if cfg!(target_arch = "aarch64") => "aarch64-linux",
        Version::Two => "linux64",
        Version::Three => "x86_64-linux",
    }
}

impl Library {
    /// The library named by the description or, where the name is another and there is only one,
    /// that one, and what is odd about it.
    pub fn find(
        folder: &Path,
        version: Version,
        identifier: &str,
    ) -> Result<(PathBuf, Option<String>), LibraryError> {
        let binaries = Path::new("binaries").join(platform(version));
        let expected = binaries.join(format!("{identifier}.so"));
        // The name comes from the FMU: it must not lead elsewhere.
        let inside = Path::new(identifier).components().count() == 1 && !identifier.contains('/');
        if inside && folder.join(&expected).is_file() {
            return Ok((folder.join(&expected), None));
        }

        let all = list(&folder.join(binaries));
        if let Some(only) = only_library(&all) {
            let name = only.file_name().unwrap_or_default().display();
            let warning = format!("its library is named {name} instead of {identifier}.so");
            return Ok((only.clone(), Some(warning)));
        }

        let present = present(folder, version, &all);
        Err(LibraryError::Absent { expected, present })
    }

    /// Loads the library `identifier` of an unpacked FMU.
    pub fn load(folder: &Path, version: Version, identifier: &str) -> Result<Self, LibraryError> {
        let (file, _) = Self::find(folder, version, identifier)?;
        // SAFETY: loading runs the library's initializers, which is what a user asks for who runs
        // an FMU.
        match unsafe { libloading::Library::new(&file) } {
            Ok(handle) => Ok(Self {
                handle: std::mem::ManuallyDrop::new(handle),
            }),
            Err(error) => Err(LibraryError::NotLoaded {
                reason: explain(&file, &error),
                file,
            }),
        }
    }

    /// A function by its name, if it is there.
    pub fn symbol<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: `F` is the type that the standard gives to a function of this name; the library
        // is never unloaded.
        unsafe { self.handle.get::<F>(name.as_bytes()) }
            .ok()
            .map(|symbol| *symbol)
    }
}

/// The library among these files, if there is one and no other.
fn only_library(files: &[PathBuf]) -> Option<&PathBuf> {
    let is_library = |path: &&PathBuf| path.extension().is_some_and(|e| e == "so");
    let mut libraries = files.iter().filter(is_library);
    let first = libraries.next()?;
    libraries.next().is_none().then_some(first)
}

/// What there is instead of a library for this machine, whose folder has these files.
fn present(folder: &Path, version: Version, files: &[PathBuf]) -> String {
    let wanted = platform(version);
    let platforms = names(&list(&folder.join("binaries")));

    if !names(files).is_empty() {
        format!("{} there", names(files).join(", "))
    } else if platforms.iter().any(|name| name == wanted) {
        format!("an empty folder binaries/{wanted}")
    } else if !platforms.is_empty() {
        format!("binaries for {} only", platforms.join(", "))
    } else if folder.join("sources").is_dir() {
        "sources only, which would have to be compiled first".to_owned()
    } else {
        "no binaries at all".to_owned()
    }
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().filter_map(|path| path.file_name());
    names.map(|name| name.display().to_string()).collect()
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();

    paths
}

/// What the loader says, and what can be done.
fn explain(file: &Path, error: &libloading::Error) -> String {
    let mut text = String::new();
    let mut source: Option<&dyn std::error::Error> = Some(error);

    while let Some(error) = source {
        text = error.to_string(); // the innermost is dlerror's own
        source = error.source();
    }

    let text = text.replace(&format!("{}: ", file.display()), "");
    let advice = advice(&text);
    format!("{text}{advice}")
}

/// What the loader's message calls for. It has no other form than a text.
fn advice(message: &str) -> &'static str {
    if message.contains("cannot open shared object file") {
        "; install the package that has this file, or add its folder to LD_LIBRARY_PATH (`ldd` on \
         the library shows all)"
    } else if message.contains("wrong ELF class") || message.contains("invalid ELF header") {
        "; it was built for another machine"
    } else if message.contains("undefined symbol: _Py") || message.contains("undefined symbol: Py")
    {
        "; it needs Python in the process: start with LD_PRELOAD=libpython3.so (the full path of \
         your Python's shared library)"
    } else if message.contains("undefined symbol") {
        "; it expects this function from a library or a host that is not here"
    } else if message.contains("GLIBC") {
        "; it was built on a newer system than this one"
    } else {
        ""
    }
}
