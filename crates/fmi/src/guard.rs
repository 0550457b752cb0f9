//! Calls into libraries that may crash.
//!
//! An FMU runs inside our process. If it makes a segmentation fault or aborts, the call ends with a
//! [`Crash`] and the program goes on, long enough to keep the results and to name the culprit. The
//! FMU itself is never called again.

#![allow(unsafe_code, reason = "signals and long jumps are the business of C")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::environment::Environment;

unsafe extern "C" {
    fn dovetail_guard_install();
    fn dovetail_guard_remove();
    fn dovetail_guard(
        body: extern "C" fn(*mut c_void),
        context: *mut c_void,
        environment: *mut c_void,
        name: *const c_char,
        length: usize,
    ) -> c_int;
    fn dovetail_callback(body: extern "C" fn(*mut c_void), context: *mut c_void);
    fn dovetail_guard_caller() -> *mut c_void;
    fn dovetail_guard_length(text: *const c_char, most: usize) -> isize;
    fn dovetail_guard_copy(bytes: *const c_void, size: usize, copy: *mut c_void) -> c_int;
    fn dovetail_guard_open(
        file: *const c_char,
        environment: *mut c_void,
        handle: *mut *mut c_void,
        error: *mut c_char,
        size: usize,
    ) -> c_int;
    fn dovetail_guard_recovered();
    fn dovetail_guard_single_fmu_process();
    fn dovetail_guard_on_exit(save: extern "C" fn());
    fn dovetail_guard_exit_advice(advice: *const c_char);
    fn dovetail_guard_ended(code: c_int);
    fn dovetail_leave_at_once(code: c_int) -> !;
    fn dovetail_supervise();
    fn dovetail_name_process(name: *const c_char, length: usize);
    fn dovetail_ignore_file_limit();
}

/// A file that may grow no more is an error of whoever writes it from now on, not the end of the
/// program.
pub fn ignore_file_limit() {
    // SAFETY: ignores a signal.
    unsafe { dovetail_ignore_file_limit() };
}

/// Ends the program with this exit code, now: nobody is waited for, and no library does anything
/// more.
pub fn leave_at_once(code: u8) -> ! {
    // SAFETY: ends the process.
    unsafe { dovetail_leave_at_once(c_int::from(code)) }
}

/// From here on the program is a child of itself, whose parent waits for it and says how it ended,
/// where an FMU has ended it: then `advice`, a sentence, follows. The program must say when it
/// [ends in order](end_in_order); its descriptors, its terminal and its exit code are as before.
///
/// To be called before there are threads: in the child there are none but the calling one.
pub fn supervise(advice: &'static CStr) {
    // SAFETY: stores a text that lives for ever. A process of a single thread may fork.
    unsafe {
        dovetail_guard_exit_advice(advice.as_ptr());
        dovetail_supervise();
    }
}

/// What this process is called by the parent that says how it ended, such as `rank 2`; otherwise it is
/// the program.
pub fn name_process(name: &str) {
    // SAFETY: the bytes are copied.
    unsafe { dovetail_name_process(name.as_ptr().cast(), name.len()) };
}

/// The program has done its work and ends with this exit code, whatever libraries of FMUs do on
/// their way out.
pub fn end_in_order(code: u8) {
    // SAFETY: notes a number.
    unsafe { dovetail_guard_ended(c_int::from(code)) };
}

/// What is to be saved before an FMU that calls `exit()` ends the program.
static ON_EXIT: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

extern "C" fn call_on_exit() {
    if let Some(save) = ON_EXIT.get() {
        save();
    }
}

/// Has `save` called before an FMU ends the whole program, and `advice`, a sentence, shown after
/// what happened; the first ones count. `save` must not wait for anybody.
pub fn on_fmu_exit(save: fn(), advice: &'static CStr) {
    if ON_EXIT.set(save).is_ok() {
        // SAFETY: stores pointers to a function and a text that live for ever.
        unsafe {
            dovetail_guard_on_exit(call_on_exit);
            dovetail_guard_exit_advice(advice.as_ptr());
        }
    }
}

/// This process is there for one FMU alone: an FMU that ends it does so in silence, since whoever
/// started it says how it ended.
pub fn set_single_fmu_process() {
    // SAFETY: sets a flag; it has no requirement.
    unsafe { dovetail_guard_single_fmu_process() };
}

/// A call that ended by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    signal: c_int,
}

impl std::fmt::Display for Crash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The numbers of Linux on x86 and ARM.
        let name = match self.signal {
            4 => "an illegal instruction",
            5 => "a trap",
            6 => "a call of abort()",
            7 => "a bus error",
            8 => "an arithmetic exception, such as an integer division by zero",
            11 => "a segmentation fault",
            31 => "a forbidden call of the system",
            _ => return write!(f, "signal {}", self.signal),
        };
        f.write_str(name)
    }
}

/// A communication step for C, which makes its three calls behind one guard.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RawRequest {
    pub component: *mut c_void,
    pub environment: *mut c_void,
    pub inputs: *const u32,
    pub input_count: usize,
    pub input_values: *const f64,
    pub outputs: *const u32,
    pub output_count: usize,
    pub output_values: *mut f64,
    pub output_value_count: usize,
    pub input_value_count: usize,
    pub time: f64,
    pub size: f64,
    pub final_step: bool,
    pub event: u8,
    pub terminate: u8,
    pub early: u8,
    pub last: f64,
    /// What sets, steps and gets; null where the FMU lacks it.
    pub functions: [*const c_void; 3],
}

/// Which of the three calls ended a step, and how.
pub(crate) enum Ended {
    Set(c_int),
    Step(c_int),
    Get(c_int),
    CrashedInSet(Crash),
    CrashedInStep(Crash),
    CrashedInGet(Crash),
}

impl Ended {
    /// Whether the last call that was due was made and answered well.
    #[inline]
    pub fn is_fine(answer: c_int) -> bool {
        // Step or get, with status 0 or 1.
        matches!(answer, 1 | 2 | 17 | 18)
    }

    /// From what C answers: 16 times the status plus which call.
    #[inline]
    pub fn of(answer: c_int) -> Self {
        let status = answer >> 4;
        match answer & 15 {
            0 => Self::Set(status),
            1 => Self::Step(status),
            2 => Self::Get(status),
            3 => Self::CrashedInSet(recover(status)),
            4 => Self::CrashedInStep(recover(status)),
            _ => Self::CrashedInGet(recover(status)),
        }
    }
}

/// Of what a batch answers: how saving a state has ended, where it was not saved.
pub(crate) fn not_saved(answer: c_int) -> Option<Result<c_int, Crash>> {
    const IN_SAVE: c_int = 6;
    const IN_SAVE_CRASH: c_int = 7;
    match (answer & 15, answer >> 4) {
        (IN_SAVE, status) => Some(Ok(status)),
        (IN_SAVE_CRASH, signal) => Some(Err(recover(signal))),
        _ => None,
    }
}

static INSTALLED: AtomicBool = AtomicBool::new(false);
/// Held by whoever installs or removes the guard.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Whether an FMU may have been called.
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Acquire)
}

/// Installs the guard, where it is not there.
#[inline]
pub(crate) fn install() {
    if !is_installed() {
        install_now();
    }
}

#[cold]
fn install_now() {
    let _held = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: installs signal handlers, unless they are there; it has no other requirement.
    unsafe { dovetail_guard_install() };
    INSTALLED.store(true, Ordering::Release);
}

/// Takes the guard away, its handlers of signals and what it holds of the process, in a host that has no FMU left. The next call of an
/// FMU puts it back.
pub fn remove_guard() {
    let _held = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    INSTALLED.store(false, Ordering::Release);
    // SAFETY: changes the process back to what it was, unless an FMU is being called.
    unsafe { dovetail_guard_remove() };
}

/// Room for a closure and its answer, behind one pointer.
struct Context<F, R> {
    body: Option<F>,
    answer: Option<R>,
}

/// Called by C. Its frame owns nothing, so that a jump over it skips no destructor.
extern "C" fn call<F: FnOnce() -> R, R>(context: *mut c_void) {
    // SAFETY: `guarded` passes a pointer to a live `Context<F, R>` of its own.
    let context = unsafe { &mut *context.cast::<Context<F, R>>() };
    if let Some(body) = context.body.take() {
        context.answer = Some(body());
    }
}

/// Does what an FMU asks for by a callback, with the floating-point control words of the host; the
/// FMU then goes on with its own.
pub(crate) fn in_callback<F: FnOnce()>(body: F) {
    let mut context: Context<F, ()> = Context {
        body: Some(body),
        answer: None,
    };
    // SAFETY: `call` is instantiated for the very types of `context`, which outlives the call.
    unsafe { dovetail_callback(call::<F, ()>, (&raw mut context).cast()) };
}

/// The environment of the instance whose function is being called in this thread, if one is.
pub(crate) fn caller() -> Option<Environment> {
    // SAFETY: reads what belongs to this thread; it has no requirement.
    let caller = unsafe { dovetail_guard_caller() };
    (!caller.is_null()).then(|| Environment::of(caller))
}

/// Calls `body`, which calls the function of this name of the instance with this environment and
/// captures nothing that must be dropped.
#[inline]
pub(crate) fn guarded<R: Copy, F: FnOnce() -> R>(
    environment: Environment,
    function: &'static str,
    body: F,
) -> Result<R, Crash> {
    install();
    let mut context = Context {
        body: Some(body),
        answer: None,
    };
    // SAFETY: `call` is instantiated for the very types of `context`, which outlives the call.
    let signal = unsafe {
        dovetail_guard(
            call::<F, R>,
            (&raw mut context).cast(),
            environment.pointer(),
            function.as_ptr().cast(),
            function.len(),
        )
    };

    match context.answer {
        Some(answer) if signal == 0 => Ok(answer),
        _ => Err(recover(signal)),
    }
}

/// The longest text that is taken from an FMU.
const LONGEST_TEXT: usize = 64 << 20;

/// The bytes of a text of an FMU, as far as they can be read: none where it is null or leads
/// nowhere, and no more than a limit where it has no end.
///
/// # Safety
///
/// Nobody changes the text as long as the result is used.
pub(crate) unsafe fn text_bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }

    install();
    // SAFETY: whatever the pointer is, reading it is guarded.
    let length = unsafe { dovetail_guard_length(text, LONGEST_TEXT) };
    let length = usize::try_from(length).ok()?;
    // SAFETY: so many bytes have just been read.
    Some(unsafe { std::slice::from_raw_parts(text.cast(), length) })
}

/// The largest binary value that is taken from an FMU.
const LARGEST_BINARY: usize = 256 << 20;

/// A copy of bytes of an FMU: none where they cannot be read, or are too many.
pub(crate) fn copied_bytes(place: *const u8, size: usize) -> Option<Vec<u8>> {
    if place.is_null() || size > LARGEST_BINARY {
        return None;
    }

    install();
    let mut copy = vec![0; size];
    // SAFETY: whatever the pointer is, reading it is guarded; the copy has room for so many bytes.
    let answer = unsafe { dovetail_guard_copy(place.cast(), size, copy.as_mut_ptr().cast()) };
    (answer == 0).then_some(copy)
}

/// Why a library was not loaded.
pub(crate) enum NotOpened {
    Crashed(Crash),
    /// In the words of the loader.
    Refused(String),
}

/// Loads a library, whose constructors may do anything.
pub(crate) fn open_library(
    file: &CStr,
    environment: Environment,
) -> Result<*mut c_void, NotOpened> {
    install();
    let mut handle = std::ptr::null_mut();
    let mut error = [0; 1024];
    // SAFETY: the file and the room for the answers outlive the call.
    let signal = unsafe {
        dovetail_guard_open(
            file.as_ptr(),
            environment.pointer(),
            &raw mut handle,
            error.as_mut_ptr(),
            error.len(),
        )
    };
    if signal != 0 {
        return Err(NotOpened::Crashed(recover(signal)));
    }
    if handle.is_null() {
        // SAFETY: C has ended it with a zero.
        let why = unsafe { CStr::from_ptr(error.as_ptr()) };
        return Err(NotOpened::Refused(why.to_string_lossy().into_owned()));
    }
    Ok(handle)
}

/// A crash inside the allocator may leave it locked: whoever allocates then waits for ever, until
/// the alarm that the handler has set ends the program with a message. Once an allocation has
/// worked the alarm is called off.
#[cold]
fn recover(signal: c_int) -> Crash {
    for size in [16, 512, 1 << 14, 1 << 20] {
        std::hint::black_box(vec![0_u8; size]);
    }

    // SAFETY: turns off the alarm; it has no requirement.
    unsafe { dovetail_guard_recovered() };
    Crash { signal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_works_answers() {
        assert_eq!(guarded(Environment::NONE, "test", || 6 * 7), Ok(42));
    }

    #[test]
    fn a_crash_is_survived_again_and_again() {
        for _ in 0..3 {
            // SAFETY: reading address 16 is exactly the fault that is to be caught.
            let crash = guarded(Environment::NONE, "test", || unsafe {
                std::ptr::read_volatile(16 as *const u64)
            });
            assert_eq!(crash, Err(Crash { signal: 11 }));
        }
    }

    #[test]
    fn a_crash_in_one_thread_does_not_disturb_another() {
        let fine = std::thread::spawn(|| {
            (0..1000).all(|i| guarded(Environment::NONE, "test", || i) == Ok(i))
        });
        // SAFETY: as above.
        let crash = guarded(Environment::NONE, "test", || unsafe {
            std::ptr::read_volatile(16 as *const u64)
        });
        assert!(crash.is_err() && fine.join().unwrap());
    }
}
