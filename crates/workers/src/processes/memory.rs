//! Memory that two processes share.

#![allow(
    unsafe_code,
    reason = "memory is mapped by the operating system, which the compiler cannot see"
)]

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::words::{PutWords, TakeWords};

/// Words that two processes share. All of them are atomic, so that a process that writes when it is
/// not its turn (an FMU that runs wild, say) spoils numbers, but never the rules of the language.
pub(crate) struct SharedMemory {
    start: *const AtomicU64,
    words: usize,
    /// Until it is closed.
    file: Option<OwnedFd>,
}

// SAFETY: the mapping belongs to this value until it is dropped, and atomics may be used from any
// thread.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Fresh memory, all zeros. Its size is sealed: nobody who has it can take a part of it away.
    pub fn new(words: usize) -> Result<Self> {
        let file = memfd_create("dovetail", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, (words * size_of::<u64>()) as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::map(file, words)
    }

    /// The memory that another process made.
    pub fn of(file: OwnedFd) -> Result<Self> {
        let words = fstat(&file)?.st_size as usize / size_of::<u64>();
        Self::map(file, words)
    }

    fn map(file: OwnedFd, words: usize) -> Result<Self> {
        let length = words * size_of::<u64>();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so that the mapping overlaps nothing that is in use; the
        // file is as long as that.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                access,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };

        Ok(Self {
            start: start.cast(),
            words,
            file: Some(file),
        })
    }

    /// The words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is so long, starts at a page and so is aligned, lives as long as
        // `self`, and is only ever used as atomics; any bits are a number.
        unsafe { std::slice::from_raw_parts(self.start, self.words) }
    }

    /// What the other process has to be given.
    pub fn file(&self) -> BorrowedFd<'_> {
        let file = self.file.as_ref();
        file.expect("BUG: memory that was shared already").as_fd()
    }

    /// Nobody else is to be given it.
    pub fn close_file(&mut self) {
        self.file = None;
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this start and length, and no reference into it outlives
        // `self`.
        let _ = unsafe { munmap(self.start.cast_mut().cast(), self.words * size_of::<u64>()) };
    }
}

/// Writes into memory that is shared; what does not fit is lost.
pub(crate) struct Put<'a> {
    words: std::slice::Iter<'a, AtomicU64>,
}

impl<'a> Put<'a> {
    pub fn new(words: &'a [AtomicU64]) -> Self {
        Self {
            words: words.iter(),
        }
    }
}

impl PutWords for Put<'_> {
    #[inline]
    fn word(&mut self, value: u64) {
        if let Some(word) = self.words.next() {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn room(&self) -> usize {
        self.words.len()
    }
}

/// Reads from memory that is shared; beyond the last word there are zeros.
pub(crate) struct Take<'a> {
    words: std::slice::Iter<'a, AtomicU64>,
}

impl<'a> Take<'a> {
    pub fn new(words: &'a [AtomicU64]) -> Self {
        Self {
            words: words.iter(),
        }
    }
}

impl TakeWords for Take<'_> {
    #[inline]
    fn word(&mut self) -> u64 {
        self.words
            .next()
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn left(&self) -> usize {
        self.words.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_mappings_are_the_same_memory() {
        let one = SharedMemory::new(100).unwrap();
        let other = SharedMemory::of(one.file().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(other.words().len(), 100);
        let mut put = Put::new(one.words());
        put.float(0.1);
        put.bytes("a text of some length".as_bytes());
        let mut take = Take::new(other.words());
        assert_eq!(
            (take.float(), take.bytes()),
            (0.1, b"a text of some length".to_vec())
        );
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let memory = SharedMemory::new(3).unwrap();
        Put::new(memory.words()).bytes(&[7; 100]);
        assert_eq!(Take::new(memory.words()).bytes(), vec![7; 16]);
        memory.words()[0].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(Take::new(memory.words()).bytes(), vec![7; 16]);
    }
}
