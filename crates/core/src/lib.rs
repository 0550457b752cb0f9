//! The vocabulary of co-simulation, and the one time loop.
//!
//! ```text
//! Method ──plans inputs──▶ Workers ──Task──▶ System      (a model, an FMU, a process)
//!    ▲                        │
//!    └──dispatch (Φᵀ)◀──Response (values and slopes)
//! Orchestrator: while not finished { method.attempt() → Accepted | Rejected } → Observers
//! ```
//!
//! Only [`Workers::advance`] moves time. A rejected attempt has called [`Workers::trial`],
//! [`Workers::linearize`] and questions about the present, so there is nothing to undo. This crate opens no file, starts no thread and has no `unsafe`.

mod checkpoint;
mod components;
mod connections;
mod driven;
mod error;
mod flat;
pub mod glob;
mod growth;
mod interface;
mod linearization;
mod macro_step;
mod mapped;
mod method;
mod nearest;
mod observer;
mod operators;
mod orchestrator;
mod overridden;
mod past;
mod path;
mod remedy;
mod restricted;
mod shared_list;
mod signal;
mod system;
mod task;
mod workers;
mod wrapping;

pub use checkpoint::{Archive, Checkpoint};
pub use components::components;
pub use connections::{Connections, Source};
pub use driven::{Drive, Driven, DrivenInputs};
pub use error::{Error, list_names, readable};
pub use flat::{
    Batch, FeedPlan, FlatRows, FlatWorkers, HeldLayout, HeldSteps, Leg, LegEnd, LegExtremes,
    PlannedSystem, StepsSince,
};
pub use interface::{Input, Interface, Output, SignalKind};
pub use linearization::{Evaluation, EventGradient, Linearization};
pub use macro_step::{Grid, GridCursor, MacroStep};
pub use mapped::{Mapped, Mapping};
pub use method::{
    Advice, EstimatedError, Exchange, HeldInputs, Kept, Method, MethodQuality, Outcome, Refused,
    visit_method,
};
pub use nearest::nearest;
pub use observer::{Need, Observer};
pub use operators::{OperatorShape, OperatorTask};
pub use orchestrator::{Ending, Orchestrator, RunState, Statistics, check_finite};
pub use overridden::{Overridden, OverriddenPlace, OverriddenVariable, Override};
pub use past::Past;
pub use path::Path;
pub use remedy::{Notice, Remedy};
pub use restricted::{Restricted, Restrictions};
pub use shared_list::SharedList;
pub use signal::{Knot, MAX_DEGREE, Signal};
pub use system::{Capabilities, Evaluate, Linearize, Precision, Presence, StepRule, System, Trial};
pub use task::{EvaluateTask, LinearizeTask, Response, Task};
pub use workers::{Work, Workers, visit_system};
pub use wrapping::{checkpoint_of, evaluation_of, linearization_of, trial_of};
