//! Large models: memory per system, and set-up in proportion to their size.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{
    Counting, allocations, bytes_in_use, chain_text, forget_most_bytes, most_bytes_in_use,
};
use dovetail_scenario::{Choices, Overrides, Scenario, SourceText};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const STEP: f64 = 0.05;
const STEPS: f64 = 3.0;

/// What a chain takes, per system.
#[derive(Debug)]
struct Cost {
    /// The most bytes while the model is read, what is left of them, and the most while it runs.
    reading: f64,
    model: f64,
    running: f64,
    /// Allocations while the model is read, and while the run is set up.
    allocations_read: f64,
    allocations_set_up: f64,
}

fn cost(systems: usize, bend: f64, method: &str) -> Cost {
    let text = chain_text(systems, bend);
    let path = "chain".to_owned();
    let source = SourceText { path, text };
    let text_length = source.text.capacity() as u64;
    let per_system = |number: u64| number as f64 / systems as f64;
    let before = bytes_in_use() - text_length;
    let most_bytes = || per_system(most_bytes_in_use() - before);

    forget_most_bytes();
    let at_first = allocations();
    let mut scenario = Scenario::parse(source, &Overrides::default()).unwrap();
    let after_reading = allocations();
    let reading = most_bytes();
    let model = per_system(bytes_in_use() - before);

    scenario.stop_time = STEP * STEPS;
    let mut choices = Choices::default();
    choices.set("method", method);
    choices.set("step", STEP.to_string());
    let options = scenario.options(&choices).unwrap();
    forget_most_bytes();
    let session = scenario.session(&options).unwrap();
    let after_set_up = allocations();
    let never = AtomicBool::new(false);
    session.run(&mut [], &never).ending.unwrap();

    Cost {
        reading,
        model,
        running: most_bytes(),
        allocations_read: per_system(after_reading - at_first),
        allocations_set_up: per_system(after_set_up - after_reading),
    }
}

/// About a tenth more than what was measured.
fn a_system_takes_little_memory() {
    let limits = [
        ("missiles", 0.0, 10_500.0),
        ("missiles", 0.5, 10_500.0),
        ("predictive", 0.5, 31_000.0),
        ("jacobi", 0.5, 4_200.0),
        ("gauss-seidel", 0.5, 4_200.0),
    ];
    for (method, bend, most) in limits {
        let cost = cost(1000, bend, method);
        println!("{method}, {bend}: {cost:?}");
        assert!(cost.running < most, "{method}, {bend}: {cost:?}");
        assert!(cost.model < 1_600.0, "{method}, {bend}: {cost:?}");
        assert!(cost.reading < 8_200.0, "{method}, {bend}: {cost:?}");
    }
}

fn reading_and_set_up_allocate_in_proportion_to_the_model() {
    for method in ["missiles", "predictive", "jacobi", "gauss-seidel"] {
        let small = cost(200, 0.5, method);
        let large = cost(1600, 0.5, method);
        let read = large.allocations_read / small.allocations_read;
        let set_up = large.allocations_set_up / small.allocations_set_up;
        assert!(
            read < 1.05 && set_up < 1.05,
            "{method}: {small:?}, {large:?}"
        );
    }
}

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    a_system_takes_little_memory();
    reading_and_set_up_allocate_in_proportion_to_the_model();
}
