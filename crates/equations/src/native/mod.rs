//! Models as systems: every capability, since everything is known.

mod definition;
mod drive;
mod dynamics;
mod failure;
mod linear;
mod response;
mod system;

pub use definition::Definition;
pub(crate) use dynamics::{Dynamics, Point};

pub use system::NativeSystem;
