//! What happens to a model in the course of a run: parameters that change, variables that are overridden, an early stop.
//!
//! The events of a model are a system of their own, given as equations with clauses: it watches the conditions, and its outputs
//! say what is in force. They feed parameters that are inputs, and the overrides that stand before and behind systems. So
//! events are located and met as all others are, under every method.

pub(crate) mod conditions;
pub(crate) mod scenario_events;
pub(crate) mod source;
pub(crate) mod system;
mod writer;
