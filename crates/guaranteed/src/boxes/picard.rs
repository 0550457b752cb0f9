//! The Picard box of one system: what its states cannot leave during a step, whatever its inputs do
//! inside their boxes.

use std::iter::zip;

use super::field::Field;
use crate::interval::{Interval, position_of_largest};

/// How often a box is enlarged before the step is called too long.
const MOST_ITERATIONS: usize = 8;
/// By how much of its width a box is enlarged, on either side.
pub(super) const INFLATION: f64 = 0.1;

/// The Picard-Lindelöf operator in its rectangle form (7): `x₀ + [0, H] f(r, w)`.
pub(super) fn rectangle(
    field: &mut Field,
    start: &[Interval],
    elapsed: Interval,
    guess: &[Interval],
) -> Vec<Interval> {
    let rates = field.rates(guess);
    let states = zip(start, rates);
    states.map(|(&x, rate)| x + elapsed * rate).collect()
}

/// A box that the operator maps into itself, so that every solution from `start` exists and stays
/// in it; or, if none is found, the state that grows too fast. The search begins with `guess`.
///
/// The inputs are functions of time within the boxes that `field` has been placed in; nothing else
/// is assumed of them.
pub(super) fn picard_box(
    field: &mut Field,
    start: &[Interval],
    elapsed: Interval,
    guess: &[Interval],
) -> Result<Vec<Interval>, usize> {
    let mut guess = hulls(guess, start);
    let mut last = Vec::new();

    for _ in 0..MOST_ITERATIONS {
        let image = rectangle(field, start, elapsed, &guess);
        if let Some(state) = image.iter().position(|x| !x.is_finite()) {
            return Err(state);
        }
        if all_within(&image, &guess) {
            // The operator is monotone, so the image of the image is smaller still.
            return Ok(rectangle(field, start, elapsed, &image));
        }
        guess = inflated(&hulls(&guess, &image), INFLATION);
        last = image;
    }
    Err(fastest(start, &last))
}

/// The state that grows most.
fn fastest(start: &[Interval], last: &[Interval]) -> usize {
    let growths = zip(last, start).map(|(last, start)| last.width() - start.width());
    position_of_largest(growths).unwrap_or(0)
}

/// Wider on either side by a part of the width, and a little more.
pub(super) fn inflated(boxes: &[Interval], part: f64) -> Vec<Interval> {
    boxes.iter().map(|range| wider(*range, part)).collect()
}

fn wider(range: Interval, part: f64) -> Interval {
    let margin = part * range.width() + 1e-13 * range.magnitude() + f64::MIN_POSITIVE;
    range.widened(margin)
}

pub(super) fn hulls(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    a.iter().zip(b).map(|(a, b)| a.hull(*b)).collect()
}

pub(super) fn all_within(inner: &[Interval], outer: &[Interval]) -> bool {
    inner
        .iter()
        .zip(outer)
        .all(|(inner, outer)| inner.within(*outer))
}

/// What two enclosures of the same have in common.
pub(super) fn common(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| a.intersection(*b).unwrap_or(*a))
        .collect()
}
