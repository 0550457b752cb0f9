//! Which runs a comparison consists of.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dovetail::Executed;
use dovetail::methods::AUTO;
use dovetail::report::NOT_VARIED;
use dovetail::scenario::{Scenario, registry};

use crate::arguments::{CompareArguments, SharedArguments};
use crate::failure::Failure;

/// What is to be compared.
pub(super) struct Asked {
    pub model: PathBuf,
    pub methods: Vec<String>,
    pub steps: Vec<String>,
}

impl Asked {
    /// Flags that take many values swallow a model that comes last: give it back.
    pub fn of(arguments: &CompareArguments) -> Result<Self, Failure> {
        let (mut methods, mut steps) = (arguments.method.clone(), arguments.step.clone());
        let known = registry();
        let is_method = |text: &String| text == AUTO || known.method(text).is_some();
        let mut swallowed = || {
            steps
                .pop_if(|last| last.parse::<f64>().is_err())
                .or_else(|| methods.pop_if(|last| !is_method(last)))
        };
        let Some(model) = arguments
            .model
            .clone()
            .or_else(|| swallowed().map(PathBuf::from))
        else {
            return Err(Failure::misuse(
                "which model? usage: dovetail compare MODEL [--method M…] [--step H,H,…]",
            ));
        };

        Ok(Self {
            model,
            methods,
            steps,
        })
    }
}

/// One run of a comparison.
#[derive(Clone)]
pub(super) struct Planned {
    pub method: String,
    pub varied: Vec<(String, String)>,
    pub step: Option<String>,
    /// Nobody has asked for it by itself.
    pub is_extra: bool,
}

/// Steps and tolerances of a coarser and of a finer run, as multiples of those of the usual one:
/// fixed steps cost four times more, chosen ones about as much.
const STEP_RUNGS: [f64; 2] = [4.0, 0.25];
const TOLERANCE_RUNGS: [f64; 2] = [100.0, 0.01];

/// A coarser and a finer run than this one; none where it has neither a step nor a tolerance.
pub(super) fn rungs(planned: &Planned, usual: &Executed) -> [Option<Planned>; 2] {
    let extra = Planned {
        is_extra: true,
        ..planned.clone()
    };
    let tolerance = usual.tolerance;
    match (usual.summary.step, tolerance) {
        (Some(step), _) => STEP_RUNGS.map(|factor| {
            Some(Planned {
                step: Some(short(factor * step)),
                ..extra.clone()
            })
        }),
        (None, Some(tolerance)) => TOLERANCE_RUNGS.map(|factor| {
            Some(Planned {
                varied: vec![(TOLERANCE.into(), short(factor * tolerance))],
                ..extra.clone()
            })
        }),
        (None, None) => [None, None],
    }
}

const TOLERANCE: &str = "tolerance";

/// The column of the table that tells runs with chosen steps apart.
pub(super) fn tolerance_column(done: &Executed) -> Vec<(String, String)> {
    let tolerance = done.tolerance.filter(|_| done.summary.step.is_none());
    let text = tolerance.map_or(NOT_VARIED.into(), short);
    vec![(TOLERANCE.into(), text)]
}

/// A number without the last bits that products have.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    if rounded < 1e-3 {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// Every method with every combination of options and every step.
pub(super) fn plan(
    methods: &[String],
    varied: &[Vec<(String, String)>],
    steps: &[String],
) -> Vec<Planned> {
    let steps = each_or_none(steps);
    let mut plan = Vec::new();

    for method in methods {
        for varied in varied {
            let planned = |step: &Option<String>| Planned {
                method: method.clone(),
                varied: varied.clone(),
                step: step.clone(),
                is_extra: false,
            };
            plan.extend(steps.iter().map(planned));
        }
    }
    plan
}

/// Each of the steps; the method's own where none is given.
fn each_or_none(steps: &[String]) -> Vec<Option<String>> {
    if steps.is_empty() {
        vec![None]
    } else {
        steps.iter().cloned().map(Some).collect()
    }
}

/// Every combination of the values of these options; a single empty one where none varies.
pub(super) fn combinations(varied: &[(&str, Vec<&str>)]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![vec![]];
    for (key, values) in varied {
        let with = |known: &Vec<(String, String)>, value: &str| {
            let mut more = known.clone();
            more.push(((*key).to_owned(), value.to_owned()));
            more
        };
        all = all
            .iter()
            .flat_map(|known| values.iter().map(move |value| with(known, value)))
            .collect();
    }
    all
}

/// The methods that the model permits, in the order in which they are listed; not the reference itself.
pub(super) fn permitted(
    scenario: &Scenario,
    shared: &SharedArguments,
    varied: &[(String, String)],
) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let names = registry().method_names().into_iter();

    for name in names.filter(|name| !scenario.solves_as_one(name)) {
        let choices = shared.changes.choices(Some(name), None, varied);
        let options = shared.options(scenario, &choices)?;
        if scenario.check_method(&options).is_ok() {
            all.push(name.to_owned());
        }
    }
    Ok(all)
}

/// With several runs each gets a file of its own: `results.csv` becomes `results-jacobi-0.001.csv`.
pub(super) fn file_of_run(path: &Path, several: bool, planned: &Planned) -> PathBuf {
    if !several {
        return path.to_owned();
    }

    let text = |part: &OsStr| part.to_string_lossy().into_owned();
    let mut parts: Vec<String> = path.file_stem().map(text).into_iter().collect();
    parts.push(planned.method.clone());
    parts.extend(planned.varied.iter().map(|(_, value)| value.clone()));
    parts.extend(planned.step.clone());
    let stem = parts.join("-");

    match path.extension() {
        Some(extension) => path.with_file_name(format!("{stem}.{}", text(extension))),
        None => path.with_file_name(stem),
    }
}

/// What `run` would take.
pub(super) fn own_method(
    scenario: &Scenario,
    shared: &SharedArguments,
    varied: &[(String, String)],
) -> Result<String, Failure> {
    let choices = shared.changes.choices(None, None, varied);
    Ok(shared.options(scenario, &choices)?.method)
}
