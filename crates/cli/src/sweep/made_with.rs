//! What the rows of a sweep were made with, in a small file beside the table: a sweep that goes on has to be the same one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use dovetail::scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::arguments::SweepArguments;
use crate::failure::Failure;
use crate::made_from;

/// All that the rows depend on, beside the design and the columns, which the table itself shows.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct MadeWith {
    program: String,
    /// The options of every run, as they are written on the command line.
    options: BTreeMap<String, String>,
    /// The files of the model, each with its fingerprint.
    files: Vec<(PathBuf, String)>,
}

impl MadeWith {
    pub fn of(arguments: &SweepArguments, scenario: &Scenario) -> Result<Self, Failure> {
        let changes = &arguments.changes;
        Ok(Self {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            options: options(arguments),
            files: made_from::files(&arguments.model, changes, scenario)?,
        })
    }

    /// The file beside a table.
    pub fn path(table: &Path) -> PathBuf {
        let mut name = table.as_os_str().to_owned();
        name.push(".made-with.json");
        PathBuf::from(name)
    }

    /// Reads it back; nothing where there is none.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n")
    }

    /// What differs from `before`, in a sentence.
    pub fn difference(&self, before: &Self) -> Option<String> {
        if self.program != before.program {
            let (now, then) = (&self.program, &before.program);
            return Some(format!(
                "its rows are those of dovetail {then}, and this is {now}"
            ));
        }
        let keys = self.options.keys().chain(before.options.keys());
        for key in keys {
            let (now, then) = (self.options.get(key), before.options.get(key));
            if now != then {
                let said = |option: Option<&String>| match option {
                    Some(text) => format!("with {key} {text}"),
                    None => format!("without {key}"),
                };
                let (now, then) = (said(now), said(then));
                return Some(format!(
                    "its rows were made {then}, and this sweep is {now}"
                ));
            }
        }
        if self.files.len() != before.files.len() {
            return Some("its rows were made from other files".to_owned());
        }
        let both = self.files.iter().zip(&before.files);
        let mut changed = both.filter(|((_, now), (_, then))| now != then);
        changed.next().map(|((path, _), _)| {
            let shown = path.display();
            format!("{shown} has changed since its rows were made")
        })
    }
}

/// The options that change what a run computes.
fn options(arguments: &SweepArguments) -> BTreeMap<String, String> {
    let changes = &arguments.changes;
    let number = |value: Option<f64>| value.map(|value| format!("{value:?}"));
    let pairs = |pairs: &[(String, String)]| {
        let pairs = pairs.iter().map(|(key, value)| format!("{key}={value}"));
        let pairs: Vec<String> = pairs.collect();
        (!pairs.is_empty()).then(|| pairs.join(" "))
    };
    let interface = changes.interface.map(|interface| format!("{interface:?}"));
    let all = [
        ("--method", arguments.method.clone()),
        ("--step", arguments.step.clone()),
        ("--start-time", number(changes.start_time)),
        ("--stop-time", number(changes.stop_time)),
        ("--tolerance", changes.tolerance.clone()),
        ("--solver", changes.solver.clone()),
        ("--petsc-options", changes.petsc_options.clone()),
        (
            "--integrator-tolerance",
            changes.integrator_tolerance.clone(),
        ),
        ("--option", pairs(&changes.option)),
        ("--set", pairs(&changes.set)),
        (
            "--initialize",
            changes.wants_rest().then(|| "steady".to_owned()),
        ),
        ("--interface", interface),
    ];
    let given = all.into_iter();
    let given = given.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    given.collect()
}
