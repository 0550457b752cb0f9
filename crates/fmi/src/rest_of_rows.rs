//! Lines of a result file that are still in memory, where the parent of a supervised program finds
//! them: it writes them where an FMU has ended the program without a word.

#![allow(unsafe_code, reason = "the memory is shared with the parent in C")]

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn dovetail_rest_begin(path: *const c_char) -> bool;
    fn dovetail_rest_add(lines: *const c_char, length: usize);
    fn dovetail_rest_written(length: usize, file_length: u64);
    fn dovetail_rest_end();
}

/// Whether the memory is in use: there is room for one file.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// The lines of one file, the first that asked.
#[derive(Debug)]
pub struct RestOfRows(());

impl RestOfRows {
    /// For the file at this absolute path, which is empty now; none where nobody could write it.
    pub fn of(path: &Path) -> Option<Self> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        if IN_USE.swap(true, Ordering::AcqRel) {
            return None;
        }
        // SAFETY: the path ends with a zero, and nobody else uses the memory.
        let begun = unsafe { dovetail_rest_begin(path.as_ptr()) };
        IN_USE.store(begun, Ordering::Release);
        begun.then(|| Self(()))
    }

    /// More of them.
    pub fn add(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are copied; what does not fit is left out.
        unsafe { dovetail_rest_add(bytes.as_ptr().cast(), bytes.len()) };
    }

    /// So many bytes have been written, after which the file is so long.
    pub fn written(&mut self, bytes: usize, file_length: u64) {
        // SAFETY: moves what is left within the memory.
        unsafe { dovetail_rest_written(bytes, file_length) };
    }
}

impl Drop for RestOfRows {
    fn drop(&mut self) {
        // SAFETY: forgets the lines.
        unsafe { dovetail_rest_end() };
        IN_USE.store(false, Ordering::Release);
    }
}
