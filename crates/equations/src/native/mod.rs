//! Models as systems: every capability, since everything is known.

mod definition;
mod dynamics;
mod linear;
mod system;

pub use definition::Definition;
pub(crate) use dynamics::{Dynamics, Point};

pub use system::NativeSystem;
