//! Cost of a step of MISSILES on chains of two-state systems, and how it grows with their number.
//!
//! Linear chains keep their operators and factors; nonlinear ones compute them anew with every step. The cost is that of the
//! quickest step of several runs: the one that other programs disturbed least. Times differ from machine to machine and from run
//! to run; the ratios are what counts.

use dovetail_bench::quickest_step;
use dovetail_cases::chain;
use dovetail_report::{Alignment, Table, significant};

const SIZES: [usize; 3] = [100, 1000, 10_000];
const STEPS: u32 = 25;
const REPEATS: usize = 2;

fn main() {
    let heads = [
        "systems",
        "linear ms/step",
        "growth",
        "nonlinear ms/step",
        "growth",
        "peak MB",
    ];
    let mut table = Table::new(&heads.map(|head| (head, Alignment::Right)));
    let mut before = [f64::NAN; 2];
    for n in SIZES {
        let costs = [0.0, 0.5].map(|bend| 1e3 * cost(n, bend));
        let row = [
            costs[0],
            costs[0] / before[0],
            costs[1],
            costs[1] / before[1],
            peak_megabytes(),
        ];
        let told = row.map(|number| {
            if number.is_nan() {
                "-".into()
            } else {
                significant(number, 3)
            }
        });
        table.row(std::iter::once(n.to_string()).chain(told).collect());
        before = costs;
    }
    println!("A step of missiles on a chain of n masses, fixed step, without recording");
    print!("{}", table.render(""));
    println!(
        "growth: against a tenth of the systems; peak: of the whole program, model text included"
    );
}

/// Seconds per step.
fn cost(n: usize, bend: f64) -> f64 {
    let mut scenario = chain(n, bend);
    scenario.stop_time = 0.05 * f64::from(STEPS);
    quickest_step(
        &scenario,
        &[("method", "missiles"), ("step", "0.05")],
        REPEATS,
    )
}

/// The most memory that the program has had, where the system tells.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok())
        .map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
