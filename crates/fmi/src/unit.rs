//! A unit from its file to systems.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dovetail_core::{Interface, StepRule, System};

use crate::abilities::{Abilities, Slopes};
use crate::archive::{Archive, ArchiveError};
use crate::co_simulation::{CoSimulation, Span};
use crate::description::{Causality, Description, DescriptionError, Kind, Strictness, Value, Version, read};
use crate::ffi::{Functions2, Functions3};
use crate::fmi2::{self, Instance2};
use crate::fmi3::{self, Instance3};
use crate::instance::{CallError, Instance};
use crate::journal::{CallLog, Journal, Monitor};
use crate::layout::{self, Layout};
use crate::library::{Library, LibraryError, MissingSymbol};
use crate::model_exchange::{ModelExchange, Terms};
use crate::probe::{self, Finding};
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
    /// A value cannot be given.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Something else that is said in full.
    #[error("{0}")]
    Other(String),
}

/// One of the two interfaces that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug)]
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
}

impl Conditions {
    /// Those under which units are tried out.
    fn of_the_probe(step: f64) -> Self {
        Self { step, tolerance: 1e-10, asked_tolerance: None, log: None }
    }
}

/// A unit that was tried and is ready for systems to be made of it.
pub struct Prepared {
    unit: Arc<Unit>,
    settings: Settings,
    used: Use,
    pub(crate) layout: Arc<Layout>,
    values: Vec<(usize, Vec<Value>)>,
    pub(crate) abilities: Abilities,
    pub(crate) declared: Abilities,
    findings: Vec<Finding>,
    warnings: Vec<String>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("unit", &self.unit.path).field("abilities", &self.abilities).finish()
    }
}

impl Unit {
    /// Opens a file or an unpacked folder.
    pub fn open(path: &Path, strictness: Strictness) -> Result<Arc<Self>, UnitError> {
        let archive = Archive::open(path)?;
        let file = archive.folder().join("modelDescription.xml");
        let text = read_limited(&file).map_err(|error| {
            UnitError::Other(format!("it has no modelDescription.xml that can be read ({error}): this is no FMU"))
        })?;
        let (description, warnings) = read(&text, strictness)?;
        let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        warnings.extend(archive.warnings().iter().cloned());
        let libraries = Mutex::default();
        Ok(Arc::new(Self { path: path.to_owned(), archive, description, warnings, libraries }))
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
        let order = asked.map_or_else(|| vec![Use::CoSimulation, Use::ModelExchange], |used| vec![used]);
        order.iter().find_map(|&used| Some((used, offered(used)?))).ok_or_else(|| {
            UnitError::Other(match asked {
                Some(used) => format!("it does not offer {used}"),
                None if self.description.scheduled_execution => {
                    "it offers Scheduled Execution only; Dovetail runs units for Co-Simulation and Model Exchange"
                        .into()
                }
                None => "it offers neither Co-Simulation nor Model Exchange".into(),
            })
        })
    }

    fn library(&self, identifier: &str) -> Result<Arc<Library>, UnitError> {
        let mut libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = libraries.get(identifier) {
            return Ok(library.clone());
        }
        let library = Arc::new(Library::load(self.archive.folder(), self.description.version, identifier)?);
        libraries.insert(identifier.to_owned(), library.clone());
        Ok(library)
    }

    /// Lays the unit out, loads it and tries it, over steps of about `step`.
    pub fn prepare(self: &Arc<Self>, settings: Settings, step: f64) -> Result<Prepared, UnitError> {
        let mut prepared = self.lay_out(settings, step)?;
        let library = self.library(&prepared.kind().model_identifier)?;
        if prepared.used == Use::CoSimulation {
            let step = match self.description.version {
                Version::Two => "fmi2DoStep",
                Version::Three => "fmi3DoStep",
            };
            if library.symbol::<*const ()>(step).is_none() {
                return Err(CallError::Missing(MissingSymbol(step)).into());
            }
        }
        let tool = prepared.kind().needs_execution_tool.then(|| {
            let tool = self.description.generation_tool.as_deref().unwrap_or("the tool that made it");
            format!("it says that it needs {tool} on this machine")
        });
        prepared.warnings.splice(0..0, library.warning.iter().cloned().chain(tool));
        prepared.probe(&Conditions::of_the_probe(step))?;
        Ok(prepared)
    }

    /// The unit as it declares itself, before it is loaded.
    pub(crate) fn lay_out(self: &Arc<Self>, settings: Settings, step: f64) -> Result<Prepared, UnitError> {
        let (used, kind) = self.choose(settings.interface)?;
        let none = HashMap::new();
        let first = settings::check(&self.description, &settings.values, |v| layout::size(&self.description, &none, v));
        let structural = match &first {
            Ok(values) => layout::structural_values(&self.description, values),
            // A wrong count may be right once the structural parameters are known.
            Err(_) => self.structural_alone(&settings)?,
        };
        let values =
            settings::check(&self.description, &settings.values, |v| layout::size(&self.description, &structural, v))?;
        self.check_sizes(&structural)?;
        let mut layout = Layout::new(&self.description, &structural);
        layout.take_starts(&values);
        let abilities = match used {
            Use::CoSimulation => {
                let mut abilities = Abilities::declared(&self.description, kind, &layout, step);
                if let Some(size) = settings.imposed_step {
                    abilities.step = StepRule::Imposed(size);
                }
                abilities.sub_steps = if abilities.step == StepRule::Free { settings.sub_steps.max(1) } else { 1 };
                if abilities.sub_steps > 1 {
                    abilities.inputs = crate::abilities::InputWay::Held; // the parts follow the inputs, not the unit
                }
                abilities
            }
            Use::ModelExchange => Abilities::of_model_exchange(kind, &layout),
        };
        let warnings = layout.left_out.iter().map(|text| format!("{text}; it is left out")).collect();
        let declared = abilities.clone();
        let (unit, layout, findings) = (self.clone(), Arc::new(layout), Vec::new());
        Ok(Prepared { unit, settings, used, layout, values, abilities, declared, findings, warnings })
    }

    /// Arrays whose sizes a user sets may grow beyond what can be connected.
    fn check_sizes(&self, structural: &HashMap<u32, usize>) -> Result<(), UnitError> {
        for variable in self.description.variables.iter().filter(|v| !v.dimensions.is_empty()) {
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
        let given: Vec<_> = settings.values.iter().filter(|(name, _)| structural(name)).cloned().collect();
        let values = settings::check(&self.description, &given, |_| 1)?;
        Ok(layout::structural_values(&self.description, &values))
    }

    fn journal(&self, name: &str, log: Option<Arc<CallLog>>) -> Box<Journal> {
        Box::new(Journal { instance: name.to_owned(), monitor: Arc::default(), log })
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

    /// Whether only one system of it can live in a process.
    pub fn only_once(&self) -> bool {
        self.unit.choose(Some(self.used)).is_ok_and(|(_, kind)| kind.only_once_per_process)
    }

    fn kind(&self) -> &Kind {
        match self.unit.choose(Some(self.used)) {
            Ok((_, kind)) => kind,
            Err(_) => unreachable!("the interface was chosen when the unit was prepared"),
        }
    }

    /// Tries the unit. Steps of a unit that fails in them are the run's to report.
    fn probe(&mut self, conditions: &Conditions) -> Result<(), UnitError> {
        self.probe_reactions()?;
        if self.used == Use::CoSimulation {
            let mut abilities = self.abilities.clone();
            let trip = probe::trip(self.settings.start, conditions.step, abilities.step);
            let mut make = |abilities: &Abilities| {
                self.system_with("probe", abilities, conditions)
                    .map(|(system, _)| system)
                    .map_err(|error| error.to_string())
            };
            match probe::co_simulation(&mut abilities, &mut make, trip) {
                Ok(findings) => self.findings.extend(findings),
                Err(why) => {
                    abilities = abilities.without_promises();
                    self.warnings.push(format!(
                        "it could not be tried out before the run ({why}), so that what it declares is not used"
                    ));
                }
            }
            self.abilities = abilities;
        }
        let drift = self.findings.iter().find(|f| f.holds && f.what.contains("away from going on"));
        if let Some(drift) = drift {
            let warning = format!("after a restore it does not go on exactly as it would have: {}", drift.what);
            self.warnings.push(warning);
        }
        let failed: Vec<String> = self
            .findings
            .iter()
            .filter(|f| !f.holds)
            .map(|f| format!("it declares {}, which it does not have: {}; it is not used", f.capability, f.what))
            .collect();
        self.warnings.extend(failed);
        Ok(())
    }

    /// Directional derivatives and feedthrough, by moving inputs in initialisation mode.
    fn probe_reactions(&mut self) -> Result<(), UnitError> {
        let found = match self.unit.description.version {
            Version::Two => self.reactions_of(self.instance2("probe", None)?.0),
            Version::Three => self.reactions_of(self.instance3("probe", None)?.0),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) if self.abilities.directional => {
                // It may be the derivatives that fail: once more without them.
                self.abilities.directional = false;
                let what = error.to_string();
                self.findings.push(Finding { capability: "directional derivatives", holds: false, what });
                let again = match self.unit.description.version {
                    Version::Two => self.reactions_of(self.instance2("probe", None)?.0),
                    Version::Three => self.reactions_of(self.instance3("probe", None)?.0),
                };
                again?
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(finding) = found.derivatives.clone() {
            self.abilities.directional &= finding.holds;
            self.findings.push(finding);
        }
        if !self.abilities.directional {
            self.lose_directional();
        }
        self.believe_feedthrough(&found);
        Ok(())
    }

    fn lose_directional(&mut self) {
        if self.used == Use::CoSimulation {
            self.abilities.linearizes = false;
            if self.abilities.slopes == Slopes::Chained {
                self.abilities.slopes = Slopes::Unknown;
            }
        }
    }

    fn reactions_of<I: Instance>(&self, mut instance: I) -> Result<probe::Reactions, CallError> {
        instance.enter_initialization(self.settings.start, self.settings.stop, None)?;
        let found = probe::reactions(&mut instance, &self.layout, &self.abilities);
        let _ = instance.exit_initialization();
        let _ = instance.terminate();
        found
    }

    /// Feedthrough that was seen counts, declared or not; where nothing is declared, what was not seen does not.
    fn believe_feedthrough(&mut self, found: &probe::Reactions) {
        let layout = Arc::make_mut(&mut self.layout);
        let mut unexpected = Vec::new();
        if !layout.dependencies_declared && found.complete {
            layout.outputs.iter_mut().for_each(|output| output.depends_on.clear());
        }
        for &(output, input) in &found.feedthrough {
            let depends_on = &mut layout.outputs[output].depends_on;
            if !depends_on.contains(&input) {
                depends_on.push(input);
                depends_on.sort_unstable();
                if layout.dependencies_declared {
                    unexpected.push(format!("`{}` on `{}`", layout.outputs[output].name, layout.inputs[input].name));
                }
            }
        }
        if !unexpected.is_empty() {
            let what = unexpected.join(", ");
            self.warnings.push(format!(
                "it declares no such dependency, but at once depends {what}; this is taken into account"
            ));
        }
    }

    /// A system of this name, and what can be known of it while it runs.
    pub fn system(&self, name: &str, conditions: &Conditions) -> Result<(Box<dyn System>, Arc<Monitor>), UnitError> {
        let mut abilities = self.abilities.clone();
        if self.needs_constant_step() {
            abilities.step = StepRule::Imposed(conditions.step);
        }
        self.system_with(name, &abilities, conditions)
    }

    /// Whether all communication steps must be alike, and nobody has said how long.
    pub fn needs_constant_step(&self) -> bool {
        let kind = self.kind();
        let said = self.settings.imposed_step.or(kind.fixed_internal_step);
        self.used == Use::CoSimulation && !kind.variable_step && said.is_none()
    }

    fn system_with(
        &self,
        name: &str,
        abilities: &Abilities,
        conditions: &Conditions,
    ) -> Result<(Box<dyn System>, Arc<Monitor>), UnitError> {
        let version = self.unit.description.version;
        let (layout, abilities, log) = (self.layout.clone(), abilities.clone(), conditions.log.clone());
        let span = Span { stop: self.settings.stop, tolerance: conditions.asked_tolerance };
        let made: (Box<dyn System>, Arc<Monitor>) = match (version, self.used) {
            (Version::Two, Use::CoSimulation) => {
                let (instance, monitor) = self.instance2(name, log)?;
                (Box::new(CoSimulation::new(name, instance, layout, abilities, version, span)), monitor)
            }
            (Version::Three, Use::CoSimulation) => {
                let (instance, monitor) = self.instance3(name, log)?;
                (Box::new(CoSimulation::new(name, instance, layout, abilities, version, span)), monitor)
            }
            (Version::Two, Use::ModelExchange) => {
                let (instance, monitor) = self.instance2(name, log)?;
                (Box::new(ModelExchange::new(name, instance, layout, abilities, self.terms(span, conditions))), monitor)
            }
            (Version::Three, Use::ModelExchange) => {
                let (instance, monitor) = self.instance3(name, log)?;
                (Box::new(ModelExchange::new(name, instance, layout, abilities, self.terms(span, conditions))), monitor)
            }
        };
        Ok(made)
    }

    fn terms(&self, span: Span, conditions: &Conditions) -> Terms {
        let description = &self.unit.description;
        let indicators = match description.version {
            Version::Two => description.structure.indicator_count,
            Version::Three => {
                let sizes = description.structure.event_indicators.iter().map(|&index| {
                    let structural = layout::structural_values(description, &self.values);
                    layout::size(description, &structural, &description.variables[index])
                });
                sizes.sum()
            }
        };
        Terms {
            span,
            stride: conditions.step,
            tolerance: conditions.tolerance,
            indicators,
            completes: self.kind().needs_completed_step,
        }
    }

    fn instance2(&self, name: &str, log: Option<Arc<CallLog>>) -> Result<(Instance2, Arc<Monitor>), UnitError> {
        let library = self.unit.library(&self.kind().model_identifier)?;
        let journal = self.unit.journal(name, log);
        let monitor = journal.monitor.clone();
        let resources = file_uri(&self.unit.archive.folder().join("resources"));
        let mut instance = Instance2::new(fmi2::Start {
            functions: Functions2::of(&library),
            co_simulation: self.used == Use::CoSimulation,
            token: &self.unit.description.token,
            resources: &resources,
            journal,
        })?;
        self.set_values(&mut instance)?;
        Ok((instance, monitor))
    }

    fn instance3(&self, name: &str, log: Option<Arc<CallLog>>) -> Result<(Instance3, Arc<Monitor>), UnitError> {
        let kind = self.kind();
        let library = self.unit.library(&kind.model_identifier)?;
        let journal = self.unit.journal(name, log);
        let monitor = journal.monitor.clone();
        // 3.0 asks for a path that ends in a separator.
        let resources = format!("{}/", self.unit.archive.folder().join("resources").display());
        let follows = self.declared.inputs == crate::abilities::InputWay::Intermediate;
        let mut instance = Instance3::new(fmi3::Start {
            functions: Functions3::of(&library),
            co_simulation: self.used == Use::CoSimulation,
            token: &self.unit.description.token,
            resources: &resources,
            event_mode: kind.event_mode,
            early_return: self.declared.returns_early,
            intermediate: if follows { &self.layout.smooth_inputs } else { &[] },
            journal,
        })?;
        self.set_values(&mut instance)?;
        Ok((instance, monitor))
    }

    /// Parameters and start values: structural ones in a mode of their own, the others before initialisation.
    fn set_values<I: Instance>(&self, instance: &mut I) -> Result<(), CallError> {
        let variables = &self.unit.description.variables;
        let is_structural = |index: usize| variables[index].causality == Causality::StructuralParameter;
        let (structural, plain): (Vec<_>, Vec<_>) = self.values.iter().partition(|(index, _)| is_structural(*index));
        if !structural.is_empty() {
            instance.enter_configuration()?;
            for (index, values) in structural {
                instance.set_start(variables[*index].value_type, variables[*index].reference, values)?;
            }
            instance.exit_configuration()?;
        }
        // Inputs are set in initialisation mode, with those that are connected.
        for (index, values) in
            plain.into_iter().filter(|(index, _)| !self.layout.elements_of_inputs.contains_key(index))
        {
            instance.set_start(variables[*index].value_type, variables[*index].reference, values)?;
        }
        Ok(())
    }
}

/// A file, up to one byte more than the reader takes, so that it can say that there are too many.
fn read_limited(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(LARGEST_DESCRIPTION + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `file:///path%20with%20spaces`.
fn file_uri(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        assert_eq!(file_uri(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }
}
