//! Pointers of importers, checked as far as they can be.

#![allow(
    unsafe_code,
    reason = "an importer hands over pointers and lengths, as the standard has it"
)]

use std::ffi::{CStr, c_char, c_void};

/// An array of an importer.
///
/// # Safety
/// Where it is neither null nor misaligned, it has so many elements, which nobody changes meanwhile.
pub(crate) unsafe fn array<'a, T>(start: *const T, length: usize) -> Result<&'a [T], String> {
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null()
        || !start.is_aligned()
        || length > isize::MAX as usize / size_of::<T>().max(1)
    {
        return Err("a pointer to an array is null, or not one to such an array".to_owned());
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(start, length) })
}

/// An array of an importer, to be filled.
///
/// # Safety
/// Where it is neither null nor misaligned, it has room for so many elements, which nobody else uses meanwhile.
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, length: usize) -> Result<&'a mut [T], String> {
    if length == 0 {
        return Ok(&mut []);
    }
    if start.is_null()
        || !start.is_aligned()
        || length > isize::MAX as usize / size_of::<T>().max(1)
    {
        return Err("a pointer to an array is null, or not one to such an array".to_owned());
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts_mut(start, length) })
}

/// A place for an answer.
///
/// # Safety
/// Where it is neither null nor misaligned, it is one that nobody else uses meanwhile.
pub(crate) unsafe fn place<'a, T>(place: *mut T) -> Result<&'a mut T, String> {
    // SAFETY: as the caller promises.
    let one = unsafe { array_mut(place, 1) }?;
    Ok(&mut one[0])
}

/// A text of an importer; what is no UTF-8 in it is replaced.
///
/// # Safety
/// Where it is not null, it ends with a zero.
pub(crate) unsafe fn text(start: *const c_char) -> Option<String> {
    if start.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(start) };
    Some(text.to_string_lossy().into_owned())
}

/// The file that this library was loaded from.
pub(crate) fn own_file() -> Option<String> {
    let here = own_file as *const c_void;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address is one of this library, and the place for the answer is ours. What is all zeros is a `Dl_info` too.
    let found = unsafe {
        if libc::dladdr(here, found.as_mut_ptr()) == 0 {
            return None;
        }
        found.assume_init()
    };
    // SAFETY: the name is null or a text of the loader, which lives as long as the library.
    unsafe { text(found.dli_fname) }
}
