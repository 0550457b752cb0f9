//! The monolithic reference: the same equations, coupled algebraically and solved as one system.

mod algebra;
mod compose;
mod reference;

pub use compose::NotComposable;
pub use reference::{Monolithic, Solution};
