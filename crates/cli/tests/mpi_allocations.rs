//! Nothing is allocated per macro-step by a run whose systems live on MPI ranks, neither on rank 0, which
//! orchestrates and has systems of its own, nor on the others.
//!
//! Started without `mpirun`, this program starts itself with it.

mod support;

use std::sync::atomic::AtomicBool;

use dovetail::scenario::{
    Choices, Network, Placement, RankPlacement, RunOptions, Scenario, dismiss_ranks, serve_rank,
};
use dovetail_cases::{AllocationWatch, Counting, LOTKA_VOLTERRA, allocations, ring};
use support::{is_rank, output_on_ranks};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static NEVER: AtomicBool = AtomicBool::new(false);

/// How many parts a run is divided into, for the ranks that are started.
const STEPS: &str = "DOVETAIL_TEST_STEPS";
/// What rank 1 says before the number of its allocations.
const COUNTED: &str = "allocations of rank 1:";

/// Steps of a run, and what rank 0 allocated after the first ten of them.
fn run(scenario: &Scenario, method: &str, network: &'static Network) -> (u64, u64) {
    let parts: f64 = std::env::var(STEPS).unwrap().parse().unwrap();
    let step = (scenario.stop_time - scenario.start_time) / parts;
    let mut choices = Choices::default();
    choices.set("method", method);
    choices.set("step", format!("{step:e}").as_str());
    if method == "ifosmondi" {
        choices.set("criterion", "paper"); // with its fixed step
    }
    let options = RunOptions {
        placement: Placement::Ranks(RankPlacement {
            network,
            orchestrator_only: false,
        }),
        ..scenario.options(&choices).unwrap()
    };
    let mut watch = AllocationWatch::default();
    let end = scenario.run(&options, &mut [&mut watch], &NEVER).unwrap();
    end.ending.unwrap();
    watch.found()
}

fn orchestrate(network: &'static Network) {
    for (name, scenario) in [
        ("ring", ring(4)),
        ("lotka-volterra", LOTKA_VOLTERRA.scenario()),
    ] {
        for method in ["jacobi", "gauss-seidel", "ifosmondi", "missiles"] {
            let (steps, allocated) = run(&scenario, method, network);
            assert!(steps >= 500);
            assert_eq!(allocated, 0, "{name} under {method}, {steps} steps");
        }
    }
    dismiss_ranks(network);
}

/// What rank 1 allocates, all in all, where runs are divided into so many parts.
fn allocations_of_rank_1(parts: u64) -> u64 {
    let done = output_on_ranks(2, STEPS, &parts.to_string()).exits(0);
    let line = done.out.lines().find_map(|line| line.strip_prefix(COUNTED));
    line.expect("rank 1 counts")
        .trim()
        .parse()
        .expect("a number")
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    if !is_rank() {
        let few = allocations_of_rank_1(500);
        let many = allocations_of_rank_1(2000);
        assert!(many < few + 100, "{few} allocations became {many}");
        return;
    }

    let network = Network::join();
    if network.orchestrates() {
        orchestrate(network);
    } else {
        serve_rank(network).unwrap();
        println!("{COUNTED} {}", allocations());
    }
    network.leave();
}
