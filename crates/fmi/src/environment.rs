//! What the callbacks of an FMU are given.

use std::ffi::c_void;

/// An address that stands for an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Environment(usize);

impl Environment {
    /// That of no instance.
    #[cfg(test)]
    pub const NONE: Self = Self(0);

    /// What a callback was given.
    pub fn of<T>(pointer: *const T) -> Self {
        Self(pointer as usize)
    }

    /// What an FMU is given.
    pub fn pointer(self) -> *mut c_void {
        self.0 as *mut c_void
    }
}
