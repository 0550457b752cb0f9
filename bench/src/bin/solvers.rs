//! What the solvers of `ifosmondi` cost and reach, on the damping reaction with ever weaker dampers.
//!
//! The baseline, in the same run: `quasi-newton`, the default. Integrations and errors are the same on every machine; times are
//! not, and their ratios are what counts. All solvers have the same tolerance but do not stop at the same residual, so that cost
//! and error of a row belong together.

use dovetail_bench::run;
use dovetail_cases::{DAMPING_REACTION, Measured, measure_run};
use dovetail_report::{Alignment, Table, significant};
use dovetail_scenario::Scenario;

/// The dampers of IFOSMONDI-JFM, section 5.
const DAMPERS: [f64; 7] = [4.0, 1.2346, 1.0, 0.64, 0.25, 0.04, 0.01];
/// The first one is the baseline.
const SOLVERS: [&str; 6] = [
    "quasi-newton",
    "newton",
    "anderson",
    "ngmres",
    "ngmres-linesearch",
    "fixed-point",
];
const STATES: [&str; 3] = ["body.v", "body.x", "plate.x"];
const STEP: &str = "1e-2";
const TOLERANCE: &str = "1e-4";
const REPEATS: usize = 25;

fn main() {
    let columns = [
        ("D", Alignment::Right),
        ("solver", Alignment::Left),
        ("integrations", Alignment::Right),
        ("error %", Alignment::Right),
        ("time ratio", Alignment::Right),
    ];
    let mut table = Table::new(&columns);
    for damper in DAMPERS {
        let scenario = DAMPING_REACTION.with(&[("plate.D", damper)]);
        let measured = SOLVERS.map(|solver| measure_run(&scenario, &choices(solver)));
        let seconds = seconds(&scenario);
        for ((solver, measured), time) in SOLVERS.iter().zip(&measured).zip(seconds) {
            let mut row = vec![damper.to_string(), (*solver).to_owned()];
            row.extend(results(measured, time / seconds[0]));
            table.row(row);
        }
    }
    println!("ifosmondi on damping-reaction, step {STEP}, tolerance {TOLERANCE}");
    print!("{}", table.render(""));
    println!(
        "integrations: per system; error: mean normalized L2 of the three states; time: against {}",
        SOLVERS[0]
    );
}

fn choices(solver: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("method", "ifosmondi"),
        ("criterion", "paper"),
        ("solver", solver),
        ("step", STEP),
        ("tolerance", TOLERANCE),
    ]
}

/// Integrations, error and time of a run that came to its end; otherwise there is nothing to compare.
fn results(measured: &Measured, ratio: f64) -> [String; 3] {
    if measured.end.ending.is_err() {
        return ["does not converge", "-", "-"].map(str::to_owned);
    }
    let count = measured.end.work[0].integrations.to_string();
    [
        count,
        significant(measured.mean_l2(&STATES), 3),
        significant(ratio, 3),
    ]
}

/// Wall seconds of each solver, the least of several rounds: taken in turn, so that a busy moment disturbs all of them.
fn seconds(scenario: &Scenario) -> [f64; SOLVERS.len()] {
    let mut least = [f64::INFINITY; SOLVERS.len()];
    for _ in 0..REPEATS {
        for (least, solver) in least.iter_mut().zip(SOLVERS) {
            *least = least.min(run(scenario, &choices(solver)).wall_seconds);
        }
    }
    least
}
