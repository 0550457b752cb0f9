//! The files that a run is made from, by which it is seen whether a later one is made from the same.

use std::path::{Path, PathBuf};

use dovetail::fingerprint;
use dovetail::scenario::Scenario;

use crate::arguments::ChangeArguments;
use crate::failure::Failure;
use crate::output;

/// The model, files of parameters, FMUs and tables, each once, with its fingerprint.
pub(crate) fn files(
    model: &Path,
    changes: &ChangeArguments,
    scenario: &Scenario,
) -> Result<Vec<(PathBuf, String)>, Failure> {
    let units = scenario.units();
    let mut paths = vec![model];
    paths.extend(changes.parameters.iter().map(PathBuf::as_path));
    paths.extend(units.iter().map(|(_, prepared)| prepared.fmu().path()));
    paths.extend(scenario.input_tables());

    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for path in paths {
        let path = output::from_home(path);
        if files.iter().all(|(known, _)| *known != path) {
            let found = fingerprint(&path);
            let found =
                found.map_err(|error| Failure::misuse(format!("{}: {error}", path.display())))?;
            files.push((path, found));
        }
    }
    Ok(files)
}
