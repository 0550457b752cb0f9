//! Bounds that are proved to hold every trajectory.

use dovetail_guaranteed::{
    EnclosureObserver, EnclosureOutcome, Interval, Method, Options, Pieces, enclose as prove,
};
use dovetail_scenario::Scenario;

use crate::error::Error;

/// Proved bounds of all states over a span of time, which may be an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// From when.
    pub from: f64,
    /// To when, inclusive.
    pub to: f64,
    /// The bounds of all states, in the order of [`Enclosure::names`].
    pub states: Vec<Interval>,
}

/// What was proved of a model.
#[derive(Clone, Debug)]
pub struct Enclosure {
    names: Vec<String>,
    bounds: Vec<Bounds>,
    outcome: EnclosureOutcome,
}

impl Enclosure {
    /// The names of all states, `system.state`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The bounds, in the order in which they were proved.
    pub fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    /// Up to when they are proved, and why they end there if that is early.
    pub fn outcome(&self) -> &EnclosureOutcome {
        &self.outcome
    }

    /// The bounds of a state at the end.
    pub fn last(&self, name: &str) -> Option<Interval> {
        let position = self.names.iter().position(|known| known == name)?;
        self.outcome.states.get(position).copied()
    }
}

/// Keeps all bounds.
struct KeptBounds(Vec<Bounds>);

impl EnclosureObserver for KeptBounds {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.tube(time, time, states);
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        self.0.push(Bounds {
            from,
            to,
            states: states.to_vec(),
        });
    }
}

/// Proves bounds for a model given as equations.
pub(crate) fn enclose(scenario: &Scenario) -> Result<Enclosure, Error> {
    let problem = scenario.to_enclose()?;
    let options = Options {
        method: Method::SharedSymbols,
        step: None,
        output_interval: None,
        threads: 1,
        pieces: Pieces::Automatic,
    };
    let mut kept = KeptBounds(Vec::new());
    let outcome = prove(&problem, &options, &mut kept);

    Ok(Enclosure {
        names: problem.names().to_vec(),
        bounds: kept.0,
        outcome,
    })
}
