//! Bounds do not depend on how many MPI ranks do the work of their systems: not by a bit.
//!
//! Started without `mpirun`, this program starts itself with it, on two and on three ranks.

mod support;

use dovetail::guaranteed::{
    EnclosureObserver, EnclosureOutcome, Integrator, Interval, Method, Options, Pieces, enclose,
};
use dovetail::scenario::{
    Network, Overrides, RankPlacement, Scenario, dismiss_ranks, enclose_on_ranks, serve_rank,
};
use support::{EXAMPLES, example, is_rank, run_on_ranks};

/// As many steps as are looked at.
const STEPS: usize = 30;

// Without the test harness: all ranks have to do the same, one thing after the other.
fn main() {
    if !is_rank() {
        for ranks in [2, 3] {
            run_on_ranks(ranks);
        }
        return;
    }

    let network = Network::join();
    if network.orchestrates() {
        for name in EXAMPLES {
            assert_identical(name, network);
        }
        dismiss_ranks(network);
    } else {
        serve_rank(network).expect("rank 0 is there");
    }
    network.leave();
}

/// All that is reported, as bits.
#[derive(Default, PartialEq)]
struct Bits {
    rows: Vec<Vec<u64>>,
    steps: usize,
}

impl EnclosureObserver for Bits {
    fn instant(&mut self, time: f64, states: &[Interval]) {
        self.tube(time, time, states);
    }

    fn tube(&mut self, from: f64, to: f64, states: &[Interval]) {
        let bounds = states.iter().flat_map(|range| [range.lo, range.hi]);
        let row = [from, to].into_iter().chain(bounds);
        self.rows.push(row.map(f64::to_bits).collect());
    }

    fn proceed(&mut self, _reached: f64) -> bool {
        self.steps += 1;
        self.steps < STEPS
    }
}

fn methods() -> [Method; 3] {
    let boxes = |extrapolation| Method::Boxes {
        integrator: Integrator::Rk4,
        extrapolation,
    };
    [Method::SharedSymbols, boxes(None), boxes(Some(2))]
}

fn assert_identical(name: &str, network: &'static Network) {
    let model = example(name);
    let scenario = Scenario::load(model.as_ref(), &Overrides::default());
    let problem = scenario.expect("the model is right").to_enclose();
    let problem = problem.expect("it can be enclosed");

    for method in methods() {
        let options = Options {
            method,
            step: None,
            output_interval: None,
            threads: 1,
            pieces: Pieces::Automatic,
        };
        let mut single = Bits::default();
        let expected = enclose(&problem, &options, &mut single);
        for orchestrator_only in [false, true] {
            let ranks = RankPlacement {
                network,
                orchestrator_only,
            };
            let mut spread = Bits::default();
            let outcome = enclose_on_ranks(&problem, &options, ranks, &mut spread);
            let what = format!("{name}, {method:?}, {ranks:?}");
            assert!(spread == single, "{what}");
            assert_same_end(outcome, &expected, &what);
        }
    }
}

/// The same but for the remark about ranks, which comes last.
fn assert_same_end(mut outcome: EnclosureOutcome, expected: &EnclosureOutcome, what: &str) {
    let remark = outcome.remarks.pop().expect("where systems were");
    assert!(remark.contains("systems on each"), "{what}: {remark}");
    assert_eq!(outcome, *expected, "{what}");
}
