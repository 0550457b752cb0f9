//! Finds and loads the library of an FMU.

#![allow(
    unsafe_code,
    reason = "loading a library runs its initializers, and symbols have no types"
)]

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::call_notebook::NotedName;
use crate::description::Version;
use crate::environment::Environment;
use crate::guard::{self, NotOpened};
use crate::surroundings;

/// So much is kept of what a library says of itself.
const LONGEST_ANSWER: usize = 60;

/// A loaded library. It stays loaded until the process ends: FMUs leave threads, handlers and
/// pointers behind, and a library that is unmapped under them crashes long after its run.
pub(crate) struct Library {
    handle: std::mem::ManuallyDrop<libloading::Library>,
    /// What every name begins with: in 1.0 the identifier of the model.
    prefix: String,
    /// What it says of itself that does not fit the description.
    pub oddity: Option<String>,
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
        Version::One | Version::Two => "linux64",
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
        let path = CString::new(file.as_os_str().as_bytes()).unwrap_or_default();
        let environment = Environment::of(path.as_ptr());
        let _name = NotedName::new(environment, identifier);
        let opened = guard::open_library(&path, environment);
        surroundings::put_back(environment);
        let handle = opened.map_err(|why| LibraryError::NotLoaded {
            reason: match why {
                NotOpened::Refused(text) => explain(&file, &text),
                NotOpened::Crashed(crash) => format!("its constructors crashed by {crash}"),
            },
            file,
        })?;
        // SAFETY: the loader has just given us the handle, and nobody else closes it.
        let handle = unsafe { libloading::os::unix::Library::from_raw(handle) };
        let mut library = Self {
            handle: std::mem::ManuallyDrop::new(handle.into()),
            prefix: prefix(version, identifier),
            oddity: None,
        };
        library.oddity = library.contradiction(version, environment);

        Ok(library)
    }

    /// What the library says of its version and platform, where that is not what is expected.
    fn contradiction(&self, version: Version, environment: Environment) -> Option<String> {
        let (asked, expected) = match version {
            Version::One => (["fmiGetVersion", ""], ["1.", ""]),
            Version::Two => (
                ["fmi2GetVersion", "fmi2GetTypesPlatform"],
                ["2.", "default"],
            ),
            Version::Three => (["fmi3GetVersion", ""], ["3.", ""]),
        };
        let odd =
            asked
                .into_iter()
                .zip(expected)
                .find_map(|(function, expected)| {
                    let said = self.ask(function, environment)?;
                    (!said.starts_with(expected)).then(|| {
                format!("{function} of its library says `{said}`, where `{expected}` was expected")
            })
                });
        odd.map(|text| {
            text.replace("`1.`", "`1.0`")
                .replace("`2.`", "`2.0`")
                .replace("`3.`", "`3.0`")
        })
    }

    /// What a function without arguments says, if it is there and comes back.
    fn ask(&self, function: &'static str, environment: Environment) -> Option<String> {
        type Question = unsafe extern "C" fn() -> *const c_char;
        let question: Question = self
            .symbol(function)
            .filter(|_: &Question| !function.is_empty())?;
        // SAFETY: the standard gives this type to the function.
        let said = guard::guarded(environment, function, || unsafe { question() }).ok()?;
        // SAFETY: a text of the library, which stays loaded.
        let bytes = unsafe { guard::text_bytes(said) }?;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_ANSWER)]);
        Some(text.replace(char::is_control, " "))
    }

    /// A function by its name, if it is there.
    pub fn symbol<F: Copy>(&self, name: &str) -> Option<F> {
        let name = format!("{}{name}", self.prefix);
        // SAFETY: `F` is the type that the standard gives to a function of this name; the library
        // is never unloaded.
        unsafe { self.handle.get::<F>(name.as_bytes()) }
            .ok()
            .map(|symbol| *symbol)
    }
}

/// What the names of functions begin with.
fn prefix(version: Version, identifier: &str) -> String {
    match version {
        Version::One => format!("{identifier}_"),
        Version::Two | Version::Three => String::new(),
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
fn explain(file: &Path, text: &str) -> String {
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
