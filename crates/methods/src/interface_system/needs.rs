//! What methods that solve for the whole interface need of systems.

use dovetail_core::{Error, Remedy, StepRule};

use crate::imposed_steps::check_imposed_steps;
use crate::registry::context::Context;
use crate::registry::refusal::Refusal;

/// Checks that every system can be linearized and takes the steps of the grid, or, where steps are
/// chosen, steps of any size.
pub(crate) fn check_needs(
    name: &'static str,
    context: &Context<'_>,
    chooses_steps: bool,
) -> Result<(), Refusal> {
    for (interface, capabilities) in context.systems() {
        let missing =
            |need: &str, instead: &str| Error::missing(name, &interface.name, need, instead);
        if !capabilities.linearize {
            let instead = "ifosmondi needs rollback instead, f3ornits nothing";
            let remedies = ["ifosmondi", "f3ornits"].map(Remedy::method);
            return Err(missing("a linearization", instead).with(remedies).into());
        }
        if let (StepRule::Imposed(size), true) = (capabilities.step_rule, chooses_steps) {
            let instead =
                format!("with a fixed step that is a multiple of {size} s it can take part");
            let missing = missing("steps of any size, to choose them", &instead);
            return Err(missing.with([Remedy::MultipleOfStep(size)]).into());
        }
    }
    if chooses_steps {
        Ok(())
    } else {
        check_imposed_steps(name, context)
    }
}
