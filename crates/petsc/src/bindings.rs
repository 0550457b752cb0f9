//! The functions of PETSc 3.18 that we call, declared by hand from its headers.
//!
//! For a build with real scalars, double precision and 32-bit indices, on Open MPI, as Debian's
//! `libpetsc-real`: there `PetscScalar` is `double`, `PetscInt` and `PetscErrorCode` are `int`, and
//! `MPI_Comm` is a pointer.

#![allow(unsafe_code)] // declarations of C functions
#![allow(non_snake_case)] // PETSc's names

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{addr_of, null_mut};

pub(crate) type Code = c_int;
pub(crate) type Communicator = *const c_void;
pub(crate) type Snes = *mut c_void;
pub(crate) type Vector = *mut c_void;

/// `PetscErrorCode (*)(SNES, Vec, Vec, void *)`.
pub(crate) type Function = extern "C" fn(Snes, Vector, Vector, *mut c_void) -> Code;
/// `PetscErrorCode (*)(SNES, PetscInt, PetscReal, PetscReal, PetscReal, SNESConvergedReason *, void
/// *)`.
pub(crate) type ConvergenceTest =
    extern "C" fn(Snes, c_int, f64, f64, f64, *mut c_int, *mut c_void) -> Code;
/// `PetscErrorCode (*)(MPI_Comm, int, const char *, const char *, PetscErrorCode, PetscErrorType,
/// const char *, void *)`.
pub(crate) type ErrorHandler = extern "C" fn(
    Communicator,
    c_int,
    *const c_char,
    *const c_char,
    Code,
    c_int,
    *const c_char,
    *mut c_void,
) -> Code;

unsafe extern "C" {
    /// Open MPI's object behind `MPI_COMM_SELF`.
    static ompi_mpi_comm_self: c_void_object;

    pub(crate) fn PetscInitialize(
        count: *mut c_int,
        arguments: *mut *mut *mut c_char,
        file: *const c_char,
        help: *const c_char,
    ) -> Code;
    pub(crate) fn PetscPushErrorHandler(
        handler: Option<ErrorHandler>,
        context: *mut c_void,
    ) -> Code;
    pub(crate) fn PetscOptionsPrefixPush(options: *mut c_void, prefix: *const c_char) -> Code;
    pub(crate) fn PetscOptionsPrefixPop(options: *mut c_void) -> Code;
    pub(crate) fn PetscOptionsInsertString(options: *mut c_void, text: *const c_char) -> Code;

    pub(crate) fn VecCreateSeq(
        communicator: Communicator,
        size: c_int,
        vector: *mut Vector,
    ) -> Code;
    pub(crate) fn VecDuplicate(vector: Vector, copy: *mut Vector) -> Code;
    pub(crate) fn VecDestroy(vector: *mut Vector) -> Code;
    pub(crate) fn VecGetArray(vector: Vector, array: *mut *mut f64) -> Code;
    pub(crate) fn VecRestoreArray(vector: Vector, array: *mut *mut f64) -> Code;
    pub(crate) fn VecGetArrayRead(vector: Vector, array: *mut *const f64) -> Code;
    pub(crate) fn VecRestoreArrayRead(vector: Vector, array: *mut *const f64) -> Code;

    pub(crate) fn SNESCreate(communicator: Communicator, snes: *mut Snes) -> Code;
    pub(crate) fn SNESDestroy(snes: *mut Snes) -> Code;
    pub(crate) fn SNESSetOptionsPrefix(snes: Snes, prefix: *const c_char) -> Code;
    pub(crate) fn SNESSetFromOptions(snes: Snes) -> Code;
    pub(crate) fn SNESSetFunction(
        snes: Snes,
        residual: Vector,
        function: Function,
        context: *mut c_void,
    ) -> Code;
    pub(crate) fn SNESSetConvergenceTest(
        snes: Snes,
        test: ConvergenceTest,
        context: *mut c_void,
        destroy: *const c_void,
    ) -> Code;
    pub(crate) fn SNESSetInitialFunction(snes: Snes, residual: Vector) -> Code;
    pub(crate) fn SNESSetFunctionDomainError(snes: Snes) -> Code;
    pub(crate) fn SNESSolve(snes: Snes, right_hand_side: Vector, solution: Vector) -> Code;
    pub(crate) fn SNESGetSolution(snes: Snes, solution: *mut Vector) -> Code;
    pub(crate) fn SNESGetFunction(
        snes: Snes,
        residual: *mut Vector,
        function: *mut c_void,
        context: *mut *mut c_void,
    ) -> Code;
    pub(crate) fn SNESGetConvergedReason(snes: Snes, reason: *mut c_int) -> Code;
    pub(crate) fn SNESGetIterationNumber(snes: Snes, iterations: *mut c_int) -> Code;
}

/// An object of which only the address matters.
#[repr(C)]
#[allow(non_camel_case_types)]
struct c_void_object {
    _opaque: [u8; 0],
}

/// `PETSC_COMM_SELF`.
pub(crate) fn this_process() -> Communicator {
    addr_of!(ompi_mpi_comm_self).cast()
}

/// No object.
pub(crate) const NONE: *mut c_void = null_mut();
