//! Cost of a macro-step per system, on rings of one-state linear systems, and how it grows.
//!
//! The baseline, in the same run: a bare loop over the same arithmetic, one exponential step for each system, with no engine
//! around it. Times differ from machine to machine and from run to run; the ratios are what counts.

use std::hint::black_box;
use std::time::Instant;

use dovetail_bench::seconds_per_step;
use dovetail_cases::ring;
use dovetail_report::{Alignment, Table, significant};

const SIZES: [usize; 4] = [2, 10, 100, 1000];
const REPEATS: usize = 5;
/// System-steps per run, so that every size works equally long.
const WORK: usize = 2_000_000;

fn main() {
    let heads = [
        "systems",
        "bare ns",
        "jacobi ns",
        "ratio",
        "growth",
        "gauss-seidel ns",
        "ratio",
    ];
    let mut table = Table::new(&heads.map(|head| (head, Alignment::Right)));
    let mut first = f64::NAN;
    for n in SIZES {
        let steps = WORK / n;
        let step = format!("{:e}", 10.0 / steps as f64);
        let scenario = ring(n);
        let cost = |method: &str| {
            1e9 * seconds_per_step(&scenario, &[("method", method), ("step", &step)], REPEATS)
                / n as f64
        };
        let (bare, jacobi, gauss_seidel) = (bare(n, steps), cost("jacobi"), cost("gauss-seidel"));
        if first.is_nan() {
            first = jacobi;
        }
        let numbers = [
            bare,
            jacobi,
            jacobi / bare,
            jacobi / first,
            gauss_seidel,
            gauss_seidel / bare,
        ];
        let row =
            std::iter::once(n.to_string()).chain(numbers.map(|number| significant(number, 3)));
        table.row(row.collect());
    }
    println!(
        "Cost of a macro-step per system on a ring of n systems x' = k (u - x), without recording"
    );
    print!("{}", table.render(""));
    println!("bare: the same arithmetic in a plain loop; growth: against the smallest ring");
}

/// Nanoseconds per system and step of the plain loop.
fn bare(n: usize, steps: usize) -> f64 {
    let once = || {
        let size = 10.0 / steps as f64;
        let (decay, gain) = ((-size).exp(), -(-size).exp_m1());
        let mut states: Vec<f64> = (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let mut inputs = vec![0.0; n];
        let clock = Instant::now();
        for _ in 0..steps {
            for (i, input) in inputs.iter_mut().enumerate() {
                *input = states[(i + n - 1) % n];
            }
            for (state, input) in states.iter_mut().zip(&inputs) {
                *state = decay * *state + gain * input;
            }
            black_box(&mut states);
        }
        1e9 * clock.elapsed().as_secs_f64() / (steps * n) as f64
    };
    (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min)
}
