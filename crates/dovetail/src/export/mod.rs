//! A coupled model as one FMU: the engine as a library, the model and all nested FMUs as resources.
//!
//! What an importer has is a [`Manifest`] and the files beside it; the C interface of FMI, which
//! reads them, is the package `dovetail-fmi-export`.

mod capabilities;
mod describe;
mod files;
mod fmi2;
mod fmi3;
mod library;
mod manifest;
mod package;
mod value_type;
mod xml;

use std::path::{Path, PathBuf};

use dovetail_core::glob;
use dovetail_scenario::{
    BadModel, Choices, FaceRole, FaceVariable, Overrides, Placement, RunOptions, Scenario,
};
use serde::{Deserialize, Serialize};

pub use self::capabilities::ExportedCapabilities;
pub use self::library::{LIBRARY_FILE, MissingLibrary, find_library};
pub use self::manifest::{ExportedVariable, MANIFEST, Manifest, ManifestError};
pub use self::value_type::Fmi2Type;

use self::files::ModelFiles;
pub(crate) use self::package::Package;

/// The versions of FMI that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiVersion {
    /// FMI 2.0.
    Two,
    /// FMI 3.0.
    Three,
}

/// The interfaces that an exported FMU can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportedInterface {
    /// The coupling method is inside.
    #[default]
    CoSimulation,
    /// The importer integrates: for models of equations.
    ModelExchange,
}

/// How a model is exported.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The version of FMI.
    pub version: FmiVersion,
    /// The interface.
    pub interface: ExportedInterface,
    /// Patterns of the outputs and parameters that are shown; empty: all.
    pub expose: Vec<String>,
    /// The engine as a library, `libdovetail_fmu.so`.
    pub library: PathBuf,
    /// The program that is to serve as the process of each system; none: systems live in the importer's process.
    pub worker: Option<PathBuf>,
    /// Whether variables are called by their names without those of their systems: for models of one.
    pub plain_names: bool,
}

/// What was exported.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The interface.
    pub interface: ExportedInterface,
    /// The method inside.
    pub method: String,
    /// Why it was chosen, where nobody else did.
    pub reason: Option<String>,
    /// Its step, where that is fixed.
    pub step: Option<f64>,
    /// The variables, as importers see them.
    pub variables: Vec<FaceVariable>,
    /// What the FMU can do.
    pub capabilities: ExportedCapabilities,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Why a model could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The model, or what was chosen for its run, is wrong.
    #[error("{0}")]
    Model(#[from] BadModel),
    /// A pattern that fits nothing.
    #[error("nothing that could be exposed is named `{0}`; {1}")]
    NothingExposed(String, String),
    /// A file that cannot be read or written.
    #[error("{}: {what}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Writes the model in a file, changed and run as `changes` and `choices` say, as an FMU.
pub fn export(
    model: &Path,
    changes: &Overrides,
    choices: &Choices,
    options: &ExportOptions,
    out: &Path,
) -> Result<Exported, ExportError> {
    let changes = Overrides {
        open_inputs: true,
        ..changes.clone()
    };
    let scenario = Scenario::load(model, &changes)?;
    export_scenario(model, scenario, choices, options, out)
}

/// Writes a model whose open inputs are left open.
pub(crate) fn export_scenario(
    model: &Path,
    scenario: Scenario,
    choices: &Choices,
    options: &ExportOptions,
    out: &Path,
) -> Result<Exported, ExportError> {
    let run = RunOptions {
        placement: Placement::SingleThread,
        ..scenario.options(choices)?
    };
    let decided = match options.interface {
        ExportedInterface::CoSimulation => decide(&scenario, &run)?,
        ExportedInterface::ModelExchange => decide_exchange(&scenario, &run)?,
    };
    let mut shown = exposed(scenario.face(), &options.expose)?;
    match options.interface {
        ExportedInterface::CoSimulation => {
            shown.extend(scenario.face_of_states(&decided.states, &shown));
        }
        ExportedInterface::ModelExchange => {
            shown.extend(scenario.exchange_face(decided.indicators, &shown));
        }
    }
    let files = ModelFiles::of(model, &scenario)?;
    let manifest = Manifest::new(&scenario, &run, &decided, &shown, &files, options);

    let mut package = Package::create(out)?;
    package.add_text(
        "modelDescription.xml",
        &describe::text(&manifest, options.version),
    )?;
    package.add_library(&options.library, &manifest.identifier, options.version)?;
    manifest.write(&mut package)?;
    files.write(&mut package)?;
    if let Some(worker) = &options.worker {
        package.add_file(manifest::WORKER, worker)?;
    }
    package.finish()?;

    Ok(Exported {
        interface: options.interface,
        method: decided.method,
        reason: decided.reason,
        step: decided.step,
        variables: shown,
        capabilities: decided.capabilities,
        warnings: scenario.warnings,
    })
}

/// What is decided when a model is exported, and holds for every run of the FMU.
pub(crate) struct Decided {
    pub method: String,
    pub reason: Option<String>,
    pub step: Option<f64>,
    pub capabilities: ExportedCapabilities,
    /// How many event indicators there are.
    pub indicators: usize,
    /// Under Co-Simulation the names of the states that can be seen.
    pub states: Vec<String>,
}

/// Couples the equations, to see what they are. The method is that by which their start is found.
fn decide_exchange(scenario: &Scenario, options: &RunOptions) -> Result<Decided, BadModel> {
    let (method, _) = scenario.chosen_method(options)?;
    let model = scenario.exchange(options)?;
    Ok(Decided {
        method: method.to_owned(),
        reason: None,
        step: None,
        capabilities: ExportedCapabilities::of_equations(),
        indicators: model.indicator_count(),
        states: Vec::new(),
    })
}

/// Sets a run up, to see what it is.
fn decide(scenario: &Scenario, options: &RunOptions) -> Result<Decided, BadModel> {
    let (method, reason) = scenario.chosen_method(options)?;
    let mut run = scenario.stepped(options)?;
    let capabilities = ExportedCapabilities::of(&mut run);
    Ok(Decided {
        method: method.to_owned(),
        reason,
        step: run.step(),
        states: match capabilities.directional_derivatives {
            true => run.state_names(),
            false => Vec::new(),
        },
        capabilities,
        indicators: 0,
    })
}

/// The variables that importers see: all inputs, and what the patterns choose of the rest.
fn exposed(face: Vec<FaceVariable>, patterns: &[String]) -> Result<Vec<FaceVariable>, ExportError> {
    if patterns.is_empty() {
        return Ok(face);
    }
    let is_input = |variable: &FaceVariable| matches!(variable.role, FaceRole::Input(_));
    for pattern in patterns {
        if !face
            .iter()
            .any(|variable| glob::matches(pattern, &variable.name))
        {
            let names: Vec<String> = face.iter().map(|variable| variable.name.clone()).collect();
            let known = format!("there are {}", dovetail_core::list_names(&names));
            return Err(ExportError::NothingExposed(pattern.clone(), known));
        }
    }

    let wanted = |variable: &FaceVariable| {
        let mut all = patterns.iter();
        is_input(variable) || all.any(|pattern| glob::matches(pattern, &variable.name))
    };
    Ok(face.into_iter().filter(wanted).collect())
}
