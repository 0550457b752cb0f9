//! Models written out in tests.

use dovetail_scenario::{Overrides, Scenario};

use crate::load;

/// The model of a text that follows `[model]` and its stop time.
pub fn model(stop_time: f64, text: &str) -> Scenario {
    load(
        "model",
        &format!("[model]\nstop-time = {stop_time:?}\n{text}"),
        &Overrides::default(),
    )
}

/// Connections, each written as `from -> to`.
pub fn connections(pairs: &[&str]) -> String {
    let connect = |pair: &&str| {
        let (from, to) = pair.split_once(" -> ").expect("BUG: from -> to");
        format!("[[connections]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
    };
    pairs.iter().map(connect).collect()
}
