//! What a solver keeps from solve to solve, in a checkpoint.

use dovetail_core::{Archive, Error};
use dovetail_numerics::nonlinear::NonlinearSolver;

/// Writes down what the solver remembers, or reads it back.
pub(crate) fn visit_solver(
    solver: &mut dyn NonlinearSolver,
    archive: &mut Archive,
) -> Result<(), Error> {
    let mut memory = solver.memory();
    archive.field(&mut memory)?;

    if archive.restores() && !solver.recall(&memory) {
        let name = solver.name();
        let reason = format!("what the solver {name} remembers there is of another size");
        return Err(Error::Checkpoint(reason));
    }
    Ok(())
}
