//! When the method should be left, and for which.
//!
//! Its predictions stand on the linearisations. Where these say too little, another method does better: IFOSMONDI, where all systems
//! can roll back, since it only believes what it has tried; else MISSILES, whose inputs do not follow every error at once.

use dovetail_core::Advice;

use super::Dovetail;
use super::tuning::{BAD, DOUBTFUL_LOOP, HOPELESS_LOOP, MOST_MISSES};

impl Dovetail<'_> {
    /// Looks whether the step just taken makes another method advisable.
    pub(super) fn consider_leaving(&mut self, missed: f64, shortest: bool) {
        if self.tally.advice.is_some() {
            return;
        }
        self.tally.misses = if missed > BAD && shortest {
            self.tally.misses + 1
        } else {
            0
        };
        let magnification = self.magnification();
        let most = if self.tally.disagrees {
            DOUBTFUL_LOOP
        } else {
            HOPELESS_LOOP
        };
        let reason = if magnification > most {
            format!(
                "a loop through feedthrough is close to singular and magnifies {magnification:.0} times"
            )
        } else if self.tally.misses >= MOST_MISSES {
            "predictions are poor however short the steps are".to_owned()
        } else {
            return;
        };
        let method = if self.abilities.revocable {
            "ifosmondi"
        } else {
            "missiles"
        };
        self.tally.advice = Some(Advice { method, reason });
    }
}
