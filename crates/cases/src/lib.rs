//! The models of `examples/`, with what is known of their solutions, families of models for benchmarks, and further
//! models by which methods are judged.
//!
//! Each model has one source, its file; tests and benchmarks take it from here.

mod allocations;
mod families;
mod known;
mod measured;
mod rough;
mod spread;
mod text;
mod unseen;

pub use allocations::{
    AllocationWatch, Counting, allocations, bytes_in_use, forget_most_bytes, most_bytes_in_use,
};
pub use families::{chain, chain_text, ring};
pub use known::Known;
pub use measured::{Measured, measure_run};
pub use rough::{ROUGH, Rough};
pub use spread::spread;
pub use text::{connections, model};
pub use unseen::{Unseen, unseen};

use dovetail_scenario::{Overrides, Scenario, SourceText};

/// One example.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of its folder.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! case {
    ($name:literal) => {
        Case {
            name: $name,
            text: include_str!(concat!("../../../examples/", $name, "/model.toml")),
        }
    };
}

/// Two mechanical bodies: MISSILES, table 3.
pub const MECHANICAL: Case = case!("mechanical");
/// Predator and prey: MISSILES, table 5.
pub const LOTKA_VOLTERRA: Case = case!("lotka-volterra");
/// Mass, spring and damping reaction: IFOSMONDI-JFM, section 5.
pub const DAMPING_REACTION: Case = case!("damping-reaction");
/// Two masses with a change of behavior: F3ORNITS, section 4.2.
pub const BEHAVIOUR_CHANGE: Case = case!("behaviour-change");
/// Car with controlled speed: F3ORNITS, section 4.1.
pub const CAR: Case = case!("car");
/// Double mass-spring-damper: guaranteed co-simulation, section 5.1.
pub const SPRING: Case = case!("spring");
/// Eleven rooms: guaranteed co-simulation, section 5.2.
pub const ROOMS: Case = case!("rooms");

/// Pump, valve and tank: three nonlinear systems and a loop through feedthrough, of our own.
pub const PUMP_AND_TANK: Case = case!("pump-and-tank");

/// Laub-Loomis: seven enzymes from a box, a benchmark of reachability analysis, cut in two.
pub const LAUB_LOOMIS: Case = case!("laub-loomis");

/// All of them.
pub const ALL: [Case; 9] = [
    MECHANICAL,
    LOTKA_VOLTERRA,
    DAMPING_REACTION,
    BEHAVIOUR_CHANGE,
    CAR,
    SPRING,
    ROOMS,
    PUMP_AND_TANK,
    LAUB_LOOMIS,
];

impl Case {
    /// The text of its file.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The model as it is.
    pub fn scenario(&self) -> Scenario {
        self.with(&[])
    }

    /// The model with some values set, as by `--set`.
    pub fn with(&self, values: &[(&str, f64)]) -> Scenario {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), format!("{value:?}")))
            .collect();
        load(
            self.name,
            self.text,
            &Overrides {
                values,
                ..Overrides::default()
            },
        )
    }

    /// The model with a part of its text replaced, which must be there.
    pub fn edited(&self, from: &str, to: &str) -> Scenario {
        self.rewritten(&[(from, to)])
    }

    /// The model with parts of its text replaced, one after the other; each must be there.
    pub fn rewritten(&self, replacements: &[(&str, &str)]) -> Scenario {
        let mut text = self.text.to_owned();
        for (from, to) in replacements {
            assert!(
                text.contains(from),
                "BUG: the model does not contain {from}"
            );
            text = text.replace(from, to);
        }
        load(self.name, &text, &Overrides::default())
    }
}

pub(crate) fn load(name: &str, text: &str, changes: &Overrides) -> Scenario {
    let source = SourceText {
        path: name.to_owned(),
        text: text.to_owned(),
    };
    Scenario::parse(source, changes).unwrap_or_else(|bad| panic!("BUG: {bad}"))
}
