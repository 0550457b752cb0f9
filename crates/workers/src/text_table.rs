//! Texts that travel as numbers.

/// Texts as numbers: what a connection between systems carries is the number of a text in a table of its process.
#[derive(Clone, Copy, Debug)]
pub struct TextTable {
    /// The text that a number stands for.
    pub text: fn(f64) -> String,
    /// The number that stands for a text of the model.
    pub number: fn(&str) -> f64,
    /// The number that stands for a text as long as it is in use.
    pub passing: fn(&str) -> f64,
    /// The text of this number is in use.
    pub keep: fn(f64),
}
