//! The models of the papers, and how they are run.

use dovetail::scenario::{Overrides, Scenario, SourceText};
use dovetail::{Compared, Error, Model, Run};

use crate::failure::Failure;

/// A model that is part of the program.
#[derive(Clone, Copy)]
pub(super) struct PaperModel {
    name: &'static str,
    text: &'static str,
}

pub(super) const MECHANICAL: PaperModel = PaperModel {
    name: "mechanical",
    text: include_str!("../../papers/mechanical.toml"),
};
pub(super) const LOTKA_VOLTERRA: PaperModel = PaperModel {
    name: "lotka-volterra",
    text: include_str!("../../papers/lotka-volterra.toml"),
};
pub(super) const DAMPING_REACTION: PaperModel = PaperModel {
    name: "damping-reaction",
    text: include_str!("../../papers/damping-reaction.toml"),
};
pub(super) const BEHAVIOUR_CHANGE: PaperModel = PaperModel {
    name: "behaviour-change",
    text: include_str!("../../papers/behaviour-change.toml"),
};
pub(super) const CAR: PaperModel = PaperModel {
    name: "car",
    text: include_str!("../../papers/car.toml"),
};
pub(super) const SPRING: PaperModel = PaperModel {
    name: "spring",
    text: include_str!("../../papers/spring.toml"),
};
pub(super) const ROOMS: PaperModel = PaperModel {
    name: "rooms",
    text: include_str!("../../papers/rooms.toml"),
};
/// The same as one system.
pub(super) const ROOMS_WHOLE: PaperModel = PaperModel {
    name: "rooms-whole",
    text: include_str!("../../papers/rooms-whole.toml"),
};
pub(super) const PREY_STEP: PaperModel = PaperModel {
    name: "prey-step",
    text: include_str!("../../papers/prey-step.toml"),
};

impl PaperModel {
    /// The model with these values in place of its own.
    pub fn scenario(self, values: &[(&str, f64)]) -> Result<Scenario, Failure> {
        self.scenario_until(values, None)
    }

    /// The same for a run that ends at another time.
    pub fn scenario_until(
        self,
        values: &[(&str, f64)],
        stop_time: Option<f64>,
    ) -> Result<Scenario, Failure> {
        let source = SourceText {
            path: format!("{}.toml", self.name),
            text: self.text.to_owned(),
        };
        let set = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.to_string()));
        let changes = Overrides {
            values: set.collect(),
            stop_time,
            ..Overrides::default()
        };
        Ok(Scenario::parse(source, &changes)?)
    }
}

/// Options of a run, as on the command line.
pub(super) type Choices<'a> = [(&'a str, &'a str)];

/// Runs a model and measures it.
pub(super) fn compared(scenario: Scenario, choices: &Choices<'_>) -> Result<Compared, Failure> {
    let model = Model::of(scenario);
    let mut simulation = model.simulation();
    for (key, value) in choices {
        simulation = simulation.option(key, value);
    }
    simulation.compare().map_err(failed)
}

/// Runs a model and keeps its rows.
pub(super) fn rows(scenario: Scenario, choices: &Choices<'_>) -> Result<Run, Failure> {
    let model = Model::of(scenario);
    let mut simulation = model.simulation();
    for (key, value) in choices {
        simulation = simulation.option(key, value);
    }
    simulation.run().map_err(failed)
}

fn failed(error: Error) -> Failure {
    Failure::EndedEarly(error.to_string())
}

/// The NRMSE of a variable in percent, or that there is none.
pub(super) fn nrmse(done: &Compared, variable: &str) -> f64 {
    let found = done.errors.iter().find(|(name, _)| name == variable);
    found.and_then(|(_, error)| error.nrmse).unwrap_or(f64::NAN)
}

/// The mean of the L2 errors of these variables, in percent.
pub(super) fn mean_l2(done: &Compared, variables: &[&str]) -> f64 {
    let of = |variable: &&str| {
        let found = done.errors.iter().find(|(name, _)| name == variable);
        found.and_then(|(_, error)| error.l2).unwrap_or(f64::NAN)
    };
    variables.iter().map(of).sum::<f64>() / variables.len() as f64
}

/// The order that two errors show, of steps of which one is so many times the other.
pub(super) fn order(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).ln() / ratio.ln()
}
