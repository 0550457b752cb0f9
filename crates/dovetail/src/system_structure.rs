//! A coupled model as a package of the standard SSP: its FMUs, what connects them, and their values.
//!
//! What FMUs the model has travel as they are; systems given as equations are [exported](crate::export), one FMU each.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use dovetail_core::Notice;
use dovetail_scenario::{
    BadModel, Choices, ComponentFmu, FmuOfModel, NotInSsp, Overrides, Scenario, SourceText,
    SspVersion, write_structure,
};

use crate::export::{
    ExportError, ExportOptions, ExportedInterface, FmiVersion, MissingLibrary, Package,
    export_scenario,
};

/// How a package is written.
#[derive(Clone, Debug)]
pub struct SspOptions {
    /// The version of SSP.
    pub version: SspVersion,
    /// The engine as a library, which FMUs of equations hold; it may be missing where the model has none of these.
    pub library: Result<PathBuf, MissingLibrary>,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct WrittenSsp {
    /// How many components there are.
    pub components: usize,
    /// How many connections.
    pub connections: usize,
    /// The FMUs in the package, and whether they were made from equations.
    pub fmus: Vec<PackedFmu>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// An FMU in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFmu {
    /// Its name in the package.
    pub name: String,
    /// Whether it was exported from equations.
    pub exported: bool,
}

/// Why a package could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SspError {
    /// The model, or what was chosen for its run, is wrong.
    #[error("{0}")]
    Model(#[from] BadModel),
    /// SSP has no words for something.
    #[error("{0}")]
    NotExpressible(Notice),
    /// A version of SSP has none.
    #[error("{0}")]
    NotInVersion(#[from] NotInSsp),
    /// The engine as a library is not there, and equations need it.
    #[error("{0}")]
    Library(#[from] MissingLibrary),
    /// A file could not be read or written, or an FMU not exported.
    #[error("{0}")]
    Export(#[from] ExportError),
}

/// Writes the model in a file, changed and run as `changes` and `choices` say, as a package.
pub fn write_ssp(
    model: &Path,
    changes: &Overrides,
    choices: &Choices,
    options: &SspOptions,
    out: &Path,
) -> Result<WrittenSsp, SspError> {
    let scenario = Scenario::load(model, changes)?;
    // What is chosen has to be right here, where it can still be put right.
    scenario.options(choices)?;
    let described = scenario.as_structure(choices);
    let described = described.map_err(SspError::NotExpressible)?;
    let files = write_structure(&described.structure, options.version)?;

    let mut package = Package::create(out)?;
    let mut packed = Vec::new();
    for file in &files {
        package.add_text(&file.name, &file.text)?;
    }
    for fmu in &described.fmus {
        pack(fmu, options, out, &mut package)?;
        packed.push(PackedFmu {
            name: fmu.name.clone(),
            exported: matches!(fmu.origin, FmuOfModel::Equations(_)),
        });
    }
    package.finish()?;

    Ok(WrittenSsp {
        components: described.structure.components.len(),
        connections: described.structure.connections.len(),
        fmus: packed,
        warnings: [scenario.warnings, described.warnings].concat(),
    })
}

/// Puts an FMU into the package.
fn pack(
    fmu: &ComponentFmu,
    options: &SspOptions,
    out: &Path,
    package: &mut Package,
) -> Result<(), SspError> {
    match &fmu.origin {
        FmuOfModel::File(path) if path.is_dir() => {
            let archive = Unfinished::beside(out);
            let mut own = Package::create(&archive.path)?;
            own.add_folder("", path)?;
            own.finish()?;
            package.add_file(&fmu.name, &archive.path)?;
        }
        FmuOfModel::File(path) => package.add_file(&fmu.name, path)?,
        FmuOfModel::Equations(text) => {
            let exported = Unfinished::beside(out);
            export_equations(text, options, &exported.path)?;
            package.add_file(&fmu.name, &exported.path)?;
        }
    }
    Ok(())
}

/// Exports a system given as equations.
fn export_equations(text: &str, options: &SspOptions, out: &Path) -> Result<(), SspError> {
    let library = options.library.clone()?;
    let source = SourceText {
        path: "system.toml".to_owned(),
        text: text.to_owned(),
    };
    let changes = Overrides {
        open_inputs: true,
        ..Overrides::default()
    };
    let scenario = Scenario::parse(source, &changes)?;
    let options = ExportOptions {
        version: FmiVersion::Two,
        interface: ExportedInterface::CoSimulation,
        expose: Vec::new(),
        library,
        worker: None,
        plain_names: true,
    };
    let model = Path::new("system.toml");
    export_scenario(model, scenario, &Choices::default(), &options, out)?;
    Ok(())
}

/// A file beside the result that is removed when it has been packed, or when that failed.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn beside(out: &Path) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = out.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}-{number}.fmu", std::process::id()));
        Self {
            path: out.with_file_name(name),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.path);
    }
}
