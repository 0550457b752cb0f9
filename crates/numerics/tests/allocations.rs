//! Solvers allocate when they are made and never afterwards.

#![allow(unsafe_code)] // a global allocator cannot be written without; it only counts and delegates

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dovetail_numerics::{
    Hint, Integrator, Laplace, LinearStep, Lu, Rhs, StateSpace, Tolerance, Transfer, from_fn,
};
use nalgebra::DMatrix;

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

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1.0; 100]))) > 0);
}

/// A ring of stiff reactions that starts with both methods in use.
fn ring(size: usize) -> impl Rhs {
    from_fn(size, move |time, x: &[f64], dx: &mut [f64]| {
        for k in 0..size {
            let next = x[(k + 1) % size];
            dx[k] = -1e4 * (x[k] - time.cos()) + next * next;
        }
    })
}

#[test]
fn integrating_allocates_nothing() {
    for size in [1, 8, 60] {
        let mut rhs = ring(size);
        let mut integrator = Integrator::new(size);
        let mut state = vec![0.5; size];
        let tolerance = Tolerance {
            relative: 1e-8,
            absolute: 1e-8,
            sizes: &[],
            largest: 0.0,
        };
        let mut outcome = None;
        let count = allocations(|| {
            outcome = Some(integrator.integrate(
                &mut rhs,
                0.0,
                0.5,
                &mut state,
                tolerance,
                Hint::default(),
            ));
        });
        let outcome = outcome.unwrap().unwrap();
        assert!(outcome.jacobians > 0 && outcome.steps > 20, "{outcome:?}");
        assert_eq!(count, 0, "size {size}");
    }
}

#[test]
fn linear_steps_allocate_nothing() {
    for size in [1, 4, 30] {
        let matrix = DMatrix::from_fn(size, size, |row, column| {
            if row == column { -300.0 } else { column as f64 }
        });
        let mut step = LinearStep::new(size, 5);
        let (initial, mut response) = (vec![1.0; size], vec![0.0; size]);
        let count = allocations(|| {
            step.compute(&matrix, 0.1);
            step.respond(&initial, &[&initial, &initial], &mut response);
        });
        assert_eq!(count, 0, "size {size}");
    }
}

#[test]
fn transfer_operators_allocate_nothing() {
    for size in [1, 4, 30] {
        let sides = 7.min(size);
        let matrix = |rows, columns| {
            DMatrix::from_fn(rows, columns, |row, column| {
                1.0 / (1 + row + 2 * column) as f64
            })
        };
        let a = DMatrix::from_fn(size, size, |row, column| {
            if row == column { -300.0 } else { column as f64 }
        });
        let (b, c, d) = (
            matrix(size, sides),
            matrix(sides, size),
            matrix(sides, sides),
        );
        let space = StateSpace {
            a: &a,
            b: &b,
            c: &c,
            d: &d,
            b_slope: &b,
            d_slope: &d,
        };
        let mut transfer = Transfer::new(size, sides, sides, 5);
        let count = allocations(|| {
            transfer.compute(space, 0.1);
            transfer
                .compute_by(Laplace::GaverStehfest, space, 0.1)
                .unwrap();
        });
        assert_eq!(count, 0, "size {size}");
    }
}

#[test]
fn factoring_and_solving_allocate_nothing() {
    let matrix = DMatrix::from_fn(20, 20, |row, column| {
        if row == column {
            9.0
        } else {
            1.0 / (1 + row + column) as f64
        }
    });
    let mut lu = Lu::new(20);
    let mut rhs = vec![1.0; 20];
    let count = allocations(|| {
        lu.factor(&matrix).unwrap();
        lu.solve_in_place(&mut rhs);
        assert!(lu.rcond() > 0.0);
    });
    assert_eq!(count, 0);
}
