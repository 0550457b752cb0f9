//! Coupling methods, and the consistent start values from which all of them begin.
//!
//! A method sees systems through `Workers` alone; this crate depends on no source of systems.

mod automatic;
mod chatter;
mod costarica;
mod coupled_linearization;
mod coupling;
mod coupling_residual;
mod divergence;
mod due_tasks;
mod early_stops;
mod elementwise;
mod events;
mod f3ornits;
mod fallback;
mod feeders;
mod finite;
mod gauss_seidel;
mod ifosmondi;
mod imposed_steps;
mod initialization;
mod interface_system;
mod interface_vector;
mod jacobi;
mod missiles;
mod monolithic;
mod near_side;
mod notices;
mod output_derivatives;
mod plan;
mod predictions;
mod predictive;
mod range;
mod ranges;
mod rates;
mod registry;
mod rounded;
mod row_product;
mod saved_steps;
mod shape;
mod solver_memory;
mod standard;
mod state_counts;
mod step_bounds;
mod step_limits;
mod time_scale;

pub use automatic::{AUTO, Chosen, build_watched, choose};
pub use costarica::{Control, Costarica, EstimatorOptions, Form};
pub use coupled_linearization::{CoupledLinearization, NotCoupled, couple};
pub use coupling_residual::CouplingResidual;
pub use f3ornits::{Calibration, F3ornits, F3ornitsOptions, HIGHEST_DEGREE, Scale, StepControl};
pub use fallback::Fallback;
pub use gauss_seidel::GaussSeidel;
pub use ifosmondi::{Criterion, Ifosmondi, IfosmondiOptions};
pub use initialization::{
    LateOutput, StartAssumptions, StartValues, algebraic_loops, initialize, reinitialize,
    start_values,
};
pub use jacobi::Jacobi;
pub use missiles::{Missiles, MissilesOptions};
pub use predictive::{Inputs, Predictive, PredictiveOptions, Relinearize};
pub use registry::common::{COMMON, INTEGRATOR_TOLERANCE, STEP, TOLERANCE};
pub use registry::context::{Context, WholeModel};
pub use registry::kind::{Candidate, MethodKind, Properties, StandIns};
pub use registry::limits::Limits;
pub use registry::list::Registry;
pub use registry::option::{BadOption, Choice, OptionSpec, UnknownName, ValueKind, names_of};
pub use registry::refusal::Refusal;
pub use registry::settings::Settings;
pub use registry::solver::{SolverAdvice, SolverKind};
pub use standard::standard;
pub use step_bounds::StepBounds;
