//! A component that is kept when its instance is gone, to be reset.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use std::sync::Arc;

use crate::call_error::CallError;
use crate::calls::Purpose;
use crate::component::{FmiVersion, OwnedComponent};
use crate::ffi::PlainFunction;
use crate::fmu_instance::FmuInstance;

/// A component that outlives its instance, so that another one can be made of it.
pub(crate) struct KeptComponent<V: FmiVersion>(Arc<OwnedComponent<V>>);

impl<V: FmiVersion> KeptComponent<V> {
    /// Keeps the component of an instance.
    pub fn of(instance: &FmuInstance<V>) -> Self {
        Self(instance.owner().clone())
    }

    /// Whether its instance is gone, after nothing but calls that did what they were asked for.
    pub fn is_fit(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && self.0.is_flawless()
    }

    /// Another instance of it, reset: as it was when it had just been instantiated, if its FMU does
    /// what the standard says.
    pub fn reset(self) -> Result<FmuInstance<V>, CallError> {
        let mut instance = FmuInstance::of(self.0.clone());
        let reset = instance.shared.reset;
        let mut status = 0;
        // SAFETY: the component is live.
        let body = |f: PlainFunction, component| unsafe {
            status = f(component);
            status
        };
        instance.calls.demand_plain(reset, Purpose::Setup, body)?;
        if status != 0 {
            return Err(instance.calls.refused(reset.name, "warning"));
        }

        self.0.forget_instance();
        Ok(instance)
    }
}
