//! Why a model is refused.

use dovetail_equations::NotComposable;

use crate::margin::NoMargin;

/// Why a model cannot be enclosed.
#[derive(Debug, thiserror::Error)]
pub enum ProblemError {
    /// The systems cannot be coupled symbolically.
    #[error(transparent)]
    NotComposable(#[from] NotComposable),
    /// There are more states than bounds are computed for.
    #[error("the model has {states} states; bounds are computed for up to {most}")]
    TooLarge {
        /// How many it has.
        states: usize,
        /// How many it may have.
        most: usize,
    },
    /// A system sets states anew at events.
    #[error(
        "`{system}` sets states anew at events (`when \"{condition}\"`): bounds cannot be computed \
         across them yet"
    )]
    Events {
        /// The system.
        system: String,
        /// The condition of its first clause.
        condition: String,
    },
    /// A system delays an input.
    #[error("`{system}` delays its input `{input}`: bounds cannot be computed with delays yet")]
    Delay {
        /// The system.
        system: String,
        /// Its input.
        input: String,
    },
    /// A loop through feedthrough jumps.
    #[error(
        "the loop of {variables} has a jump or a condition in it (sign, floor, ceil, mod, atan2, a \
         comparison): where its unknowns jump nothing can be proved; write it with min, max or \
         abs, or with a condition on time"
    )]
    JumpingLoop {
        /// The variables on the loop.
        variables: String,
    },
    /// A condition that cannot be proved or refuted.
    #[error(transparent)]
    NoMargin(#[from] NoMargin),
    /// The slope of a disturbance is used.
    #[error(
        "`{input}` uses its slope (`der`), and what feeds it depends on a disturbance, which has no \
         slope: nothing can be proved"
    )]
    DisturbedSlope {
        /// The input whose slope is used.
        input: String,
    },
    /// A disturbance acts on a nonlinear loop.
    #[error(
        "a disturbance acts on the loop of {variables}, which is not linear: its unknowns would jump \
         with it; feed the loop by a state, such as that of a filter"
    )]
    DisturbedLoop {
        /// The variables on the loop.
        variables: String,
    },
    /// A loop through feedthrough is singular.
    #[error(
        "the loop of {variables} has no unique solution at the start, so that nothing can be \
         proved about it"
    )]
    SingularLoop {
        /// The variables on the loop.
        variables: String,
    },
}
