//! What a second thread brings: light systems, whose step costs less than handing it over, and ever heavier ones.
//!
//! Single-threaded and threaded runs alternate, so that both see the same machine. Times differ from machine to machine and
//! from run to run, and a busy machine has no second core to give; the ratio below is what counts.

use std::fmt::Write;
use std::num::NonZeroUsize;

use dovetail_bench::run_placed;
use dovetail_cases::{model, ring};
use dovetail_report::{Alignment, Table, significant};
use dovetail_scenario::{Placement, Scenario};

const SYSTEMS: usize = 10;
const STOP: f64 = 10.0;
const REPEATS: usize = 5;
const THREADS: Placement = Placement::Threads(NonZeroUsize::new(2));

fn main() {
    let heads = [
        "systems",
        "method",
        "us per system and step",
        "in 2 threads",
        "ratio",
    ];
    let align = [
        Alignment::Left,
        Alignment::Left,
        Alignment::Right,
        Alignment::Right,
        Alignment::Right,
    ];
    let mut table = Table::new(&std::array::from_fn::<_, 5, _>(|i| (heads[i], align[i])));
    let light = ("linear, 1 state".to_owned(), ring(SYSTEMS), 20_000);
    let heavy = [(2, 4000), (10, 2000), (50, 400), (200, 100)];
    let heavy = heavy.map(|(states, steps)| {
        (
            format!("nonlinear, {states} states"),
            heavy_ring(states),
            steps,
        )
    });
    for (name, scenario, steps) in std::iter::once(light).chain(heavy) {
        for method in ["jacobi", "ifosmondi"] {
            let (single, threads) = cost(&scenario, method, steps);
            let numbers = [1e6 * single, 1e6 * threads, threads / single]
                .map(|number| significant(number, 3));
            table.row(
                [name.clone(), method.to_owned()]
                    .into_iter()
                    .chain(numbers)
                    .collect(),
            );
        }
    }
    println!(
        "Cost of a macro-step on a ring of {SYSTEMS} systems, in a single thread and in two, without recording"
    );
    print!("{}", table.render(""));
    println!("ratio: time in two threads over time in one; 0.5 would be perfect");
}

/// Seconds per system and macro-step, in a single thread and in two: the least of several runs, taken in turns.
fn cost(scenario: &Scenario, method: &str, steps: usize) -> (f64, f64) {
    let step = format!("{:e}", STOP / steps as f64);
    let once = |placement| {
        let end = run_placed(scenario, &[("method", method), ("step", &step)], placement);
        end.wall_seconds / (end.statistics.steps as usize * SYSTEMS) as f64
    };
    (0..REPEATS).fold((f64::INFINITY, f64::INFINITY), |(single, threads), _| {
        (
            single.min(once(Placement::SingleThread)),
            threads.min(once(THREADS)),
        )
    })
}

/// A ring of systems, each a chain of so many nonlinear equations.
fn heavy_ring(states: usize) -> Scenario {
    let mut text = String::new();
    for i in 0..SYSTEMS {
        let starts: Vec<String> = (0..states)
            .map(|k| format!("x{k} = {:?}", (i + k) as f64 / 10.0))
            .collect();
        let rate = |k: usize| {
            let before = if k == 0 {
                "u".to_owned()
            } else {
                format!("x{}", k - 1)
            };
            format!("der(x{k}) = sin({before}) - x{k} * abs(x{k})")
        };
        let rates: Vec<String> = (0..states).map(rate).collect();
        let _ = write!(
            text,
            "[systems.s{i}]\ninputs = {{ u = 0.0 }}\nstates = {{ {} }}\nequations = '''\n{}\n'''\n\
             outputs = {{ y = \"x{}\" }}\n[[connections]]\nfrom = \"s{i}.y\"\nto = \"s{}.u\"\n",
            starts.join(", "),
            rates.join("\n"),
            states - 1,
            (i + 1) % SYSTEMS
        );
    }
    model(STOP, &text)
}
