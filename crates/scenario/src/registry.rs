//! The methods and solvers that models can be run by.

use dovetail_methods::{Registry, standard};

use crate::petsc::PetscKind;

/// The methods and solvers of the engine, and PETSc.
pub fn registry() -> Registry {
    standard().with_solver(&PetscKind)
}
