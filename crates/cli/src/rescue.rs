//! Rows that are still in memory when the program must end at once: by a second Ctrl-C, or because an FMU ended it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};

type Shared = Mutex<BufWriter<File>>;

/// The result files that are being written.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// A buffered file whose rows can be saved by whoever ends the program.
pub(crate) struct Rescued(Arc<Shared>);

impl Rescued {
    /// Creates the file, or empties one that exists.
    pub fn create(path: &std::path::Path) -> io::Result<Self> {
        let file = Arc::new(Mutex::new(BufWriter::with_capacity(
            1 << 16,
            File::create(path)?,
        )));
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|known| known.strong_count() > 0);
        open.push(Arc::downgrade(&file));

        Ok(Self(file))
    }
}

impl Write for Rescued {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush()
    }
}

/// Writes out what is in memory. A file that someone is writing to at this moment is left to them: nobody is waited for.
pub(crate) fn save_rows() {
    let Ok(open) = OPEN.try_lock() else { return };
    for file in open.iter().filter_map(Weak::upgrade) {
        match file.try_lock() {
            Ok(mut file) => drop(file.flush()),
            Err(TryLockError::Poisoned(file)) => drop(file.into_inner().flush()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}
