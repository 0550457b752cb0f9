//! Elementary functions contain the true values, and are two doubles wide at most for one number.

use dovetail_guaranteed::Interval;

use crate::oracle::{Oracle, True, encloses};
use crate::samples::{Samples, doubles_wide, effort};

const POINTS: usize = 8_000;
const BOXES: usize = 8_000;

/// Checks a function of one number where it is defined; gives the greatest width for one number, in
/// doubles.
fn check(
    seed: u64,
    function: fn(Interval) -> Interval,
    truth: fn(&mut Oracle, f64) -> True,
    defined: fn(f64) -> bool,
) -> u64 {
    let (mut samples, mut oracle, mut widest) = (Samples::new(seed), Oracle::new(), 0);
    for _ in 0..effort(POINTS) {
        let x = samples.number();
        if defined(x) {
            let bounds = function(Interval::point(x));
            assert!(
                encloses(bounds, &truth(&mut oracle, x)),
                "{x:e} gives {bounds:?}"
            );
            widest = widest.max(doubles_wide(bounds));
        }
    }
    for _ in 0..effort(BOXES) {
        let domain = samples.interval();
        let x = samples.within(domain);
        if defined(x) {
            let bounds = function(domain);
            assert!(
                encloses(bounds, &truth(&mut oracle, x)),
                "{domain:?} gives {bounds:?} without {x:e}"
            );
        }
    }
    widest
}

/// Checks a function of two numbers likewise.
fn check_two(
    seed: u64,
    function: fn(Interval, Interval) -> Interval,
    truth: fn(&mut Oracle, f64, f64) -> True,
    defined: fn(f64, f64) -> bool,
) -> u64 {
    let (mut samples, mut oracle, mut widest) = (Samples::new(seed), Oracle::new(), 0);
    for _ in 0..effort(POINTS) {
        let (a, b) = (samples.number(), samples.number());
        if defined(a, b) {
            let bounds = function(Interval::point(a), Interval::point(b));
            assert!(
                encloses(bounds, &truth(&mut oracle, a, b)),
                "{a:e} and {b:e} give {bounds:?}"
            );
            widest = widest.max(doubles_wide(bounds));
        }
    }
    for _ in 0..effort(BOXES) {
        let (x, y) = (samples.interval(), samples.interval());
        let (a, b) = (samples.within(x), samples.within(y));
        if defined(a, b) {
            let bounds = function(x, y);
            let truth = truth(&mut oracle, a, b);
            assert!(
                encloses(bounds, &truth),
                "{x:?} and {y:?} give {bounds:?} without {a:e} and {b:e}"
            );
        }
    }
    widest
}

macro_rules! functions {
    ($($name:ident: $seed:literal, $function:expr, $truth:expr, $defined:expr, $width:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(check($seed, $function, $truth, $defined), $width);
        })*
    };
}

functions! {
    the_exponential_is_enclosed: 11, Interval::exp, Oracle::exp, |_| true, 2;
    the_logarithm_is_enclosed: 12, Interval::log, Oracle::ln, |x| x > 0.0, 2;
    the_decimal_logarithm_is_enclosed: 13, Interval::log10, Oracle::log10, |x| x > 0.0, 2;
    the_sine_is_enclosed: 14, Interval::sin, Oracle::sin, |_| true, 2;
    the_cosine_is_enclosed: 15, Interval::cos, Oracle::cos, |_| true, 2;
    the_tangent_is_enclosed: 16, Interval::tan, Oracle::tan, |_| true, 2;
    the_arc_sine_is_enclosed: 17, Interval::asin, Oracle::asin, |x| x.abs() <= 1.0, 2;
    the_arc_cosine_is_enclosed: 18, Interval::acos, Oracle::acos, |x| x.abs() <= 1.0, 2;
    the_arc_tangent_is_enclosed: 19, Interval::atan, Oracle::atan, |_| true, 2;
    the_hyperbolic_sine_is_enclosed: 20, Interval::sinh, Oracle::sinh, |_| true, 2;
    the_hyperbolic_cosine_is_enclosed: 21, Interval::cosh, Oracle::cosh, |_| true, 2;
    the_hyperbolic_tangent_is_enclosed: 22, Interval::tanh, Oracle::tanh, |_| true, 2;
}

#[test]
fn the_angle_is_enclosed() {
    assert_eq!(
        check_two(23, Interval::atan2, Oracle::atan2, |y, x| x != 0.0
            || y != 0.0),
        2
    );
}

#[test]
fn real_powers_are_enclosed() {
    let defined = |x: f64, y: f64| (x > 0.0 && (x.ln() * y).abs() < 1e4) || (x == 0.0 && y >= 0.0);
    assert_eq!(check_two(24, Interval::power, Oracle::power, defined), 2);
}

#[test]
fn the_remainder_is_enclosed() {
    assert_eq!(
        check_two(
            25,
            Interval::modulo,
            |_, a, b| Oracle::modulo(a, b),
            |_, b| b != 0.0
        ),
        1
    );
}

#[test]
fn integer_powers_are_enclosed() {
    let (mut samples, mut widest) = (Samples::new(26), 0);
    for _ in 0..effort(4 * POINTS) {
        let range = if samples.below(2) == 0 { 20 } else { 2000 };
        let exponent = samples.below(2 * range) as i32 - range as i32;
        let domain = samples.interval();
        let x = samples.within(domain);
        if (x == 0.0 && exponent < 0) || (x.abs().ln() * f64::from(exponent)).abs() > 1e4 {
            continue;
        }
        let truth = Oracle::power_integer(x, exponent);
        let (point, bounds) = (
            Interval::point(x).power_integer(exponent),
            domain.power_integer(exponent),
        );
        assert!(
            encloses(point, &truth),
            "{x:e} to the power of {exponent} gives {point:?}"
        );
        assert!(
            encloses(bounds, &truth),
            "{domain:?} to the power of {exponent} gives {bounds:?} without {x:e}"
        );
        widest = widest.max(doubles_wide(point));
    }
    assert_eq!(widest, 2);
}
