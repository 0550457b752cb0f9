//! Cost of a step of MISSILES on chains of two-state systems, what memory they take, and how both grow with their number.
//!
//! Linear chains keep their operators and factors; nonlinear ones compute them anew with every step. The cost is that of the
//! quickest step of a run: the one that other programs disturbed least. Times differ from machine to machine and from run to
//! run; the ratios are what counts. Memory is what the program asks its allocator for.

use dovetail_bench::quickest_step;
use dovetail_cases::{Counting, bytes_in_use, chain, forget_most_bytes, most_bytes_in_use};
use dovetail_report::{Alignment, Table, significant};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SIZES: [usize; 3] = [1000, 10_000, 100_000];
const STEPS: u32 = 15;
const REPEATS: usize = 1;

/// What a chain costs, per system.
struct Cost {
    microseconds: f64,
    /// The most memory while the model is read, and while it runs.
    reading: f64,
    running: f64,
}

fn main() {
    for (name, bend) in [("linear", 0.0), ("nonlinear", 0.5)] {
        let heads = [
            "systems",
            "µs/step and system",
            "growth",
            "kB/system, reading",
            "kB/system, running",
        ];
        let mut table = Table::new(&heads.map(|head| (head, Alignment::Right)));
        let mut before = f64::NAN;
        for n in SIZES {
            let cost = cost(n, bend);
            let growth = cost.microseconds / before;
            before = cost.microseconds;
            let numbers = [cost.microseconds, growth, cost.reading, cost.running];
            let shown = numbers.map(|number| {
                if number.is_nan() {
                    "-".into()
                } else {
                    significant(number, 3)
                }
            });
            table.row(std::iter::once(n.to_string()).chain(shown).collect());
        }
        println!("missiles on a {name} chain of n masses, fixed step, without recording");
        print!("{}", table.render(""));
    }
    println!("growth: against a tenth of the systems; memory: the model and its text included");
}

fn cost(n: usize, bend: f64) -> Cost {
    let before = bytes_in_use();
    let kilobytes = || (most_bytes_in_use() - before) as f64 / (1000.0 * n as f64);
    forget_most_bytes();
    let mut scenario = chain(n, bend);
    let reading = kilobytes();
    scenario.stop_time = 0.05 * f64::from(STEPS);
    forget_most_bytes();
    let choices = [("method", "missiles"), ("step", "0.05")];
    let seconds = quickest_step(&scenario, &choices, REPEATS);

    Cost {
        microseconds: 1e6 * seconds / n as f64,
        reading,
        running: kilobytes(),
    }
}
