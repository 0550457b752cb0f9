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
mod linearization;
mod path;
mod pool;
mod programs;
mod response;
mod room;
mod shared;
mod sliding;
mod state;
mod stepper;
mod system;
mod trail;
mod watch;

pub use definition::Definition;
pub(crate) use dynamics::{Dynamics, Point};
pub(crate) use programs::Programs;
pub(crate) use shared::{SharedCell, SharedModel};

pub use system::NativeSystem;
