//! What PETSc calls: the residual and the convergence test.

#![allow(unsafe_code)] // called from C, with C's pointers

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use dovetail_numerics::nonlinear::Equations;

use crate::bindings::{
    Code, NONE, SNESGetFunction, SNESGetSolution, SNESSetFunctionDomainError, Snes, VecGetArray,
    VecGetArrayRead, VecRestoreArray, VecRestoreArrayRead, Vector,
};
use crate::library::{PetscError, check};

/// `SNES_CONVERGED_FNORM_ABS`: the only kind of convergence we report.
const CONVERGED: c_int = 2;
/// `SNES_DIVERGED_FNORM_NAN`.
const NOT_FINITE: c_int = -4;
/// `PETSC_ERR_USER`.
const USER_ERROR: Code = 83;

/// One solve as its callbacks see it.
pub(crate) struct Solve<'a> {
    pub equations: &'a mut dyn Equations,
    pub evaluations: usize,
    /// Where the last evaluation was made.
    pub last: &'a mut [f64],
    /// Whether an evaluation was refused or not finite.
    pub failed: bool,
    /// A panic on its way through PETSc, which must not unwind.
    pub panic: Option<Box<dyn Any + Send>>,
}

impl Solve<'_> {
    fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
        self.evaluations += 1;
        self.last.copy_from_slice(x);
        let evaluated = self.catch(false, |equations| equations.evaluate(x, residual));
        let good = evaluated && residual.iter().all(|value| value.is_finite());
        self.failed |= !good;

        good
    }

    fn judge(&mut self, x: &[f64], residual: &[f64]) -> c_int {
        if residual.iter().any(|value| !value.is_finite()) {
            return NOT_FINITE;
        }

        // After a panic nothing is left to do but to return.
        let converged = self.catch(true, |equations| equations.converged(x, residual));
        if converged { CONVERGED } else { 0 }
    }

    /// Asks the equations; a panic is kept, and the answer is then `otherwise`.
    fn catch(&mut self, otherwise: bool, ask: impl FnOnce(&mut dyn Equations) -> bool) -> bool {
        let answer = catch_unwind(AssertUnwindSafe(|| ask(self.equations)));
        answer.unwrap_or_else(|panic| {
            self.panic = Some(panic);
            otherwise
        })
    }
}

/// Where callbacks find the solve under way: null between solves.
pub(crate) type SolveSlot<'a> = *mut Solve<'a>;

/// The residual, PETSc's `SNESFunction`.
pub(crate) extern "C" fn function(
    snes: Snes,
    x: Vector,
    residual: Vector,
    slot: *mut c_void,
) -> Code {
    // SAFETY: the context given with this function is a `SolveSlot` that lives as long as the SNES,
    // and holds the solve under way whenever PETSc calls back; callbacks do not overlap.
    let Some(solve) = (unsafe { (*slot.cast::<SolveSlot>()).as_mut() }) else {
        return USER_ERROR;
    };
    let size = solve.equations.size();
    let good = read(x, size, |x| {
        write(residual, size, |residual| solve.evaluate(x, residual))
    });

    match good {
        Ok(Ok(true)) => 0,
        // SAFETY: PETSc has just passed this SNES.
        Ok(Ok(false)) => unsafe { SNESSetFunctionDomainError(snes) },
        _ => USER_ERROR,
    }
}

/// The componentwise criterion, PETSc's `SNESConvergenceTestFunction`.
pub(crate) extern "C" fn test(
    snes: Snes,
    _iteration: c_int,
    _x_norm: f64,
    _step_norm: f64,
    _residual_norm: f64,
    reason: *mut c_int,
    slot: *mut c_void,
) -> Code {
    // SAFETY: as in `function`.
    let Some(solve) = (unsafe { (*slot.cast::<SolveSlot>()).as_mut() }) else {
        return USER_ERROR;
    };
    let mut x = NONE;
    let mut residual = NONE;
    // SAFETY: this SNES is the one PETSc is solving with; both vectors are borrowed from it.
    let code = unsafe {
        SNESGetSolution(snes, &mut x).max(SNESGetFunction(
            snes,
            &mut residual,
            null_mut(),
            null_mut(),
        ))
    };
    let size = solve.equations.size();
    let verdict = read(x, size, |x| {
        read(residual, size, |residual| solve.judge(x, residual))
    });
    let (0, Ok(Ok(verdict))) = (code, verdict) else {
        return USER_ERROR;
    };
    // SAFETY: PETSc passes a slot for the reason.
    unsafe { *reason = verdict };

    0
}

/// Lends the entries of a vector of that size.
pub(crate) fn read<T>(
    vector: Vector,
    size: usize,
    use_entries: impl FnOnce(&[f64]) -> T,
) -> Result<T, PetscError> {
    let mut array = null();
    // SAFETY: the vector is sequential and has `size` entries; the array is returned before anyone
    // else asks.
    unsafe {
        check(VecGetArrayRead(vector, &mut array))?;
        let entries = if size == 0 {
            &[]
        } else {
            from_raw_parts(array, size)
        };
        let result = use_entries(entries);
        check(VecRestoreArrayRead(vector, &mut array))?;
        Ok(result)
    }
}

/// Lends the entries of a vector of that size to be written.
pub(crate) fn write<T>(
    vector: Vector,
    size: usize,
    use_entries: impl FnOnce(&mut [f64]) -> T,
) -> Result<T, PetscError> {
    let mut array = null_mut();
    // SAFETY: as in `read`; no other vector shares the array.
    unsafe {
        check(VecGetArray(vector, &mut array))?;
        let entries = if size == 0 {
            &mut []
        } else {
            from_raw_parts_mut(array, size)
        };
        let result = use_entries(entries);
        check(VecRestoreArray(vector, &mut array))?;
        Ok(result)
    }
}
