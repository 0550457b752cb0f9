//! A SNES as one of our solvers.

#![allow(unsafe_code)] // calls of C functions

use std::ffi::{CString, c_int};
use std::panic::resume_unwind;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use dovetail_numerics::nonlinear::{Ending, Equations, NonlinearSolver, Outcome};

use crate::bindings::*;
use crate::callbacks::{Place, Solve, function, read, test, write};
use crate::library::{PetscError, Turn, check, start};

/// What every solver begins with; the options given come later and win. `-snes_mf` asks for products by
/// differences and switches preconditioning off.
const DEFAULT_OPTIONS: &str = "-snes_mf -snes_max_it 50 ";

/// Options live in one table for the whole program, told apart by a prefix.
static SOLVERS: AtomicUsize = AtomicUsize::new(0);

/// A nonlinear solver of PETSc, chosen and tuned by PETSc's options.
///
/// Convergence is the equations' own criterion: PETSc's tolerances have no effect. Weights are not used.
pub struct Petsc {
    size: usize,
    snes: Snes,
    x: Vector,
    residual: Vector,
    start_residual: Vector,
    /// What callbacks get: its address stays the same.
    place: Box<Place<'static>>,
    last: Vec<f64>,
    error: Option<PetscError>,
}

impl Petsc {
    /// A solver for `size` unknowns with `options` such as `"-snes_type anderson -snes_anderson_m 30"`.
    ///
    /// PETSc ignores options it does not know.
    pub fn new(size: usize, options: &str) -> Result<Self, PetscError> {
        let turn = Turn::wait();
        start(&turn)?;
        let count = c_int::try_from(size).map_err(|_| PetscError::TooLarge { size })?;
        let mut solver = Self {
            size,
            snes: NONE,
            x: NONE,
            residual: NONE,
            start_residual: NONE,
            place: Box::new(null_mut()),
            last: vec![0.0; size],
            error: None,
        };
        solver.create(count)?;
        solver.configure(options)?;
        Ok(solver)
    }

    /// Why the last solve failed, where that was PETSc's own error.
    pub fn last_error(&self) -> Option<&PetscError> {
        self.error.as_ref()
    }

    fn create(&mut self, count: c_int) -> Result<(), PetscError> {
        let place = (&raw mut *self.place).cast();
        // SAFETY: PETSc runs and it is our turn; what is created is destroyed with `self`, and the callbacks'
        // context, on the heap, lives until then.
        unsafe {
            check(VecCreateSeq(this_process(), count, &mut self.x))?;
            check(VecDuplicate(self.x, &mut self.residual))?;
            check(VecDuplicate(self.x, &mut self.start_residual))?;
            check(SNESCreate(this_process(), &mut self.snes))?;
            check(SNESSetFunction(self.snes, self.residual, function, place))?;
            check(SNESSetConvergenceTest(self.snes, test, place, null()))
        }
    }

    fn configure(&mut self, options: &str) -> Result<(), PetscError> {
        let text = format!("{DEFAULT_OPTIONS}{options}");
        let zero = |error: std::ffi::NulError| PetscError::ZeroByte {
            position: error.nul_position(),
        };
        let text = CString::new(text).map_err(zero)?;
        let number = SOLVERS.fetch_add(1, Ordering::Relaxed);
        let prefix = CString::new(format!("dovetail{number}_")).map_err(zero)?;
        // SAFETY: all strings end in zero and are copied by PETSc; the table of options is the global one.
        unsafe {
            check(PetscOptionsPrefixPush(NONE, prefix.as_ptr()))?;
            let inserted = check(PetscOptionsInsertString(NONE, text.as_ptr()));
            check(PetscOptionsPrefixPop(NONE))?;
            inserted?;
            check(SNESSetOptionsPrefix(self.snes, prefix.as_ptr()))?;
            check(SNESSetFromOptions(self.snes))
        }
    }

    /// Lets PETSc solve from `x`; returns its reason and the iterations.
    fn run(
        &self,
        x: &mut [f64],
        residual: &mut [f64],
        known: bool,
    ) -> Result<(c_int, usize), PetscError> {
        write(self.x, self.size, |start| start.copy_from_slice(x))?;
        if known {
            write(self.start_residual, self.size, |start| {
                start.copy_from_slice(residual)
            })?;
            // SAFETY: both objects are ours and alive.
            check(unsafe { SNESSetInitialFunction(self.snes, self.start_residual) })?;
        }
        let (mut reason, mut iterations, mut at_end) = (0, 0, NONE);
        // SAFETY: all objects are ours and alive; the solve under way is in its place.
        unsafe {
            check(SNESSolve(self.snes, NONE, self.x))?;
            check(SNESGetConvergedReason(self.snes, &mut reason))?;
            check(SNESGetIterationNumber(self.snes, &mut iterations))?;
            check(SNESGetFunction(
                self.snes,
                &mut at_end,
                null_mut(),
                null_mut(),
            ))?;
        }
        read(self.x, self.size, |end| x.copy_from_slice(end))?;
        read(at_end, self.size, |end| residual.copy_from_slice(end))?;
        Ok((reason, iterations.max(0) as usize))
    }
}

impl NonlinearSolver for Petsc {
    fn name(&self) -> &'static str {
        "petsc"
    }

    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> Outcome {
        assert_eq!(
            equations.size(),
            self.size,
            "BUG: the solver was made for another number of unknowns"
        );
        let _turn = Turn::wait();
        let mut last = std::mem::take(&mut self.last);
        last.copy_from_slice(x);
        let mut solve = Solve {
            equations,
            evaluations: 0,
            last: &mut last,
            failed: false,
            panic: None,
        };
        *self.place = (&raw mut solve).cast();
        let result = self.run(x, residual, residual_known);
        *self.place = null_mut();
        if let Some(panic) = solve.panic.take() {
            resume_unwind(panic);
        }
        let (reason, iterations) = *result.as_ref().unwrap_or(&(0, 0));
        let converged = result.is_ok() && reason > 0 && solve.equations.converged(x, residual);
        let ending = if converged {
            Ending::Converged
        } else {
            ending(reason, result.is_err() || solve.failed)
        };
        let (evaluations, at_last_evaluation) = (solve.evaluations, *solve.last == *x);
        (self.error, self.last) = (result.err(), last);
        Outcome {
            ending,
            iterations,
            evaluations,
            at_last_evaluation,
        }
    }
}

/// What `SNESConvergedReason` says about a solve that did not converge.
fn ending(reason: c_int, failed: bool) -> Ending {
    match reason {
        _ if failed => Ending::Failed,
        -1 | -4 | -10 => Ending::Failed, // outside the domain, not a number
        -2 | -5 => Ending::IterationLimit,
        -9 => Ending::Diverged,
        _ => Ending::Stagnated, // line search, linear solve, local minimum, steps too small
    }
}

impl Drop for Petsc {
    fn drop(&mut self) {
        let _turn = Turn::wait();
        // SAFETY: each object is ours, destroyed once, and null is allowed. Errors have nowhere to go.
        unsafe {
            SNESDestroy(&mut self.snes);
            VecDestroy(&mut self.x);
            VecDestroy(&mut self.residual);
            VecDestroy(&mut self.start_residual);
        }
    }
}
