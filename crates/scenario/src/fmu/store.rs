//! The FMUs of a model: each file opened once, each way of using it tried once.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dovetail_fmi::description::{Strictness, Value};
use dovetail_fmi::{Fmu, FmuError, InterfaceUse, PreparedFmu, ProbeResult, Probing, Settings};
use dovetail_workers::ProcessPool;

use super::child_experiments::ChildExperiments;
use super::source::{FmuOrigin, FmuSource};
use crate::overrides::Overrides;

/// Without a step given, a run is about so many steps long.
const DEFAULT_STEPS: f64 = 500.0;

/// The solvers of FMUs are asked for this while they are tried, unless the user has asked for something else.
const PROBE_TOLERANCE: f64 = 1e-8;

/// The FMUs of a model.
pub(crate) struct FmuStore {
    strictness: Strictness,
    /// Start and end of the run.
    span: (f64, f64),
    fmus: HashMap<PathBuf, Arc<Fmu>>,
    prepared: HashMap<String, (Arc<PreparedFmu>, FmuOrigin)>,
    /// What is known of the FMUs that are still to be prepared, in their order.
    known: VecDeque<ProbeResult>,
    /// Processes in which FMUs are tried out.
    helpers: Option<ProcessPool>,
    /// The file in which calls are written down.
    fmi_log: Option<PathBuf>,
    /// What is to be recorded.
    record: Vec<String>,
    /// What the solvers of FMUs are asked for while they are tried.
    tolerance: f64,
    /// FMUs that cannot be run are described nevertheless.
    inspecting: bool,
    /// None is tried.
    unprobed: bool,
    open_ended: bool,
}

/// How a model uses an FMU.
#[derive(Clone, Debug, Default)]
pub(crate) struct FmuUsage {
    pub interface: Option<InterfaceUse>,
    pub values: Vec<(String, Vec<Value>)>,
    pub imposed_step: Option<f64>,
    pub sub_steps: u64,
    pub continuous: Vec<String>,
    pub recorded: Vec<String>,
    /// Tunable parameters that are changed in the course of a run.
    pub tuned: Vec<String>,
    /// What the FMU declares is believed.
    pub unprobed: bool,
}

impl FmuStore {
    pub fn new(changes: &Overrides, span: (f64, f64)) -> Self {
        let strictness = if changes.strict {
            Strictness::Strict
        } else {
            Strictness::Lenient
        };
        let (known, helpers) = (changes.known.clone().into(), changes.helpers.clone());

        Self {
            strictness,
            span,
            fmus: HashMap::new(),
            prepared: HashMap::new(),
            known,
            helpers,
            fmi_log: changes.fmi_log.clone(),
            record: changes.record.clone(),
            tolerance: changes.probe_tolerance.unwrap_or(PROBE_TOLERANCE),
            inspecting: changes.inspecting,
            unprobed: changes.unprobed,
            open_ended: changes.open_ended,
        }
    }

    /// Patterns of the variables that are to be recorded.
    pub fn patterns(&self) -> &[String] {
        &self.record
    }

    /// The times of the run, where they become known only now.
    pub fn set_span(&mut self, span: (f64, f64)) {
        self.span = span;
    }

    /// The FMU in a file, opened once.
    pub fn open(&mut self, path: &Path) -> Result<Arc<Fmu>, FmuError> {
        let key = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(fmu) = self.fmus.get(&key) {
            return Ok(fmu.clone());
        }

        let fmu = Fmu::open(path, self.strictness)?;
        self.fmus.insert(key, fmu.clone());
        Ok(fmu)
    }

    /// The FMU in a file, ready to be used so under a name; tried once for each usage.
    pub fn prepare(
        &mut self,
        name: &str,
        path: &Path,
        usage: FmuUsage,
    ) -> Result<FmuSource, FmuError> {
        let fmu = self.open(path)?;
        let known = self.known.pop_front();
        let key = format!("{} {usage:?}", path.display());
        if let Some((prepared, origin)) = self.prepared.get(&key) {
            return Ok(FmuSource::new(name, prepared.clone(), origin.clone()));
        }

        let origin = self.origin(&fmu, path, &usage);
        let prepared = Arc::new(self.tried(name, &fmu, &origin, usage.unprobed, known)?);
        self.prepared
            .insert(key, (prepared.clone(), origin.clone()));

        Ok(FmuSource::new(name, prepared, origin))
    }

    /// How the FMU is to be used, in a form that other processes understand.
    fn origin(&self, fmu: &Fmu, path: &Path, usage: &FmuUsage) -> FmuOrigin {
        let (start, stop) = self.span;
        let proposed = fmu.description().experiment.step_size;
        let step = proposed.filter(|size| *size > 0.0 && *size < stop - start);
        let usage = usage.clone();
        let settings = Settings {
            interface: usage.interface,
            values: usage.values,
            start,
            stop,
            imposed_step: usage.imposed_step,
            sub_steps: usage.sub_steps.max(1),
            probe_tolerance: Some(self.tolerance),
            without_event_mode: false,
            open_ended: self.open_ended,
            continuous: usage.continuous,
            recorded: usage.recorded,
            tuned: usage.tuned,
        };

        FmuOrigin {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            strict: self.strictness == Strictness::Strict,
            settings,
            step: step.unwrap_or((stop - start) / DEFAULT_STEPS),
        }
    }

    /// The FMU, tried out unless everything is known of it or nobody wants to know.
    fn tried(
        &self,
        name: &str,
        fmu: &Arc<Fmu>,
        origin: &FmuOrigin,
        unprobed: bool,
        known: Option<ProbeResult>,
    ) -> Result<PreparedFmu, FmuError> {
        let step = origin.step;
        let settings = origin.settings.clone();
        if let Some(known) = known {
            return fmu.prepare_known(settings, step, &known);
        }
        if unprobed || self.unprobed {
            return fmu.prepare(settings, step, Probing::Declared);
        }

        let Some(pool) = &self.helpers else {
            return fmu.prepare(settings, step, Probing::Here);
        };
        let single = fmu.choose(settings.interface)?.1.only_once_per_process;
        let log = self.fmi_log.clone().map(|path| (path, name.to_owned()));
        let mut experiments = ChildExperiments::new(pool, origin, single, log);

        match fmu.prepare(settings.clone(), step, Probing::There(&mut experiments)) {
            Err(FmuError::NotTried(why)) if self.inspecting => {
                fmu.describe(settings, step, &why.to_string())
            }
            prepared => prepared,
        }
    }
}
