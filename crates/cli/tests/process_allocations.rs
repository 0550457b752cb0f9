//! Nothing is allocated per macro-step by a run whose systems live in processes.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use dovetail::scenario::{Choices, Placement, RunOptions, Scenario};
use dovetail_cases::{AllocationWatch, Counting, LOTKA_VOLTERRA, ring};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static NEVER: AtomicBool = AtomicBool::new(false);

fn allocations(scenario: &Scenario, method: &str) -> (u64, u64) {
    let mut choices = Choices::default();
    choices.set("method", method);
    if method == "ifosmondi" {
        choices.set("criterion", "paper"); // with its fixed step
    }
    let program = PathBuf::from(env!("CARGO_BIN_EXE_dovetail"));
    let placement = Placement::processes(program, &["worker"], None, &NEVER);
    let options = RunOptions {
        placement,
        ..scenario.options(&choices).unwrap()
    };
    let mut watch = AllocationWatch::default();
    scenario
        .run(&options, &mut [&mut watch], &NEVER)
        .unwrap()
        .ending
        .unwrap();
    watch.found()
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    for (name, scenario) in [
        ("ring", ring(4)),
        ("lotka-volterra", LOTKA_VOLTERRA.scenario()),
    ] {
        for method in ["jacobi", "gauss-seidel", "ifosmondi"] {
            let (steps, allocated) = allocations(&scenario, method);
            assert!(steps >= 500);
            assert_eq!(allocated, 0, "{name} under {method}, {steps} steps");
        }
    }
}
