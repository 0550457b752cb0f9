//! A unit from its file to systems.

mod making;
mod probing;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dovetail_core::{Interface, StepRule};
use serde::{Deserialize, Serialize};

use crate::abilities::{Abilities, InputWay};
use crate::archive::{Archive, ArchiveError};
use crate::call_error::CallError;
use crate::description::{
    Causality, Description, DescriptionError, Kind, Strictness, Value, Version, read,
};
use crate::experiment::{Experiment, Mishap, Observation};
use crate::journal::{CallLog, Journal};
use crate::layout::{self, Layout};
use crate::library::{Library, LibraryError, MissingSymbol};
use crate::probe::{Finding, Laboratory};
use crate::settings::{self, SettingError};

/// Elements are connected and recorded one by one.
const MOST_ELEMENTS: usize = 5000;

/// A description larger than this is not one.
const LARGEST_DESCRIPTION: u64 = 256 << 20;

/// Why a unit cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// Its archive is broken or hostile.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Its description is missing or broken.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// Its library is missing or does not load.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A function failed before the run.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Inputs cannot be set before initialization mode.
    #[error("it does not let its inputs be set before initialization mode: {0}")]
    EarlyInputs(CallError),
    /// A value cannot be given.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Something else that is said in full.
    #[error("{0}")]
    Other(String),
}

/// One of the two interfaces that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Use {
    /// The unit brings its solver.
    CoSimulation,
    /// Our integrator moves it.
    ModelExchange,
}

impl std::fmt::Display for Use {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CoSimulation => "Co-Simulation",
            Self::ModelExchange => "Model Exchange",
        })
    }
}

/// A unit, unpacked and read; its library is loaded when it is first needed.
pub struct Unit {
    path: PathBuf,
    archive: Archive,
    description: Description,
    warnings: Vec<String>,
    libraries: Mutex<HashMap<String, Arc<Library>>>,
}

/// How a unit is to be used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Which interface, if the user says; else Co-Simulation where there is one.
    pub interface: Option<Use>,
    /// Parameters and start values by name, all elements of an array.
    pub values: Vec<(String, Vec<Value>)>,
    /// Start of the run.
    pub start: f64,
    /// End of the run.
    pub stop: f64,
    /// A communication step that the user imposes.
    pub imposed_step: Option<f64>,
    /// Parts of a communication step, each under the mean of its inputs; 1 for none.
    pub sub_steps: u64,
    /// The relative tolerance that the unit's own solver is asked for while it is tried.
    pub probe_tolerance: Option<f64>,
    /// Event mode is not used, although the unit declares it (3.0).
    pub without_event_mode: bool,
    /// Reals that are declared discrete and are continuous.
    pub continuous: Vec<String>,
    /// Variables that are neither inputs, outputs nor states, and are to be recorded.
    pub recorded: Vec<String>,
}

/// How a unit is tried out.
pub enum Probing<'a> {
    /// Not at all: what it declares is believed.
    Declared,
    /// In this process.
    Here,
    /// Elsewhere, in a child process say.
    There(&'a mut dyn Laboratory),
}

/// What differs from run to run.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The communication step of units that need a constant one, and about that of the others.
    pub step: f64,
    /// The relative tolerance of our integrator.
    pub tolerance: f64,
    /// The relative tolerance that the unit's own solver is asked for, where the user gave one.
    pub asked_tolerance: Option<f64>,
    /// Where all calls are written down.
    pub log: Option<Arc<CallLog>>,
    /// What is known of the inputs before initialization; their start values where nothing is.
    pub inputs: Option<Vec<f64>>,
}

impl Conditions {
    /// Those under which units are tried out.
    fn of_the_probe(step: f64, settings: &Settings) -> Self {
        Self {
            step,
            tolerance: 1e-10,
            asked_tolerance: settings.probe_tolerance,
            log: None,
            inputs: None,
        }
    }
}

/// A unit that was tried and is ready for systems to be made of it.
pub struct Prepared {
    unit: Arc<Unit>,
    pub(crate) settings: Settings,
    used: Use,
    pub(crate) layout: Arc<Layout>,
    values: Vec<(usize, Vec<Value>)>,
    pub(crate) abilities: Abilities,
    pub(crate) declared: Abilities,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    /// Why it cannot be run here.
    unusable: Option<String>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("unit", &self.unit.path)
            .field("abilities", &self.abilities)
            .finish()
    }
}

impl Unit {
    /// Opens a file or an unpacked folder.
    pub fn open(path: &Path, strictness: Strictness) -> Result<Arc<Self>, UnitError> {
        let archive = Archive::open(path)?;
        let file = archive.folder().join("modelDescription.xml");
        let text = read_limited(&file).map_err(|error| {
            UnitError::Other(format!(
                "it has no modelDescription.xml that can be read ({error}): this is no FMU"
            ))
        })?;
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

    /// The interface to use and what the unit declares for it.
    pub fn choose(&self, asked: Option<Use>) -> Result<(Use, &Kind), UnitError> {
        let offered = |used: Use| match used {
            Use::CoSimulation => self.description.co_simulation.as_ref(),
            Use::ModelExchange => self.description.model_exchange.as_ref(),
        };
        let order = asked.map_or_else(
            || vec![Use::CoSimulation, Use::ModelExchange],
            |used| vec![used],
        );
        order.iter().find_map(|&used| Some((used, offered(used)?))).ok_or_else(|| {
            UnitError::Other(match asked {
                Some(used) if self.description.scheduled_execution && self.has_nothing_else() => {
                    format!("it does not offer {used}, but Scheduled Execution only, which Dovetail does not run")
                }
                Some(used) => format!("it does not offer {used}"),
                None if self.description.scheduled_execution => {
                    "it offers Scheduled Execution only; Dovetail runs units for Co-Simulation and Model Exchange"
                        .into()
                }
                None => "it offers neither Co-Simulation nor Model Exchange".into(),
            })
        })
    }

    fn has_nothing_else(&self) -> bool {
        self.description.co_simulation.is_none() && self.description.model_exchange.is_none()
    }

    fn library(&self, identifier: &str) -> Result<Arc<Library>, UnitError> {
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

    /// Lays the unit out and tries it, over steps of about `step`.
    pub fn prepare(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        probing: Probing<'_>,
    ) -> Result<Prepared, UnitError> {
        let mut prepared = self.lay_out(settings, step)?;
        let odd = Library::find(
            self.archive.folder(),
            self.description.version,
            &prepared.kind().model_identifier,
        )?
        .1;
        let tool = prepared.kind().needs_execution_tool.then(|| {
            let tool = self
                .description
                .generation_tool
                .as_deref()
                .unwrap_or("the tool that made it");
            format!("it says that it needs {tool} on this machine")
        });
        prepared.warnings.splice(0..0, odd.into_iter().chain(tool));
        match probing {
            Probing::Declared => {}
            Probing::There(laboratory) => prepared.probe(laboratory, step)?,
            Probing::Here if prepared.only_once() => {
                let co_simulation = prepared.used == Use::CoSimulation;
                prepared.abilities = prepared.abilities.clone().without_promises(co_simulation);
                let text = "it may be instantiated once in a process only, and there is no other process to try it in: what it \
                            declares is not used";
                prepared.warnings.push(text.to_owned());
            }
            Probing::Here => {
                let text = "it was tried out in this process: no program is set that could serve as another one";
                prepared.warnings.push(text.to_owned());
                let untried = self.lay_out(prepared.settings.clone(), step)?;
                prepared.probe(
                    &mut InHost {
                        prepared: untried,
                        step,
                    },
                    step,
                )?;
            }
        }
        Ok(prepared)
    }

    /// Lays out a unit that could not be tried, to show what it declares; `why` it cannot be run.
    pub fn describe(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        why: &str,
    ) -> Result<Prepared, UnitError> {
        let mut prepared = self.prepare(settings, step, Probing::Declared)?;
        prepared.abilities = prepared.abilities.clone().without_promises(true);
        prepared
            .warnings
            .push(format!("it cannot be run here: {why}"));
        prepared.unusable = Some(why.to_owned());
        Ok(prepared)
    }

    /// Tries `experiment` on an instance of this process.
    pub fn experiment(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        experiment: &Experiment,
    ) -> Result<Observation, Mishap> {
        let prepared = self.lay_out(settings, step)?;
        prepared.check_library()?;
        prepared.experiment(
            experiment,
            &Conditions::of_the_probe(step, &prepared.settings),
        )
    }

    /// The unit as it declares itself, before it is loaded.
    pub(crate) fn lay_out(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
    ) -> Result<Prepared, UnitError> {
        let (used, kind) = self.choose(settings.interface)?;
        let none = HashMap::new();
        let first = settings::check(&self.description, &settings.values, |v| {
            layout::size(&self.description, &none, v)
        });
        let structural = match &first {
            Ok(values) => layout::structural_values(&self.description, values),
            // A wrong count may be right once the structural parameters are known.
            Err(_) => self.structural_alone(&settings)?,
        };
        let values = settings::check(&self.description, &settings.values, |v| {
            layout::size(&self.description, &structural, v)
        })?;
        self.check_sizes(&structural)?;
        let mut layout = Layout::new(
            &self.description,
            &structural,
            &settings.continuous,
            &settings.recorded,
        );
        layout.take_starts(&values);
        let abilities = match used {
            Use::CoSimulation => {
                let mut abilities = Abilities::declared(&self.description, kind, &layout, step);
                if settings.without_event_mode {
                    abilities = abilities.without_event_mode(kind);
                }
                if let Some(size) = settings.imposed_step {
                    abilities.step = StepRule::Imposed(size);
                }
                abilities.sub_steps = if abilities.step == StepRule::Free {
                    settings.sub_steps.max(1)
                } else {
                    1
                };
                if abilities.sub_steps > 1 {
                    abilities.inputs = InputWay::Held; // the parts follow the inputs, not the unit
                }
                abilities
            }
            Use::ModelExchange => Abilities::of_model_exchange(kind, &layout),
        };
        let left_out = layout
            .left_out
            .iter()
            .map(|text| format!("{text}; it is left out"));
        let warnings = left_out.chain(layout.doubt(&self.description)).collect();
        let declared = abilities.clone();
        let (unit, layout, findings) = (self.clone(), Arc::new(layout), Vec::new());
        Ok(Prepared {
            unit,
            settings,
            used,
            layout,
            values,
            abilities,
            declared,
            findings,
            warnings,
            unusable: None,
        })
    }

    /// Arrays whose sizes a user sets may grow beyond what can be connected.
    fn check_sizes(&self, structural: &HashMap<u32, usize>) -> Result<(), UnitError> {
        for variable in self
            .description
            .variables
            .iter()
            .filter(|v| !v.dimensions.is_empty())
        {
            let size = layout::size(&self.description, structural, variable);
            if size > MOST_ELEMENTS {
                let name = &variable.name;
                return Err(UnitError::Other(format!(
                    "`{name}` would have {size} elements, more than the {MOST_ELEMENTS} that an array may have here"
                )));
            }
        }
        Ok(())
    }

    fn structural_alone(&self, settings: &Settings) -> Result<HashMap<u32, usize>, UnitError> {
        let structural = |name: &str| {
            let found = self.description.variables.iter().find(|v| v.name == name);
            found.is_some_and(|v| v.causality == Causality::StructuralParameter)
        };
        let given: Vec<_> = settings
            .values
            .iter()
            .filter(|(name, _)| structural(name))
            .cloned()
            .collect();
        let values = settings::check(&self.description, &given, |_| 1)?;
        Ok(layout::structural_values(&self.description, &values))
    }

    fn journal(&self, name: &str, log: Option<Arc<CallLog>>) -> Arc<Journal> {
        Arc::new(Journal {
            instance: name.to_owned(),
            monitor: Arc::default(),
            log,
        })
    }
}

impl Prepared {
    /// The face of a system of this name.
    pub fn interface(&self, name: &str) -> Interface {
        self.layout.interface(name)
    }

    /// The unit.
    pub fn unit(&self) -> &Arc<Unit> {
        &self.unit
    }

    /// The interface in use.
    pub fn used(&self) -> Use {
        self.used
    }

    /// What it can do.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// What it declares.
    pub fn declared(&self) -> &Abilities {
        &self.declared
    }

    /// What the probe found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why it cannot be run here, where it was laid out all the same.
    pub fn unusable(&self) -> Option<&str> {
        self.unusable.as_deref()
    }

    /// Whether only one system of it can live in a process, whether it says so or was found to be so.
    pub fn only_once(&self) -> bool {
        self.abilities.single
    }

    /// Where a run starts.
    pub(crate) fn start_time(&self) -> f64 {
        self.settings.start
    }

    /// The step over which it is tried.
    pub(crate) fn trip_size(&self, step: f64) -> f64 {
        match self.abilities.step {
            StepRule::Imposed(size) => size,
            StepRule::Free => step,
        }
    }

    /// Loads the library; a unit for Co-Simulation that cannot be stepped is of no use.
    fn check_library(&self) -> Result<(), UnitError> {
        let library = self.unit.library(&self.kind().model_identifier)?;
        let step = match self.unit.description.version {
            Version::Two => "fmi2DoStep",
            Version::Three => "fmi3DoStep",
        };
        let missing = self.used == Use::CoSimulation && library.symbol::<*const ()>(step).is_none();
        if missing {
            Err(CallError::Missing(MissingSymbol(step)).into())
        } else {
            Ok(())
        }
    }

    fn kind(&self) -> &Kind {
        match self.unit.choose(Some(self.used)) {
            Ok((_, kind)) => kind,
            Err(_) => unreachable!("the interface was chosen when the unit was prepared"),
        }
    }
}

/// Experiments in this process.
struct InHost {
    prepared: Prepared,
    step: f64,
}

impl Laboratory for InHost {
    fn avoid_event_mode(&mut self) {
        self.prepared.settings.without_event_mode = true;
        self.prepared.declared = self
            .prepared
            .declared
            .clone()
            .without_event_mode(self.prepared.kind());
    }

    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, Mishap> {
        self.prepared.check_library()?;
        self.prepared.experiment(
            experiment,
            &Conditions::of_the_probe(self.step, &self.prepared.settings),
        )
    }
}

/// A file, up to one byte more than the reader takes, so that it can say that there are too many.
fn read_limited(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(file)?
        .take(LARGEST_DESCRIPTION + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
