//! Files that are written must not replace what is read.

use std::io::Read;
use std::path::Path;

use dovetail::fmi::CallLog;
use dovetail::scenario::Scenario;

use crate::failure::Failure;

/// Refuses to write results and a page to one file.
pub(crate) fn check_distinct(output: Option<&Path>, report: Option<&Path>) -> Result<(), Failure> {
    if output.is_some() && output == report {
        return Err(Failure::misuse("--output and --report name the same file"));
    }
    Ok(())
}

/// Refuses to write two things to one file.
pub(crate) fn check_distinct_files(flag: &str, path: &Path, other: &Path) -> Result<(), Failure> {
    if path == other {
        let shown = path.display();
        return Err(Failure::misuse(format!(
            "{flag} {shown} names a file that another flag names too"
        )));
    }
    Ok(())
}

pub(super) fn create_log(path: &Path) -> Result<(), Failure> {
    let created = CallLog::create(path);
    created
        .map(drop)
        .map_err(|error| Failure::cannot_write(path, error))
}

fn is_same(path: &Path, other: &Path) -> bool {
    matches!((path.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether `path` is the model, or what stands for it in a folder.
pub(super) fn is_model(model: &Path, path: &Path) -> bool {
    is_same(path, model)
        || model.is_dir() && is_same(path, &model.join(dovetail::scenario::DEFAULT_SSD))
}

/// Whether there is an archive, such as an FMU, at `path`.
pub(super) fn is_archive(path: &Path) -> bool {
    let mut first = [0; 2];
    let mut read = || std::fs::File::open(path)?.read_exact(&mut first);
    path.is_file() && read().is_ok() && &first == b"PK"
}

/// Whether `path` is an FMU of the model.
fn is_fmu(scenario: &Scenario, path: &Path) -> bool {
    let fmus = scenario.units();
    fmus.iter()
        .any(|(_, prepared)| is_same(path, prepared.fmu().path()))
}

/// Refuses to write results over `model`, from which `scenario` was read, or over one of its FMUs.
pub(crate) fn refuse_to_replace(
    model: &Path,
    scenario: &Scenario,
    path: &Path,
) -> Result<(), Failure> {
    let shown = path.display();
    if is_model(model, path) {
        return Err(Failure::misuse(format!(
            "{shown} is the model: results would replace it"
        )));
    }

    if is_fmu(scenario, path) {
        return Err(Failure::misuse(format!(
            "{shown} is an FMU of the model: results would replace it"
        )));
    }

    if scenario
        .input_tables()
        .iter()
        .any(|table| is_same(path, table))
    {
        return Err(Failure::misuse(format!(
            "{shown} is a table of inputs: results would replace it"
        )));
    }
    Ok(())
}
