//! Setting and running allocate nothing.
#![allow(unsafe_code, reason = "only an allocator can count allocations")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Model, Number, Source};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of_a_run<T: Number>(zero: T) -> usize {
    let model = Model::parse(&Source {
        inputs: vec!["u"],
        parameters: vec!["a"],
        states: vec!["x", "y"],
        equations: "p = sin(x) ^ 2 + a ^ y; der(x) = if time < 1 then p else min(x, u, y)
            der(y) = atan2(x, y) + mod(p, 3) + der(u) * time",
        outputs: vec![("out", "sqrt(x) / (1 + y ^ 4)")],
        ..Default::default()
    })
    .expect("a correct model");
    let [one, two] = [zero.lift(1.0), zero.lift(2.0)];
    let mut evaluator =
        Evaluator::new(Arc::new(model.program()), &zero, std::slice::from_ref(&two));
    let mut results = [zero.clone(), zero.clone(), zero];
    let pair = [one, two];
    let before = ALLOCATIONS.get();
    evaluator.set_parameters(&pair[..1]);
    evaluator.set_time(&pair[1]);
    evaluator.set_switches(&pair[..1]);
    evaluator.set_states(&pair);
    evaluator.set_inputs(&pair[..1]);
    evaluator.set_slopes(&pair[..1]);
    evaluator.run(&mut results);
    ALLOCATIONS.get() - before
}

#[test]
fn counting_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn a_run_on_numbers_allocates_nothing() {
    assert_eq!(allocations_of_a_run(0.0), 0);
}

#[test]
fn a_run_on_duals_allocates_nothing() {
    assert_eq!(allocations_of_a_run(Dual::constant(0.0)), 0);
    assert_eq!(allocations_of_a_run(Dual::constant(Dual::constant(0.0))), 0);
}
