//! The instances there are.
//!
//! What an importer holds is a number that looks like an address and is never followed: whatever it hands back, an instance that
//! was freed or none at all, is found not to be there.

#![allow(
    unsafe_code,
    reason = "what an instance consists of is not marked as one that may change threads"
)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, TryLockError};

use crate::instance::Instance;
use crate::intermediate::{SharedValues, lock};

/// An instance on its own.
struct Slot {
    kept: Mutex<Option<Kept>>,
    /// Values that the importer sets within a step.
    given: SharedValues,
}

/// An instance that an importer may use from any of its threads, one at a time.
struct Kept(Instance);

// SAFETY: the lock of its slot gives an instance to one thread at a time. What it owns (systems, a method, the importer's callback)
// is tied to no thread: nothing in it uses thread-local memory between calls, or counts references without atomics.
unsafe impl Send for Kept {}

#[derive(Default)]
struct Instances {
    last: usize,
    slots: HashMap<usize, Arc<Slot>>,
}

static INSTANCES: LazyLock<Mutex<Instances>> = LazyLock::new(Mutex::default);

/// How many instances there are, with those that are being made or freed.
static ALIVE: Mutex<usize> = Mutex::new(0);

/// An instance is about to be made.
pub(crate) fn expect() {
    *ALIVE.lock().unwrap_or_else(PoisonError::into_inner) += 1;
}

/// An instance is no more. After the last one nothing of us is left in the host: no handler of a signal, and no open folder.
pub(crate) fn gone() {
    let mut alive = ALIVE.lock().unwrap_or_else(PoisonError::into_inner);
    *alive = alive.saturating_sub(1);
    if *alive == 0 {
        dovetail::fmi::remove_guard();
    }
}

/// The result of a call that does not reach its instance.
pub(crate) enum Missing {
    /// There is none with this number.
    Unknown,
    /// It is in a call already: the importer calls back from within one, or from two threads.
    Busy,
    /// The call ended by a mistake of ours.
    Panicked,
}

/// Keeps a new instance; the number that stands for it.
pub(crate) fn insert(instance: Instance) -> *mut c_void {
    let mut all = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
    all.last += 16;
    let number = all.last;
    let slot = Slot {
        given: Arc::clone(&instance.given),
        kept: Mutex::new(Some(Kept(instance))),
    };
    all.slots.insert(number, Arc::new(slot));
    number as *mut c_void
}

/// Forgets an instance; false where there is none, or where it is in a call.
pub(crate) fn remove(handle: *mut c_void) -> bool {
    let slot = {
        let mut all = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
        all.slots.remove(&(handle as usize))
    };
    let Some(slot) = slot else { return false };
    // Ended outside of the lock: nested FMUs may take their time.
    let taken = match slot.kept.try_lock() {
        Ok(mut kept) => kept.take(),
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
        Err(TryLockError::WouldBlock) => return false,
    };
    let freed = catch_unwind(AssertUnwindSafe(|| drop(taken))).is_ok();
    gone();
    freed
}

/// Takes values that an importer sets while it is asked for them within a step; false where it is not, or there is no such instance.
pub(crate) fn set_within_step(
    handle: *mut c_void,
    references: &[u32],
    values: &[f64],
) -> Result<bool, String> {
    let slot = {
        let all = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
        all.slots.get(&(handle as usize)).cloned()
    };
    match slot {
        Some(slot) => lock(&slot.given).set(references, values),
        None => Ok(false),
    }
}

/// Does something with an instance, and survives it.
pub(crate) fn with<T>(
    handle: *mut c_void,
    part: impl FnOnce(&mut Instance) -> T,
) -> Result<T, Missing> {
    let slot = {
        let all = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
        all.slots.get(&(handle as usize)).cloned()
    };
    let slot = slot.ok_or(Missing::Unknown)?;
    let mut kept = match slot.kept.try_lock() {
        Ok(kept) => kept,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Err(Missing::Busy),
    };
    let Some(Kept(instance)) = kept.as_mut() else {
        return Err(Missing::Unknown);
    };
    catch_unwind(AssertUnwindSafe(|| part(instance))).map_err(|_| {
        instance.fail();
        Missing::Panicked
    })
}
