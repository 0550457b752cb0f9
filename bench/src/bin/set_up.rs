//! What it takes to read a large model, to set a run of it up by each method, and to take the first step; per system.
//!
//! In proportion to the model, the numbers of a line are about equal. Times differ from machine to machine; their growth is what
//! counts. The first step of `ifosmondi` is left out: it takes hundreds of iterations of its solver on such a chain.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dovetail_cases::chain;
use dovetail_core::{Error, Exchange, Observer};
use dovetail_report::{Alignment, Table, significant};
use dovetail_scenario::{Choices, Scenario};

const SIZES: [usize; 3] = [1000, 10_000, 100_000];
const METHODS: [&str; 6] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
];

fn main() {
    let mut lines = vec![("reading".to_owned(), Vec::new())];
    for method in METHODS {
        lines.push((format!("{method}: set-up"), Vec::new()));
        lines.push((format!("{method}: first step"), Vec::new()));
    }

    for n in SIZES {
        let clock = Instant::now();
        let scenario = chain(n, 0.5);
        let microseconds = |seconds: f64| 1e6 * seconds / n as f64;
        lines[0].1.push(microseconds(clock.elapsed().as_secs_f64()));
        for (m, method) in METHODS.iter().enumerate() {
            let [set_up, first_step] = cost(&scenario, method).map(microseconds);
            lines[1 + 2 * m].1.push(set_up);
            lines[2 + 2 * m].1.push(first_step);
        }
    }

    let sizes = SIZES.map(|n| (format!("n = {n}"), Alignment::Right));
    let mut heads = vec![("µs per system", Alignment::Left)];
    heads.extend(sizes.iter().map(|(head, side)| (head.as_str(), *side)));
    let mut table = Table::new(&heads);
    for (name, numbers) in lines {
        let numbers = numbers.iter().map(|number| {
            if number.is_nan() {
                "-".to_owned()
            } else {
                significant(*number, 3)
            }
        });
        table.row(std::iter::once(name).chain(numbers).collect());
    }
    println!("A nonlinear chain of n masses");
    print!("{}", table.render(""));
}

/// Seconds of the set-up, and of the first step.
fn cost(scenario: &Scenario, method: &str) -> [f64; 2] {
    let mut choices = Choices::default();
    choices.set("method", method);
    choices.set("step", "0.05");
    let options = scenario.options(&choices);
    let options = options.unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let clock = Instant::now();
    let session = scenario.session(&options);
    let session = session.unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let set_up = clock.elapsed().as_secs_f64();

    if method == "ifosmondi" {
        return [set_up, f64::NAN];
    }
    let stop = AtomicBool::new(false);
    let clock = Instant::now();
    let end = session.run(&mut [&mut OneStep(&stop)], &stop);
    let first_step = clock.elapsed().as_secs_f64();
    assert!(
        end.ending.is_ok() && end.statistics.steps == 1,
        "BUG: {:?}",
        end.ending
    );
    [set_up, first_step]
}

/// Ends the run after its first step.
struct OneStep<'a>(&'a AtomicBool);

impl Observer for OneStep<'_> {
    fn started(&mut self, _exchange: Exchange<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn accepted(&mut self, _exchange: Exchange<'_>) -> Result<(), Error> {
        self.0.store(true, Ordering::Relaxed);
        Ok(())
    }
}
