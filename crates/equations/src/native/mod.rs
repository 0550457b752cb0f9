//! Models as systems: every capability, since everything is known.

mod branch_update;
mod branches;
mod clauses;
mod definition;
mod delay_line;
mod drive;
mod dynamics;
mod events;
mod failure;
mod linear;
mod response;
mod sliding;
mod system;
mod trail;
mod watch;

pub use definition::Definition;
pub(crate) use dynamics::{Dynamics, Point};

pub use system::NativeSystem;
