//! When the method should be left, and for which.
//!
//! Its predictions stand on the linearisations. Where these say too little, another method does better: IFOSMONDI, where all systems
//! can roll back, since it only believes what it has tried; else MISSILES, whose inputs do not follow every error at once.

use dovetail_core::Advice;

use super::Dovetail;
use super::integration::BAD;

/// Where a loop through feedthrough magnifies by more than this, an interface follows from its states only by chance.
const HOPELESS_LOOP: f64 = 1e3;
/// So many steps that cannot be cut any more and still miss are no accident.
const MOST_MISSES: u32 = 5;

impl Dovetail<'_> {
    /// Looks whether the step just taken makes another method advisable.
    pub(super) fn consider_leaving(&mut self, missed: f64, shortest: bool) {
        if self.tally.advice.is_some() {
            return;
        }
        self.tally.misses = if missed > BAD && shortest { self.tally.misses + 1 } else { 0 };
        let magnification = self.global_error.as_ref().map_or(1.0, |error| error.magnification);
        let reason = if magnification > HOPELESS_LOOP {
            format!("a loop through feedthrough is close to singular and magnifies {magnification:.0} times")
        } else if self.tally.misses >= MOST_MISSES {
            "predictions are poor however short the steps are".to_owned()
        } else {
            return;
        };
        let method = if self.abilities.revocable { "ifosmondi" } else { "missiles" };
        self.tally.advice = Some(Advice { method, reason });
    }
}
