//! The sources, methods and solvers that the engine has. A new one is a line here, or in the list of methods.

use dovetail_methods::{Registry, standard};

use crate::catalog::Catalog;
use crate::equations::table::EquationsKind;
use crate::events::source::EventsKind;
use crate::fmu::table::FmuKind;
use crate::petsc::PetscKind;

/// The methods and solvers of the engine, PETSc among them.
pub fn registry() -> Registry {
    standard().with_solver(&PetscKind)
}

impl Default for Catalog {
    /// What the engine has.
    fn default() -> Self {
        Self::new(registry(), &EquationsKind)
            .with_source(&FmuKind)
            .with_source(&EventsKind)
    }
}
