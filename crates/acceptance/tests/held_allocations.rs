//! Values that are held cost no allocation.

#[path = "../../methods/tests/mock/mod.rs"]
mod mock;

use dovetail_cases::{AllocationWatch, Counting};
use dovetail_core::{Source, System};
use mock::{Coupled, Display, Thermostat, room, run};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Without the test harness, whose own thread allocates now and then and would be counted too.
fn main() {
    // Where something jumps, ifosmondi and missiles make the interface consistent anew: there the
    // heating stays on.
    let switching = (19.0, 21.0);
    let steady = (0.0, 100.0);
    let runs = [
        ("jacobi", switching),
        ("gauss-seidel", switching),
        ("f3ornits", switching),
        ("ifosmondi", steady),
        ("estimated", steady),
        ("missiles", steady),
        ("predictive", steady),
    ];
    for (method, (low, high)) in runs {
        let systems: Vec<Box<dyn System>> = vec![
            Box::new(Thermostat::new(low, high)),
            Box::new(room()),
            Box::new(Display::new(None)),
        ];
        let sources = vec![
            Source::Output(2),
            Source::Output(0),
            Source::Output(1),
            Source::Output(2),
        ];
        let mut watch = AllocationWatch::default();
        run(
            Coupled { systems, sources },
            method,
            (40.0, 0.05),
            &mut watch,
        );
        let (steps, allocated) = watch.found();
        assert!(steps > 300, "{method}: {steps} steps");
        assert_eq!(allocated, 0, "{method}, {steps} steps");
    }
}
