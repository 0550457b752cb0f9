//! An enclosure as a page: bands over time, their widths, a table of boxes.

mod banner;

use dovetail_core::Connections;
use dovetail_guaranteed::Interval;
use serde_json::{Value, json};

use crate::band::Band;
use crate::enclosure::EnclosureSummary;
use crate::page::{Origin, Page, encoded, sentence};
use crate::run_page::{TIME_UNIT, structure};
use crate::trajectory::Trajectory;
use crate::tubes::Tubes;

const PAGE: Page = Page {
    sections: include_str!("sections.html"),
    script: include_str!("enclose.js"),
    is_served: false,
};

/// So many pieces of bands are drawn in all, and so many of each at most.
const ALL_PIECES: usize = 200_000;
const MOST_PIECES: usize = 2000;
const LEAST_PIECES: usize = 100;

/// What a page of an enclosure shows.
#[derive(Clone, Copy, Debug)]
pub struct EnclosurePage<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// How it went.
    pub summary: &'a EnclosureSummary,
    /// The boxes over time.
    pub tubes: &'a Tubes,
    /// Who feeds whom.
    pub connections: &'a Connections,
    /// Trajectories that start in the boxes, of states of these names.
    pub samples: &'a [Trajectory],
    /// What was asked of the model, and the answers.
    pub requirements: &'a [AnsweredRequirement],
    /// What was asked of the program.
    pub origin: &'a Origin,
}

/// A requirement and what could be proved of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnsweredRequirement {
    /// As it was written.
    pub text: String,
    /// `proved`, `violated` or `undecided`.
    pub answer: String,
    /// When and how, in a sentence.
    pub remark: String,
}

impl EnclosurePage<'_> {
    /// The page: one file that loads nothing.
    pub fn render(&self) -> String {
        PAGE.render(self.model, self.origin, self.data())
    }

    fn data(&self) -> Value {
        let summary = self.summary;
        let interfaces = self.connections.interfaces().iter();
        let requirements = self.requirements.iter();
        json!({
            "start": summary.start,
            "stop": summary.stop,
            "reached": summary.reached,
            "timeUnit": TIME_UNIT,
            "verdict": banner::of(summary),
            "facts": banner::facts(summary),
            "variables": self.variables(),
            "samples": self.samples.iter().map(sample).collect::<Vec<_>>(),
            "requirements": requirements.map(AnsweredRequirement::data).collect::<Vec<_>>(),
            "systems": interfaces.map(structure::ports).collect::<Vec<_>>(),
            "connections": structure::connections(self.connections),
            "loops": [],
            "notes": self.notes(),
        })
    }

    fn variables(&self) -> Vec<Value> {
        let names = self.tubes.names();
        let most = (ALL_PIECES / names.len().max(1)).clamp(LEAST_PIECES, MOST_PIECES);
        let bands = (0..names.len()).map(|position| self.tubes.band(position, most));
        bands.map(|band| self.variable(&band)).collect()
    }

    fn variable(&self, band: &Band) -> Value {
        let instants = column(&band.instants, |(time, _)| *time);
        let at =
            |bound: fn(&Interval) -> f64| column(&band.instants, move |(_, state)| bound(state));
        let over =
            |bound: fn(&Interval) -> f64| column(&band.tubes, move |(_, _, state)| bound(state));
        json!({
            "name": band.name,
            "unit": self.unit(&band.name),
            "time": instants,
            "lower": at(|state| state.lo),
            "upper": at(|state| state.hi),
            "spans": {
                "from": column(&band.tubes, |(from, _, _)| *from),
                "to": column(&band.tubes, |(_, to, _)| *to),
                "lower": over(|state| state.lo),
                "upper": over(|state| state.hi),
            },
        })
    }

    /// The unit of the output that is this state.
    fn unit(&self, state: &str) -> Option<&str> {
        let mut interfaces = self.connections.interfaces().iter();
        interfaces.find_map(|interface| {
            let rest = state.strip_prefix(&interface.name)?.strip_prefix('.')?;
            let output = interface
                .outputs
                .iter()
                .find(|output| output.name == rest)?;
            output.unit.as_deref()
        })
    }

    fn notes(&self) -> Vec<String> {
        let remarks = self.summary.remarks.iter().map(|remark| sentence(remark));
        let warnings = self.summary.warnings.iter();
        let warnings = warnings.map(|warning| format!("Warning: {}", sentence(warning)));
        remarks.chain(warnings).collect()
    }
}

impl AnsweredRequirement {
    fn data(&self) -> Value {
        json!({ "text": self.text, "answer": self.answer, "remark": self.remark })
    }
}

fn column<T>(rows: &[T], value: impl Fn(&T) -> f64) -> Value {
    let values: Vec<f64> = rows.iter().map(value).collect();
    encoded(&values)
}

fn sample(run: &Trajectory) -> Value {
    let columns = run
        .columns()
        .map(|(name, values)| (name.to_owned(), encoded(values)));
    json!({ "time": encoded(run.times()), "values": Value::Object(columns.collect()) })
}

#[cfg(test)]
mod tests;
