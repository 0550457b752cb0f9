//! `dovetail sweep`.

mod arguments;
pub(crate) mod on_ranks;
mod table;
mod target;

use dovetail::scenario::{GivenChoice, Scenario};
use dovetail::study::{Factor, StudyError};
use dovetail::{Error, Sweep};

pub(crate) use arguments::SweepArguments;

use crate::arguments::{check_distinct, refuse_to_replace};
use crate::failure::Failure;
use crate::output::{self, Page};
use table::Table;
use target::Target;

/// What `--vary` says.
pub(crate) fn factor(text: &str) -> Result<Factor, String> {
    text.parse().map_err(|StudyError(message)| message)
}

pub(crate) fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    let target = Target::of(&arguments.output)?;
    output::check_ending("--report", arguments.report.as_deref(), &["html", "htm"])?;
    check_distinct(Some(&arguments.output), arguments.report.as_deref())?;
    let scenario = arguments.load()?;
    for path in [Some(&arguments.output), arguments.report.as_ref()]
        .into_iter()
        .flatten()
    {
        refuse_to_replace(&arguments.model, &scenario, path)?;
    }
    let sweep = prepared(arguments, &scenario)?;
    arguments.empty_trajectories()?;
    let (mut file, before) = target.open(&sweep, arguments.resume)?;
    let page = Page::wanted(arguments.report.as_deref())?;

    let needs_all = page.is_some() || target.needs_all();
    let table = Table::new(sweep.design(), before, needs_all);
    let done = table.fill(&sweep, &mut file, arguments)?;
    drop(file);
    target.finish(&sweep, &done)?;
    let title = format!("{}: a sweep", scenario.name);
    done.show(arguments, &sweep, page, &title)?;
    done.end(arguments)
}

/// The sweep of a model with all that it is to do.
pub(crate) fn prepared<'a>(
    arguments: &SweepArguments,
    scenario: &'a Scenario,
) -> Result<Sweep<'a>, Failure> {
    let design = arguments.design(scenario)?;
    let options = arguments.options(scenario)?;
    let kept = arguments.kept();
    let sweep = Sweep::new(scenario, &options, design, &kept, &arguments.record);
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
