//! Systems given as equations.

pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod text;
