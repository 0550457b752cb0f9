//! `dovetail reproduce`: the tables and figures of five papers, ours beside theirs.

mod costarica;
mod f3ornits;
mod guaranteed;
mod ifosmondi;
mod missiles;
mod model;
mod page;
mod row;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dovetail::report::{Alignment, Table, paragraph};
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{self, Page};
use crate::{interrupt, progress};
use row::Row;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// The paper; without it, all of them
    pub paper: Option<Paper>,

    /// Write the table to a page
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// The papers whose tables and figures can be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Paper {
    /// MISSILES: tables 4 and 6, figure 11
    Missiles,
    /// COSTARICA: figures 9, 17 and 22
    Costarica,
    /// IFOSMONDI-JFM: figures 6, 7 and 8
    IfosmondiJfm,
    /// F3ORNITS: table 1, figure 12
    F3ornits,
    /// Guaranteed co-simulation: table 1, figures 5 and 6
    Guaranteed,
}

impl Paper {
    const ALL: [Self; 5] = [
        Self::Missiles,
        Self::Costarica,
        Self::IfosmondiJfm,
        Self::F3ornits,
        Self::Guaranteed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Missiles => "missiles",
            Self::Costarica => "costarica",
            Self::IfosmondiJfm => "ifosmondi-jfm",
            Self::F3ornits => "f3ornits",
            Self::Guaranteed => "guaranteed",
        }
    }

    /// What can be run again, each as a function that runs it.
    fn items(self) -> Vec<Item> {
        match self {
            Self::Missiles => missiles::items(),
            Self::Costarica => costarica::items(),
            Self::IfosmondiJfm => ifosmondi::items(),
            Self::F3ornits => f3ornits::items(),
            Self::Guaranteed => guaranteed::items(),
        }
    }
}

/// One run, or a few that belong together, and the rows they give.
type Item = Box<dyn Fn() -> Result<Vec<Row>, Failure>>;

pub(crate) fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let report = arguments.report.as_deref();
    output::check_ending("--report", report, &["html", "htm"])?;
    let page = Page::wanted(report)?;
    let papers = match arguments.paper {
        Some(paper) => vec![paper],
        None => Paper::ALL.to_vec(),
    };
    let results = run(&papers, arguments.quiet)?;

    if let Some(page) = page {
        page.write(&page::page(&results))?;
    }
    if arguments.json {
        let all: Vec<Value> = results
            .iter()
            .flat_map(|(paper, rows)| rows.iter().map(|row| row.to_json(paper.name())))
            .collect();
        return output::print_json(&Value::from(all));
    }
    if arguments.quiet {
        return Ok(());
    }
    for (paper, rows) in &results {
        output::print(&text(*paper, rows))?;
    }
    Ok(())
}

/// Ctrl-C is looked for so often.
const LOOKS: Duration = Duration::from_millis(100);
/// As much stack as a main thread has.
const STACK: usize = 8 << 20;

/// What an item of a paper has given.
type Answer = (Paper, Result<Vec<Row>, Failure>);

/// Runs everything, until Ctrl-C: the item under way is then given up, since nothing of it is kept.
fn run(papers: &[Paper], quiet: bool) -> Result<Vec<(Paper, Vec<Row>)>, Failure> {
    let interrupted = interrupt::listen();
    let count = papers.iter().map(|paper| paper.items().len()).sum();
    let bar = progress::SweepProgress::new(quiet, count, 0);
    let mut results: Vec<(Paper, Vec<Row>)> = papers.iter().map(|p| (*p, Vec::new())).collect();

    let answers = start(papers.to_vec()).map_err(Failure::misuse_by)?;
    let mut done = 0;
    while done < count {
        match answers.recv_timeout(LOOKS) {
            Ok((paper, rows)) => {
                let known = results.iter_mut().find(|(known, _)| *known == paper);
                known.expect("BUG: a paper of the list").1.extend(rows?);
                done += 1;
                bar.show(done, 0);
            }
            Err(RecvTimeoutError::Timeout) if !interrupted.load(Ordering::Relaxed) => {}
            Err(RecvTimeoutError::Timeout) => {
                bar.clear();
                return Err(Failure::EndedEarly("it was interrupted".to_owned()));
            }
            Err(RecvTimeoutError::Disconnected) => panic!("BUG: an item of a paper panicked"),
        }
    }
    bar.clear();
    Ok(results)
}

/// Runs all items of these papers in a thread of their own, which ends with the program.
fn start(papers: Vec<Paper>) -> std::io::Result<Receiver<Answer>> {
    let (sender, answers) = mpsc::channel();
    let work = move || {
        for paper in papers {
            for item in paper.items() {
                let rows = item();
                let failed = rows.is_err();
                if sender.send((paper, rows)).is_err() || failed {
                    return;
                }
            }
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(work)?;
    Ok(answers)
}

/// A table for a terminal, with its notes below.
fn text(paper: Paper, rows: &[Row]) -> String {
    let mut table = Table::new(&[
        (paper.name(), Alignment::Left),
        ("paper", Alignment::Right),
        ("ours", Alignment::Right),
        ("", Alignment::Left),
    ]);
    let mut notes: Vec<&str> = Vec::new();
    for row in rows {
        let mark = match row.note.as_str() {
            "" => String::new(),
            note => format!("[{}]", number_of(note, &mut notes)),
        };
        let mut cells = [row.paper.to_string(), row.ours.to_string(), mark];
        for line in lines_of(&row.item, ITEM) {
            table.row([vec![line], cells.to_vec()].concat());
            cells = Default::default();
        }
    }
    let numbered = notes.iter().zip(1..);
    let notes = numbered.map(|(note, number)| paragraph(&format!("[{number}] {note}")));
    format!("{}\n{}\n", table.render(""), notes.collect::<String>())
}

/// Items are broken at this width, so that a row fits a terminal.
const ITEM: usize = 42;

/// The number of a note among those there are, from 1.
fn number_of<'a>(note: &'a str, notes: &mut Vec<&'a str>) -> usize {
    let place = notes.iter().position(|known| *known == note);
    let place = place.unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    place + 1
}

/// A text in lines of at most `width` characters; at least one.
fn lines_of(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("BUG: there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= width {
            *line += &format!(" {word}");
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines
}
