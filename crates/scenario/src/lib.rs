//! Models made into ready runs, with all checks before the run.
//!
//! `source` is what systems are made from, `equations` and `fmu` two kinds of it; `file`, `structure` and `fmu::alone` read
//! models; `run` sets runs up; `process` is what other processes are asked to do.

mod assembly;
mod blame;
mod bytes;
mod catalog;
mod connected;
#[cfg(feature = "mpi")]
mod cost;
mod diagnostic;
mod enclosure;
mod enclosure_methods;
#[cfg(feature = "mpi")]
mod enclosure_on_ranks;
mod equations;
mod events;
mod expressions;
mod face;
mod face_type;
mod file;
mod fmu;
mod inputs;
mod load;
mod options;
mod overrides;
mod parameter_file;
mod petsc;
mod placement;
mod process;
mod quantity;
mod questions;
mod run;
mod scenario;
mod shared_constant;
mod source;
mod stand_in;
mod standard;
mod structure;
mod times;
mod units;
mod values_of_variables;
mod variation;

pub use assembly::{Assembly, Feed};
pub use catalog::Catalog;
pub use diagnostic::{BadModel, GivenChoice, Problem, SourceText, Subject};
pub use dovetail_fmi::RunCourse;
pub use dovetail_ssp::{DEFAULT_SSD, NotInSsp, SspVersion, write as write_structure};
pub use dovetail_workers::ProcessPool;
#[cfg(feature = "mpi")]
pub use dovetail_workers::{Network, ServiceLink, dismiss_ranks};
pub use enclosure_methods::ENCLOSURES;
#[cfg(feature = "mpi")]
pub use enclosure_on_ranks::enclose_on_ranks;
pub use face::{FaceRole, FaceUnit, FaceVariable};
pub use face_type::FaceType;
pub use inputs::outside::OutsideSignals;
pub use inputs::whole_table::WholeTable;
pub use options::{Choices, RunOptions};
pub use overrides::Overrides;
#[cfg(feature = "mpi")]
pub use placement::RankPlacement;
pub use placement::{Placement, helpers};
#[cfg(feature = "mpi")]
pub use process::rank::{serve_rank, serve_rank_with};
pub use process::worker::serve_worker;
pub use questions::Questions;
pub use run::exchange::{ExchangeKnown, ExchangeModel, ExchangeUnknown, HandledEvent};
pub use run::session::{RunEnd, Session};
pub use run::stepped::{SteppedSession, SteppingError};
pub use run::stepping::SteppedRun;
pub use run::stepping_linearization::OuterLinearization;
pub use scenario::{NoEquations, Scenario};
pub use source::kind::{ReadSystem, Reading, SourceKind};
pub use source::system_source::{
    BuildOptions, Built, KnownEquations, Portable, SingleInstance, StartHabits, SystemSource,
    UnitOfMeasure,
};
pub use source::table::SystemTable;
pub use source::value::Given;
pub use standard::registry;
pub use structure::written::{ComponentFmu, FmuOfModel, ModelStructure};
pub use toml::Spanned;
pub use values_of_variables::seconds_in;
pub use variation::GivenBox;
