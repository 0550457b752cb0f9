//! Connections with what happens to values on their way.

use std::ops::Range;

use dovetail_core::{Connections, Interface, Mapped, Mapping, Source, System, list_names};

use crate::source::value::Bounds;

/// Connections, and where in the file the source of each input (stacked) was given.
pub(crate) struct Connected {
    pub connections: Connections,
    pub places: Vec<Range<usize>>,
    /// For each system: what happens to its inputs on their way in; empty where nothing does.
    pub mappings: Vec<Vec<Mapping>>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Inputs (stacked) that are left to whoever runs the model.
    pub open: Vec<usize>,
    /// Inputs (stacked) that may be anything within bounds at every instant.
    pub disturbances: Vec<(usize, Bounds)>,
}

/// Puts mappings in front of the systems that have any.
pub(crate) fn finish(
    interfaces: Vec<Interface>,
    sources: Vec<Source>,
    places: Vec<Range<usize>>,
    all: Vec<Mapping>,
    warnings: Vec<String>,
) -> Connected {
    let mut outer = Vec::new();
    let mut mappings = Vec::new();
    let mut rest = all.into_iter();
    for interface in interfaces {
        let own: Vec<Mapping> = rest.by_ref().take(interface.inputs.len()).collect();
        if own.iter().all(|mapping| *mapping == Mapping::Identity) {
            outer.push(interface);
            mappings.push(Vec::new());
        } else {
            outer.push(Mapped::<Box<dyn System>>::outer_interface(&interface, &own));
            mappings.push(own);
        }
    }

    Connected {
        connections: Connections::new(outer, sources),
        places,
        mappings,
        warnings,
        open: Vec::new(),
        disturbances: Vec::new(),
    }
}

/// Inputs that nothing feeds.
pub(crate) fn held_inputs(names: &[String]) -> String {
    let value = if names.len() > 1 {
        "held at their start values"
    } else {
        "held at its start value"
    };
    format!("nothing feeds {}: {value}", list_names(names))
}
