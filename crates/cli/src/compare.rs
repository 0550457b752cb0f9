//! `dovetail compare`: the same model by several methods and steps, each measured against one reference.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use dovetail::methods::AUTO;
use dovetail::report::{
    Comparison, Kind, RunSummary, Selection, Trajectory, Variables, comparison_page,
    comparison_table, measure, measured_order,
};
use dovetail::scenario::{Placement, Scenario, registry};
use dovetail::{Executed, Keep};

use crate::arguments::{CompareArguments, SharedArguments};
use crate::execute::Execute;
use crate::failure::Failure;
use crate::reference::Reference;
use crate::{interrupt, output, processes};

pub(crate) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let shared = &arguments.shared;
    let asked = Asked::of(arguments)?;
    if shared.output.as_deref().is_some_and(output::is_standard) {
        return Err(Failure::misuse(
            "--output - is for a single run: compare writes a file for each",
        ));
    }
    let scenario = shared.load(&asked.model)?;
    shared.check(&asked.model, &scenario)?;
    let varied = combinations(&shared.changes.varied());
    let start = || {
        let choices = shared.changes.choices(None, None, &varied[0]);
        scenario
            .start(&shared.options(&scenario, &choices)?)
            .map_err(Failure::from)
    };
    let mut reference = Reference::new(&arguments.reference, &scenario, start)?;
    let selection = selection(&scenario, &reference, shared)?;
    let page = shared
        .report
        .as_deref()
        .map(output::Page::create)
        .transpose()?;
    let (mut runs, mut troubles): (Vec<RunSummary>, Vec<String>) = (Vec::new(), Vec::new());
    let methods = if asked.methods.is_empty() {
        permitted(&scenario, shared, &varied[0])?
    } else {
        asked.methods
    };
    let plan = plan(&methods, &varied, &asked.steps);
    for Planned {
        method,
        varied,
        step,
    } in &plan
    {
        let choices = shared
            .changes
            .choices(Some(method), step.as_deref(), varied);
        let mut options = shared.options(&scenario, &choices)?;
        if (plan.len() > 1 || shared.verify)
            && scenario.has_single_instances()
            && !matches!(options.placement, Placement::Processes(_))
        {
            options.placement = processes::placement(shared.step_timeout)?;
        }
        let file = shared
            .output
            .as_ref()
            .map(|path| file_of_run(path, plan.len(), method, varied, step));
        let interrupted = interrupt::listen();
        let session = scenario.session(&options)?;
        let execute = Execute {
            scenario: &scenario,
            options: &options,
            selection: &selection,
            keep: Keep::Measured,
            file: file.as_deref(),
            shared,
            interrupted,
        };
        let mut done = execute.run(session)?;
        done.summary.varied = varied.clone();
        match errors(&done, &mut reference, &selection) {
            Ok(comparison) => {
                done.summary.comparison = Some(with_order(comparison, &done.summary, runs.last()))
            }
            Err(Failure::EndedEarly(trouble)) => troubles.push(trouble),
            Err(refused) => return Err(refused),
        }
        let stopped = done.summary.message.is_some() && interrupted.load(Ordering::Relaxed);
        troubles.extend(ended_early(&done.summary));
        runs.push(done.summary);
        if stopped {
            break;
        }
    }
    if let Some(page) = page {
        page.write(&comparison_page(&scenario.name, &runs))?;
    }
    if shared.json {
        let all: Vec<_> = runs.iter().map(RunSummary::to_json).collect();
        output::print(&format!("{:#}\n", serde_json::Value::from(all)))?;
    } else if !shared.quiet {
        output::print(&comparison_table(&runs))?;
    }
    troubles.dedup();
    if troubles.is_empty() {
        Ok(())
    } else {
        Err(Failure::EndedEarly(troubles.join("\n")))
    }
}

/// What is to be compared.
struct Asked {
    model: PathBuf,
    methods: Vec<String>,
    steps: Vec<String>,
}

impl Asked {
    /// Flags that take many values swallow a model that comes last: give it back.
    fn of(arguments: &CompareArguments) -> Result<Self, Failure> {
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
                "which model? usage: dovetail compare MODEL --method M… [--step H,H,…]",
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
struct Planned {
    method: String,
    varied: Vec<(String, String)>,
    step: Option<String>,
}

/// Every method with every combination of options and every step.
fn plan(methods: &[String], varied: &[Vec<(String, String)>], steps: &[String]) -> Vec<Planned> {
    let steps: Vec<Option<String>> = if steps.is_empty() {
        vec![None]
    } else {
        steps.iter().cloned().map(Some).collect()
    };
    let mut plan = Vec::new();
    for method in methods {
        for varied in varied {
            let planned = |step: &Option<String>| Planned {
                method: method.clone(),
                varied: varied.clone(),
                step: step.clone(),
            };
            plan.extend(steps.iter().map(planned));
        }
    }
    plan
}

/// Every combination of the values of these options; a single empty one where none varies.
fn combinations(varied: &[(&str, Vec<&str>)]) -> Vec<Vec<(String, String)>> {
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
fn permitted(
    scenario: &Scenario,
    shared: &SharedArguments,
    varied: &[(String, String)],
) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let names = registry().method_names();
    for name in names.into_iter().filter(|name| *name != "monolithic") {
        let choices = shared.changes.choices(Some(name), None, varied);
        let options = shared.options(scenario, &choices)?;
        if scenario.check_method(&options).is_ok() {
            all.push(name.to_owned());
        }
    }
    Ok(all)
}

/// States and outputs for which there is a reference, or what the user asks for.
fn selection(
    scenario: &Scenario,
    reference: &Reference<'_>,
    shared: &SharedArguments,
) -> Result<Selection, Failure> {
    let variables = Variables::of(&scenario.connections);
    let names: Vec<String> = if shared.record.is_empty() {
        let wanted = variables
            .all()
            .iter()
            .filter(|v| v.kind != Kind::Input && reference.covers(v));
        wanted.map(|v| v.name.clone()).collect()
    } else {
        shared.record.clone()
    };
    if names.is_empty() {
        return Err(Failure::misuse(
            "the reference file has none of the model's variables",
        ));
    }
    variables
        .select(&names)
        .map_err(|error| Failure::misuse(error.to_string()))
}

/// With several runs each gets a file of its own: `results.csv` becomes `results-jacobi-0.001.csv`.
fn file_of_run(
    path: &Path,
    runs: usize,
    method: &str,
    varied: &[(String, String)],
    step: &Option<String>,
) -> PathBuf {
    if runs == 1 {
        return path.to_owned();
    }
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let varied = varied.iter().map(|(_, value)| value.clone());
    let parts = stem
        .into_iter()
        .chain([method.to_owned()])
        .chain(varied)
        .chain(step.clone());
    let stem = parts.collect::<Vec<_>>().join("-");
    let extension = path
        .extension()
        .map_or_else(String::new, |e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}{extension}"))
}

/// The errors of a run.
fn errors(
    done: &Executed,
    reference: &mut Reference<'_>,
    selection: &Selection,
) -> Result<Comparison, Failure> {
    let empty = Trajectory::of(selection);
    let trajectory = done.trajectory.as_ref().unwrap_or(&empty);
    let columns = reference.columns(selection, trajectory.times())?;
    let error = trajectory.columns().zip(&columns);
    let error = error.map(|((name, values), truth)| {
        (name.to_owned(), measure(trajectory.times(), values, truth))
    });
    Ok(Comparison {
        error: error.collect(),
        order: vec![],
    })
}

/// The order of convergence, against the run before with another step of the same method.
fn with_order(
    mut comparison: Comparison,
    run: &RunSummary,
    before: Option<&RunSummary>,
) -> Comparison {
    let same = |before: &&RunSummary| before.method == run.method && before.varied == run.varied;
    let Some(before) = before.filter(same) else {
        return comparison;
    };
    let (Some(coarse), Some(fine), Some(known)) = (before.step, run.step, &before.comparison)
    else {
        return comparison;
    };
    let order =
        |name: &str, error: f64| measured_order(known.error_of(name)?.nrmse?, error, coarse, fine);
    comparison.order = comparison
        .error
        .iter()
        .filter_map(|(name, error)| Some((name.clone(), order(name, error.nrmse?)?)))
        .collect();
    comparison
}

fn ended_early(run: &RunSummary) -> Option<String> {
    let step = run
        .step
        .map_or_else(String::new, |step| format!(", step {step} s"));
    run.message
        .as_ref()
        .map(|message| format!("{}{step}: {message}", run.method))
}
