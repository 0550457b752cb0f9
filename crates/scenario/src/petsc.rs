//! PETSc's SNES as a solver, in programs that are built with it.

#[cfg(not(feature = "petsc"))]
use dovetail_core::Remedy;
use dovetail_methods::{OptionSpec, Refusal, Settings, SolverKind, ValueKind};
use dovetail_numerics::nonlinear::NonlinearSolver;

const PETSC_OPTIONS: OptionSpec = OptionSpec {
    key: "petsc-options",
    value: ValueKind::Text,
    default: "none",
    meaning: "options of the solver petsc, as PETSc reads them; -snes_type anderson, say",
};

static OPTIONS: [OptionSpec; 1] = [PETSC_OPTIONS];

/// PETSc, as it is chosen.
pub(crate) struct PetscKind;

impl SolverKind for PetscKind {
    fn name(&self) -> &'static str {
        "petsc"
    }

    fn summary(&self) -> &'static str {
        "PETSc's SNES, in programs built with the feature petsc; see petsc-options"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }

    fn build(&self, size: usize, settings: &Settings) -> Result<Box<dyn NonlinearSolver>, Refusal> {
        make(size, settings.text(&PETSC_OPTIONS).unwrap_or(""))
    }
}

#[cfg(feature = "petsc")]
fn make(size: usize, options: &str) -> Result<Box<dyn NonlinearSolver>, Refusal> {
    match dovetail_petsc::Petsc::new(size, options) {
        Ok(solver) => Ok(Box::new(solver)),
        Err(error) => Err(Refusal::new(format!("the solver petsc: {error}"))),
    }
}

#[cfg(not(feature = "petsc"))]
fn make(_size: usize, _options: &str) -> Result<Box<dyn NonlinearSolver>, Refusal> {
    let message = "the solver petsc: this program was built without PETSc, which on Debian is \
                   libpetsc-real-dev";
    let remedies = [
        Remedy::BuildFeature("petsc".to_owned()),
        Remedy::AnotherSolver,
    ];
    Err(Refusal::new(message).with(remedies))
}
