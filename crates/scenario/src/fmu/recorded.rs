//! Which variables of an FMU are recorded that no run shows by itself.

use dovetail_core::glob;
use dovetail_fmi::description::{Causality, Description, Variable};

/// The variables of an FMU that are asked for by these patterns and that no run shows by itself. A pattern with wildcards that fits
/// an input, an output or a state means those. A single FMU's variables can be named without its name.
pub(crate) fn recorded(
    name: &str,
    description: &Description,
    patterns: &[String],
    alone: bool,
) -> Vec<String> {
    let shown = |v: &Variable| matches!(v.causality, Causality::Input | Causality::Output);
    let states = description.structure.derivatives.iter();
    let states: Vec<usize> = states
        .filter_map(|u| description.variables[u.variable].derivative_of)
        .collect();
    let hidden = description
        .variables
        .iter()
        .enumerate()
        .filter(|(k, v)| !shown(v) && !states.contains(k));
    let hidden: Vec<&str> = hidden.map(|(_, v)| v.name.as_str()).collect();
    let fits = |pattern: &str, variable: &str| {
        glob::matches(pattern, &format!("{name}.{variable}"))
            || (alone && glob::matches(pattern, variable))
    };
    let known = |pattern: &&String| {
        let mut all = description
            .variables
            .iter()
            .enumerate()
            .filter(|(k, v)| shown(v) || states.contains(k));
        !all.any(|(_, v)| fits(pattern, &v.name))
    };
    let wanted: Vec<&String> = patterns.iter().filter(known).collect();
    let is_wanted = |variable: &&&str| wanted.iter().any(|pattern| fits(pattern, variable));

    hidden
        .iter()
        .filter(is_wanted)
        .map(|variable| (*variable).to_owned())
        .collect()
}
