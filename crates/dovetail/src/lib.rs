//! Dovetail couples simulators (FMUs, system structures, models written as equations, systems of your own) so that their
//! interfaces really meet.
//!
//! # Run a model
//!
//! ```
//! # fn main() -> Result<(), dovetail::Error> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lotka-volterra/model.toml");
//! let model = dovetail::Model::load(path)?;
//! let run = model.run()?;
//! println!("{} ends at {:.3}", run.summary().method, run.last("prey.p")?);
//! # Ok(())
//! # }
//! ```
//!
//! [`Model::simulation`] has the choices: the method and its options, what is recorded, observers, where systems live.
//!
//! # Couple systems of your own
//!
//! ```
//! use dovetail::{Coupling, Error, FnSystem};
//!
//! fn main() -> Result<(), Error> {
//!     let [mut speed, mut x] = [0.0, 1.0];
//!     let mass = FnSystem::new("mass", &["force"], &["x"], move |step, input, output| {
//!         speed += step.size() * input[0];
//!         x += step.size() * speed;
//!         output[0] = x;
//!     });
//!     let spring = FnSystem::new("spring", &["x"], &["force"], |_, input, output| output[0] = -input[0]);
//!     let coupling = Coupling::new().system(mass).system(spring.with_feedthrough());
//!     let coupling = coupling.connect("mass.x", "spring.x").connect("spring.force", "mass.force");
//!     let run = coupling.method("gauss-seidel").option("step", 0.001).run(0.0..10.0)?;
//!     println!("after ten seconds: {}", run.last("mass.x")?);
//!     Ok(())
//! }
//! ```
//!
//! A system that can do more (answer "what if", be linearized, follow inputs that change within a step) implements
//! [`System`] itself: every capability it has permits better methods.
//!
//! # What is behind it
//!
//! [`Checkpoint`] is what a run was at one of its communication times, from where it can go on; [`Model::sweep`] makes many runs with other values each,
//! [`Model::fit`] finds the values that are nearest to measured data.
//!
//! [`core`] is the vocabulary, [`methods`] has the coupling methods, [`scenario`] reads models and sets runs up, [`report`]
//! writes results, [`study`] has designs and sensitivities, [`equations`], [`fmi`] and [`guaranteed`] are what their names say.

mod checkpoint;
mod comparison;
mod coupling;
mod enclosure;
mod error;
mod evidence;
mod execution;
pub mod export;
pub mod findings;
mod fit;
mod fn_system;
mod linearization;
mod model;
mod option_tables;
mod page;
mod real_time;
mod run;
mod run_at;
mod samples;
mod simulation;
mod sweep;
mod sweep_elsewhere;
mod system_structure;
mod verify;

pub use dovetail_core as core;
pub use dovetail_equations as equations;
pub use dovetail_fmi as fmi;
pub use dovetail_guaranteed as guaranteed;
pub use dovetail_methods as methods;
pub use dovetail_report as report;
pub use dovetail_scenario as scenario;
pub use dovetail_study as study;

pub use dovetail_core::{Interface, MacroStep, Notice, Observer, Remedy, Response, Signal, System};
pub use dovetail_report::{RunSummary, Verdict};
pub use dovetail_scenario::serve_worker;

pub use checkpoint::{
    Checkpoint, CheckpointError, CheckpointPlan, KeepCheckpoint, RunCheckpoint, fingerprint,
};
pub use comparison::Compared;
pub use coupling::Coupling;
pub use enclosure::{Bounds, Enclosure};
pub use error::Error;
pub use execution::{Drawn, Executed, Execution, Keep, RowFile};
pub use fit::Fit;
pub use fn_system::FnSystem;
pub use linearization::linearize;
pub use model::{Model, ModelBuilder};
pub use option_tables::{option_table, option_tables};
pub use page::{begun_page_json, drawn_selection, run_page, run_page_json, run_picture};
pub use real_time::RealTime;
pub use run::Run;
pub use samples::sampled_trajectories;
pub use simulation::Simulation;
pub use sweep::{Sweep, SweepStops, SweptRun};
pub use sweep_elsewhere::{OtherPlaces, answer_run};
pub use system_structure::{PackedFmu, SspError, SspOptions, WrittenSsp, write_ssp};
