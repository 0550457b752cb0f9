//! The curves of a page: variables of the model, and what the solver reports about itself.

use std::collections::HashMap;

use dovetail_core::{Connections, SignalKind};
use serde_json::{Map, Value, json};

use super::aliases::originals;
use super::{RunPage, TIME_UNIT};
use crate::page::encoded;
use crate::picture::{Curve, Panel, Picture};
use crate::variables::{ERROR, Kind, Variable};

/// So many curves are drawn at first where nobody has chosen.
const MOST_AT_FIRST: usize = 12;

/// The recorded variables as curves.
pub(super) struct Curves<'a> {
    page: &'a RunPage<'a>,
    columns: Vec<&'a [f64]>,
    /// For each variable the one in whose place it is not drawn.
    originals: Vec<Option<usize>>,
    /// For each variable those that are not drawn because of it.
    same: Vec<Vec<usize>>,
    by_name: HashMap<&'a str, usize>,
    /// Columns of estimated errors, by the name of what they belong to.
    errors: HashMap<&'a str, &'a [f64]>,
}

impl<'a> Curves<'a> {
    pub fn of(page: &'a RunPage<'a>) -> Self {
        let variables = page.selection.variables().iter();
        let columns: Vec<&[f64]> = page
            .trajectory
            .columns()
            .map(|(_, values)| values)
            .collect();
        let names = variables.map(|variable| variable.name.as_str());
        let errors = names
            .clone()
            .zip(&columns)
            .filter_map(|(name, values)| Some((name.strip_suffix(ERROR)?, *values)))
            .filter(|(_, values)| values.iter().any(|value| !value.is_nan()))
            .collect();
        let originals = originals(page, &columns);
        let mut same = vec![Vec::new(); columns.len()];
        for (index, original) in originals.iter().enumerate() {
            if let Some(original) = original {
                same[*original].push(index);
            }
        }
        Self {
            page,
            by_name: names
                .enumerate()
                .map(|(index, name)| (name, index))
                .collect(),
            columns,
            originals,
            same,
            errors,
        }
    }

    /// The variables of the model, each signal once.
    pub fn variables(&self) -> Vec<Value> {
        let shown = self.shown();
        let drawn = self.indices().filter(|&index| self.is_drawn(index));
        drawn
            .map(|index| self.variable(index, shown.contains(&index)))
            .collect()
    }

    fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.columns.len()
    }

    fn at(&self, index: usize) -> &'a Variable {
        &self.page.selection.variables()[index]
    }

    fn is_drawn(&self, index: usize) -> bool {
        self.at(index).kind != Kind::Signal && self.originals[index].is_none()
    }

    /// The names under which a signal is known besides.
    fn same(&self, index: usize) -> impl Iterator<Item = usize> {
        self.same[index].iter().copied()
    }

    fn variable(&self, index: usize, shown: bool) -> Value {
        let variable = self.at(index);
        let names: Vec<&str> = self
            .same(index)
            .map(|other| self.at(other).name.as_str())
            .collect();
        let system = &self.page.connections.interfaces()[variable.system].name;
        let mut curve = json!({
            "name": variable.name,
            "system": system,
            "unit": self.unit(index),
            "role": role(variable.kind),
            "values": encoded(self.columns[index]),
            "same": names,
            "shown": shown,
        });
        if is_held(variable, self.page.connections) {
            curve["hold"] = true.into();
            curve["whole"] = is_whole(self.columns[index]).into();
        }
        if let Some(error) = self.error(index) {
            curve["error"] = encoded(error);
        }
        curve
    }

    /// The estimated error of a signal.
    fn error(&self, index: usize) -> Option<&'a [f64]> {
        let name = self.name_with_error(index)?;
        self.errors.get(name).copied()
    }

    /// The first of the names of a signal under which its error is known.
    fn name_with_error(&self, index: usize) -> Option<&'a str> {
        let indices = std::iter::once(index).chain(self.same(index));
        let mut names = indices.map(|index| self.at(index).name.as_str());
        names.find(|name| self.errors.contains_key(name))
    }

    /// Whether a signal is an error that is known under another name of what it belongs to.
    fn is_told_already(&self, signal: &str) -> bool {
        let owner = signal.strip_suffix(ERROR);
        let index = owner.and_then(|owner| self.by_name.get(owner)).copied();
        index.is_some_and(|index| {
            let original = self.originals[index].unwrap_or(index);
            self.name_with_error(original)
                .is_some_and(|name| Some(name) != owner)
        })
    }

    /// The unit of a signal. An input that is fed from elsewhere appears as its source gives it.
    fn unit(&self, index: usize) -> Option<String> {
        let variable = self.at(index);
        let connections = self.page.connections;
        let source = (variable.kind == Kind::Input)
            .then(|| connections.sources()[variable.stacked(connections)].output())
            .flatten();
        let of_source = source.and_then(|output| connections.output(output).unit.clone());
        let of_aliases = || {
            self.same(index)
                .find_map(|other| self.at(other).unit.clone())
        };
        of_source
            .or_else(|| variable.unit.clone())
            .or_else(of_aliases)
    }

    /// What is drawn at first: what was chosen, or else what fits: everything, or connected outputs,
    /// or where nothing is connected outputs before states before inputs.
    fn shown(&self) -> Vec<usize> {
        let drawn: Vec<usize> = self
            .indices()
            .filter(|&index| self.is_drawn(index))
            .collect();
        let chosen = self.page.shown;
        if !chosen.is_empty() {
            let is_chosen = |name: &str| chosen.iter().any(|chosen| chosen == name);
            let known = |&index: &usize| {
                is_chosen(&self.at(index).name)
                    || self
                        .same(index)
                        .any(|other| is_chosen(&self.at(other).name))
            };
            return drawn.into_iter().filter(known).collect();
        }
        if drawn.len() <= MOST_AT_FIRST {
            return drawn;
        }

        let feeds: Vec<usize> = connected(self.page.connections);
        let is_connected = |&index: &usize| {
            let variable = self.at(index);
            variable.kind == Kind::Output
                && feeds.contains(&variable.stacked(self.page.connections))
        };
        let mut first: Vec<usize> = drawn.iter().copied().filter(is_connected).collect();
        if first.is_empty() {
            first = drawn;
            first.sort_by_key(|&index| interest(self.at(index).kind));
        }
        first.truncate(MOST_AT_FIRST);
        first.sort_unstable();
        first
    }

    /// The variables that are drawn at first as a figure, over time or over the variable `x`.
    pub fn picture(&self, x: Option<&str>) -> Picture {
        let over = x.and_then(|name| self.by_name.get(name)).copied();
        let over = over.map(|index| self.originals[index].unwrap_or(index));
        let mut panels: Vec<Panel> = Vec::new();
        for index in self
            .shown()
            .into_iter()
            .filter(|index| Some(*index) != over)
        {
            let title = match self.unit(index) {
                Some(unit) if unit != "1" => format!("[{unit}]"),
                _ => String::new(),
            };
            let curve = self.curve(index, over);
            match panels.iter_mut().find(|panel| panel.title == title) {
                Some(panel) => panel.curves.push(curve),
                None => panels.push(Panel {
                    title,
                    curves: vec![curve],
                }),
            }
        }
        for panel in &mut panels {
            panel.name_alone();
        }
        Picture {
            x_label: over.map_or(format!("time [{TIME_UNIT}]"), |index| self.label(index)),
            panels,
            orbit: over.is_some(),
        }
    }

    fn curve(&self, index: usize, over: Option<usize>) -> Curve {
        let abscissas = over.map_or(self.page.trajectory.times(), |over| self.columns[over]);
        let points = abscissas
            .iter()
            .copied()
            .zip(self.columns[index].iter().copied());
        Curve {
            name: self.at(index).name.clone(),
            points: points.collect(),
            held: over.is_none() && is_held(self.at(index), self.page.connections),
        }
    }

    /// A name with its unit.
    fn label(&self, index: usize) -> String {
        let name = &self.at(index).name;
        match self.unit(index) {
            Some(unit) if unit != "1" => format!("{name} [{unit}]"),
            _ => name.clone(),
        }
    }

    /// What the method reports about itself: sizes of steps first, errors last.
    pub fn solver(&self) -> Vec<Value> {
        let signals = self
            .indices()
            .filter(|&index| self.at(index).kind == Kind::Signal);
        let known =
            signals.filter(|&index| self.columns[index].iter().any(|value| value.is_finite()));
        let once = known.filter(|&index| !self.is_told_already(&self.at(index).name));
        let mut known: Vec<Value> = once.map(|index| self.signal(index)).collect();
        known.sort_by_key(|signal| {
            RANKS.iter().position(|kind| {
                signal["panel"]
                    .as_str()
                    .unwrap_or_default()
                    .starts_with(kind)
            })
        });
        known
    }

    fn signal(&self, index: usize) -> Value {
        let name = self.at(index).name.as_str();
        let (owner, kind) = name.rsplit_once('$').unwrap_or(("", name));
        let owner = owner.trim_end_matches('.');
        let mut signal: Map<String, Value> = match kind {
            "step" => object(
                json!({ "panel": "step", "title": "step size", "unit": TIME_UNIT, "log": true, "hold": "back" }),
            ),
            "degree" => object(
                json!({ "panel": "degree", "title": "degree of the inputs", "hold": "back", "whole": true }),
            ),
            "order" => object(
                json!({ "panel": "order", "title": "order of the inputs", "hold": "back", "whole": true }),
            ),
            "iterations" => object(
                json!({ "panel": "iterations", "title": "iterations", "hold": "back", "whole": true }),
            ),
            "discrepancy" => object(
                json!({ "panel": "discrepancy", "title": "distance from the prediction", "log": true }),
            ),
            "residual" => {
                object(json!({ "panel": "residual", "title": "coupling residual", "log": true }))
            }
            "error" => {
                let unit = self.unit_of(owner);
                let panel = format!("error {}", unit.as_deref().unwrap_or_default());
                object(json!({ "panel": panel, "title": "estimated error", "unit": unit }))
            }
            other => object(json!({ "panel": other, "title": other })),
        };
        let name = if owner.is_empty() { kind } else { owner };
        signal.insert("name".into(), name.into());
        signal.insert("values".into(), encoded(self.columns[index]));
        signal.into()
    }

    /// The unit of what has this name, under whichever of its names that is known.
    fn unit_of(&self, name: &str) -> Option<String> {
        let index = *self.by_name.get(name)?;
        self.unit(self.originals[index].unwrap_or(index))
    }
}

/// The order of the panels of the solver.
const RANKS: [&str; 7] = [
    "step",
    "degree",
    "order",
    "iterations",
    "residual",
    "discrepancy",
    "error",
];

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The most interesting first.
fn interest(kind: Kind) -> usize {
    match kind {
        Kind::Output => 0,
        Kind::State => 1,
        Kind::Input => 2,
        Kind::Signal => 3,
    }
}

fn role(kind: Kind) -> &'static str {
    match kind {
        Kind::Input => "input",
        Kind::State => "state",
        Kind::Output => "output",
        Kind::Signal => "signal",
    }
}

/// Whether a variable jumps and is constant in between.
fn is_held(variable: &Variable, connections: &Connections) -> bool {
    let interface = &connections.interfaces()[variable.system];
    match variable.kind {
        Kind::Input => connections.is_held(variable.stacked(connections)),
        Kind::Output => interface.outputs[variable.position].kind != SignalKind::Continuous,
        Kind::State | Kind::Signal => false,
    }
}

/// Whether a variable takes whole numbers only: its axis then has no ticks between them.
fn is_whole(values: &[f64]) -> bool {
    let mut known = values.iter().filter(|value| value.is_finite());
    known.all(|value| value.fract() == 0.0)
}

/// The outputs that feed an input, as stacked positions.
fn connected(connections: &Connections) -> Vec<usize> {
    let sources = connections.sources().iter();
    sources.filter_map(|source| source.output()).collect()
}
