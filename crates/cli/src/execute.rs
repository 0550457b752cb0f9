//! One run with everything that watches it: shared by `run` and `compare`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail_core::{CouplingResidual, Ending, Error, Observer, readable};
use dovetail_report::{
    Extent, FinalValue, FmiCosts, LastRow, Quality, Recorder, Rows, RunSummary, Selection, Sink,
    SystemWork, Trajectory, Variables, Verdict,
};
use dovetail_scenario::{RunEnd, RunOptions, Scenario, Session};

use crate::arguments::SharedArguments;
use crate::evidence::{Interfaces, pronounce};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::verify::{Plan, Thinned, verify};

/// A run that chooses its steps has so many rows at least.
const LEAST_ROWS: f64 = 500.0;

/// What interfaces leave open is looked at so often in a run at most.
const SAMPLES: f64 = 2400.0;
/// So large a share of the residuals may be those of jumps.
const OUTLIERS: f64 = 0.02;

/// What is to be kept of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    /// The selected variables as they are to be looked at.
    Shown,
    /// The same at communication times, where they are measured.
    Measured,
}

/// What a run leaves behind.
pub(crate) struct Executed {
    pub summary: RunSummary,
    /// The selected variables, where they were asked to be kept.
    pub trajectory: Option<Trajectory>,
}

/// Runs a session of `scenario`, recording `selection`. Whatever could be refused has been: files may be touched now.
pub(crate) fn execute(
    scenario: &Scenario,
    (session, options): (Session<'_>, &RunOptions),
    selection: &Selection,
    keep: Keep,
    file: Option<&Path>,
    shared: &SharedArguments,
    interrupted: &AtomicBool,
) -> Result<Executed, Failure> {
    output::come_home();
    let names = selection.names();
    let written = file.map(|path| output::open(path, &names)).transpose()?;
    let kept = (keep != Keep::Nothing).then(|| Trajectory::of(selection));
    let (compared, shown_or_written) = (
        keep == Keep::Measured,
        keep == Keep::Shown || file.is_some(),
    );
    let label = file.map_or_else(
        || "the results".to_owned(),
        |path| path.display().to_string(),
    );
    let everything = Variables::of(&scenario.connections).everything();
    let seen = (
        LastRow::default(),
        Extent::new(scenario.start_time, scenario.stop_time),
    );
    let mut last = Recorder::new(&scenario.connections, &everything, seen, "final values");
    let interfaces = Interfaces::of(scenario, &everything);
    let spacing = (scenario.stop_time - scenario.start_time) / SAMPLES;
    let mut interfaces = Recorder::new(
        &scenario.connections,
        &everything,
        interfaces,
        "the verdict",
    )
    .with_rows(Rows::Gauss(spacing));
    let tolerance = session.tolerance();
    // With steps of its own choice it looks at each of them; given steps may be too long for it to know.
    let estimates = session.method_name() == "dovetail" && session.step().is_none();
    // What is compared is compared at communication times; what is looked at has rows in between, and both sides of events.
    let (measured, shown) = if compared { (kept, None) } else { (None, kept) };
    let mut measured = Recorder::new(&scenario.connections, selection, measured, "the results");
    let sinks: (Option<Trajectory>, Option<Box<dyn Sink>>) = (shown, written);
    let rows = match shared.output_interval {
        Some(interval) => Rows::Every(interval),
        None if session.chooses_steps() => {
            Rows::AtMost((scenario.stop_time - scenario.start_time) / LEAST_ROWS)
        }
        None => Rows::Communications,
    };
    let recorder = Recorder::new(&scenario.connections, selection, sinks, label);
    let mut recorder = recorder.with_rows(rows).with_both_sides();
    let imposing = session.imposing().map(str::to_owned);
    let plan = match (session.step(), tolerance) {
        (Some(step), _) => Plan::Step(step),
        (None, tolerance) => Plan::Tolerance(tolerance.unwrap_or_default()),
    };
    let sampled = (shared.verify && imposing.is_none()).then(|| Thinned::new(&everything));
    let mut sampled = Recorder::new(&scenario.connections, &everything, sampled, "memory");
    let mut residual = CouplingResidual::new(&scenario.connections);
    let mut progress = Progress::new(
        shared.quiet,
        session.method_name().to_owned(),
        scenario.start_time,
        scenario.stop_time,
    );
    let mut observers: Vec<&mut dyn Observer> = vec![&mut last, &mut residual, &mut progress];
    if !estimates {
        observers.push(&mut interfaces);
    }
    if shown_or_written {
        observers.push(&mut recorder);
    }
    if compared {
        observers.push(&mut measured);
    }
    if shared.verify && imposing.is_none() {
        observers.push(&mut sampled);
    }
    let end = session.run(&mut observers, interrupted);
    let trajectory = measured.into_sink().or(recorder.into_sink().0);
    let (last, extent) = last.into_sink();
    let values = FinalValue::of(&everything, &last.values);
    let mut summary = summarize(scenario, end, values, &residual);
    if let (Some(known), true) = (
        sampled.into_sink(),
        summary.completed && summary.method != "monolithic",
    ) {
        match verify(
            scenario,
            options,
            &everything,
            known.rows(),
            plan,
            interrupted,
        ) {
            Ok(verified) => {
                summary
                    .quality
                    .remarks
                    .push(format!("the error was verified {}", verified.how));
                summary.quality.verified_error = Some(verified.errors);
                summary.quality.verified_means = verified.means;
            }
            Err(why) => summary
                .quality
                .warnings
                .push(format!("the error could not be verified: {why}")),
        }
    }
    match imposing.filter(|_| shared.verify) {
        Some(system) => {
            let warning = format!(
                "the error could not be verified: `{system}` imposes its steps, and cannot be run with others"
            );
            summary.quality.warnings.push(warning);
        }
        None if shared.verify && !summary.completed => {
            summary
                .quality
                .warnings
                .push("the error was not verified, since the run ended early".to_owned());
        }
        None => {}
    }
    pronounce(
        &mut summary,
        scenario,
        &everything,
        &extent,
        &interfaces.into_sink(),
        tolerance,
    );
    Ok(Executed {
        summary,
        trajectory,
    })
}

/// Where the time of FMUs went, in the words of reports.
fn fmi_costs(costs: &[Option<dovetail_fmi::Costs>]) -> Vec<Option<FmiCosts>> {
    let named = |costs: &dovetail_fmi::Costs| FmiCosts {
        step: costs.step,
        values: costs.values,
        state: costs.state,
    };
    costs
        .iter()
        .map(|costs| costs.as_ref().map(named))
        .collect()
}

fn summarize(
    scenario: &Scenario,
    end: RunEnd,
    final_values: Vec<FinalValue>,
    residual: &CouplingResidual<'_>,
) -> RunSummary {
    let interfaces = scenario.connections.interfaces();
    let usual = residual
        .usual(OUTLIERS)
        .map(|(most, (k, i))| (most, interfaces[k].qualified(&interfaces[k].inputs[i].name)));
    let residual_variable = residual
        .worst()
        .map(|(k, i)| interfaces[k].qualified(&interfaces[k].inputs[i].name));
    let message = match &end.ending {
        Ok(Ending::Finished | Ending::Requested { .. }) => None,
        Ok(Ending::Interrupted) => Some(format!(
            "it was interrupted at t = {} s",
            readable(end.reached)
        )),
        Err(error) => Some(error.to_string()),
    };
    let summary = RunSummary {
        method: end.method.to_owned(),
        reason: end.reason,
        step: end.step,
        start: scenario.start_time,
        stop: scenario.stop_time,
        reached: end.reached,
        completed: message.is_none(),
        message,
        systems: SystemWork::of(interfaces, &end.work, &fmi_costs(&end.costs)),
        wall_seconds: end.wall_seconds,
        final_values,
        quality: Quality {
            usual_residual: usual,
            verdict: Verdict::Unknown,
            verdict_reason: String::new(),
            diverged: matches!(
                end.ending,
                Err(Error::BlowUp { .. } | Error::Diverged { .. } | Error::NotFinite { .. })
            ),
            residual: residual.largest(),
            residual_variable,
            estimated_error: end.quality.estimated_error,
            verified_error: None,
            verified_means: Vec::new(),
            interface_error: end.quality.interface_error,
            warnings: end.warnings,
            remarks: end.remarks,
            discrepancy: end.quality.discrepancy,
            kept: end.quality.kept,
            refused: end.quality.refused,
        },
        ..RunSummary::default()
    };
    summary.with_statistics(end.statistics)
}
