//! A sweep with all that it is to do, from the command line.

use dovetail::scenario::{GivenChoice, Scenario};
use dovetail::study::Factor;
use dovetail::{Error, Sweep};

use super::arguments::SweepArguments;
use crate::failure::Failure;
use crate::output;

/// The sweep of a model with all that it is to do.
pub(crate) fn prepared<'a>(
    arguments: &SweepArguments,
    scenario: &'a Scenario,
) -> Result<Sweep<'a>, Failure> {
    let design = arguments.design(scenario)?;
    let options = arguments.options(scenario)?;
    let kept = arguments.kept();
    let sweep = Sweep::new(scenario, &options, design, &kept, &arguments.record);
    let sweep = match arguments.changes.wants_rest() {
        true => sweep.and_then(Sweep::starting_at_rest),
        false => sweep,
    };
    let sweep = sweep.map_err(|error| refused(error, &arguments.vary))?;
    output::restore_working_directory();
    Ok(arguments.completed(sweep))
}

/// What a library refuses before the first run; what is wrong with a value is said of its flag.
pub(crate) fn refused(error: Error, varied: &[Factor]) -> Failure {
    let mut bad = match error {
        Error::Model(bad) => bad,
        other => return Failure::misuse_by(other),
    };
    for problem in &mut bad.problems {
        if let Some(GivenChoice::Value { name, .. }) = problem.choice.as_deref()
            && varied.iter().any(|factor| factor.name == *name)
        {
            problem.message = format!("--vary {name}: {}", problem.message);
            problem.choice = None;
        }
    }
    bad.into()
}
