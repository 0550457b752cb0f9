//! Nothing is allocated per macro-step once a run in threads is under way.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use dovetail_cases::{
    AllocationWatch, Counting, DAMPING_REACTION, LOTKA_VOLTERRA, ROOMS, allocations as counted,
    ring,
};
use dovetail_core::{LinearizeTask, Workers};
use dovetail_scenario::{Choices, Placement, RunOptions, Scenario};
use dovetail_workers::Threads;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn options(scenario: &Scenario, method: &str, threads: usize) -> RunOptions {
    let mut choices = Choices::default();
    choices.set("method", method);
    if method == "ifosmondi" {
        choices.set("criterion", "paper"); // with its fixed step
    }
    let placement = Placement::Threads(NonZeroUsize::new(threads));
    RunOptions {
        placement,
        ..scenario.options(&choices).unwrap()
    }
}

fn allocations(scenario: &Scenario, method: &str, threads: usize) -> (u64, u64) {
    let (mut watch, never) = (AllocationWatch::default(), AtomicBool::new(false));
    let options = options(scenario, method, threads);
    scenario
        .run(&options, &mut [&mut watch], &never)
        .unwrap()
        .ending
        .unwrap();
    watch.found()
}

fn allocations_of_linearizations(scenario: &Scenario, threads: NonZeroUsize) -> u64 {
    let systems = scenario.systems(&options(scenario, "jacobi", 1)).unwrap();
    let mut workers = Threads::new(systems, threads).unwrap();
    let interfaces = workers.interfaces().iter().enumerate();
    let mut tasks: Vec<_> = interfaces
        .map(|(system, interface)| LinearizeTask::new(system, interface))
        .collect();
    let mut ask = |times: usize| {
        (0..times).for_each(|_| workers.linearize(&mut tasks).unwrap());
        counted()
    };
    let early = ask(10);
    ask(500) - early
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    let scenarios = [
        ("ring", ring(10)),
        ("lotka-volterra", LOTKA_VOLTERRA.scenario()),
        ("damping-reaction", DAMPING_REACTION.scenario()),
        ("rooms", ROOMS.scenario()),
    ];
    for (name, scenario) in &scenarios {
        let iterative = (*name != "rooms").then_some("ifosmondi"); // a jump makes start values consistent anew
        for method in ["jacobi", "gauss-seidel"].into_iter().chain(iterative) {
            for threads in [1, 2, 4] {
                let (steps, allocated) = allocations(scenario, method, threads);
                assert!(steps >= 500);
                assert_eq!(
                    allocated, 0,
                    "{name} under {method} in {threads} threads, {steps} steps"
                );
            }
        }
    }
    for threads in [1, 2, 3] {
        assert_eq!(
            allocations_of_linearizations(&ring(10), NonZeroUsize::new(threads).unwrap()),
            0
        );
    }
}
