//! What an exported FMU knows of itself, beside its description.

use std::path::Path;

use dovetail_fmi::ProbeResult;
use dovetail_scenario::{
    Choices, FaceRole, FaceType, FaceVariable, Overrides, RunOptions, Scenario,
};
use serde::{Deserialize, Serialize};

use super::capabilities::ExportedCapabilities;
use super::files::{MODEL_FOLDER, ModelFiles};
use super::package::Package;
use super::{Decided, ExportError, ExportOptions, ExportedInterface};

/// The file, seen from the resources of the FMU.
pub const MANIFEST: &str = "dovetail/manifest.json";
/// What was found of the nested FMUs.
const PROBES: &str = "dovetail/probes.bin";
/// The program that serves as the process of a system.
pub(crate) const WORKER: &str = "resources/dovetail/worker";
/// The version of the format.
const FORMAT: u32 = 1;

/// What an exported FMU knows of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Manifest {
    format: u32,
    /// The version of the engine that wrote it, and travels with it.
    pub version: String,
    /// The name of the model.
    pub name: String,
    /// The same as a name of C.
    pub identifier: String,
    /// What an importer must hand over to make an instance.
    pub token: String,
    /// The model, seen from the folder of the model's files.
    pub model: String,
    /// The method, and why it was chosen where nobody else did.
    pub method: String,
    /// Why it was chosen, where nobody else did.
    pub reason: Option<String>,
    /// Its step, where that is fixed.
    pub step: Option<f64>,
    /// The options of the run that were given.
    pub options: Vec<(String, String)>,
    /// Start of a run, where the importer does not say.
    pub start_time: f64,
    /// Its end.
    pub stop_time: f64,
    /// What was changed in the model.
    pub changes: Overrides,
    /// The interface that importers see.
    pub interface: ExportedInterface,
    /// How many event indicators there are.
    pub indicators: usize,
    /// What importers see.
    pub variables: Vec<ExportedVariable>,
    /// For each variable that is an output, the references of the inputs on which it depends at once; none where that is not known.
    pub dependencies: Option<Vec<Vec<u32>>>,
    /// What the FMU can do.
    pub capabilities: ExportedCapabilities,
    /// Whether each system is to live in a process of its own.
    pub processes: bool,
    #[serde(skip)]
    probes: Vec<ProbeResult>,
}

/// A variable with the reference by which importers know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportedVariable {
    /// The reference: that of time is 0.
    pub reference: u32,
    /// What importers call it, where that is not its name in the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The variable.
    #[serde(flatten)]
    pub face: FaceVariable,
}

impl ExportedVariable {
    /// What importers call it.
    pub fn label(&self) -> &str {
        self.label.as_ref().unwrap_or(&self.face.name)
    }
}

/// The name of a variable without that of its system.
fn plain_name(name: &str) -> Option<String> {
    let (_, variable) = name.split_once('.')?;
    Some(variable.to_owned())
}

/// An exported FMU cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", .file.display())]
pub struct ManifestError {
    file: std::path::PathBuf,
    what: String,
}

impl ExportedVariable {
    /// Whether it is an input that can change within a step.
    pub fn is_continuous_input(&self) -> bool {
        let face = &self.face;
        matches!(face.role, FaceRole::Input(_))
            && face.value_type == FaceType::Float
            && !face.discrete
    }
}

impl Manifest {
    pub(crate) fn new(
        scenario: &Scenario,
        run: &RunOptions,
        decided: &Decided,
        shown: &[FaceVariable],
        files: &ModelFiles,
        options: &ExportOptions,
    ) -> Self {
        let mut given: Vec<(String, String)> = run
            .settings
            .pairs()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        if let Some(step) = decided.step
            && run.step().is_none()
        {
            given.push(("step".to_owned(), step.to_string()));
        }
        let numbered = (1..).zip(shown).map(|(reference, face)| ExportedVariable {
            reference,
            label: plain_name(&face.name).filter(|_| options.plain_names),
            face: face.clone(),
        });
        let variables: Vec<ExportedVariable> = numbered.collect();
        let mut manifest = Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            identifier: identifier(&scenario.name),
            name: scenario.name.clone(),
            token: String::new(),
            model: files.model.clone(),
            method: decided.method.clone(),
            reason: decided.reason.clone(),
            step: decided.step,
            options: given,
            start_time: scenario.start_time,
            stop_time: scenario.stop_time,
            changes: Overrides {
                known: Vec::new(),
                inputs: files.inputs.clone(),
                parameter_files: Vec::new(),
                helpers: None,
                fmi_log: None,
                ..scenario.changes().clone()
            },
            interface: options.interface,
            indicators: decided.indicators,
            dependencies: dependencies(scenario, &variables),
            variables,
            capabilities: decided.capabilities,
            processes: options.worker.is_some(),
            probes: scenario.known_of_fmus(),
        };
        manifest.token = manifest.digest();
        manifest
    }

    /// A token that is another one where anything is.
    fn digest(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        let halves = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15].map(|seed| {
            text.bytes().fold(seed, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
        });
        format!("{{dovetail-{:016x}{:016x}}}", halves[0], halves[1])
    }

    pub(crate) fn write(&self, package: &mut Package) -> Result<(), ExportError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        package.add_text(&format!("resources/{MANIFEST}"), &(text + "\n"))?;
        if self.probes.is_empty() {
            return Ok(());
        }
        let bytes = postcard::to_allocvec(&self.probes).unwrap_or_default();
        package.add_bytes(&format!("resources/{PROBES}"), &bytes)
    }

    /// Reads that of an exported FMU, whose resources are in this folder.
    pub fn read(resources: &Path) -> Result<Self, ManifestError> {
        let file = resources.join(MANIFEST);
        let wrong = |what: String| ManifestError {
            file: file.clone(),
            what,
        };
        let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
        let mut manifest: Self =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if manifest.format != FORMAT {
            let format = manifest.format;
            return Err(wrong(format!(
                "it has the format {format}, and this library reads {FORMAT}"
            )));
        }
        if let Ok(bytes) = std::fs::read(resources.join(PROBES)) {
            let probes = postcard::from_bytes(&bytes);
            manifest.probes = probes.map_err(|error| wrong(format!("{PROBES}: {error}")))?;
        }
        Ok(manifest)
    }

    /// What the model is to be read with, where its files are these resources.
    pub fn overrides(&self, resources: &Path) -> Overrides {
        let folder = resources.join(MODEL_FOLDER);
        let inputs = self.changes.inputs.iter();
        Overrides {
            known: self.probes.clone(),
            inputs: inputs.map(|table| folder.join(table)).collect(),
            ..self.changes.clone()
        }
    }

    /// The model, where its files are these resources.
    pub fn model_path(&self, resources: &Path) -> std::path::PathBuf {
        resources.join(MODEL_FOLDER).join(&self.model)
    }

    /// The choices of every run.
    pub fn choices(&self) -> Choices {
        let mut choices = Choices::default();
        for (key, value) in &self.options {
            choices.set(key, value);
        }
        choices.set("method", &self.method);
        choices
    }
}

/// What outputs depend on at once, by references; of states all, where there are any.
fn dependencies(scenario: &Scenario, variables: &[ExportedVariable]) -> Option<Vec<Vec<u32>>> {
    use dovetail_scenario::FaceRole::{Input, Output, State};
    let known = scenario.depends_on_open()?;
    let reference_of = |slot: usize| {
        let mut all = variables.iter();
        all.find(|variable| variable.face.role == Input(slot))
            .map(|variable| variable.reference)
    };
    let outputs = variables
        .iter()
        .filter_map(|variable| match variable.face.role {
            Output(stacked) => Some(stacked),
            _ => None,
        });
    let states = variables
        .iter()
        .filter(|variable| matches!(variable.face.role, State(_)));
    let states: Vec<u32> = states.map(|variable| variable.reference).collect();
    let references = outputs.map(|stacked| {
        let slots = known[stacked].iter();
        let inputs = slots.filter_map(|&slot| reference_of(slot));
        inputs.chain(states.iter().copied()).collect()
    });
    Some(references.collect())
}

/// A name of C that says which model it is.
fn identifier(name: &str) -> String {
    let stem = Path::new(name).file_stem();
    let stem = stem.map_or(name.into(), |stem| stem.to_string_lossy());
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = stem.chars().map(plain).collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("model_{name}"),
    }
}
