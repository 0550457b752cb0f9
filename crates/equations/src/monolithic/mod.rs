//! The monolithic reference: the same equations, coupled algebraically and solved as one system.

mod algebra;
mod clauses;
mod compose;
mod events;
mod exchange;
mod outside;
mod reference;

pub use compose::{Coupled, CoupledWhen, NotComposable, compose};
pub use exchange::ExchangeEquations;
pub use reference::{Monolithic, Solution, SteppedSolution};
