//! The methods that prove bounds.

/// The methods of `dovetail enclose`, with one line about each.
pub const ENCLOSURES: &[(&str, &str)] = &[
    (
        "shared-symbols",
        "affine sets with symbols that all systems share; tight, also over long times",
    ),
    (
        "boxes",
        "systems exchange boxes, and each is integrated by a validated Runge-Kutta scheme",
    ),
];
