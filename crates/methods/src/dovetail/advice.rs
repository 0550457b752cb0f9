//! When the method should be left, and for which.
//!
//! Its predictions stand on the linearisations. Where these say too little, another method does better: IFOSMONDI, where all systems
//! can roll back, since it only believes what it has tried; else MISSILES, whose inputs do not follow every error at once.

use dovetail_core::Advice;

use super::Dovetail;
use super::integration::BAD;

/// Where a loop through feedthrough magnifies by more than this, an interface follows from its states only by chance; and by more than
/// this where Newton on the interface has not come to an end.
const HOPELESS_LOOP: f64 = 1e3;
const DOUBTFUL_LOOP: f64 = 20.0;
/// So many steps that cannot be cut any more and still miss are no accident.
const MOST_MISSES: u32 = 5;

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
