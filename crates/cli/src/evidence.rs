//! What speaks for a result, and against it.

use std::io;

use dovetail_equations::{Defect, Places};
use dovetail_report::{ErrorSource, Extent, Judged, Kind, RunSummary, Selection, Sink, Variable, Verdict, judge};
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

    /// The error of a variable, absolute, where it is known.
    fn error_of(&self, variable: &Variable, scenario: &Scenario) -> Option<f64> {
        let (states, outputs) = self.0.as_ref()?.largest()?;
        let all = if variable.kind == Kind::State { states } else { outputs };
        all.get(variable.stacked(&scenario.connections)).copied()
    }
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
    let verified = summary.quality.verified_error.is_some();
    let known = summary.quality.verified_error.as_ref().or(summary.quality.estimated_error.as_ref());
    let estimate =
        |variable: &Variable| known?.iter().find(|(name, _)| *name == variable.name).map(|(_, error)| error.max);
    let estimated = known.is_some();
    let judged = |(column, variable): (usize, &Variable)| {
        let error = if estimated { estimate(variable) } else { interfaces.error_of(variable, scenario) };
        let (range, grown) = (extent.range(column), extent.growth(column));
        // What has not moved at all has no range to be measured by.
        let share = if range > 0.0 { error? / range } else { 0.0 };
        Some(Judged { name: variable.name.clone(), share, grown })
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
        (true, Some(defect)) if !estimated && defect.largest().is_none() => {
            (Verdict::Unusable, "what its interfaces left open grows beyond all numbers".to_owned(), true)
        }
        (true, _) => judge(&all, source, tolerance),
        _ => (Verdict::Unknown, "nothing is known of its error; --verify finds out".to_owned(), false),
    };
    let quality = &mut summary.quality;
    (quality.verdict, quality.verdict_reason, quality.diverged) = (verdict, reason, diverged);
}
