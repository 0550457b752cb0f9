//! Whether the steps of a grid are made of those that systems impose.

use dovetail_core::{Capabilities, Error, MacroStep, Past, Remedy, StepRule};

use crate::registry::context::Context;
use crate::registry::refusal::Refusal;

/// Less than this part of a step is no time at all.
const ROUNDING: f64 = 1e-6;

/// Whether some system goes by steps of its own only.
pub(crate) fn any_imposes_steps(capabilities: &[Capabilities]) -> bool {
    capabilities.iter().any(|c| c.step_rule != StepRule::Free)
}

/// Whether a step would go beyond the limit of the past by more than rounding: where systems impose their steps, a grid cannot be
/// cut there.
pub(crate) fn exceeds_limit(step: MacroStep, past: &Past) -> bool {
    step.end - past.limit() > ROUNDING * step.size()
}

/// A fixed common step must be a multiple of every step that a system imposes.
pub(crate) fn check_imposed_steps(
    method: &'static str,
    context: &Context<'_>,
) -> Result<(), Refusal> {
    let grid = context.grid();
    for (interface, capabilities) in context.systems() {
        if let StepRule::Imposed(size) = capabilities.step_rule
            && !grid.consists_of(size)
        {
            let end = grid.time(grid.count());
            let need = format!("steps of {} s up to t = {end} s", grid.size());
            let instead = format!(
                "its own step is {size} s, and step and length of the run must be multiples of it"
            );
            let missing = Error::missing(method, &interface.name, need, instead);
            let remedies = [Remedy::MultipleOfStep(size), Remedy::StopTime];
            return Err(missing.with(remedies).into());
        }
    }
    Ok(())
}
