//! What a worker process is told to make, as bytes: its own part of the model and no more.

use std::path::PathBuf;

use dovetail_core::{Mapping, OverriddenVariable, Restrictions};
use dovetail_fmi::{CallLog, Costs, Notes, RunCourse};
use dovetail_methods::Settings;
use dovetail_workers::SystemRequest;
use serde::{Deserialize, Serialize};

use crate::bytes::{from_bytes, to_bytes};
use crate::catalog::Catalog;
use crate::inputs::driving::Driving;
use crate::source::part::Part;
use crate::source::system_source::BuildOptions;

/// A part of a model. Processes of earlier runs with the same part are used again.
#[derive(Serialize, Deserialize)]
pub(crate) struct PortablePart {
    kind: String,
    bytes: Vec<u8>,
    mappings: Vec<Mapping>,
    restrictions: Option<Restrictions>,
    driving: Driving,
    overrides: Vec<OverriddenVariable>,
}

impl PortablePart {
    fn of(part: &Part) -> Result<Self, String> {
        let name = part.name();
        let cannot = || format!("`{name}` cannot live in a process of its own");
        let portable = part.source.portable().ok_or_else(cannot)?;

        Ok(Self {
            kind: portable.kind.to_owned(),
            bytes: portable.bytes,
            mappings: part.mappings.clone(),
            restrictions: part.restrictions,
            driving: part.driving.clone(),
            overrides: part.overrides.clone(),
        })
    }

    /// The same in this process.
    pub fn read(self, catalog: &Catalog) -> Result<Part, String> {
        let kind = catalog.kind(&self.kind);
        let kind = kind.ok_or_else(|| format!("this program knows no `{}`", self.kind))?;

        Ok(Part {
            source: kind.restore(&self.bytes)?,
            mappings: self.mappings,
            restrictions: self.restrictions,
            driving: self.driving,
            overrides: self.overrides,
            exposed: Default::default(),
        })
    }
}

/// How a system is to be made, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemoteBuild {
    step: f64,
    integrator_tolerance: f64,
    fmu_tolerance: Option<f64>,
    /// The file in which calls are written down, and the mark of its lines.
    log: Option<(PathBuf, Option<String>)>,
    inputs: Option<Vec<f64>>,
    states: Option<Vec<f64>>,
    goes_back: bool,
    open_end: bool,
}

impl RemoteBuild {
    pub fn of(options: &BuildOptions) -> Self {
        let log = options.log.as_ref();
        Self {
            step: options.step,
            integrator_tolerance: options.integrator_tolerance,
            fmu_tolerance: options.fmu_tolerance,
            log: log.map(|log| (log.path().to_owned(), log.mark().map(str::to_owned))),
            inputs: options.inputs.clone(),
            states: options.states.clone(),
            goes_back: options.goes_back,
            open_end: options.course.open_end,
        }
    }

    /// The same here; the log goes on where the other process has begun it.
    pub fn here(self) -> Result<BuildOptions, String> {
        let open = |(path, mark): (PathBuf, Option<String>)| {
            let log = CallLog::marked(&path, mark);
            log.map_err(|error| format!("{} cannot be written: {error}", path.display()))
        };
        Ok(BuildOptions {
            step: self.step,
            integrator_tolerance: self.integrator_tolerance,
            fmu_tolerance: self.fmu_tolerance,
            log: self.log.map(open).transpose()?,
            inputs: self.inputs,
            states: self.states,
            goes_back: self.goes_back,
            course: RunCourse {
                open_end: self.open_end,
                stays: None,
            },
            outside: None,
        })
    }
}

/// A system that is wanted.
#[derive(Serialize, Deserialize)]
pub(crate) struct WantedSystem {
    pub build: RemoteBuild,
    /// When the run begins.
    pub start: f64,
    /// The options of the run, where an estimator is to stand before the system.
    pub estimator: Option<Vec<(String, String)>>,
}

/// What the process of a system is told.
pub(crate) fn order(
    part: &Part,
    options: &BuildOptions,
    start: f64,
    estimator: Option<&Settings>,
) -> Result<SystemRequest, String> {
    let wanted = WantedSystem {
        build: RemoteBuild::of(options),
        start,
        estimator: estimator.map(texts),
    };
    Ok(SystemRequest {
        name: part.name().to_owned(),
        job: to_bytes(&PortablePart::of(part)?),
        make: to_bytes(&wanted),
        once: part.source.single_instance().is_some(),
    })
}

fn texts(settings: &Settings) -> Vec<(String, String)> {
    let pairs = settings.pairs();
    pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// What a system reports when it ends; nothing where it is no FMU.
pub(crate) type FinalReport = Option<(Costs, Notes)>;

/// What a system reported when it ended; nothing also where it did not come to that.
pub(crate) fn read_final_report(bytes: &[u8]) -> FinalReport {
    from_bytes(bytes).ok().flatten()
}
