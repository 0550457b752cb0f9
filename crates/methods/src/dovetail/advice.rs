//! When the method should be left, and for which.
//!
//! Its predictions stand on the linearisations. Where these say too little, another method does better: IFOSMONDI, where all systems
//! can roll back, since it only believes what it has tried; else MISSILES, whose inputs do not follow every error at once.

use super::Dovetail;
use super::integration::BAD;

/// Beyond this condition number of `I − D Φᵀ` an interface follows from its states only by chance.
const HOPELESS_LOOP: f64 = 1e3;
/// So many steps that cannot be cut any more and still miss are no accident.
const MOST_MISSES: u32 = 5;

/// Another method that should be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Its name.
    pub method: &'static str,
    /// Why.
    pub reason: String,
}

impl Dovetail<'_> {
    /// The method that should be used instead from here on, if any.
    pub fn advice(&self) -> Option<&Advice> {
        self.tally.advice.as_ref()
    }

    /// Looks whether the step just taken makes another method advisable.
    pub(super) fn consider_leaving(&mut self, missed: f64, shortest: bool) {
        if self.tally.advice.is_some() {
            return;
        }
        self.tally.misses = if missed > BAD && shortest { self.tally.misses + 1 } else { 0 };
        let condition = self.global_error.as_ref().map_or(1.0, |error| error.loop_condition);
        let reason = if condition > HOPELESS_LOOP {
            format!("the coupling through feedthrough is close to singular (condition {condition:.1e})")
        } else if self.tally.misses >= MOST_MISSES {
            "predictions are poor however short the steps are".to_owned()
        } else {
            return;
        };
        let method = if self.abilities.revocable { "ifosmondi" } else { "missiles" };
        self.tally.advice = Some(Advice { method, reason });
    }
}
