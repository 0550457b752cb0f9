//! Whether inputs that move during a step have an effect.

use super::Probe;
use crate::abilities::InputMode;
use crate::experiment::InputCourse;
use crate::finding::{Capability, Finding};
use crate::measures::differ;

impl Probe<'_> {
    /// Up to which order input derivatives change anything.
    pub(super) fn try_input_derivatives(&mut self, most: usize, baseline: &[f64]) {
        let mut degree = 0;
        while degree < most && self.has_effect(InputCourse::Derivatives(degree + 1), baseline) {
            degree += 1;
        }

        let capability = Capability::InputDerivatives;
        let finding = if degree > 0 {
            capability.holds(format!("they have an effect up to order {degree}"))
        } else if self.inputs_matter(baseline) {
            capability.fails("they have no effect")
        } else {
            // Nor have the values, where the FMU starts: nothing speaks against the first order.
            degree = 1;
            capability.holds("inputs have no effect at the start; order 1 is believed")
        };
        self.abilities.inputs = if finding.holds() {
            InputMode::Derivatives(degree)
        } else {
            InputMode::Held
        };

        self.findings.push(finding);
    }

    /// Does an FMU that may ask for its inputs on the way really ask?
    pub(super) fn try_intermediate_update(&mut self, baseline: &[f64]) {
        let finding = self.judge_intermediate_update(baseline);
        self.abilities.inputs = if finding.holds() {
            InputMode::Intermediate
        } else {
            InputMode::Held
        };
        self.findings.push(finding);
    }

    fn judge_intermediate_update(&mut self, baseline: &[f64]) -> Finding {
        let capability = Capability::IntermediateInputs;
        match self.one_step(InputCourse::Intermediate) {
            Ok(moved) if differ(&moved, baseline) => capability.holds("they are followed"),
            Ok(_) if self.inputs_matter(baseline) => {
                capability.fails("inputs that move have no effect")
            }
            Ok(_) => capability.believed("inputs have no effect at the start; it is believed"),
            Err(why) => capability.fails(why.to_string()),
        }
    }
}
