//! A run as a page: the answer first, then curves, structure and what the solver did.

mod aliases;
mod banner;
mod curves;
mod events;
pub(crate) mod facts;
mod notes;
pub(crate) mod structure;

use dovetail_core::Connections;
use serde_json::{Value, json};

use crate::page::{Origin, Page, encoded, labeled};
use crate::picture::Picture;
use crate::summary::RunSummary;
use crate::trajectory::Trajectory;
use crate::variables::Selection;
use curves::Curves;

const PAGE: Page = Page {
    sections: concat!(
        include_str!("navigation.html"),
        include_str!("sections.html")
    ),
    script: concat!(include_str!("run.js"), include_str!("begin.js")),
    is_served: false,
};

/// The unit in which models count time.
pub(crate) const TIME_UNIT: &str = "s";

/// What a page of a run shows.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// How it went.
    pub summary: &'a RunSummary,
    /// Who feeds whom.
    pub connections: &'a Connections,
    /// For each system what it is: equations, an FMU.
    pub kinds: &'a [String],
    /// Algebraic loops, each as the stacked positions of its outputs.
    pub loops: &'a [Vec<usize>],
    /// The tolerance of the method, where it has one.
    pub tolerance: Option<f64>,
    /// The variables and signals that were recorded for the page.
    pub selection: &'a Selection,
    /// Their values, with two rows at jumps.
    pub trajectory: &'a Trajectory,
    /// The names of those that are drawn at first; empty: those that fit.
    pub shown: &'a [String],
    /// What was asked of the program.
    pub origin: &'a Origin,
}

impl RunPage<'_> {
    /// The page: one file that loads nothing.
    pub fn render(&self) -> String {
        PAGE.render(self.title(), self.origin, self.content())
    }

    /// What the page shows, as JSON, for a page that is open already.
    pub fn to_json(&self) -> String {
        labeled(self.title(), self.origin, self.content()).to_string()
    }

    /// The variables that are drawn at first as one figure, over time or over the variable `x`.
    pub fn picture(&self, x: Option<&str>) -> Picture {
        Curves::of(self).picture(x)
    }

    fn title(&self) -> &str {
        match self.summary.model.as_str() {
            "" => "A model without a name",
            name => name,
        }
    }

    fn content(&self) -> Value {
        let summary = self.summary;
        let curves = Curves::of(self);
        json!({
            "start": summary.start,
            "stop": summary.stop,
            "timeUnit": TIME_UNIT,
            "wall": summary.wall_seconds,
            "verdict": banner::of(summary),
            "facts": facts::of(self),
            "time": encoded(self.trajectory.times()),
            "variables": curves.variables(),
            "solver": curves.solver(),
            "solverLine": facts::solver_line(self),
            "events": events::of(self),
            "systems": structure::systems(self),
            "connections": structure::connections(self.connections),
            "loops": structure::loops(self),
            "notes": notes::of(self),
        })
    }
}

#[cfg(test)]
mod tests;
