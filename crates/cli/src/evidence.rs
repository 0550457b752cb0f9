//! What speaks for a result, and against it.

use std::io;

use dovetail_core::readable;
use dovetail_equations::{Defect, Found, Places, Sized};
use dovetail_report::{
    Caveat, ErrorSource, Extent, Judged, Kind, Quality, RunSummary, Selection, Sink, Variable, Verdict, judge,
    significant,
};
use dovetail_scenario::Scenario;

/// Sums up what the interfaces of a run leave open; not there where a system is not given as equations, or there are too many.
pub(crate) struct Interfaces(Option<Defect>);

impl Interfaces {
    /// For a run whose rows have these variables.
    pub fn of(scenario: &Scenario, everything: &Selection) -> Self {
        // Equations have no texts: all their variables are in the rows.
        let Ok(definitions) = scenario.definitions() else { return Self(None) };
        let places: Vec<Places> =
            (0..scenario.connections.systems()).map(|k| places(scenario, everything, k)).collect();
        let span = scenario.stop_time - scenario.start_time;
        Self(Defect::new(&definitions, &scenario.connections, &places, span))
    }

    /// What is known of the errors.
    fn found(&self) -> Option<Found> {
        self.0.as_ref()?.found()
    }
}

/// The error of a variable, absolute, where it is known.
fn error_of(found: &Found, variable: &Variable, scenario: &Scenario) -> Option<Sized> {
    let all = if variable.kind == Kind::State { &found.states } else { &found.outputs };
    all.get(variable.stacked(&scenario.connections)).copied()
}

/// Where the variables of a system are in a row; a state that is an output too has one place.
fn places(scenario: &Scenario, everything: &Selection, system: usize) -> Places {
    let interface = &scenario.connections.interfaces()[system];
    let place = |name: &String| {
        let full = interface.qualified(name);
        everything.variables().iter().position(|variable| variable.name == full).expect("BUG: all variables are there")
    };
    Places {
        states: interface.states.iter().map(place).collect(),
        inputs: interface.inputs.iter().map(|input| place(&input.name)).collect(),
        outputs: interface.outputs.iter().map(|output| place(&output.name)).collect(),
    }
}

impl Sink for Interfaces {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if let Some(defect) = &mut self.0 {
            defect.row(time, values);
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Judges a run by what its method knows of its error, else by what its interfaces left open.
pub(crate) fn pronounce(
    summary: &mut RunSummary,
    scenario: &Scenario,
    everything: &Selection,
    extent: &Extent,
    interfaces: &Interfaces,
    tolerance: Option<f64>,
) {
    if summary.method == "monolithic" {
        let reason = "all equations were solved as one system, to 13 digits".to_owned();
        (summary.quality.verdict, summary.quality.verdict_reason) = (Verdict::Good, reason);
        return;
    }
    if summary.quality.diverged {
        let reason =
            "something grows without bound, in the model or by its coupling: see where the run ended".to_owned();
        (summary.quality.verdict, summary.quality.verdict_reason) = (Verdict::Unusable, reason);
        return;
    }
    let verified = summary.quality.verified_error.is_some();
    let means = &summary.quality.verified_means;
    let known = summary.quality.verified_error.as_ref().or(summary.quality.estimated_error.as_ref());
    let estimate = |variable: &Variable| {
        let place = known?.iter().position(|(name, _)| *name == variable.name)?;
        let max = known?[place].1.max;
        Some(Sized { max, mean: means.get(place).copied().unwrap_or(max) })
    };
    let (estimated, found) = (known.is_some(), interfaces.found());
    let judged = |(column, variable): (usize, &Variable)| {
        let by_interfaces = || error_of(found.as_ref()?, variable, scenario);
        let error = match (estimated, verified) {
            (_, true) => estimate(variable),
            (true, _) => larger(estimate(variable), by_interfaces()),
            _ => by_interfaces(),
        };
        let (range, grown) = (extent.range(column), extent.growth(column));
        // What has not moved at all has no range to be measured by.
        let part = |error: f64| if range > 0.0 { error / range } else { 0.0 };
        let error = error?;
        Some(Judged { name: variable.name.clone(), share: part(error.max), mean: part(error.mean), grown })
    };
    let columns = 0..everything.variables().len();
    let grows = columns.clone().find(|&column| extent.growth(column) > ENORMOUS);
    let caveat = match scenario.jumping() {
        _ if verified => Caveat::None,
        _ if grows.is_some() => {
            let grown = grows.map(|column| everything.variables()[column].name.clone());
            Caveat::Grows(grown.unwrap_or_default())
        }
        Some(system) => Caveat::Switches(system.to_owned()),
        None if found.as_ref().is_some_and(|found| found.coarse) => Caveat::Coarse,
        None => scenario.bending().map_or(Caveat::None, |system| Caveat::Corners(system.to_owned())),
    };
    let variables = everything.variables().iter().enumerate();
    let all: Vec<Judged> = variables.filter(|(_, v)| v.kind != Kind::Input).filter_map(judged).collect();
    let source = match (verified, estimated) {
        (true, _) => ErrorSource::Verified,
        (_, true) => ErrorSource::Estimated,
        _ => ErrorSource::Interfaces,
    };
    let known = estimated || interfaces.0.is_some();
    let (verdict, reason, diverged) = match (known, &interfaces.0) {
        (true, Some(_)) if !estimated && found.is_none() => {
            (Verdict::Unusable, "what its interfaces left open grows beyond all numbers".to_owned(), true)
        }
        (true, _) => judge(&all, source, &caveat, tolerance),
        _ => by_residuals(&summary.quality, extent, everything),
    };
    let reason = if summary.completed {
        reason
    } else {
        format!("until t = {} s, where it ended: {reason}", readable(summary.reached))
    };
    let quality = &mut summary.quality;
    (quality.verdict, quality.verdict_reason, quality.diverged) = (verdict, reason, diverged);
}

/// The larger of two errors, where there are two.
fn larger(one: Option<Sized>, other: Option<Sized>) -> Option<Sized> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.max > one.max { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// What has grown so far since the first third of a run may have diverged, however small its error is beside it.
const ENORMOUS: f64 = 1e8;
/// Inputs that differ from what feeds them by more than this part of its range, and not only now and then, make a result doubtful.
const NOTABLE: f64 = 0.01;
/// Where that is so large, and something has grown so far since the first third of the run, the run has diverged.
const LARGE: f64 = 0.2;
const GROWN: f64 = 1e3;

/// The verdict where nothing is known but by how much inputs differ from the outputs that feed them.
fn by_residuals(quality: &Quality, extent: &Extent, everything: &Selection) -> (Verdict, String, bool) {
    let (usual, input) = quality.usual_residual.clone().unwrap_or_default();
    let grown = everything.variables().iter().enumerate().find(|(column, _)| extent.growth(*column) > GROWN);
    if let (true, Some((_, variable))) = (usual > LARGE, grown) {
        let reason =
            format!("`{}` grows, and `{input}` is far from what feeds it; a shorter step may help", variable.name);
        return (Verdict::Unusable, reason, true);
    }
    if usual > NOTABLE {
        let share = significant(100.0 * usual, 2);
        let reason = format!(
            "`{input}` is often off by up to {share} % of the range of what feeds it; --verify finds the error"
        );
        return (Verdict::Doubtful, reason, false);
    }
    (Verdict::Unknown, "nothing is known of its error; --verify finds out".to_owned(), false)
}
