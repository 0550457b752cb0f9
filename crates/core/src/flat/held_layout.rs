//! Where the numbers of a system are in a row.

/// Where the numbers of a system are among those that are read after each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldLayout {
    /// How many inputs it has; they are given in the order of its interface.
    pub inputs: usize,
    /// How many numbers are read.
    pub values: usize,
    /// The place of each output among them.
    pub outputs: Vec<usize>,
    /// The place of each state.
    pub states: Vec<usize>,
}
