//! Nonlinear solvers allocate when they are made and never afterwards.

#![allow(unsafe_code)] // a global allocator cannot be written without; it only counts and delegates

mod nonlinear_problems;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, Equations, FixedPoint, FixedPointOptions, Newton, NewtonOptions,
    Ngmres, NgmresOptions, NonlinearSolver, Selection,
};
use nonlinear_problems::{broyden_tridiagonal, cosine, no_solution};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of one solve from ones; and whether it iterated at all.
fn allocations(solver: &mut dyn NonlinearSolver, equations: &mut dyn Equations) -> usize {
    let (mut x, mut residual) = (vec![1.0; equations.size()], vec![0.0; equations.size()]);
    let before = ALLOCATIONS.get();
    let outcome = solver.solve(equations, &mut x, &mut residual);
    let count = ALLOCATIONS.get() - before;
    assert!(outcome.iterations > 0);
    count
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1.0; 100]));
    assert!(ALLOCATIONS.get() > before);
}

#[test]
fn solving_allocates_nothing() {
    for size in [1, 6, 50] {
        let line_search = NgmresOptions {
            selection: Selection::LineSearch,
            ..NgmresOptions::default()
        };
        let solvers: [&mut dyn NonlinearSolver; 5] = [
            &mut FixedPoint::new(size, FixedPointOptions::default()),
            &mut Anderson::new(size, AndersonOptions::default()),
            &mut Newton::new(size, NewtonOptions::default()),
            &mut Ngmres::new(size, NgmresOptions::default()),
            &mut Ngmres::new(size, line_search),
        ];
        for solver in solvers {
            assert_eq!(
                allocations(solver, &mut cosine(size, 1e-10)),
                0,
                "{} {size}",
                solver.name()
            );
            assert_eq!(
                allocations(solver, &mut broyden_tridiagonal(size, 1e-10)),
                0,
                "{} {size}",
                solver.name()
            );
            if size == 1 {
                assert_eq!(
                    allocations(solver, &mut no_solution()),
                    0,
                    "{}",
                    solver.name()
                );
            }
        }
    }
}
