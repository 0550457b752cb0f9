//! What FMUs of FMI 1.0 and 2.0 call: the logger, whose messages are formatted in C, and the memory.

#![allow(unsafe_code, reason = "the callbacks are functions of C")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Once;

use crate::fmu_instance::record_message;

unsafe extern "C" {
    fn dovetail_log_sink(
        sink: unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char),
    );
    fn dovetail_fmi2_logger();
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The callbacks that the versions pass in records of different shapes.
pub(crate) struct ScalarCallbacks {
    pub logger: *const c_void,
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
}

/// The callbacks of all FMUs.
pub(crate) fn callbacks() -> ScalarCallbacks {
    install_message_sink();
    ScalarCallbacks {
        logger: dovetail_fmi2_logger as *const c_void,
        allocate: calloc,
        free,
    }
}

/// Receives formatted messages of all FMUs.
unsafe extern "C" fn receive_message(
    environment: *mut c_void,
    status: c_int,
    _category: *const c_char,
    text: *const c_char,
) {
    // SAFETY: a text of ours, which ends with a zero.
    unsafe { record_message(environment, status, text) };
}

/// Has messages of all FMUs received here, once per process.
fn install_message_sink() {
    static SINK: Once = Once::new();
    // SAFETY: stores a pointer to a function that lives for ever.
    SINK.call_once(|| unsafe { dovetail_log_sink(receive_message) });
}

/// A text for C, which ends with the first zero.
pub(crate) fn without_zeros(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}
