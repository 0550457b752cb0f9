//! Intervals against true values: no violation, and no more width than there has to be.

mod arithmetic;
mod conventions;
mod elementary;
mod oracle;
mod samples;
