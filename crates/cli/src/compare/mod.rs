//! `dovetail compare`: the same model by several methods and steps, each measured against one reference.

mod plan;

use std::sync::atomic::{AtomicBool, Ordering};

use dovetail::report::{
    Comparison, ComparisonPage, Kind, Measure, Origin, RunCurves, RunSummary, Selection,
    TableFormat, Trajectory, Variables, comparison_table, measure, measured_order, paper_table,
};
use dovetail::scenario::{RunOptions, Scenario};
use dovetail::{Executed, Keep};

use crate::arguments::{CompareArguments, SharedArguments};
use crate::execute::Execute;
use crate::failure::Failure;
use crate::reference::Reference;
use crate::{interrupt, origin, output, processes};
use plan::{
    Asked, Planned, combinations, file_of_run, own_method, permitted, plan, rungs, tolerance_column,
};

/// So many variables are drawn on a page, in so many rows each.
const MOST_DRAWN: usize = 40;
const MOST_ROWS: usize = 600;

pub(crate) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let shared = &arguments.shared;
    let asked = Asked::of(arguments)?;

    if shared.writes_to_standard_output() {
        let message = "--output - is for a single run: compare writes a file for each";
        return Err(Failure::misuse(message));
    }

    let mut scenario = shared.load(&asked.model)?;
    shared.check(&asked.model, &scenario)?;
    let varied = combinations(&shared.changes.varied());
    start_at_rest(&mut scenario, shared, &varied[0])?;
    let start = || {
        let choices = shared.changes.choices(None, None, &varied[0]);
        let options = shared.options(&scenario, &choices)?;
        scenario.start(&options).map_err(Failure::from)
    };
    let reference = Reference::new(&arguments.reference, &scenario, start)?;
    let selection = selection(&scenario, &reference, shared)?;
    let page = shared.page()?;
    let methods = match (asked.methods.is_empty(), &reference) {
        (false, _) => asked.methods,
        (true, Reference::Monolithic { .. }) => permitted(&scenario, shared, &varied[0])?,
        // What a test of a model asks: does it still do what it did?
        (true, Reference::File(_)) => vec![own_method(&scenario, shared, &varied[0])?],
    };
    let ladder = arguments.climbs() && matches!(reference, Reference::Monolithic { .. });
    let mut series = Series {
        scenario: &scenario,
        shared,
        selection,
        reference,
        several: ladder,
        measure: arguments.measure(),
        runs: Vec::new(),
        curves: Vec::new(),
        troubles: Vec::new(),
    };
    let plan = plan(&methods, &varied, &asked.steps);
    if ladder {
        series.climb(&plan)?;
    } else {
        series.run(&plan)?;
    }

    if let Some(page) = page {
        let origin = origin::of(&asked.model);
        page.write(&series.page(&arguments.reference, &origin))?;
    }

    series.show(&arguments.format)?;
    let too_far = arguments.within.and_then(|most| series.too_far(most));
    series.end()?;
    too_far.map_or(Ok(()), |variables| Err(Failure::TooFar(variables)))
}

/// Moves the start of all runs, and of the reference, to where the model is at rest, if that is wanted.
fn start_at_rest(
    scenario: &mut Scenario,
    shared: &SharedArguments,
    varied: &[(String, String)],
) -> Result<(), Failure> {
    let changes = &shared.changes;
    if changes.initialize.is_none() {
        return Ok(());
    }
    let options = shared.options(scenario, &changes.choices(None, None, varied))?;
    let options = processes::if_instances_are_single(options, scenario, true, shared.limits())?;
    changes.start_at_rest(scenario, &options)
}

/// Runs of one model, each measured against the same reference.
struct Series<'a> {
    scenario: &'a Scenario,
    shared: &'a SharedArguments,
    selection: Selection,
    reference: Reference<'a>,
    /// There is more than one run.
    several: bool,
    measure: Measure,
    runs: Vec<RunSummary>,
    /// The curves of each, for the page.
    curves: Vec<RunCurves>,
    /// What went wrong with some of them.
    troubles: Vec<String>,
}

impl Series<'_> {
    /// Runs what is planned, until Ctrl-C.
    fn run(&mut self, plan: &[Planned]) -> Result<(), Failure> {
        self.several = plan.len() > 1;
        self.run_in_turn(plan)
    }

    fn run_in_turn(&mut self, plan: &[Planned]) -> Result<(), Failure> {
        let interrupted = interrupt::listen();

        for planned in plan {
            let done = self.execute(planned, interrupted)?;
            self.add(done, planned)?;
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Runs what is planned, and each run once coarser and once finer, so that errors over costs are
    /// curves. What nobody has asked for by itself may fail.
    fn climb(&mut self, plan: &[Planned]) -> Result<(), Failure> {
        let interrupted = interrupt::listen();

        for planned in plan {
            let usual = self.execute(planned, interrupted)?;
            let rungs = rungs(planned, &usual);
            let [coarse, fine] =
                rungs.map(|rung| rung.map(|rung| self.try_rung(rung, interrupted)));
            let usual = (usual, planned.clone());

            let coarse = coarse.flatten();
            let fine = fine.flatten();
            for (mut done, planned) in coarse.into_iter().chain([usual]).chain(fine) {
                let known = self.troubles.len();
                let is_extra = planned.is_extra;
                done.summary.varied = tolerance_column(&done);
                self.add(done, &planned)?;
                if is_extra {
                    self.troubles.truncate(known);
                }
            }
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    fn try_rung(
        &self,
        planned: Planned,
        interrupted: &'static AtomicBool,
    ) -> Option<(Executed, Planned)> {
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        let done = self.execute(&planned, interrupted).ok()?;
        Some((done, planned))
    }

    fn execute(
        &self,
        planned: &Planned,
        interrupted: &'static AtomicBool,
    ) -> Result<Executed, Failure> {
        let options = self.options(planned)?;
        let output = self.shared.output.as_ref();
        let file = output.map(|path| file_of_run(path, self.several, planned));
        let session = self.scenario.session(&options)?;
        let execute = Execute {
            scenario: self.scenario,
            options: &options,
            selection: &self.selection,
            keep: Keep::Measured,
            drawn: None,
            file: file.as_deref(),
            real_time: None,
            shared: self.shared,
            interrupted,
            checkpoints: None,
            resumed: None,
        };

        execute.run(session)
    }

    fn options(&self, planned: &Planned) -> Result<RunOptions, Failure> {
        let changes = &self.shared.changes;
        let step = planned.step.as_deref();
        let choices = changes.choices(Some(&planned.method), step, &planned.varied);
        let options = self.shared.options(self.scenario, &choices)?;
        let again = self.several || self.shared.verify;

        processes::if_instances_are_single(options, self.scenario, again, self.shared.limits())
    }

    /// Measures a run and adds it to the others.
    fn add(&mut self, mut done: Executed, planned: &Planned) -> Result<(), Failure> {
        if !planned.varied.is_empty() && done.summary.varied.is_empty() {
            done.summary.varied = planned.varied.clone();
        }
        let mut curves = RunCurves::default();
        match self.truth(&done) {
            Ok(truth) => {
                let rows = done.trajectory.take().unwrap_or_default();
                let comparison = with_order(
                    errors(&rows, &truth),
                    &done.summary,
                    self.runs.last(),
                    self.measure,
                );
                done.summary.comparison = Some(comparison);
                if self.shared.report.is_some() {
                    curves = RunCurves::new(&rows, &truth, MOST_DRAWN, MOST_ROWS);
                }
            }
            Err(Failure::EndedEarly(trouble)) => self.troubles.push(trouble),
            Err(refused) => return Err(refused),
        }

        self.troubles.extend(ended_early(&done.summary));
        curves.tolerance = done.tolerance;
        self.curves.push(curves);
        self.runs.push(done.summary);
        Ok(())
    }

    /// The reference of every selected variable at the rows of a run.
    fn truth(&mut self, done: &Executed) -> Result<Vec<Vec<f64>>, Failure> {
        let times = done.trajectory.as_ref().map(Trajectory::times);
        self.reference
            .columns(&self.selection, times.unwrap_or_default())
    }

    /// The page of all runs.
    fn page(&mut self, reference: &str, origin: &Origin) -> String {
        let exact = self.exact_curves();
        let drawn = self.selection.variables().len().min(MOST_DRAWN);
        let page = ComparisonPage {
            model: &self.scenario.name,
            measure: self.measure,
            span: (self.scenario.start_time, self.scenario.stop_time),
            reference_text: &reference_text(reference),
            variables: &self.selection.variables()[..drawn],
            reference: &exact,
            runs: &self.runs,
            curves: &self.curves,
            origin,
        };
        page.render()
    }

    /// The reference over the whole run, as a curve; nothing where it is not known that far.
    fn exact_curves(&mut self) -> Trajectory {
        let (start, stop) = (self.scenario.start_time, self.scenario.stop_time);
        let time = |n: usize| start + (stop - start) * n as f64 / (MOST_ROWS - 1) as f64;
        let times: Vec<f64> = (0..MOST_ROWS).map(time).collect();
        let Ok(columns) = self.reference.columns(&self.selection, &times) else {
            return Trajectory::of(&self.selection);
        };
        Trajectory::from_columns(self.selection.names(), times, columns)
    }

    fn show(&self, format: &str) -> Result<(), Failure> {
        if self.shared.json {
            let all: Vec<_> = self.runs.iter().map(RunSummary::to_json).collect();
            return output::print_json(&serde_json::Value::from(all));
        }
        if self.shared.quiet {
            return Ok(());
        }
        let table = match format {
            "markdown" => paper_table(&self.runs, TableFormat::Markdown, self.measure),
            "latex" => paper_table(&self.runs, TableFormat::Latex, self.measure),
            "csv" => paper_table(&self.runs, TableFormat::Csv, self.measure),
            _ => comparison_table(&self.runs, self.measure),
        };
        if self.shared.verbose {
            let details = self.runs.iter().map(|run| run.to_detailed_text() + "\n");
            output::print(&details.collect::<String>())?;
        }
        output::print(&table)
    }

    /// The worst variable of each run that is further than `most` from the reference.
    fn too_far(&self, most: f64) -> Option<String> {
        let lines: Vec<String> = self
            .runs
            .iter()
            .filter_map(|run| worst_beyond(run, most, self.measure))
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn end(mut self) -> Result<(), Failure> {
        self.troubles.dedup();
        if self.troubles.is_empty() {
            return Ok(());
        }
        Err(Failure::EndedEarly(self.troubles.join("\n")))
    }
}

/// What is said of a run whose worst variable is further than `most` from the reference.
fn worst_beyond(run: &RunSummary, most: f64, measure: Measure) -> Option<String> {
    let errors = &run.comparison.as_ref()?.error;
    let shares = errors
        .iter()
        .map(|(name, error)| (name, error.share(measure)));
    let beyond = shares.filter(|(_, share)| share.is_nan() || *share > most);
    let (count, worst) = beyond.fold((0, None), |(count, worst), next| {
        let worse = worst.is_none_or(|(_, share): (_, f64)| next.1.total_cmp(&share).is_gt());
        (count + 1, if worse { Some(next) } else { worst })
    });
    let (name, share) = worst?;
    let step = run.step.map(|step| format!(" with step {step}"));
    Some(format!(
        "{}{}: {count} of {} variables are not within {most}; the worst is `{name}`, at {share:.2e}",
        run.method,
        step.unwrap_or_default(),
        errors.len()
    ))
}

/// States and outputs for which there is a reference, or what the user asks for.
fn selection(
    scenario: &Scenario,
    reference: &Reference<'_>,
    shared: &SharedArguments,
) -> Result<Selection, Failure> {
    let variables = Variables::of(&scenario.connections);
    let names: Vec<String> = if shared.record.is_empty() {
        covered(&variables, reference)
    } else {
        shared.record.clone()
    };

    if names.is_empty() {
        return Err(Failure::misuse(
            "the reference file has none of the model's variables",
        ));
    }
    variables.select(&names).map_err(Failure::misuse_by)
}

/// The names of the states and outputs for which there is a reference.
fn covered(variables: &Variables, reference: &Reference<'_>) -> Vec<String> {
    let variables = variables.all().iter();
    let covered = variables.filter(|v| v.kind != Kind::Input && reference.covers(v));
    covered.map(|v| v.name.clone()).collect()
}

/// The errors of the rows of a run.
fn errors(rows: &Trajectory, truth: &[Vec<f64>]) -> Comparison {
    let error = rows.columns().zip(truth);
    let error = error
        .map(|((name, values), truth)| (name.to_owned(), measure(rows.times(), values, truth)));

    Comparison {
        error: error.collect(),
        order: vec![],
    }
}

/// What runs are compared with, in a sentence.
fn reference_text(reference: &str) -> String {
    let what = match reference {
        "monolithic" => "all equations solved as one system".to_owned(),
        file => format!("the results in {file}"),
    };
    format!("Reference: {what}, compared at the communication times of each run.")
}

/// The order of convergence, against the run before with another step of the same method.
fn with_order(
    mut comparison: Comparison,
    run: &RunSummary,
    before: Option<&RunSummary>,
    measure: Measure,
) -> Comparison {
    let same = |before: &&RunSummary| before.method == run.method && before.varied == run.varied;
    let Some(before) = before.filter(same) else {
        return comparison;
    };
    let (Some(coarse), Some(fine), Some(known)) = (before.step, run.step, &before.comparison)
    else {
        return comparison;
    };
    let order = |name: &str, error: f64| {
        let before = known.error_of(name)?.percent(measure)?;
        measured_order(before, error, coarse, fine)
    };
    comparison.order = comparison
        .error
        .iter()
        .filter_map(|(name, error)| Some((name.clone(), order(name, error.percent(measure)?)?)))
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
