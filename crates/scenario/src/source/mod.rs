//! What systems are made from: equations, FMUs, and whatever else a program adds.

pub(crate) mod kind;
pub(crate) mod part;
pub(crate) mod system_source;
pub(crate) mod table;
pub(crate) mod takes;
pub(crate) mod value;
