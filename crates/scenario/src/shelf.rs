//! The FMUs of a model: each file opened once, each way of using it tried once.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dovetail_core::{Mapping, glob};
use dovetail_fmi::description::{
    Causality, Description, Strictness, UnitDefinition, Value, Variable,
};
use dovetail_fmi::{Knowledge, Prepared, Probing, Settings, Unit, UnitError, Use};
use dovetail_workers::Fleet;

use crate::laboratory::ChildLaboratory;
use crate::overrides::Overrides;

/// Without a step given, a run is about so many steps long.
const DEFAULT_STEPS: f64 = 500.0;

/// The solvers of FMUs are asked for this while they are tried, unless the user has asked for something else.
const PROBE_TOLERANCE: f64 = 1e-8;

/// The FMUs of a model.
pub(crate) struct Shelf {
    strictness: Strictness,
    /// Start and end of the run.
    span: (f64, f64),
    units: HashMap<PathBuf, Arc<Unit>>,
    prepared: HashMap<String, Arc<Prepared>>,
    /// What is known of the units that are still to be prepared, in their order.
    known: VecDeque<Knowledge>,
    /// Processes in which units are tried out.
    helpers: Option<Fleet>,
    /// What is to be recorded.
    record: Vec<String>,
    /// What the solvers of units are asked for while they are tried.
    tolerance: f64,
    /// Units that cannot be run are described all the same.
    inspecting: bool,
}

/// How a model uses an FMU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    pub interface: Option<Use>,
    pub values: Vec<(String, Vec<Value>)>,
    pub imposed_step: Option<f64>,
    pub sub_steps: u64,
    pub continuous: Vec<String>,
    pub recorded: Vec<String>,
    /// What the unit declares is believed.
    pub unprobed: bool,
}

impl Shelf {
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
            units: HashMap::new(),
            prepared: HashMap::new(),
            known,
            helpers,
            record: changes.record.clone(),
            tolerance: changes.probe_tolerance.unwrap_or(PROBE_TOLERANCE),
            inspecting: changes.inspecting,
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

    /// The unit in a file, opened once.
    pub fn open(&mut self, path: &Path) -> Result<Arc<Unit>, UnitError> {
        let key = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(unit) = self.units.get(&key) {
            return Ok(unit.clone());
        }
        let unit = Unit::open(path, self.strictness)?;
        self.units.insert(key, unit.clone());
        Ok(unit)
    }

    /// The unit in a file, ready to be used so; tried once for each usage.
    pub fn prepare(&mut self, path: &Path, usage: Usage) -> Result<Arc<Prepared>, UnitError> {
        let unit = self.open(path)?;
        let known = self.known.pop_front();
        let key = format!("{} {usage:?}", path.display());
        if let Some(prepared) = self.prepared.get(&key) {
            return Ok(prepared.clone());
        }
        let (start, stop) = self.span;
        let step = unit
            .description()
            .experiment
            .step_size
            .filter(|size| *size > 0.0 && *size < stop - start);
        let settings = Settings {
            interface: usage.interface,
            values: usage.values,
            start,
            stop,
            imposed_step: usage.imposed_step,
            sub_steps: usage.sub_steps.max(1),
            probe_tolerance: Some(self.tolerance),
            without_event_mode: false,
            continuous: usage.continuous,
            recorded: usage.recorded,
        };
        let step = step.unwrap_or((stop - start) / DEFAULT_STEPS);
        let prepared = match (known, &self.helpers) {
            (Some(known), _) => unit.prepare_known(settings, step, &known)?,
            _ if usage.unprobed => unit.prepare(settings, step, Probing::Declared)?,
            (None, None) => unit.prepare(settings, step, Probing::Here)?,
            (None, Some(fleet)) => {
                let single = unit.choose(settings.interface)?.1.only_once_per_process;
                let mut laboratory =
                    ChildLaboratory::new(fleet, path, self.strictness, &settings, step, single);
                match unit.prepare(settings.clone(), step, Probing::There(&mut laboratory)) {
                    Err(UnitError::Other(why)) if self.inspecting => {
                        unit.describe(settings, step, &why)?
                    }
                    prepared => prepared?,
                }
            }
        };
        let prepared = Arc::new(prepared);
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }
}

/// The variables of an FMU that are asked for by these patterns and that no run shows by itself. A pattern with wildcards that fits
/// an input, an output or a state means those. A single FMU's variables can be named without its name.
pub(crate) fn recorded(
    name: &str,
    description: &Description,
    patterns: &[String],
    alone: bool,
) -> Vec<String> {
    let shown = |v: &Variable| matches!(v.causality, Causality::Input | Causality::Output);
    let states = description.structure.derivatives.iter();
    let states: Vec<usize> = states
        .filter_map(|u| description.variables[u.variable].derivative_of)
        .collect();
    let hidden = description
        .variables
        .iter()
        .enumerate()
        .filter(|(k, v)| !shown(v) && !states.contains(k));
    let hidden: Vec<&str> = hidden.map(|(_, v)| v.name.as_str()).collect();
    let fits = |pattern: &str, variable: &str| {
        glob::matches(pattern, &format!("{name}.{variable}"))
            || (alone && glob::matches(pattern, variable))
    };
    let known = |pattern: &&String| {
        let mut all = description
            .variables
            .iter()
            .enumerate()
            .filter(|(k, v)| shown(v) || states.contains(k));
        !all.any(|(_, v)| fits(pattern, &v.name))
    };
    let wanted: Vec<&String> = patterns.iter().filter(known).collect();
    let is_wanted = |variable: &&&str| wanted.iter().any(|pattern| fits(pattern, variable));
    hidden
        .iter()
        .filter(is_wanted)
        .map(|variable| (*variable).to_owned())
        .collect()
}

/// What is to be said of a unit before a run.
pub(crate) fn warnings(name: &str, prepared: &Prepared) -> Vec<String> {
    let both = prepared.unit().warnings().iter().chain(prepared.warnings());
    both.map(|text| format!("`{name}`: {text}")).collect()
}

/// A variable of a unit by the name of one of its elements, `x` or `x[1,2]`.
pub(crate) fn variable<'a>(prepared: &'a Prepared, element: &str) -> Option<&'a Variable> {
    let variables = &prepared.unit().description().variables;
    let exact = variables.iter().find(|v| v.name == element);
    exact.or_else(|| {
        let (array, _) = element.rsplit_once('[')?;
        variables
            .iter()
            .find(|v| v.name == array && !v.dimensions.is_empty())
    })
}

/// The definition of the unit of measure of a variable.
pub(crate) fn measure<'a>(prepared: &'a Prepared, element: &str) -> Option<&'a UnitDefinition> {
    let unit = variable(prepared, element)?.unit.as_ref()?;
    prepared
        .unit()
        .description()
        .units
        .iter()
        .find(|definition| definition.name == *unit)
}

/// From one unit of measure to another of the same kind; none where they are of different kinds.
pub(crate) fn conversion(
    from: &UnitDefinition,
    to: &UnitDefinition,
    relative: bool,
) -> Option<Mapping> {
    if from.exponents.is_none() || from.exponents != to.exponents || to.factor == 0.0 {
        return None;
    }
    let factor = from.factor / to.factor;
    let offset = if relative {
        0.0
    } else {
        (from.offset - to.offset) / to.factor
    };
    let same = factor == 1.0 && offset == 0.0;
    Some(if same {
        Mapping::Identity
    } else {
        Mapping::Affine { factor, offset }
    })
}
