//! Scalar operations rounded towards one side, by error-free transforms.
//!
//! A floating-point sum or product comes with its exact rounding error (Dekker 1971, Knuth); a
//! quotient or a root with the sign of its remainder. The result moves to the neighboring double
//! only if it lies on the wrong side of the true one, so bounds are the best possible, and exact
//! results stay exact. Where the transforms would underflow or overflow, the same is done on
//! operands scaled by powers of two. The rounding mode of the processor is never changed.

/// The double below, where a lower bound goes when its rounding error demands it.
#[inline]
pub(super) fn below(value: f64) -> f64 {
    if cfg!(feature = "broken-rounding") {
        value
    } else {
        value.next_down()
    }
}

/// The double above.
#[inline]
pub(super) fn above(value: f64) -> f64 {
    if cfg!(feature = "broken-rounding") {
        value
    } else {
        value.next_up()
    }
}

/// The largest double that is at most `a + b`.
#[inline]
pub(super) fn add_down(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    // The error is no number when the sum overflows, or an operand is infinite; `below` is right
    // then, too.
    if error >= 0.0 { sum } else { below(sum) }
}

/// The smallest double that is at least `a + b`.
#[inline]
pub(super) fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

/// The largest double that is at most `a b`; 0 if either is, even if the other is infinite.
#[inline]
pub(super) fn multiply_down(a: f64, b: f64) -> f64 {
    let (product, error) = two_product(a, b);
    if splits(a) && splits(b) && harmless(product) {
        if error < 0.0 { below(product) } else { product }
    } else {
        multiply_down_scaled(a, b)
    }
}

/// The smallest double that is at least `a b`; 0 if either is, even if the other is infinite.
#[inline]
pub(super) fn multiply_up(a: f64, b: f64) -> f64 {
    -multiply_down(-a, b)
}

/// The largest double that is at most `a / b`, where `b` is not zero.
#[inline]
pub(super) fn divide_down(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let (product, error) = two_product(quotient, b);

    if splits(quotient) && splits(b) && harmless(a) {
        let remainder = (a - product) - error;
        if too_large(remainder, b) {
            below(quotient)
        } else {
            quotient
        }
    } else {
        divide_down_scaled(a, b)
    }
}

/// The smallest double that is at least `a / b`, where `b` is not zero.
#[inline]
pub(super) fn divide_up(a: f64, b: f64) -> f64 {
    -divide_down(-a, b)
}

/// The largest double that is at most the root of `a`, which is not negative.
#[inline]
pub(super) fn sqrt_down(a: f64) -> f64 {
    let (root, remainder) = root_and_remainder(a);
    if remainder < 0.0 { below(root) } else { root }
}

/// The smallest double that is at least the root of `a`, which is not negative.
#[inline]
pub(super) fn sqrt_up(a: f64) -> f64 {
    let (root, remainder) = root_and_remainder(a);
    if remainder > 0.0 { above(root) } else { root }
}

/// A sum and its rounding error, exactly, unless the sum overflows.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A product and its rounding error, exactly, if the factors can be split and the product is
/// harmless.
///
/// By a fused multiply-add where that is an instruction, or, in the GNU C library, a call that
/// looks for the instruction; elsewhere it may be emulated, and splitting is faster.
#[inline]
pub(super) fn two_product(a: f64, b: f64) -> (f64, f64) {
    const FUSED: bool = cfg!(target_feature = "fma")
        || cfg!(target_arch = "aarch64")
        || cfg!(all(target_os = "linux", target_env = "gnu"));
    let product = a * b;
    (
        product,
        if FUSED {
            a.mul_add(b, -product)
        } else {
            split_error(a, b, product)
        },
    )
}

/// The rounding error of a product (Dekker).
#[inline]
fn split_error(a: f64, b: f64, product: f64) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (split(a), split(b));
    a_rest * b_rest - (((product - a * b) - a_rest * b) - a * b_rest)
}

/// Two halves of 26 bits that add up to `value` (Veltkamp).
#[inline]
fn split(value: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * value; // 2^27 + 1
    let upper = shifted - (shifted - value);
    (upper, value - upper)
}

/// Whether splitting `value` does not overflow.
#[inline]
fn splits(value: f64) -> bool {
    value.abs() < power_of_two(990)
}

/// Whether a product is far enough from overflow and its rounding error from underflow.
#[inline]
fn harmless(product: f64) -> bool {
    let size = product.abs();
    power_of_two(-960) < size && size < power_of_two(1000)
}

/// Whether a quotient is above the true one, given what it leaves of the dividend.
#[inline]
fn too_large(remainder: f64, divisor: f64) -> bool {
    if divisor > 0.0 {
        remainder < 0.0
    } else {
        remainder > 0.0
    }
}

/// `multiply_down` for zeros, infinities, overflow and underflow.
#[cold]
fn multiply_down_scaled(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }

    let product = a * b;
    if !product.is_finite() {
        return below(product);
    }

    let ((a, a_exponent), (b, b_exponent)) = (normalize(a), normalize(b));
    let (upper, lower) = two_product(a, b);
    let error = (upper - rescale(product, a_exponent + b_exponent)) + lower;

    if error < 0.0 { below(product) } else { product }
}

/// `divide_down` for zeros, infinities, overflow and underflow.
#[cold]
fn divide_down_scaled(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.is_nan() {
        return f64::NEG_INFINITY;
    }
    if a == 0.0 || b.is_infinite() {
        return 0.0;
    }
    if quotient.is_infinite() {
        return below(quotient);
    }

    let ((a, a_exponent), (b, b_exponent)) = (normalize(a), normalize(b));
    let (upper, lower) = two_product(rescale(quotient, a_exponent - b_exponent), b);
    let remainder = (a - upper) - lower;

    if too_large(remainder, b) {
        below(quotient)
    } else {
        quotient
    }
}

/// The root to nearest and a number with the sign of what it leaves of `a`.
#[inline]
fn root_and_remainder(a: f64) -> (f64, f64) {
    let root = a.sqrt();
    if a == 0.0 || a == f64::INFINITY {
        return (root, 0.0);
    }

    let (scale, root_scale) = match a {
        _ if a < power_of_two(-900) => (power_of_two(200), power_of_two(100)),
        _ if a > power_of_two(900) => (power_of_two(-200), power_of_two(-100)),
        _ => (1.0, 1.0),
    };
    let (square, error) = two_product(root * root_scale, root * root_scale);
    (root, (a * scale - square) - error)
}

/// `value` is the first times two to the power of the second; the first lies between 1 and 2, up to
/// its sign.
fn normalize(value: f64) -> (f64, i32) {
    const EXPONENT: u64 = 0x7ff << 52;
    let (value, shift) = if value.abs() < f64::MIN_POSITIVE {
        (value * power_of_two(54), 54)
    } else {
        (value, 0)
    };
    let exponent = ((value.to_bits() & EXPONENT) >> 52) as i32 - 1023;

    (
        f64::from_bits((value.to_bits() & !EXPONENT) | (1023 << 52)),
        exponent - shift,
    )
}

/// `value` over two to the power of `exponent`, where that is of order one, or zero.
fn rescale(value: f64, exponent: i32) -> f64 {
    if value == 0.0 {
        return value;
    }

    let (value, own) = normalize(value);
    value * power_of_two(own - exponent)
}

/// Two to a power between -1022 and 1023.
#[inline]
pub(super) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_finds_the_error_that_a_fused_multiply_add_does() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let mut number = || {
            bits = bits.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            f64::from_bits(bits ^ (bits >> 32))
        };
        let mut compared = 0;
        while compared < 200_000 {
            let (a, b) = (number(), number());
            if splits(a) && splits(b) && harmless(a * b) {
                assert_eq!(
                    split_error(a, b, a * b),
                    a.mul_add(b, -(a * b)),
                    "{a:e} {b:e}"
                );
                compared += 1;
            }
        }
    }
}
