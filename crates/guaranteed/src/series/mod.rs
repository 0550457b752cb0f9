//! Taylor series in time, order by order, over intervals and over forms: one tape for both.
//!
//! A register whose value is free of symbols is a series of intervals; the others are series of
//! forms. Where everything is declared free of symbols, the tape computes interval Taylor series.

mod angle;
mod arithmetic;
pub(crate) mod assumptions;
mod cells;
mod lowering;
mod operation;
mod recursions;
pub(crate) mod tape;

#[cfg(test)]
mod tests;
