//! Sums, products, quotients and roots have the best possible bounds, for every double.

use dovetail_guaranteed::Interval;

use crate::oracle::{Oracle, True, encloses, is_best};
use crate::samples::{Samples, effort};

const POINTS: usize = 250_000;
const BOXES: usize = 100_000;

type Operation = fn(Interval, Interval) -> Interval;

/// The operation on numbers has the best bounds, on intervals contains what it gives on numbers in
/// them.
fn check(
    seed: u64,
    operation: Operation,
    truth: fn(f64, f64) -> True,
    defined: fn(f64, f64) -> bool,
) {
    let mut samples = Samples::new(seed);
    for _ in 0..effort(POINTS) {
        let (a, b) = (samples.number(), samples.number());
        if defined(a, b) {
            let bounds = operation(Interval::point(a), Interval::point(b));
            assert!(
                is_best(bounds, &truth(a, b)),
                "{a:e} and {b:e} give {bounds:?}"
            );
        }
    }
    for _ in 0..effort(BOXES) {
        let (x, y) = (samples.interval(), samples.interval());
        let (a, b) = (samples.within(x), samples.within(y));
        if defined(a, b) {
            let bounds = operation(x, y);
            assert!(
                encloses(bounds, &truth(a, b)),
                "{x:?} and {y:?} give {bounds:?} without {a:e} and {b:e}"
            );
        }
    }
}

#[test]
fn sums_are_rounded_no_further_than_needed() {
    check(1, |a, b| a + b, Oracle::add, |_, _| true);
}

#[test]
fn differences_are_rounded_no_further_than_needed() {
    check(2, |a, b| a - b, |a, b| Oracle::add(a, -b), |_, _| true);
}

#[test]
fn products_are_rounded_no_further_than_needed() {
    check(3, |a, b| a * b, Oracle::multiply, |_, _| true);
}

#[test]
fn quotients_are_rounded_no_further_than_needed() {
    check(4, |a, b| a / b, Oracle::divide, |_, b| b != 0.0);
}

#[test]
fn squares_are_rounded_no_further_than_needed() {
    check(
        5,
        |a, _| a.square(),
        |a, _| Oracle::multiply(a, a),
        |_, _| true,
    );
}

#[test]
fn roots_are_rounded_no_further_than_needed() {
    check(6, |a, _| a.sqrt(), |a, _| Oracle::sqrt(a), |a, _| a >= 0.0);
}

#[test]
fn bounds_of_boxes_are_those_of_their_corners() {
    let mut samples = Samples::new(7);
    for _ in 0..effort(BOXES) {
        let (x, y) = (samples.interval(), samples.interval());
        if !x.is_finite() || !y.is_finite() {
            continue;
        }
        let corners = |operation: Operation| {
            let at = |a: f64, b: f64| operation(Interval::point(a), Interval::point(b));
            at(x.lo, y.lo)
                .hull(at(x.lo, y.hi))
                .hull(at(x.hi, y.lo))
                .hull(at(x.hi, y.hi))
        };
        assert_eq!(x + y, corners(|a, b| a + b));
        assert_eq!(x - y, corners(|a, b| a - b));
        assert_eq!(x * y, corners(|a, b| a * b));
        if !y.contains(0.0) {
            assert_eq!(x / y, corners(|a, b| a / b), "{x:?} {y:?}");
        }
    }
}
