//! Result files whose rows are safe whatever becomes of the program: whole rows are written within a second of being computed,
//! at the first signal, and by whoever ends the program.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use dovetail::fmi::RestOfRows;

use crate::housekeeping;

/// So much is kept in memory until it is written, by a second later.
const CAPACITY: usize = 1 << 16;

/// A file whose rows can be saved by others than those who write them.
pub(crate) trait Rescue: Send {
    /// Writes what has waited long enough, or all of it where the program is about to end.
    fn rescue(&mut self, program_ends: bool);
}

/// The result files that are being written.
static OPEN: Mutex<Vec<Weak<Mutex<dyn Rescue>>>> = Mutex::new(Vec::new());

/// Has a file saved from now on.
pub(crate) fn register<R: Rescue + 'static>(file: &Arc<Mutex<R>>) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|known| known.strong_count() > 0);
    let file: Arc<Mutex<dyn Rescue>> = file.clone();
    open.push(Arc::downgrade(&file));
    drop(open);
    housekeeping::start();
}

/// Lines on their way to a file, to which only whole ones are written.
struct RowBuffer {
    file: File,
    bytes: Vec<u8>,
    /// The same bytes, for whoever is left when the program is gone.
    rest: Option<RestOfRows>,
    /// Why the file cannot be written, until whoever writes rows is told.
    failure: Option<io::Error>,
}

impl RowBuffer {
    /// Writes the lines that are whole.
    fn write_rows(&mut self) {
        let whole = end_of_lines(&self.bytes);
        if whole == 0 || self.failure.is_some() {
            return;
        }

        self.failure = write_lines(&mut self.file, &self.bytes[..whole]).err();
        self.bytes.drain(..whole);
        if let Some(rest) = &mut self.rest {
            let length = self.file.metadata().map_or(0, |file| file.len());
            rest.written(whole, length);
        }
    }

    /// Whether all went well so far.
    fn check(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Rescue for RowBuffer {
    fn rescue(&mut self, _program_ends: bool) {
        self.write_rows();
    }
}

/// How many bytes are whole lines.
fn end_of_lines(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|&byte| byte == b'\n');
    last.map_or(0, |last| last + 1)
}

/// Writes lines; if there is no room for all of them, the last that is written is a whole one.
fn write_lines(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < lines.len() {
        match file.write(&lines[done..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let torn = done - end_of_lines(&lines[..done]);
                cut(file, torn as u64);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Takes the last bytes of a file away. What is no file has no end to be cut.
fn cut(file: &File, bytes: u64) {
    if let Ok(found) = file.metadata()
        && found.is_file()
        && bytes > 0
    {
        let _ = file.set_len(found.len().saturating_sub(bytes));
    }
}

/// A file of lines that can be saved by whoever ends the program.
pub(crate) struct Rescued(Arc<Mutex<RowBuffer>>);

impl Rescued {
    /// Creates the file, or empties one that exists.
    pub fn create(path: &std::path::Path) -> io::Result<Self> {
        let file = File::create(path)?;
        Ok(Self::new(file, RestOfRows::of(path)))
    }

    /// Writes to a file.
    pub fn of(file: File) -> Self {
        Self::new(file, None)
    }

    fn new(file: File, rest: Option<RestOfRows>) -> Self {
        let file = Arc::new(Mutex::new(RowBuffer {
            file,
            bytes: Vec::with_capacity(2 * CAPACITY),
            rest,
            failure: None,
        }));
        register(&file);

        Self(file)
    }

    fn buffer(&self) -> MutexGuard<'_, RowBuffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Rescued {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut buffer = self.buffer();
        buffer.bytes.extend_from_slice(bytes);
        if let Some(rest) = &mut buffer.rest {
            rest.add(bytes);
        }
        if buffer.bytes.len() >= CAPACITY {
            buffer.write_rows();
        }
        buffer.check().map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut buffer = self.buffer();
        buffer.write_rows();
        buffer.check()
    }
}

/// Writes out what has waited long enough. A file that someone is writing to at this moment is left to them: nobody is waited
/// for.
pub(crate) fn save_rows_in_time() {
    rescue_all(false);
}

/// Writes out what is in memory: the program may end now.
pub(crate) fn save_rows() {
    rescue_all(true);
}

fn rescue_all(program_ends: bool) {
    let Ok(open) = OPEN.try_lock() else { return };
    for file in open.iter().filter_map(Weak::upgrade) {
        match file.try_lock() {
            Ok(mut file) => file.rescue(program_ends),
            Err(TryLockError::Poisoned(file)) => file.into_inner().rescue(program_ends),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.csv");
        let mut file = Rescued::create(&path).expect("a file");
        file.write_all(b"time,x\n0,1\n1,2.").expect("written");
        save_rows();
        let saved = std::fs::read_to_string(&path).expect("read");
        assert_eq!(saved, "time,x\n0,1\n");
        file.write_all(b"5\n").expect("written");
        file.flush().expect("flushed");
        assert_eq!(
            std::fs::read_to_string(&path).expect("read"),
            "time,x\n0,1\n1,2.5\n"
        );
    }

    #[test]
    fn what_does_not_fit_ends_with_a_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = File::create(folder.path().join("torn.csv")).expect("a file");
        file.write_all(b"time,x\n0,1\n1,2.").expect("written");
        cut(&file, 4);
        let text = std::fs::read_to_string(folder.path().join("torn.csv")).expect("read");
        assert_eq!(text, "time,x\n0,1\n");
    }
}
