//! The flat path: steps under held inputs as rows of plain numbers, many steps at a time.
//!
//! Where a method holds the newest outputs over each step of its grid, and all systems can be set, stepped and read as numbers, a
//! step needs no signal, no task and no history. Up to 64 such steps are a [`Leg`]. It ends before a step that is out of the
//! ordinary in any way; that step is completed by the systems' ordinary code and reported as tasks.

mod extremes;
mod held_layout;
mod held_steps;
mod leg;
mod plan;

pub use extremes::{FlatRows, LegExtremes};
pub use held_layout::HeldLayout;
pub use held_steps::{Batch, FlatWorkers, HeldSteps, LegEnd, StepsSince};
pub use leg::Leg;
pub use plan::{FeedPlan, PlannedSystem};
