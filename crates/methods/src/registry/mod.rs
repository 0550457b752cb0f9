//! Methods and solvers that describe themselves: name, summary, options, needs, and how they are
//! built.
//!
//! Help, completions, the manual's tables and error messages come from these descriptions. A method
//! is added by implementing [`MethodKind`] and naming it in the list of `standard.rs`, or at run
//! time by [`Registry::with_method`].

pub(crate) mod common;
pub(crate) mod context;
pub(crate) mod kind;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod option;
pub(crate) mod refusal;
pub(crate) mod settings;
pub(crate) mod solver;
