//! The instances of experiments: fresh ones, or one that is kept and reset between them.

use std::cell::{Cell, RefCell};

use serde::{Deserialize, Serialize};

use super::error::InterfaceUse;
use crate::call_error::CallError;
use crate::component::FmiVersion;
use crate::fmi1::Fmi1;
use crate::fmi2::Fmi2;
use crate::fmi3::Fmi3;
use crate::fmu_instance::FmuInstance;
use crate::kept_component::KeptComponent;

/// The instance that an experiment is carried out on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InstanceChoice {
    /// One that is made for it, and freed after it.
    Fresh,
    /// One that is made for it, and kept.
    FreshToKeep,
    /// The one that was kept, reset.
    Kept,
}

/// What a component was instantiated with, beside what is the same for all of an FMU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstantiationArguments {
    pub used: InterfaceUse,
    pub event_mode: bool,
    pub early_return: bool,
    pub intermediate: Vec<u32>,
}

struct KeptInstance<V: FmiVersion> {
    component: KeptComponent<V>,
    arguments: InstantiationArguments,
}

/// Room for one instance of a version of the standard.
struct Slot<V: FmiVersion>(RefCell<Option<KeptInstance<V>>>);

impl<V: FmiVersion> Slot<V> {
    fn empty() -> Self {
        Self(RefCell::new(None))
    }

    /// The instance of this choice.
    fn instance(
        &self,
        choice: InstanceChoice,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<V>, CallError>,
    ) -> Result<FmuInstance<V>, CallError> {
        let kept = self.0.take();
        let instance = if choice == InstanceChoice::Kept {
            kept.filter(|kept| kept.arguments == arguments)
                .ok_or_else(nothing_kept)?
                .component
                .reset()?
        } else {
            // One after the other: some FMUs can do no more.
            drop(kept);
            instantiate()?
        };

        if choice != InstanceChoice::Fresh {
            let component = KeptComponent::of(&instance);
            self.0.replace(Some(KeptInstance {
                component,
                arguments,
            }));
        }
        Ok(instance)
    }

    fn is_fit(&self) -> bool {
        let kept = self.0.borrow();
        kept.as_ref().is_some_and(|kept| kept.component.is_fit())
    }
}

fn nothing_kept() -> CallError {
    CallError::NotInstantiated {
        function: "reset",
        message: None,
    }
}

/// Where the instances of experiments come from.
pub(super) struct InstanceSource {
    choice: Cell<InstanceChoice>,
    one: Slot<Fmi1>,
    two: Slot<Fmi2>,
    three: Slot<Fmi3>,
}

impl InstanceSource {
    /// Every experiment has an instance of its own.
    pub fn fresh() -> Self {
        Self {
            choice: Cell::new(InstanceChoice::Fresh),
            one: Slot::empty(),
            two: Slot::empty(),
            three: Slot::empty(),
        }
    }

    pub fn instance1(
        &self,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<Fmi1>, CallError>,
    ) -> Result<FmuInstance<Fmi1>, CallError> {
        let choice = self.choice.get();
        self.one.instance(choice, arguments, instantiate)
    }

    pub fn instance2(
        &self,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<Fmi2>, CallError>,
    ) -> Result<FmuInstance<Fmi2>, CallError> {
        let choice = self.choice.get();
        self.two.instance(choice, arguments, instantiate)
    }

    pub fn instance3(
        &self,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<Fmi3>, CallError>,
    ) -> Result<FmuInstance<Fmi3>, CallError> {
        let choice = self.choice.get();
        self.three.instance(choice, arguments, instantiate)
    }

    /// The next instance is to be this one.
    pub fn choose(&self, choice: InstanceChoice) {
        self.choice.set(choice);
    }

    /// Whether the instance that was kept may be reset: all its calls did what they were asked for.
    pub fn is_fit(&self) -> bool {
        self.one.is_fit() || self.two.is_fit() || self.three.is_fit()
    }

    /// Frees the instance that was kept.
    pub fn free(&self) {
        drop(self.one.0.take());
        drop(self.two.0.take());
        drop(self.three.0.take());
    }
}
