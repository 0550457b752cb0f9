//! What methods that solve for the whole interface need of systems.

use dovetail_core::{Error, Remedy, StepRule};

use crate::imposed_steps::check_imposed_steps;
use crate::registry::context::Context;
use crate::registry::refusal::Refusal;

/// Whether a method that repeats steps would take these systems.
fn can_iterate(context: &Context<'_>) -> bool {
    context.systems().all(|(_, capabilities)| {
        let repeats = capabilities.trial || capabilities.linearize;
        repeats && capabilities.step_rule == StepRule::Free
    })
}

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
            let (instead, others): (_, &[&str]) = match can_iterate(context) {
                true => (
                    "ifosmondi needs rollback instead, f3ornits nothing",
                    &["ifosmondi", "f3ornits"],
                ),
                false => ("f3ornits works without", &["f3ornits"]),
            };
            let remedies = others.iter().map(|name| Remedy::method(name));
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
