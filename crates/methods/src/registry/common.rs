//! The options that every run has, and those that several methods share.

use super::option::{OptionSpec, ValueKind};

/// The tolerance of methods that iterate or choose their steps, unless they say otherwise.
pub(crate) const DEFAULT_TOLERANCE: f64 = 1e-6;

/// The coupling tolerance; each method that has one says what its default is.
pub const TOLERANCE: OptionSpec = OptionSpec::positive(
    "tolerance",
    "1e-6",
    "coupling tolerance of methods that iterate or choose their steps",
);

/// The macro-step.
pub const STEP: OptionSpec = OptionSpec::positive(
    "step",
    "1/500 of the run, or chosen",
    "macro-step; predictive, missiles and ifosmondi, which choose their own, keep to it; f3ornits \
     begins with it",
);

/// Tolerance of integrators inside the systems.
pub const INTEGRATOR_TOLERANCE: OptionSpec = OptionSpec {
    key: "integrator-tolerance",
    value: ValueKind::Between(1e-14, 0.1), // double precision has no more
    default: "1e-10; FMUs: a hundredth of the tolerance",
    meaning: "relative tolerance of the integrator inside models given as equations, and of what \
        FMUs are asked for",
};

/// The options that every run has.
pub const COMMON: [OptionSpec; 2] = [STEP, INTEGRATOR_TOLERANCE];

/// The solver of methods that iterate.
pub const SOLVER: OptionSpec = OptionSpec {
    key: "solver",
    value: ValueKind::Solver,
    default: "quasi-newton; anderson where there are over 1000 unknowns",
    meaning: "how ifosmondi solves the coupling",
};
