//! How tight the bounds are: as narrow as double precision allows on linear systems, and the same
//! however a model is split.

mod exact;
mod models;
mod recording;

use dovetail_cases::{ROOMS, SPRING};
use dovetail_guaranteed::Interval;
use dovetail_scenario::Scenario;

use exact::Hull;
use models::{ONE, SEVEN, Split, TWO, laub_loomis, widened};
use recording::{enclosed, shared};

/// The boxes at the end.
fn end(scenario: &Scenario) -> Vec<Interval> {
    enclosed(&scenario.to_enclose().unwrap(), &shared(None, None))
        .0
        .states
}

/// The most by which the boxes at the end are wider than the exact hull.
fn excess(scenario: &Scenario) -> f64 {
    let mut hull = Hull::new(scenario);
    hull.advance(scenario.stop_time);
    let exact = hull
        .bounds()
        .into_iter()
        .map(|(low, high)| (&high - &low).rounded());
    let states = end(scenario);
    hull.excess(&states);
    states
        .iter()
        .zip(exact)
        .map(|(x, exact)| x.width() - exact)
        .fold(0.0, f64::max)
}

#[test]
fn the_spring_from_a_point_stays_a_point() {
    let widest = end(&SPRING.scenario())
        .iter()
        .map(|x| x.width())
        .fold(0.0, f64::max);
    assert!(widest <= 1e-12, "{widest:e}");
}

#[test]
fn the_spring_from_boxes_has_its_exact_hull() {
    let excess = excess(&widened(SPRING, 0.125, 0.0));
    assert!(excess <= 1e-11, "{excess:e}");
}

#[test]
fn the_rooms_have_their_exact_hull() {
    let scenario = ROOMS.scenario();
    let excess = excess(&scenario);
    assert!(excess <= 1e-10, "{excess:e}");
    let volume: f64 = end(&scenario).iter().map(|x| x.width()).product();
    assert!((volume - 0.183_454_87).abs() < 5e-9, "{volume}");
}

/// The width of `x4` at 20 s.
fn width_of_x4(radius: f64) -> f64 {
    let problem = laub_loomis(radius, TWO, 20.0).to_enclose().unwrap();
    let at = problem
        .names()
        .iter()
        .position(|name| name == "s1.x4")
        .unwrap();
    enclosed(&problem, &shared(None, None)).0.states[at].width()
}

#[test]
fn laub_loomis_from_a_small_box_stays_tight() {
    let width = width_of_x4(0.01);
    assert!(width <= 0.0036, "{width}");
}

#[test]
fn laub_loomis_from_a_larger_box_stays_tight() {
    let width = width_of_x4(0.05);
    assert!(width <= 0.03, "{width}");
}

/// The states `x1` to `x7` at the end, in this order.
fn states_of(split: Split<'_>, radius: f64) -> Vec<Interval> {
    let states = end(&laub_loomis(radius, split, 5.0));
    let order: Vec<usize> = split.iter().flat_map(|own| own.iter().copied()).collect();
    (1..=7)
        .map(|x| states[order.iter().position(|&i| i == x).unwrap()])
        .collect()
}

/// Exchanging the coefficients of coupling variables order by order loses nothing: only the order
/// of sums differs.
#[test]
fn bounds_do_not_depend_on_how_a_model_is_split() {
    for radius in [0.0, 0.01] {
        let one = states_of(ONE, radius);
        for split in [TWO, SEVEN] {
            for (a, b) in one.iter().zip(states_of(split, radius)) {
                let difference = (a.lo - b.lo).abs().max((a.hi - b.hi).abs());
                assert!(difference <= 1e-14, "{a:?} {b:?} {difference:e}");
            }
        }
    }
}
