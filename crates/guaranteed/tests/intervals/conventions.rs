//! What is exact, undefined or unbounded; truth values; derivatives.

use std::f64::consts::FRAC_PI_2;

use dovetail_equations::{Binary, Dual, Number, Unary};
use dovetail_guaranteed::Interval;
use dovetail_guaranteed::interval::IntervalMatrix;

use crate::oracle::{Oracle, encloses};
use crate::samples::{Samples, doubles_wide, effort};

const INFINITY: f64 = f64::INFINITY;
const NEG_INFINITY: f64 = f64::NEG_INFINITY;

fn interval(lo: f64, hi: f64) -> Interval {
    Interval::new(lo, hi)
}

fn point(value: f64) -> Interval {
    Interval::point(value)
}

#[test]
fn exact_results_stay_exact() {
    assert_eq!(point(0.0).exp(), point(1.0));
    assert_eq!(point(1.0).log(), point(0.0));
    assert_eq!(point(1e22).log10(), point(22.0));
    assert_eq!(point(-0.0).sin(), point(0.0));
    assert_eq!(point(0.0).cos(), point(1.0));
    assert_eq!(point(0.0).tan(), point(0.0));
    assert_eq!(point(1.0).acos(), point(0.0));
    assert_eq!(point(-3.0).power_integer(5), point(-243.0));
    assert_eq!(point(0.5).power_integer(-40), point(2f64.powi(40)));
    assert_eq!(point(3.0).power_integer(33), point(5_559_060_566_555_523.0));
    assert_eq!(point(4.0).power(point(0.5)), point(2.0));
    assert_eq!(point(-7.0).modulo(point(3.0)), point(2.0));
    assert_eq!(point(0.0).atan2(point(2.0)), point(0.0));
}

#[test]
fn division_by_zero_leaves_a_half_line_or_nothing() {
    let positive = interval(1.0, 2.0);
    assert_eq!(positive / interval(0.0, 1.0), interval(1.0, INFINITY));
    assert_eq!(positive / interval(-1.0, 0.0), interval(NEG_INFINITY, -1.0));
    assert_eq!(-positive / interval(0.0, 1.0), interval(NEG_INFINITY, -1.0));
    assert_eq!(-positive / interval(-1.0, -0.0), interval(1.0, INFINITY));
    for (a, b) in [
        (positive, Interval::ZERO),
        (positive, interval(-1.0, 1.0)),
        (Interval::ZERO, interval(0.0, 1.0)),
    ] {
        assert_eq!(a / b, Interval::ENTIRE);
    }
    assert_eq!(
        interval(0.0, 2.0).power_integer(-1),
        interval(0.5, INFINITY)
    );
    assert_eq!(
        interval(-2.0, 0.0).power_integer(-3),
        interval(NEG_INFINITY, -0.125)
    );
    assert_eq!(interval(-2.0, 1.0).power_integer(-2), Interval::ENTIRE);
}

#[test]
fn infinity_is_a_bound_and_never_a_number() {
    assert_eq!(Interval::ENTIRE * Interval::ZERO, Interval::ZERO);
    assert_eq!(
        point(f64::MAX) + point(f64::MAX),
        interval(f64::MAX, INFINITY)
    );
    assert_eq!(
        point(1e200) * point(-1e200),
        interval(NEG_INFINITY, f64::MIN)
    );
    assert_eq!(point(1000.0).exp(), interval(f64::MAX, INFINITY));
    assert_eq!(point(-1000.0).exp(), interval(0.0, 5e-324));
    assert_eq!(interval(NEG_INFINITY, 0.0).exp(), interval(0.0, 1.0));
    assert_eq!(interval(0.0, 1.0).log(), interval(NEG_INFINITY, 0.0));
    assert_eq!(Interval::ENTIRE.tanh(), interval(-1.0, 1.0));
    assert_eq!(Interval::ENTIRE.sin(), interval(-1.0, 1.0));
    assert_eq!(Interval::ENTIRE.square(), interval(0.0, INFINITY));
    assert_eq!(Interval::ENTIRE - Interval::ENTIRE, Interval::ENTIRE);
    assert_eq!(
        interval(2.0, INFINITY) / interval(2.0, INFINITY),
        interval(0.0, INFINITY)
    );
    assert_eq!(point(INFINITY), Interval::ENTIRE);
    assert_eq!(point(f64::NAN), Interval::ENTIRE);
}

#[test]
fn nothing_is_known_outside_a_domain() {
    let around_zero = interval(-1e-300, 1.0);
    assert_eq!(around_zero.sqrt(), Interval::ENTIRE);
    assert_eq!(around_zero.log(), Interval::ENTIRE);
    assert_eq!(around_zero.log10(), Interval::ENTIRE);
    assert_eq!(around_zero.power(point(1.5)), Interval::ENTIRE);
    assert_eq!(around_zero.modulo(around_zero), Interval::ENTIRE);
    assert_eq!(interval(0.0, 1.0f64.next_up()).asin(), Interval::ENTIRE);
    assert_eq!(interval(-1.0f64.next_up(), 0.0).acos(), Interval::ENTIRE);
    assert_eq!(interval(1.5, 1.6).tan(), Interval::ENTIRE);
    assert!(interval(-1.57, 1.57).tan().is_finite());
}

#[test]
fn no_operation_gives_a_bound_that_is_no_number() {
    let mut samples = Samples::new(31);
    let one = [
        Interval::exp,
        Interval::log,
        Interval::log10,
        Interval::sqrt,
        Interval::square,
        Interval::sin,
        Interval::cos,
        Interval::tan,
        Interval::asin,
        Interval::acos,
        Interval::atan,
        Interval::sinh,
        Interval::cosh,
        Interval::tanh,
        Interval::abs,
        Interval::sign,
        Interval::floor,
        Interval::ceil,
    ];
    let two: [fn(Interval, Interval) -> Interval; 10] = [
        |a, b| a + b,
        |a, b| a - b,
        |a, b| a * b,
        |a, b| a / b,
        Interval::power,
        Interval::atan2,
        Interval::min,
        Interval::max,
        Interval::modulo,
        Interval::hull,
    ];
    for _ in 0..effort(30_000) {
        let (x, y) = (samples.interval(), samples.interval());
        let results = one
            .iter()
            .map(|function| function(x))
            .chain(two.iter().map(|function| function(x, y)));
        for (index, result) in results.enumerate() {
            assert!(
                result.lo <= result.hi && result.lo < INFINITY && result.hi > NEG_INFINITY,
                "{index}: {x:?} {y:?}"
            );
        }
    }
}

#[test]
fn waves_are_bounded_by_their_extrema_only_where_they_have_one() {
    let narrow = |x: f64| interval(x.next_down(), x.next_up());
    assert_eq!(narrow(FRAC_PI_2).sin().hi, 1.0);
    assert_eq!(interval(1.0, 2.0).sin().hi, 1.0);
    assert!(interval(2.0, 4.0).sin().hi < 0.91 && interval(2.0, 4.0).sin().lo < -0.75);
    assert_eq!(interval(3.0, 4.0).cos().lo, -1.0);
    assert_eq!(interval(4.0, 10.0).sin(), interval(-1.0, 1.0));
    assert_eq!(interval(0.1, 6.3).sin(), interval(-1.0, 1.0));
    assert!(interval(-3.0, 3.0).cos().lo > -0.99 && interval(-3.0, 3.0).cos().hi == 1.0);
    // The double nearest to an odd multiple of π/2 of all, relatively: its cosine is not even
    // 5e-19.
    let worst = 6_381_956_970_095_103.0 * 2f64.powi(797);
    assert!(point(worst).cos().magnitude() < 5e-19 && doubles_wide(point(worst).cos()) == 2);
    assert!(doubles_wide(point(f64::MAX).sin()) == 2);
}

#[test]
fn conditions_may_be_undecided() {
    let (zero, one, either) = (Interval::ZERO, Interval::ONE, interval(0.0, 1.0));
    let less = |a: Interval, b| a.binary(Binary::Less, &b);
    assert_eq!(less(point(1.0), point(2.0)), one);
    assert_eq!(less(point(2.0), point(2.0)), zero);
    assert_eq!(less(interval(1.0, 3.0), point(2.0)), either);
    assert_eq!(
        interval(1.0, 2.0).binary(Binary::LessEqual, &point(2.0)),
        one
    );
    assert_eq!(
        interval(1.0, 2.0).binary(Binary::Equal, &interval(1.0, 2.0)),
        either
    );
    assert_eq!(either.binary(Binary::And, &zero), zero);
    assert_eq!(either.binary(Binary::Or, &one), one);
    assert_eq!(either.unary(Unary::Not), either);
    assert_eq!(
        Interval::select(&either, &point(2.0), &point(5.0)),
        interval(2.0, 5.0)
    );
    assert_eq!(Interval::select(&one, &point(2.0), &point(5.0)), point(2.0));
    assert!(zero.is_zero() && !either.is_zero());
}

#[test]
fn derivatives_on_intervals_contain_those_in_them() {
    let expression = |x: Dual<Interval>| {
        x.unary(Unary::Sin)
            .divide(&x.lift(1.0).add(&x.unary(Unary::Exp)))
    };
    let (mut samples, mut oracle) = (Samples::new(32), Oracle::new());
    for _ in 0..effort(5_000) {
        let start = 20.0 * samples.fraction() - 10.0;
        let domain = interval(
            start,
            start + samples.below(3) as f64 * 0.1 * samples.fraction(),
        );
        let x = samples.within(domain);
        let bounds = expression(Dual::variable(domain)).derivative;
        assert!(
            encloses(bounds, &oracle.derivative(x)),
            "{domain:?} gives {bounds:?} without {x:e}"
        );
        assert!(
            bounds.width() < 2.0 * domain.width() + 1e-14,
            "{domain:?} gives {bounds:?}"
        );
    }
}

#[test]
fn middles_and_radii_cover_the_interval() {
    let mut samples = Samples::new(33);
    for _ in 0..effort(50_000) {
        let x = samples.interval();
        assert!(!x.is_finite() || x.contains(x.middle()), "{x:?}");
        assert!(x.within(Interval::around(x.middle(), x.radius())), "{x:?}");
    }
    assert!(encloses(Interval::PI, &Oracle::new().atan2(0.0, -1.0)));
    assert!(encloses(Interval::HALF_PI, &Oracle::new().atan2(1.0, 0.0)));
}

#[test]
fn products_of_matrices_contain_the_exact_ones() {
    let row = nalgebra::DMatrix::from_row_slice(1, 3, &[0.1, 1e17, -0.3]);
    let (row, column) = (
        IntervalMatrix::from(&row),
        IntervalMatrix::from(&row.transpose()),
    );
    let product = &row * &column;
    let mut truth = Oracle::multiply(0.1, 0.1);
    for x in [1e17, -0.3] {
        truth = truth.add_full_prec(&Oracle::multiply(x, x));
    }
    assert!(encloses(product[(0, 0)], &truth) && doubles_wide(product[(0, 0)]) <= 3);
    assert_eq!(
        row.apply(
            column
                .middle()
                .as_slice()
                .iter()
                .map(|&x| point(x))
                .collect::<Vec<_>>()
                .as_slice()
        ),
        [product[(0, 0)]]
    );
    assert_eq!(&IntervalMatrix::identity(3) * &column, column);
    assert_eq!((&column + &column).magnitude()[2], 0.6);
}
