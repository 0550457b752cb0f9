//! The usual benchmarks of reachability, as coupled systems: bounds reach the end by default, and are not much wider than what
//! sampled trajectories reach.
//!
//! Those that take long are in the table that the program `enclosures` prints.

mod recording;

use dovetail_cases::{spread, unseen};
use dovetail_guaranteed::{EnclosureOutcome, Interval, Options, Pieces};
use dovetail_scenario::Scenario;

use recording::{enclosed, shared};

/// Corners and inner points that trajectories are sampled from.
const CORNERS: usize = 32;
const INSIDE: usize = 40;

fn benchmark(name: &str) -> Scenario {
    let all = unseen("reachability");
    let found = all.iter().find(|model| model.name == name);
    found.expect("BUG: a benchmark").scenario()
}

/// Every state ends within bounds that hold all sampled trajectories, and are at most `most` times as wide as these reach, or
/// this part of the state.
fn assert_tight(name: &str, most: f64, part: f64) -> EnclosureOutcome {
    let scenario = benchmark(name);
    let problem = scenario.to_enclose().unwrap();
    let (outcome, _) = enclosed(&problem, &shared(None, None));
    let reached = spread(&scenario, CORNERS, INSIDE);
    let sizes = outcome.states.iter().map(|bounds| bounds.magnitude());
    // What has died away counts by what else there is.
    let least = 1e-9 * (1.0 + sizes.fold(0.0, f64::max));

    for ((name, bounds), (lo, hi)) in problem.names().iter().zip(&outcome.states).zip(reached) {
        let allowance = 1e-9 * (1.0 + lo.abs().max(hi.abs()));
        assert!(
            bounds.lo - allowance <= lo && hi <= bounds.hi + allowance,
            "{name}: {bounds} does not hold [{lo}, {hi}]"
        );
        let enough = (most * (hi - lo)).max(part * bounds.magnitude()) + least;
        assert!(
            bounds.width() <= enough,
            "{name}: {bounds} is much wider than [{lo}, {hi}]"
        );
    }
    outcome
}

#[test]
fn small_boxes_stay_in_one_piece() {
    for name in ["laub-loomis-0.01", "lotka-volterra", "robertson"] {
        assert_eq!(assert_tight(name, 2.0, 1e-3).pieces, 1, "{name}");
    }
}

#[test]
fn wider_boxes_are_bounded_tightly() {
    for name in ["laub-loomis-0.05", "production-destruction-i"] {
        assert_tight(name, 2.0, 1e-3);
    }
}

#[test]
fn wide_boxes_are_cut_by_themselves_and_reach_the_end() {
    assert!(assert_tight("van-der-pol", 2.0, 1e-3).pieces > 1);
    assert_tight("brusselator", 2.0, 1e-3);
}

fn in_pieces(pieces: usize, threads: usize) -> Options {
    Options {
        threads,
        pieces: Pieces::Number(pieces.try_into().unwrap()),
        ..shared(None, Some(0.35))
    }
}

#[test]
fn bounds_do_not_depend_on_how_many_threads_share_the_pieces() {
    let scenario = benchmark("van-der-pol");
    let problem = scenario.to_enclose().unwrap();
    let (alone, rows) = enclosed(&problem, &in_pieces(6, 1));
    let (together, same) = enclosed(&problem, &in_pieces(6, 3));
    assert_eq!((alone.pieces, &alone.states), (6, &together.states));
    assert_eq!((rows.instants, rows.tubes), (same.instants, same.tubes));
}

/// Every trajectory begins in one of the pieces: nothing of the boxes is left out, at no time.
#[test]
fn hulls_of_pieces_hold_trajectories_from_everywhere() {
    let mut scenario = benchmark("van-der-pol");
    let problem = scenario.to_enclose().unwrap();
    let (_, rows) = enclosed(&problem, &in_pieces(5, 2));
    rows.assert_complete(0.0, 7.0);
    for (all, start) in rows.instants[0].1.iter().zip(problem.start()) {
        assert!(start.within(*all) && all.width() < start.width() + 1e-12);
    }

    for (time, bounds) in rows.instants.iter().skip(1).step_by(4) {
        scenario.stop_time = *time;
        for ((lo, hi), bounds) in spread(&scenario, 4, 20).into_iter().zip(bounds) {
            let held = Interval::new(lo, hi).within(bounds.widened(1e-9));
            assert!(held, "t = {time}: [{lo}, {hi}] is not in {bounds}");
        }
    }
}

/// What has lost all meaning is not followed to infinity, and the time up to which bounds said much is told.
#[test]
fn bounds_that_say_nothing_any_more_are_given_up() {
    let mut scenario = benchmark("coupled-van-der-pol-2");
    scenario.stop_time = 6.0;
    let problem = scenario.to_enclose().unwrap();
    let options = Options {
        pieces: Pieces::ONE,
        ..shared(None, None)
    };
    let outcome =
        dovetail_guaranteed::enclose(&problem, &options, &mut recording::Recording::default());
    let useful = outcome.useful_until.expect("an early end");
    assert!(
        outcome.stopped.is_some() && 1.0 < useful && useful <= outcome.reached,
        "{outcome:?}"
    );
    let widest = outcome.states.iter().map(|x| x.width()).fold(0.0, f64::max);
    assert!(widest < 1e6 && outcome.steps < 4000, "{outcome:?}");
}
