//! What is known of a model without running it, as JSON: what `dovetail check` and `dovetail inspect` print.

mod check;
mod fmu;
mod systems;
mod words;

use dovetail_scenario::{RunOptions, Scenario};
use serde_json::{Value, json};

pub use check::check_findings;
pub use fmu::FoundFmu;
pub use systems::feedthrough;
pub use words::{causality, inputs, is_parameter, nature, slopes};

/// The methods that a model permits.
pub struct PermittedMethods {
    /// All of them.
    pub permitted: Vec<&'static str>,
    /// The one that is chosen where none is named, and why.
    pub chosen: Option<&'static str>,
    /// Why it is.
    pub reason: Option<String>,
}

impl PermittedMethods {
    /// Those of a model, under these options.
    pub fn of(scenario: &Scenario, options: &RunOptions) -> Self {
        // Whether the default step fits is not the question here.
        let chosen = scenario.chosen_method(options).ok();
        let (chosen, reason) = chosen.unzip();

        Self {
            permitted: scenario.permitted_methods(options),
            chosen,
            reason: reason.flatten(),
        }
    }
}

/// What `dovetail inspect --json` prints. Systems that are neither equations nor FMUs have the source `other`.
pub fn inspection(
    scenario: &Scenario,
    fmus: &[FoundFmu<'_>],
    methods: &PermittedMethods,
    other: &str,
) -> Value {
    let fmus: Vec<Value> = fmus.iter().map(FoundFmu::to_json).collect();
    json!({
        "model": scenario.name,
        "start_time": scenario.start_time,
        "stop_time": scenario.stop_time,
        "systems": systems::systems_json(scenario, other),
        "connections": systems::connections_json(scenario),
        "algebraic_loops": scenario.algebraic_loops(),
        "units": fmus,
        "methods": methods.permitted,
        "auto": methods.chosen,
        "reason": methods.reason,
        "warnings": scenario.warnings,
    })
}
