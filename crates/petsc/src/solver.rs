//! A SNES as one of our solvers.

#![allow(unsafe_code)] // calls of C functions

use std::ffi::{CString, c_int};
use std::panic::resume_unwind;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use dovetail_numerics::nonlinear::{Ending, Equations, NonlinearSolver, SolveOutcome};

use crate::bindings::*;
use crate::callbacks::{Solve, SolveSlot, function, read, test, write};
use crate::library::{PetscError, PetscLock, check, start};

/// What every solver begins with; the options given come later and win. `-snes_mf` asks for
/// products by differences and switches preconditioning off.
const DEFAULT_OPTIONS: &str = "-snes_mf -snes_max_it 50 ";

/// Options live in one table for the whole program, distinguished by a prefix.
static SOLVERS: AtomicUsize = AtomicUsize::new(0);

/// A nonlinear solver of PETSc, chosen and tuned by PETSc's options.
///
/// Convergence is the equations' own criterion: PETSc's tolerances have no effect. Weights are not
/// used.
pub struct Petsc {
    size: usize,
    snes: Snes,
    x: Vector,
    residual: Vector,
    start_residual: Vector,
    /// What callbacks get: its address stays the same.
    slot: Box<SolveSlot<'static>>,
    last: Vec<f64>,
    error: Option<PetscError>,
}

impl Petsc {
    /// A solver for `size` unknowns with `options` such as `"-snes_type anderson -snes_anderson_m
    /// 30"`.
    ///
    /// PETSc ignores options it does not know.
    pub fn new(size: usize, options: &str) -> Result<Self, PetscError> {
        let lock = PetscLock::acquire();
        start(&lock)?;
        let count = c_int::try_from(size).map_err(|_| PetscError::TooLarge { size })?;
        let mut solver = Self {
            size,
            snes: NONE,
            x: NONE,
            residual: NONE,
            start_residual: NONE,
            slot: Box::new(null_mut()),
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
        let slot = (&raw mut *self.slot).cast();
        // SAFETY: PETSc runs and we have the lock; what is created is destroyed with `self`, and
        // the callbacks' context, on the heap, lives until then.
        unsafe {
            check(VecCreateSeq(this_process(), count, &mut self.x))?;
            check(VecDuplicate(self.x, &mut self.residual))?;
            check(VecDuplicate(self.x, &mut self.start_residual))?;
            check(SNESCreate(this_process(), &mut self.snes))?;
            check(SNESSetFunction(self.snes, self.residual, function, slot))?;
            check(SNESSetConvergenceTest(self.snes, test, slot, null()))
        }
    }

    fn configure(&mut self, options: &str) -> Result<(), PetscError> {
        let text = c_string(format!("{DEFAULT_OPTIONS}{options}"))?;
        let number = SOLVERS.fetch_add(1, Ordering::Relaxed);
        let prefix = c_string(format!("dovetail{number}_"))?;

        // SAFETY: all strings end in zero and are copied by PETSc; the table of options is the
        // global one.
        unsafe {
            check(PetscOptionsPrefixPush(NONE, prefix.as_ptr()))?;
            let inserted = check(PetscOptionsInsertString(NONE, text.as_ptr()));
            check(PetscOptionsPrefixPop(NONE))?;
            inserted?;
            check(SNESSetOptionsPrefix(self.snes, prefix.as_ptr()))?;
            check(SNESSetFromOptions(self.snes))
        }
    }

    /// Lets PETSc solve from `x`.
    fn run(&self, x: &mut [f64], residual: &mut [f64], known: bool) -> Result<Solved, PetscError> {
        self.copy_to(self.x, x)?;
        if known {
            self.copy_to(self.start_residual, residual)?;
            // SAFETY: both objects are ours and alive.
            check(unsafe { SNESSetInitialFunction(self.snes, self.start_residual) })?;
        }

        let solved = self.solve(residual)?;
        self.copy_from(self.x, x)?;
        Ok(solved)
    }

    fn copy_to(&self, vector: Vector, values: &[f64]) -> Result<(), PetscError> {
        let copy = |entries: &mut [f64]| entries.copy_from_slice(values);
        write(vector, self.size, copy)
    }

    fn copy_from(&self, vector: Vector, values: &mut [f64]) -> Result<(), PetscError> {
        read(vector, self.size, |entries| values.copy_from_slice(entries))
    }

    fn solve(&self, residual: &mut [f64]) -> Result<Solved, PetscError> {
        let mut reason = 0;
        let mut iterations = 0;
        let mut at_end = NONE;
        // SAFETY: all objects are ours and alive; the solve under way is in its slot.
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
        self.copy_from(at_end, residual)?;

        Ok(Solved {
            reason,
            iterations: iterations.max(0) as usize,
        })
    }
}

/// What PETSc says about a solve.
#[derive(Clone, Copy, Default)]
struct Solved {
    /// Its `SNESConvergedReason`; 0 where the solve failed.
    reason: c_int,
    iterations: usize,
}

fn c_string(text: String) -> Result<CString, PetscError> {
    CString::new(text).map_err(|error| PetscError::ZeroByte {
        position: error.nul_position(),
    })
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
    ) -> SolveOutcome {
        assert_eq!(
            equations.size(),
            self.size,
            "BUG: the solver was made for another number of unknowns"
        );
        let _lock = PetscLock::acquire();
        let mut last = std::mem::take(&mut self.last);
        last.copy_from_slice(x);
        let mut solve = Solve {
            equations,
            evaluations: 0,
            last: &mut last,
            failed: false,
            panic: None,
        };
        *self.slot = (&raw mut solve).cast();
        let result = self.run(x, residual, residual_known);
        *self.slot = null_mut();

        if let Some(panic) = solve.panic.take() {
            resume_unwind(panic);
        }

        let solved = *result.as_ref().unwrap_or(&Solved::default());
        let converged = solved.reason > 0 && solve.equations.converged(x, residual);
        let outcome = SolveOutcome {
            ending: if converged {
                Ending::Converged
            } else {
                ending(solved.reason, result.is_err() || solve.failed)
            },
            iterations: solved.iterations,
            evaluations: solve.evaluations,
            at_last_evaluation: *solve.last == *x,
        };
        self.error = result.err();
        self.last = last;

        outcome
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
        let _lock = PetscLock::acquire();
        // SAFETY: each object is ours, destroyed once, and null is allowed. Errors have nowhere to
        // go.
        unsafe {
            SNESDestroy(&mut self.snes);
            VecDestroy(&mut self.x);
            VecDestroy(&mut self.residual);
            VecDestroy(&mut self.start_residual);
        }
    }
}
