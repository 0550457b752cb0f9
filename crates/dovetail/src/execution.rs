//! One run with everything that watches it: rows, the verdict, and the runs that verify it.

mod recorders;
mod written;

use std::sync::atomic::AtomicBool;

use dovetail_core::{Archive, Checkpoint, Ending, Error, Notice, Observer, readable};
use dovetail_fmi::Costs;
use dovetail_methods::CouplingResidual;
use dovetail_report::{
    Envelope, FinalValue, FmiCosts, MOST_ROWS, Quality, Recorder, Rows, RunSummary, Selection,
    Sink, SystemWork, Trajectory, VariableRanges, Variables, Verdict,
};
use dovetail_scenario::{RunEnd, RunOptions, Scenario, Session};

use self::recorders::{Recorders, track};
use self::written::Written;
use crate::checkpoint::{CheckpointPlan, RunCheckpoint};
use crate::evidence::{Facts, Interfaces, pronounce};
use crate::verify::{Thinned, VerificationPlan, verify};

/// A run that chooses its steps has so many rows at least.
pub(crate) const LEAST_ROWS: f64 = 500.0;
/// What interfaces leave open is looked at so often in a run at most.
const SAMPLES: f64 = 2400.0;
/// So large a share of the residuals may be those of jumps.
const OUTLIERS: f64 = 0.02;

/// What is to be kept of a run in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// The selected variables as they are to be looked at: with rows between communication times, and both sides of events.
    #[default]
    Shown,
    /// The same at communication times, where they are measured.
    Measured,
}

/// How a run is watched.
#[derive(Default)]
pub struct Execution<'a> {
    /// What is kept in memory.
    pub keep: Keep,
    /// What is kept for a picture or a page besides: of very many rows the least and largest values of bins.
    pub drawn: Option<Selection>,
    /// Where rows are written besides.
    pub file: Option<RowFile>,
    /// Rows at multiples of this; none: as the run has them.
    pub output_interval: Option<f64>,
    /// The error is found by running again.
    pub verify: bool,
    /// Who else observes every step.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Checkpoints on the way.
    pub checkpoints: Option<CheckpointPlan<'a>>,
}

/// A file of rows.
pub struct RowFile {
    /// Its name, for messages.
    pub name: String,
    /// What writes it.
    pub sink: Box<dyn Sink>,
}

/// What a run leaves behind.
pub struct Executed {
    /// How it ended, what it cost and how good it is.
    pub summary: RunSummary,
    /// The selected variables, where they were to be kept.
    pub trajectory: Option<Trajectory>,
    /// What ended the run early, where that was not an interrupt.
    pub failure: Option<Error>,
    /// The time of the last checkpoint, where any was written.
    pub checkpoint: Option<f64>,
    /// What was to be drawn.
    pub drawn: Option<Drawn>,
    /// The tolerance that the method kept to, where it has one.
    pub tolerance: Option<f64>,
}

/// What was recorded for a picture or a page.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Which variables.
    pub selection: Selection,
    /// Their values, at least five hundred rows, with two at jumps.
    pub trajectory: Trajectory,
}

/// The rows of a run: kept, written, or both.
type Shown = (Option<Trajectory>, Option<Box<dyn Sink>>);

/// So many numbers are kept for a picture at most, some ten million bytes of a page for each million.
const MOST_NUMBERS: usize = 2_000_000;
/// However many variables there are, they have so many rows.
const LEAST_DRAWN: usize = 2000;

/// What has to be known of a session when it is over.
struct SessionFacts {
    facts: Facts,
    imposing: Option<String>,
    plan: VerificationPlan,
}

impl SessionFacts {
    fn of(session: &Session<'_>) -> Self {
        let tolerance = session.tolerance();
        let plan = match session.step() {
            Some(step) => VerificationPlan::Step(step),
            None => VerificationPlan::Tolerance(tolerance.unwrap_or_default()),
        };

        Self {
            facts: Facts {
                tolerance,
                solved_as_one: session.method_properties().solves_as_one,
            },
            imposing: session.imposing().map(str::to_owned),
            plan,
        }
    }
}

impl Execution<'_> {
    /// Runs a session of `scenario`, recording `selection`. Raising `interrupted` ends it after the step under way.
    pub fn run(
        mut self,
        scenario: &Scenario,
        session: Session<'_>,
        options: &RunOptions,
        selection: &Selection,
        interrupted: &AtomicBool,
    ) -> Executed {
        let rows = self.rows(scenario, &session);
        let mut recorders = self.recorders(scenario, &session, selection, &rows);
        if self.checkpoints.is_some() {
            recorders.track = Some(track(scenario, &session, rows));
        }
        self.carry_out(scenario, session, options, recorders, interrupted)
    }

    /// Goes on from a checkpoint to which `session` was [restored](RunCheckpoint::restore): with the rows that the run would have had from there
    /// on, and a summary of all of it.
    pub fn resume(
        mut self,
        scenario: &Scenario,
        session: Session<'_>,
        options: &RunOptions,
        selection: &Selection,
        interrupted: &AtomicBool,
        from: &RunCheckpoint,
    ) -> Result<Executed, Error> {
        let rows = self
            .output_interval
            .map_or_else(|| from.rows.clone(), Rows::Every);
        let mut recorders = self.recorders(scenario, &session, selection, &rows);
        recorders.track = Some(track(scenario, &session, from.rows.clone()));
        let mut archive = Archive::reader(from.recorders.clone());
        recorders.visit(&mut archive)?;
        archive.finish()?;

        recorders.take_up();
        if self.checkpoints.is_none() {
            recorders.track = None;
        }
        Ok(self.carry_out(scenario, session, options, recorders, interrupted))
    }

    /// The times of rows.
    fn rows(&self, scenario: &Scenario, session: &Session<'_>) -> Rows {
        let span = scenario.stop_time - scenario.start_time;
        match self.output_interval {
            Some(interval) => Rows::Every(interval),
            None if session.chooses_steps() => Rows::AtMost(span / LEAST_ROWS),
            None => Rows::Communications,
        }
    }

    fn carry_out(
        mut self,
        scenario: &Scenario,
        mut session: Session<'_>,
        options: &RunOptions,
        mut recorders: Recorders<'_>,
        interrupted: &AtomicBool,
    ) -> Executed {
        let SessionFacts {
            facts,
            imposing,
            plan,
        } = SessionFacts::of(&session);
        let everything = Variables::of(&scenario.connections).everything();
        let mut written = Written::default();
        let ending = self.drive(
            scenario,
            &mut session,
            &mut recorders,
            &mut written,
            interrupted,
        );
        let end = session.conclude(ending, &mut recorders.observers(&mut self.observers));
        let values = FinalValue::of(&everything, recorders.extent.last_row());
        let extent = recorders.extent.into_sink();
        let mut summary = summarize(scenario, &end, values, &recorders.residual);
        summary.quality.warnings.extend(written.failure);

        if self.verify {
            let sampled = recorders.sampled.map(Recorder::into_sink);
            let sampled = sampled.filter(|_| !facts.solved_as_one);
            let again = |known: &Trajectory| {
                verify(scenario, options, &everything, known, &plan, interrupted)
            };
            add_verification(&mut summary, sampled, imposing, again);
        }

        let interfaces = recorders.interfaces.map(Recorder::into_sink);
        let interfaces = interfaces.unwrap_or_else(Interfaces::unseen);
        pronounce(
            &mut summary,
            scenario,
            &everything,
            &extent,
            &interfaces,
            &facts,
        );
        let shown = recorders.shown.and_then(|shown| shown.into_sink().0);
        let measured = recorders.measured.map(Recorder::into_sink);
        let drawn = recorders.drawn.map(|drawn| drawn.into_sink().into_rows());
        let drawn = self.drawn.zip(drawn);

        Executed {
            summary,
            trajectory: measured.or(shown),
            failure: end.ending.err(),
            drawn: drawn.map(|(selection, trajectory)| Drawn {
                selection,
                trajectory,
            }),
            tolerance: facts.tolerance,
            checkpoint: written.time,
        }
    }

    /// To the end, with checkpoints on the way.
    fn drive(
        &mut self,
        scenario: &Scenario,
        session: &mut Session<'_>,
        recorders: &mut Recorders<'_>,
        written: &mut Written,
        interrupted: &AtomicBool,
    ) -> Result<Ending, Error> {
        let stop = scenario.stop_time;
        loop {
            let next =
                |plan: &CheckpointPlan<'_>| plan.next(scenario.start_time, session.reached());
            let until = self.checkpoints.as_ref().map_or(stop, next).min(stop);
            let mut watching = recorders.observers(&mut self.observers);
            let ending = session.proceed(until, &mut watching, interrupted)?;
            drop(watching);
            let reached = session.reached();
            let over = ending != Ending::Finished || reached >= stop || reached < until;

            // A system that has asked for the end of the run is not to be asked for more.
            let resumable = !matches!(ending, Ending::Requested { .. });
            if let (Some(plan), true) = (&mut self.checkpoints, resumable) {
                written.add(plan, session, recorders);
            }
            if over {
                return Ok(ending);
            }
        }
    }

    fn recorders<'a>(
        &mut self,
        scenario: &'a Scenario,
        session: &Session<'_>,
        selection: &Selection,
        rows: &Rows,
    ) -> Recorders<'a> {
        let connections = &scenario.connections;
        let everything = &Variables::of(connections).everything();
        let extent = VariableRanges::new(scenario.start_time, scenario.stop_time);
        let measured = (self.keep == Keep::Measured).then(|| Trajectory::of(selection));
        let sampled = self.verify && session.imposing().is_none();
        let sampled = sampled.then(|| Thinned::new(everything));

        Recorders {
            extent: Recorder::new(connections, everything, extent, "final values"),
            residual: CouplingResidual::new(connections),
            interfaces: (!session.estimates_error())
                .then(|| interface_recorder(scenario, everything))
                .flatten(),
            shown: self.shown(scenario, selection, rows),
            drawn: self
                .drawn
                .as_ref()
                .map(|selection| drawn_recorder(scenario, selection)),
            measured: measured.map(|kept| {
                Recorder::new(connections, selection, kept, "the results").with_both_sides()
            }),
            sampled: sampled.map(|kept| Recorder::new(connections, everything, kept, "memory")),
            track: None,
        }
    }

    fn shown(
        &mut self,
        scenario: &Scenario,
        selection: &Selection,
        rows: &Rows,
    ) -> Option<Recorder<Shown>> {
        let kept = (self.keep == Keep::Shown).then(|| Trajectory::of(selection));
        let file = self.file.take();
        if kept.is_none() && file.is_none() {
            return None;
        }

        let (name, written) = match file {
            Some(file) => (file.name, Some(file.sink)),
            None => ("the results".to_owned(), None),
        };
        let recorder = Recorder::new(&scenario.connections, selection, (kept, written), name);

        Some(recorder.with_rows(rows.clone()).with_both_sides())
    }
}

/// Rows that follow the run closely, however long its steps are.
fn drawn_recorder(scenario: &Scenario, selection: &Selection) -> Recorder<Envelope> {
    let columns = selection.variables().len().max(1);
    let most = (MOST_NUMBERS / columns).clamp(LEAST_DRAWN, MOST_ROWS);
    let kept = Envelope::new(Trajectory::of(selection), most);
    let span = scenario.stop_time - scenario.start_time;
    let recorder = Recorder::new(&scenario.connections, selection, kept, "the curves to draw");
    recorder
        .with_rows(Rows::AtMost(span / LEAST_ROWS))
        .with_both_sides()
}

/// None where there is nothing to be looked at.
fn interface_recorder(scenario: &Scenario, everything: &Selection) -> Option<Recorder<Interfaces>> {
    let spacing = (scenario.stop_time - scenario.start_time) / SAMPLES;
    let interfaces = Interfaces::of(scenario, everything)?;
    let recorder = Recorder::new(&scenario.connections, everything, interfaces, "the verdict");
    Some(recorder.with_rows(Rows::Gauss(spacing)))
}

/// Adds the error that other runs show, or why there is none.
fn add_verification(
    summary: &mut RunSummary,
    sampled: Option<Thinned>,
    imposing: Option<String>,
    again: impl FnOnce(&Trajectory) -> Result<crate::verify::Verified, Notice>,
) {
    let quality = &mut summary.quality;
    if let Some(system) = imposing {
        let warning = format!(
            "the error could not be verified: `{system}` imposes its steps, and cannot be run with others"
        );
        quality.warnings.push(warning.into());
        return;
    }

    if !summary.completed {
        let warning = "the error was not verified, since the run ended early";
        quality.warnings.push(warning.into());
        return;
    }

    let Some(known) = sampled else {
        return;
    };
    match again(known.rows()) {
        Ok(verified) => {
            let remark = format!("the error was verified {}", verified.how);
            quality.remarks.push(remark);
            quality.verified_error = Some(verified.errors);
            quality.verified_means = verified.means;
        }
        Err(why) => {
            let warning = format!("the error could not be verified: {why}");
            quality
                .warnings
                .push(Notice::from(warning).with(why.remedies));
        }
    }
}

/// Where the time of FMUs went, in the words of reports.
fn fmi_costs(costs: &[Option<Costs>]) -> Vec<Option<FmiCosts>> {
    let named = |costs: &Costs| FmiCosts {
        step: costs.step,
        values: costs.values,
        state: costs.state,
    };
    costs
        .iter()
        .map(|costs| costs.as_ref().map(named))
        .collect()
}

/// Why a run ended before its time, if it did.
fn message(end: &RunEnd) -> Option<Notice> {
    match &end.ending {
        Ok(Ending::Finished | Ending::Requested { .. }) => None,
        Ok(Ending::Interrupted) => {
            let time = readable(end.reached);
            Some(format!("it was interrupted at t = {time} s").into())
        }
        Err(error) => Some(Notice::from(error)),
    }
}

fn summarize(
    scenario: &Scenario,
    end: &RunEnd,
    final_values: Vec<FinalValue>,
    residual: &CouplingResidual<'_>,
) -> RunSummary {
    let interfaces = scenario.connections.interfaces();
    let message = message(end);
    let summary = RunSummary {
        model: scenario.name.clone(),
        method: end.method.to_owned(),
        reason: end.reason.clone(),
        workers: end.workers.clone(),
        step: end.step,
        start: scenario.start_time,
        stop: scenario.stop_time,
        reached: end.reached,
        completed: message.is_none(),
        message,
        systems: SystemWork::of(interfaces, &end.work, &fmi_costs(&end.costs)),
        wall_seconds: end.wall_seconds,
        final_values,
        ..RunSummary::default()
    };
    let summary = summary.with_statistics(end.statistics);

    RunSummary {
        quality: quality(scenario, end, residual),
        ..summary
    }
}

/// What is known of the quality of a run before it is judged.
fn quality(scenario: &Scenario, end: &RunEnd, residual: &CouplingResidual<'_>) -> Quality {
    let interfaces = scenario.connections.interfaces();
    let input = |(k, i): (usize, usize)| interfaces[k].qualified(&interfaces[k].inputs[i].name);
    let usual = residual.usual(OUTLIERS);
    let diverged = matches!(
        end.ending,
        Err(Error::BlowUp { .. } | Error::Diverged { .. } | Error::NotFinite { .. })
    );

    let known = &end.quality;

    Quality {
        usual_residual: usual.map(|(most, place)| (most, input(place))),
        verdict: Verdict::Unknown,
        verdict_reason: Notice::default(),
        diverged,
        residual: residual.largest(),
        residual_variable: residual.worst().map(input),
        estimated_error: known.estimated_error.clone(),
        verified_error: None,
        verified_means: Vec::new(),
        interface_error: known.interface_error,
        step_sizes: known.step_sizes,
        warnings: end.warnings.clone(),
        remarks: end.remarks.clone(),
        details: end.details.clone(),
        discrepancy: known.discrepancy.clone(),
        kept: known.kept,
        refused: known.refused,
    }
}
