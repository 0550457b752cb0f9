//! PETSc's nonlinear solvers, SNES, behind the same trait as our own.
//!
//! The cargo feature `petsc`, off by default, links PETSc (real numbers, 32-bit indices) and Open
//! MPI; on Debian they come with the package `libpetsc-real-dev`. Without the feature this crate is
//! empty.
//!
//! With it, `Petsc::new(size, "-snes_type anderson -snes_anderson_m 30")` makes a solver from
//! PETSc's own options. It serves to check our solvers against an independent implementation, and
//! where the unknowns are many.
#![cfg_attr(
    feature = "petsc",
    doc = "\n\n[`Petsc`] implements [`dovetail_numerics::nonlinear::NonlinearSolver`]."
)]

#[cfg(feature = "petsc")]
mod bindings;
#[cfg(feature = "petsc")]
mod callbacks;
#[cfg(feature = "petsc")]
mod library;
#[cfg(feature = "petsc")]
mod solver;

#[cfg(feature = "petsc")]
pub use library::PetscError;
#[cfg(feature = "petsc")]
pub use solver::Petsc;
