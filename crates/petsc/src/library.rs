//! Starting PETSc once, one thread at a time in it, and its errors as values.

#![allow(unsafe_code)] // calls of C functions

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::bindings::{Code, Communicator, PetscInitialize, PetscPushErrorHandler};

/// Why PETSc could not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PetscError {
    /// The library did not start.
    #[error("PETSc does not start: error {code}, {message}")]
    NotStarted {
        /// PETSc's number for the error.
        code: i32,
        /// PETSc's words.
        message: String,
    },
    /// A call failed.
    #[error("PETSc refuses: error {code}, {message}")]
    Refused {
        /// PETSc's number for the error.
        code: i32,
        /// PETSc's words.
        message: String,
    },
    /// The options cannot be passed on.
    #[error("the options contain a zero byte at position {position}")]
    ZeroByte {
        /// Where, counted from zero.
        position: usize,
    },
    /// PETSc counts with 32 bits.
    #[error("{size} unknowns are more than PETSc can count")]
    TooLarge {
        /// The number asked for.
        size: usize,
    },
}

thread_local! {
    /// What PETSc said about the last error.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
    /// How often this thread has entered: equations may themselves use PETSc.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

static LOCK: Mutex<()> = Mutex::new(());
static STARTED: OnceLock<Result<(), PetscError>> = OnceLock::new();

/// The name of the program and its options, as for `main` in C.
const ARGUMENTS: [&CStr; 3] = [c"dovetail", c"-no_signal_handler", c"-skip_petscrc"];

/// The right to call PETSc, which is not made for threads.
pub(crate) struct PetscLock {
    _guard: Option<MutexGuard<'static, ()>>,
}

impl PetscLock {
    /// Waits until no other thread is in PETSc.
    pub fn acquire() -> Self {
        let outermost = DEPTH.get() == 0;
        // Nothing is protected but the order of calls, so that a panic elsewhere does no harm.
        let guard = outermost.then(|| LOCK.lock().unwrap_or_else(PoisonError::into_inner));
        DEPTH.set(DEPTH.get() + 1);
        Self { _guard: guard }
    }
}

impl Drop for PetscLock {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Starts PETSc, and MPI unless it runs already; the first call does, all get its result.
pub(crate) fn start(_lock: &PetscLock) -> Result<(), PetscError> {
    STARTED.get_or_init(initialize).clone()
}

fn initialize() -> Result<(), PetscError> {
    // PETSc keeps the arguments for as long as the program runs.
    let arguments = ARGUMENTS.map(|argument| argument.as_ptr().cast_mut());
    let ended_by_null = [arguments.as_slice(), &[null_mut()]].concat();
    let arguments = Box::leak(Box::new(ended_by_null.leak().as_mut_ptr()));
    let count = Box::leak(Box::new(ARGUMENTS.len() as c_int));
    // SAFETY: count and arguments have C's shape and are never freed; PETSc does not write to the
    // strings.
    let code = unsafe {
        PetscPushErrorHandler(Some(remember), null_mut());
        PetscInitialize(count, arguments, null(), null())
    };
    // SAFETY: the handler is a function of this program. Starting may have installed PETSc's own on
    // top.
    unsafe { PetscPushErrorHandler(Some(remember), null_mut()) };

    if code == 0 {
        Ok(())
    } else {
        Err(PetscError::NotStarted {
            code,
            message: take_message(),
        })
    }
}

/// PETSc's result as ours.
pub(crate) fn check(code: Code) -> Result<(), PetscError> {
    if code == 0 {
        Ok(())
    } else {
        Err(PetscError::Refused {
            code,
            message: take_message(),
        })
    }
}

fn take_message() -> String {
    MESSAGE.with_borrow_mut(std::mem::take)
}

/// The error handler: keeps what the first caller said and lets the error return, with neither
/// print nor abort.
extern "C" fn remember(
    _: Communicator,
    _line: c_int,
    _function: *const c_char,
    _file: *const c_char,
    code: Code,
    _kind: c_int,
    message: *const c_char,
    _: *mut c_void,
) -> Code {
    // Errors on their way up the stack come again, with a blank for a message.
    if !message.is_null() {
        // SAFETY: PETSc passes a string that ends in zero and lives during the call.
        let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        if !text.trim().is_empty() {
            MESSAGE.with_borrow_mut(|last| text.trim().clone_into(last));
        }
    }
    code
}
