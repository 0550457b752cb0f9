//! What speaks for a result, and against it.

use std::collections::HashMap;
use std::io;

use dovetail_core::{Archive, Checkpoint, Error, Notice, Remedy, readable};
use dovetail_equations::{Defect, ErrorEstimate, ErrorSize, RowLayout};
use dovetail_report::{
    Caveat, ErrorSource, Kind, Quality, RunSummary, Selection, Sink, Variable, VariableError,
    VariableRanges, Verdict, judge, significant,
};
use dovetail_scenario::Scenario;

/// Sums up what the interfaces of a run leave open; not there where a system is not given as equations, or there are too many.
pub(crate) struct Interfaces(Option<Defect>);

impl Interfaces {
    /// For a run whose rows have these variables; none where there is nothing to sum up.
    pub fn of(scenario: &Scenario, everything: &Selection) -> Option<Self> {
        // Equations have no texts: all their variables are in the rows.
        let definitions = scenario.definitions().ok()?;
        let names = everything.variables().iter().map(|v| v.name.as_str());
        let columns: HashMap<&str, usize> = names.zip(0..).collect();
        let places: Vec<RowLayout> = (0..scenario.connections.systems())
            .map(|k| places(scenario, &columns, k))
            .collect();
        let span = scenario.stop_time - scenario.start_time;
        let defect = Defect::new(&definitions, &scenario.connections, &places, span)?;

        Some(Self(Some(defect)))
    }

    /// Nothing was looked at.
    pub fn unseen() -> Self {
        Self(None)
    }

    /// What is known of the errors.
    fn found(&self) -> Option<ErrorEstimate> {
        self.0.as_ref()?.found()
    }
}

/// The error of a variable, absolute, where it is known.
fn error_of(found: &ErrorEstimate, variable: &Variable, scenario: &Scenario) -> Option<ErrorSize> {
    let all = if variable.kind == Kind::State {
        &found.states
    } else {
        &found.outputs
    };
    all.get(variable.stacked(&scenario.connections)).copied()
}

/// Where the variables of a system are in a row, given the column of each name; a state that is an
/// output too has one place.
fn places(scenario: &Scenario, columns: &HashMap<&str, usize>, system: usize) -> RowLayout {
    let interface = &scenario.connections.interfaces()[system];
    let place = |name: &String| {
        let full = interface.qualified(name);
        *columns
            .get(full.as_str())
            .expect("BUG: all variables are there")
    };

    RowLayout {
        states: interface.states.iter().map(place).collect(),
        inputs: interface
            .inputs
            .iter()
            .map(|input| place(&input.name))
            .collect(),
        outputs: interface
            .outputs
            .iter()
            .map(|output| place(&output.name))
            .collect(),
    }
}

impl Checkpoint for Interfaces {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.0
            .as_mut()
            .map_or(Ok(()), |defect| defect.visit(archive))
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

/// What has to be known of a run beside its summary.
pub(crate) struct Facts {
    /// The tolerance that the method keeps to, where it has one.
    pub tolerance: Option<f64>,
    /// All equations were solved as one system.
    pub solved_as_one: bool,
}

/// Judges a run by what its method knows of its error, else by what its interfaces left open.
pub(crate) fn pronounce(
    summary: &mut RunSummary,
    scenario: &Scenario,
    everything: &Selection,
    extent: &VariableRanges,
    interfaces: &Interfaces,
    facts: &Facts,
) {
    let (verdict, reason, diverged) = if facts.solved_as_one {
        (
            Verdict::Good,
            "all equations were solved as one system, to 13 digits".into(),
            false,
        )
    } else if summary.quality.diverged {
        let reason = "something grows without bound, in the model or by its coupling: see where the run ended";
        (Verdict::Unusable, reason.into(), true)
    } else {
        let evidence = Evidence {
            quality: &summary.quality,
            scenario,
            everything,
            extent,
            interfaces,
        };
        let (verdict, mut reason, diverged) = evidence.verdict(facts.tolerance);
        if !summary.completed {
            let time = readable(summary.reached);
            reason.text = format!("until t = {time} s, where it ended: {reason}");
        }
        (verdict, reason, diverged)
    };
    let quality = &mut summary.quality;
    (quality.verdict, quality.verdict_reason, quality.diverged) = (verdict, reason, diverged);
}

/// All that is known of the errors of a run.
struct Evidence<'a> {
    quality: &'a Quality,
    scenario: &'a Scenario,
    everything: &'a Selection,
    extent: &'a VariableRanges,
    interfaces: &'a Interfaces,
}

impl Evidence<'_> {
    fn verdict(&self, tolerance: Option<f64>) -> (Verdict, Notice, bool) {
        let source = self.source();
        let found = self.interfaces.found();

        match source {
            ErrorSource::Interfaces if self.interfaces.0.is_none() => self.by_residuals(),
            ErrorSource::Interfaces if found.is_none() => (
                Verdict::Unusable,
                "what its interfaces left open grows beyond all numbers".into(),
                true,
            ),
            _ => judge(
                &self.judged(source, found.as_ref()),
                source,
                &self.caveat(source, found.as_ref()),
                tolerance,
            ),
        }
    }

    /// The best that there is.
    fn source(&self) -> ErrorSource {
        match (&self.quality.verified_error, &self.quality.estimated_error) {
            (Some(_), _) => ErrorSource::Verified,
            (_, Some(_)) => ErrorSource::Estimated,
            _ => ErrorSource::Interfaces,
        }
    }

    /// The errors of all states and outputs of which one is known.
    fn judged(&self, source: ErrorSource, found: Option<&ErrorEstimate>) -> Vec<VariableError> {
        let judged = |(column, variable): (usize, &Variable)| {
            let by_interfaces = || error_of(found?, variable, self.scenario);
            let error = match source {
                ErrorSource::Verified => self.stated(variable),
                // An estimate is carried across events; interfaces only show that there was one.
                ErrorSource::Estimated if self.switches() => self.stated(variable),
                ErrorSource::Estimated => larger(self.stated(variable), by_interfaces()),
                ErrorSource::Interfaces => by_interfaces(),
            }?;
            let range = self.extent.range(column);
            // What has not moved at all has no range to be measured by.
            let part = |error: f64| if range > 0.0 { error / range } else { 0.0 };
            let grown = self.extent.growth(column);
            Some(VariableError {
                name: variable.name.clone(),
                share: part(error.max),
                mean: part(error.mean),
                grown,
            })
        };
        let variables = self.everything.variables().iter().enumerate();
        variables
            .filter(|(_, variable)| variable.kind != Kind::Input)
            .filter_map(judged)
            .collect()
    }

    /// The verified error of a variable or, where there is none, the estimated one.
    fn stated(&self, variable: &Variable) -> Option<ErrorSize> {
        let stated = self
            .quality
            .verified_error
            .as_ref()
            .or(self.quality.estimated_error.as_ref())?;
        let place = stated.iter().position(|(name, _)| *name == variable.name)?;
        let max = stated[place].1.max;

        Some(ErrorSize {
            max,
            mean: self
                .quality
                .verified_means
                .get(place)
                .copied()
                .unwrap_or(max),
        })
    }

    /// What weakens the evidence.
    fn caveat(&self, source: ErrorSource, found: Option<&ErrorEstimate>) -> Caveat {
        if source == ErrorSource::Verified {
            return Caveat::None;
        }
        if let Some(variable) = self.grown_by(ENORMOUS) {
            return Caveat::Grows(variable.to_owned());
        }
        if source == ErrorSource::Estimated && self.switches() {
            return Caveat::None;
        }

        match (self.scenario.jumping(), self.scenario.bending()) {
            (Some(system), _) => Caveat::Switches(system.to_owned()),
            _ if found.is_some_and(|found| found.coarse) => Caveat::Coarse,
            (_, Some(system)) => Caveat::Corners(system.to_owned()),
            _ => Caveat::None,
        }
    }

    /// Whether some system given as equations switches by itself.
    fn switches(&self) -> bool {
        self.scenario.jumping().is_some() || self.scenario.bending().is_some()
    }

    /// A variable that has grown by more than this factor since the first third of the run.
    fn grown_by(&self, factor: f64) -> Option<&str> {
        let mut variables = self.everything.variables().iter().enumerate();
        variables
            .find(|(column, _)| self.extent.growth(*column) > factor)
            .map(|(_, variable)| variable.name.as_str())
    }

    /// The verdict where nothing is known but by how much inputs differ from the outputs that feed them.
    fn by_residuals(&self) -> (Verdict, Notice, bool) {
        let (usual, input) = self.quality.usual_residual.clone().unwrap_or_default();
        if let (true, Some(variable)) = (usual > LARGE, self.grown_by(GROWN)) {
            let reason = format!("`{variable}` grows, and `{input}` is far from what feeds it");
            let reason = Notice::from(reason).with([Remedy::SmallerStep]);
            return (Verdict::Unusable, reason, true);
        }

        if usual > NOTABLE {
            let share = significant(100.0 * usual, 2);
            let reason =
                format!("`{input}` is often off by up to {share} % of the range of what feeds it");
            let reason = Notice::from(reason).with([Remedy::Verify]);
            return (Verdict::Doubtful, reason, false);
        }

        let reason = Notice::from("nothing is known of its error").with([Remedy::Verify]);
        (Verdict::Unknown, reason, false)
    }
}

/// The larger of two errors, where there are two.
fn larger(one: Option<ErrorSize>, other: Option<ErrorSize>) -> Option<ErrorSize> {
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
