//! Where results go: files and standard output.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dovetail::report::{
    CsvFile, MatTrajectory, Selection, Sink, commands_a_terminal, for_terminal,
};

use crate::failure::Failure;
use crate::paint;
use crate::rescue::Rescued;

/// Standard output as the program was given it.
static OUTPUT: OnceLock<File> = OnceLock::new();
/// The folder in which it was started.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// Keeps standard output for the program: whatever an FMU prints goes to standard error, and nothing of it into a summary or JSON.
/// Notes the folder too, to which relative paths belong.
pub(crate) fn reserve() {
    if let Ok(kept) = duplicate() {
        let moved = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
        if moved.is_ok() {
            let _ = OUTPUT.set(kept);
        }
    }
    if let Ok(folder) = std::env::current_dir() {
        let _ = HOME.set(folder);
    }
}

/// Goes back to where the program was started.
pub(crate) fn restore_working_directory() {
    if let Some(folder) = HOME.get() {
        let _ = std::env::set_current_dir(folder);
    }
}

/// A path as it was meant when the program was started.
pub(crate) fn from_home(path: &Path) -> PathBuf {
    HOME.get()
        .map_or_else(|| path.to_owned(), |home| home.join(path))
}

/// Writes to standard output, without what would command a terminal. A reader that has left (`| head`) ends the program without a word.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut text = for_terminal(text);
    let colored = OUTPUT
        .get()
        .map_or_else(|| paint::wanted(&io::stdout()), paint::wanted);
    if colored {
        text = paint::painted(&text).into();
    }
    print_plain(&text)
}

/// The same, never in color.
fn print_plain(text: &str) -> Result<(), Failure> {
    let written = match OUTPUT.get() {
        Some(mut out) => out.write_all(text.as_bytes()),
        None => std::io::stdout().lock().write_all(text.as_bytes()),
    };
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ReaderLeft,
        _ => Failure::EndedEarly(format!("the summary could not be written: {error}")),
    })
}

/// Writes an object as JSON. What would command a terminal is written as numbers, which whoever reads it turns back.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print_plain(&escaped(&format!("{value:#}\n")))
}

fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if commands_a_terminal(character) && !matches!(character, '\n' | '\t') {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                text += &format!("\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text
}

/// Writes to standard error, as [`print`] does.
pub(crate) fn complain(text: &str) {
    let text = for_terminal(text);
    if paint::wanted(&io::stderr()) {
        eprint!("{}", paint::painted(&text));
    } else {
        eprint!("{text}");
    }
}

/// Results that go to standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses files whose names promise what will not be in them. A name without an ending promises nothing.
pub(crate) fn check_endings(results: Option<&Path>, page: Option<&Path>) -> Result<(), Failure> {
    check_ending("--output", results, &["csv", "parquet", "mat"])?;
    check_ending("--report", page, &["html", "htm"])
}

/// Refuses a file whose name promises something else than one of these.
pub(crate) fn check_ending(flag: &str, path: Option<&Path>, known: &[&str]) -> Result<(), Failure> {
    let ending = path
        .and_then(Path::extension)
        .map(|ending| ending.to_string_lossy().to_lowercase());
    match (path, ending) {
        (Some(path), Some(ending)) if !known.contains(&ending.as_str()) => {
            Err(Failure::misuse(format!(
                "{flag} {}: files that end in .{ending} are not written; known are .{}",
                path.display(),
                known.join(" and .")
            )))
        }
        _ => Ok(()),
    }
}

/// Whether a file has this ending, in whatever case.
pub(crate) fn has_ending(path: &Path, known: &str) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case(known))
}

/// Opens a result file for these variables, where `units` is set with a line of units.
pub(crate) fn open(
    path: &Path,
    selection: &Selection,
    units: bool,
) -> Result<Box<dyn Sink>, Failure> {
    let refuse = |error| Failure::cannot_write(path, error);
    if has_ending(path, "parquet") {
        return parquet(path, &selection.names());
    }
    if has_ending(path, "mat") {
        let file = MatTrajectory::create(from_home(path), selection);
        return Ok(Box::new(file.map_err(refuse)?));
    }

    let file = if is_standard(path) {
        standard_output().map(Rescued::of)
    } else {
        Rescued::create(&from_home(path))
    };
    let file = file.and_then(|file| CsvFile::new(file, &selection.names()));
    let file = file.and_then(|file| match units {
        true => file.with_units(&selection.units()),
        false => Ok(file),
    });
    Ok(Box::new(file.map_err(refuse)?))
}

/// Standard output as a file.
fn standard_output() -> io::Result<File> {
    match OUTPUT.get() {
        Some(out) => out.try_clone(),
        None => duplicate(),
    }
}

/// Another handle of standard output.
fn duplicate() -> io::Result<File> {
    Ok(rustix::io::dup(rustix::stdio::stdout())?.into())
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, names: &[String]) -> Result<Box<dyn Sink>, Failure> {
    let file = crate::parquet_rows::ParquetRows::create(&from_home(path), names);
    let file = file.map_err(|error| Failure::cannot_write(path, error))?;
    Ok(Box::new(file))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path, _names: &[String]) -> Result<Box<dyn Sink>, Failure> {
    Err(without_parquet(path))
}

/// Why there is no such file.
#[cfg(not(feature = "parquet"))]
pub(crate) fn without_parquet(path: &Path) -> Failure {
    Failure::misuse(format!(
        "{}: this program was built without Parquet; build it with --features parquet, or write a .csv file",
        path.display()
    ))
}

/// A page to be written when the run is over, its file opened before: what cannot be written is told at once.
pub(crate) struct Page {
    path: PathBuf,
    file: File,
}

impl Page {
    /// The page at this path, where one is wanted.
    pub fn wanted(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        path.map(Self::create).transpose()
    }

    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(from_home(path));
        let file = file.map_err(|error| Failure::cannot_write(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    pub fn write(self, text: &str) -> Result<(), Failure> {
        self.write_bytes(text.as_bytes())
    }

    pub fn write_bytes(mut self, bytes: &[u8]) -> Result<(), Failure> {
        let failed = |error| Failure::EndedEarly(not_written(&self.path, &error));
        self.file.write_all(bytes).map_err(failed)
    }
}

/// What to say of a file that could be made, but not written to its end.
pub(crate) fn not_written(path: &Path, error: &io::Error) -> String {
    format!("{} could not be written: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_gives_no_orders_and_reads_back() {
        let value = serde_json::json!({ "a\u{9b}\u{202e}\n": 1 });
        let text = escaped(&format!("{value:#}"));
        assert!(!text.contains(['\u{9b}', '\u{202e}']));
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, value);
    }
}
