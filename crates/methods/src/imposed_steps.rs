//! Whether the steps of a grid are made of those that systems impose.

use dovetail_core::{Error, StepRule};

use crate::registry::context::Context;
use crate::registry::refusal::Refusal;

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
                "its own step is {size} s, and step and length of the run must be multiples of it \
                 (--step {size}, --stop-time)"
            );
            return Err(Error::missing(method, &interface.name, need, instead).into());
        }
    }
    Ok(())
}
