//! Why a model is refused.

use dovetail_equations::NotComposable;

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
