//! Coupling methods, and the consistent start values from which all of them begin.
//!
//! A method sees systems through `Workers` alone; this crate depends on no source of systems.

mod costarica;
mod coupling;
mod divergence;
mod dovetail;
mod early_stops;
mod f3ornits;
mod fallback;
mod gauss_seidel;
mod global;
mod ifosmondi;
mod initialization;
mod jacobi;
mod missiles;
mod near_side;
mod plan;
mod predictions;
mod ranges;
mod rates;
mod shape;

pub use costarica::{Control, Costarica, EstimatorOptions, Form};
pub use dovetail::{Dovetail, DovetailOptions, Inputs, Relinearize, StepBounds};
pub use f3ornits::{Calibration, F3ornits, F3ornitsOptions, HIGHEST_DEGREE, Scale, Steering};
pub use fallback::Fallback;
pub use gauss_seidel::GaussSeidel;
pub use ifosmondi::{Criterion, Ifosmondi, IfosmondiOptions};
pub use initialization::{
    Beforehand, Late, StartValues, algebraic_loops, initialize, reinitialize, start_values,
};
pub use jacobi::Jacobi;
pub use missiles::{Missiles, MissilesOptions};
