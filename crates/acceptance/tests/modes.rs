//! Long runs of stable linear models: errors stay what rounding made them, and the exact hull is
//! inside everything that is proved, with no allowance.

mod exact;
mod models;
mod recording;

use dovetail_guaranteed::Interval;
use dovetail_scenario::Scenario;

use exact::Hull;
use models::{cascade, structure};
use recording::{enclosed, shared};

fn widest(states: &[Interval]) -> f64 {
    states.iter().map(|x| x.width()).fold(0.0, f64::max)
}

/// The boxes at the end, which hold the exact hull; `most` is how much wider they may be, as a part
/// of it, and how much besides.
fn assert_fills_hull(scenario: &Scenario, most: (f64, f64)) {
    let problem = scenario.to_enclose().unwrap();
    let (outcome, recording) = enclosed(&problem, &shared(None, None));
    let mut hull = Hull::new(scenario);
    for part in [0.01, 0.3, 1.0] {
        let last = recording.instants.len() - 1;
        let (time, states) = &recording.instants[(part * last as f64) as usize];
        hull.advance(*time);
        hull.excess(states);
    }
    let exact = hull
        .bounds()
        .into_iter()
        .map(|(low, high)| (&high - &low).rounded());
    for (found, exact) in outcome.states.iter().zip(exact) {
        let limit = (1.0 + most.0) * exact + most.1;
        assert!(found.width() <= limit, "{found:?} is wider than {exact:e}");
    }
}

#[test]
fn a_damped_chain_from_a_point_stays_a_point() {
    for masses in [2, 5, 10, 24] {
        let problem = structure(masses, 0.0, 60.0).to_enclose().unwrap();
        let widest = widest(&enclosed(&problem, &shared(None, None)).0.states);
        assert!(widest <= 1e-10, "{masses} masses: {widest:e}");
    }
}

#[test]
fn a_damped_chain_has_its_exact_hull() {
    assert_fills_hull(&structure(2, 0.0, 40.0), (0.0, 1e-11));
    assert_fills_hull(&structure(4, 1e-4, 40.0), (0.01, 0.0));
    assert_fills_hull(&structure(7, 1e-2, 15.0), (0.01, 0.0));
}

#[test]
fn a_cascade_with_a_single_eigenvector_has_its_exact_hull() {
    assert_fills_hull(&cascade(3, 0.0, 20.0), (0.0, 1e-13));
    assert_fills_hull(&cascade(6, 1e-3, 4.0), (0.01, 0.0));
    assert_fills_hull(&cascade(12, 1e-3, 4.0), (0.01, 0.0));
}
