//! An FMU from its file to systems.

pub mod bench;
pub mod course;
pub mod error;
mod experiments;
pub mod instances;
mod making;
pub mod preparing;
mod probing;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dovetail_core::Interface;
use serde::{Deserialize, Serialize};

use self::course::RunCourse;
use self::error::{FmuError, InterfaceUse};
use crate::abilities::FmuCapabilities;
use crate::archive::Archive;
use crate::call_error::CallError;
use crate::description::{Description, InterfaceDescription, Strictness, Value, Version, read};
use crate::finding::Finding;
use crate::journal::CallLog;
use crate::layout::Layout;
use crate::library::{Library, MissingSymbol};
use crate::probe::ExperimentRunner;

/// A description larger than this is not one.
const LARGEST_DESCRIPTION: u64 = 256 << 20;

/// An FMU, unpacked and read; its library is loaded when it is first needed.
pub struct Fmu {
    path: PathBuf,
    archive: Archive,
    description: Description,
    warnings: Vec<String>,
    libraries: Mutex<HashMap<String, Arc<Library>>>,
}

/// How an FMU is to be used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Which interface, if the user says; else Co-Simulation where there is one.
    pub interface: Option<InterfaceUse>,
    /// Parameters and start values by name, all elements of an array.
    pub values: Vec<(String, Vec<Value>)>,
    /// Start of the run.
    pub start: f64,
    /// End of the run.
    pub stop: f64,
    /// FMUs are not told when the run ends: it may go on from a checkpoint for longer.
    pub open_ended: bool,
    /// A communication step that the user imposes.
    pub imposed_step: Option<f64>,
    /// Parts of a communication step, each under the mean of its inputs; 1 for none.
    pub sub_steps: u64,
    /// The relative tolerance that the FMU's own solver is asked for while it is tried.
    pub probe_tolerance: Option<f64>,
    /// Event mode is not used, although the FMU declares it (3.0).
    pub without_event_mode: bool,
    /// Reals that are declared discrete and are continuous.
    pub continuous: Vec<String>,
    /// Variables that are neither inputs, outputs nor states, and are to be recorded.
    pub recorded: Vec<String>,
    /// Tunable parameters that are changed in the course of the run: they are inputs, which are held.
    pub tuned: Vec<String>,
}

/// How an FMU is tried out.
pub enum Probing<'a> {
    /// Not at all: what it declares is believed.
    Declared,
    /// In this process.
    Here,
    /// Elsewhere, in a child process say.
    There(&'a mut dyn ExperimentRunner),
}

/// What differs from run to run.
#[derive(Clone, Debug)]
pub struct RunConditions {
    /// The communication step of FMUs that need a constant one, and about that of the others.
    pub step: f64,
    /// The relative tolerance of our integrator.
    pub tolerance: f64,
    /// The relative tolerance that the FMU's own solver is asked for, where the user gave one.
    pub asked_tolerance: Option<f64>,
    /// Where all calls are written down.
    pub log: Option<Arc<CallLog>>,
    /// What is known of the inputs before initialization; their start values where nothing is.
    pub inputs: Option<Vec<f64>>,
    /// The continuous states to start from, under Model Exchange; those of its initialization where none are given.
    pub states: Option<Vec<f64>>,
    /// States from before the current communication point may be restored later.
    pub goes_back: bool,
    /// What is said of the course of the run.
    pub course: RunCourse,
}

impl RunConditions {
    /// Those under which FMUs are tried out.
    fn of_the_probe(step: f64, settings: &Settings) -> Self {
        Self {
            step,
            tolerance: 1e-10,
            asked_tolerance: settings.probe_tolerance,
            log: None,
            inputs: None,
            states: None,
            goes_back: false,
            course: RunCourse::default(),
        }
    }
}

/// An FMU that was tried and is ready for systems to be made of it.
pub struct PreparedFmu {
    fmu: Arc<Fmu>,
    pub(crate) settings: Settings,
    used: InterfaceUse,
    pub(crate) layout: Arc<Layout>,
    values: Vec<(usize, Vec<Value>)>,
    pub(crate) abilities: FmuCapabilities,
    pub(crate) declared: FmuCapabilities,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    /// Why it cannot be run here.
    unusable: Option<String>,
}

impl std::fmt::Debug for PreparedFmu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("fmu", &self.fmu.path)
            .field("abilities", &self.abilities)
            .finish()
    }
}

impl Fmu {
    /// Opens a file or an unpacked folder.
    pub fn open(path: &Path, strictness: Strictness) -> Result<Arc<Self>, FmuError> {
        let archive = Archive::open(path)?;
        let file = archive.folder().join("modelDescription.xml");
        let text = read_limited(&file).map_err(FmuError::NoDescription)?;
        let (description, warnings) = read(&text, strictness)?;
        let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        warnings.extend(archive.warnings().iter().cloned());
        let libraries = Mutex::default();

        Ok(Arc::new(Self {
            path: path.to_owned(),
            archive,
            description,
            warnings,
            libraries,
        }))
    }

    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What is odd about its file.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The file it came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that it is unpacked in. FMUs with the same one share their library, and what memory that has.
    pub fn folder(&self) -> &Path {
        self.archive.folder()
    }

    /// The interface to use and what the FMU declares for it.
    pub fn choose(
        &self,
        asked: Option<InterfaceUse>,
    ) -> Result<(InterfaceUse, &InterfaceDescription), FmuError> {
        let chosen = match asked {
            Some(used) => self.offered(used),
            None => {
                let first = self.offered(InterfaceUse::CoSimulation);
                first.or_else(|| self.offered(InterfaceUse::ModelExchange))
            }
        };
        chosen.ok_or_else(|| FmuError::NotOffered {
            asked,
            scheduled_execution_only: self.has_scheduled_execution_only(),
        })
    }

    fn offered(&self, used: InterfaceUse) -> Option<(InterfaceUse, &InterfaceDescription)> {
        let kind = match used {
            InterfaceUse::CoSimulation => self.description.co_simulation.as_ref(),
            InterfaceUse::ModelExchange => self.description.model_exchange.as_ref(),
        };
        kind.map(|kind| (used, kind))
    }

    fn has_scheduled_execution_only(&self) -> bool {
        let others = [InterfaceUse::CoSimulation, InterfaceUse::ModelExchange];
        self.description.scheduled_execution
            && others.iter().all(|&used| self.offered(used).is_none())
    }

    fn library(&self, identifier: &str) -> Result<Arc<Library>, FmuError> {
        let mut libraries = self
            .libraries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = libraries.get(identifier) {
            return Ok(library.clone());
        }

        let library = Arc::new(Library::load(
            self.archive.folder(),
            self.description.version,
            identifier,
        )?);
        libraries.insert(identifier.to_owned(), library.clone());
        Ok(library)
    }
}

impl PreparedFmu {
    /// The interface of a system of this name.
    pub fn interface(&self, name: &str) -> Interface {
        self.layout.interface(name)
    }

    /// The FMU.
    pub fn fmu(&self) -> &Arc<Fmu> {
        &self.fmu
    }

    /// The interface in use.
    pub fn used(&self) -> InterfaceUse {
        self.used
    }

    fn is_co_simulation(&self) -> bool {
        self.used == InterfaceUse::CoSimulation
    }

    /// What it can do.
    pub fn abilities(&self) -> &FmuCapabilities {
        &self.abilities
    }

    /// What it declares.
    pub fn declared(&self) -> &FmuCapabilities {
        &self.declared
    }

    /// What the probe found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The values that the model gives to its variables, later ones over those before.
    pub fn given_values(&self) -> &[(String, Vec<Value>)] {
        &self.settings.values
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why it cannot be run here, although it was laid out.
    pub fn unusable(&self) -> Option<&str> {
        self.unusable.as_deref()
    }

    /// Whether only one system of it can live in a process, whether it says so or was found to be
    /// so.
    pub fn only_once(&self) -> bool {
        self.abilities.single
    }

    /// Where a run starts.
    pub(crate) fn start_time(&self) -> f64 {
        self.settings.start
    }

    /// The step over which it is tried.
    pub(crate) fn probe_step(&self, step: f64) -> f64 {
        self.abilities.probe_step(step)
    }

    /// Loads the library; an FMU for Co-Simulation that cannot be stepped is of no use.
    fn check_library(&self) -> Result<(), FmuError> {
        let library = self.fmu.library(&self.kind().model_identifier)?;
        let step = match self.fmu.description.version {
            Version::One => "fmiDoStep",
            Version::Two => "fmi2DoStep",
            Version::Three => "fmi3DoStep",
        };
        let is_there = library.symbol::<*const ()>(step).is_some();

        if is_there || self.used == InterfaceUse::ModelExchange {
            Ok(())
        } else {
            Err(CallError::Missing(MissingSymbol(step)).into())
        }
    }

    fn kind(&self) -> &InterfaceDescription {
        match self.fmu.choose(Some(self.used)) {
            Ok((_, kind)) => kind,
            Err(_) => unreachable!("BUG: the interface was chosen when the FMU was prepared"),
        }
    }
}

/// A file, up to one byte more than the reader takes, so that it can say that there are too many.
fn read_limited(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?
        .take(LARGEST_DESCRIPTION + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
