//! Constants that several systems have in common.

/// A system that has a constant, which is a box, as a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedConstant {
    pub constant: String,
    pub system: String,
}
