//! `dovetail sweep`.

mod arguments;
mod made_with;
pub(crate) mod on_ranks;
mod preparation;
mod table;
mod target;

pub(crate) use arguments::{SweepArguments, factor};
pub(crate) use preparation::refused;

use crate::arguments::{check_distinct, refuse_to_replace};
use crate::failure::Failure;
use crate::output::{self, Page};
use made_with::MadeWith;
use preparation::prepared;
use table::Table;
use target::Target;

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
    let made_with = MadeWith::of(arguments, &scenario)?;
    let (mut file, before) = target.open(&sweep, &made_with, arguments.resume)?;
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
