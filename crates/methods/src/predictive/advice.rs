//! When the method should be left, and for which.
//!
//! Its predictions stand on the linearizations. Where these say too little, another method does
//! better: IFOSMONDI, where all systems can roll back, since it only believes what it has tried;
//! else MISSILES, whose inputs do not follow every error at once.

use dovetail_core::Advice;

use super::Predictive;
use super::tuning::{BAD, DOUBTFUL_LOOP, HOPELESS_LOOP, MOST_MISSES};

impl Predictive<'_> {
    /// Looks whether the step just taken makes another method advisable.
    pub(super) fn update_advice(&mut self, missed: f64, shortest: bool) {
        if self.advice.is_some() {
            return;
        }

        self.step_state.misses = if missed > BAD && shortest {
            self.step_state.misses + 1
        } else {
            0
        };
        let magnification = self.magnification();
        let most = if self.step_state.disagrees {
            DOUBTFUL_LOOP
        } else {
            HOPELESS_LOOP
        };
        let reason = if magnification > most {
            format!(
                "a loop through feedthrough is close to singular and magnifies {magnification:.0} \
                 times"
            )
        } else if self.step_state.misses >= MOST_MISSES {
            "predictions are poor however short the steps are".to_owned()
        } else {
            return;
        };
        let method = if self.abilities.revocable {
            "ifosmondi"
        } else {
            "missiles"
        };

        self.advice = Some(Advice {
            method: method.to_owned(),
            reason,
        });
    }
}
