//! A root between two points with values of opposite sign.

/// Halvings at most: from any interval down to neighboring numbers.
const MOST_ROUNDS: usize = 200;

/// Where `function` changes its sign between `low` and `high`, to neighboring numbers: by false
/// position with the Illinois rule, and by halving where that is slow. The result is on the side
/// of `high`.
///
/// `at_low` and `at_high` are the values there, of opposite sign or zero.
pub fn bracketed_root(
    mut function: impl FnMut(f64) -> f64,
    (mut low, mut at_low): (f64, f64),
    (mut high, mut at_high): (f64, f64),
) -> f64 {
    let negative_above = at_high < 0.0;
    let mut width = high - low;
    let mut moved_high = None;

    for round in 0..MOST_ROUNDS {
        let step = high - low;
        let halve = round % 2 == 1 && step.abs() > 0.5 * width.abs();
        if round % 2 == 1 {
            width = step;
        }
        let secant = high - at_high * step / (at_high - at_low);
        let middle = low + 0.5 * step;
        let inside = secant > low.min(high) && secant < low.max(high);
        let next = if halve || !inside { middle } else { secant };
        if next == low || next == high {
            break;
        }

        let value = function(next);
        if value == 0.0 {
            return next;
        }
        if (value < 0.0) == negative_above {
            high = next;
            at_high = value;
            if moved_high == Some(true) {
                at_low *= 0.5; // an end that stays too long
            }
            moved_high = Some(true);
        } else {
            low = next;
            at_low = value;
            if moved_high == Some(false) {
                at_high *= 0.5;
            }
            moved_high = Some(false);
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_of(function: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
        let ends = [low, high].map(|at| (at, function(at)));
        bracketed_root(function, ends[0], ends[1])
    }

    #[test]
    fn roots_are_found_to_neighboring_numbers() {
        let two = root_of(|x| x * x - 2.0, 0.0, 2.0);
        assert!((two - 2f64.sqrt()).abs() <= 2.0 * f64::EPSILON, "{two}");
        let falling = root_of(|x| (-x).exp() - 0.5, 0.0, 40.0);
        assert!((falling - 2f64.ln()).abs() < 1e-15, "{falling}");
    }

    #[test]
    fn a_jump_is_a_change_of_sign() {
        let jump = root_of(|x| if x < 0.3 { -1.0 } else { 1e9 }, 0.0, 1.0);
        assert_eq!(jump, 0.3);
    }

    #[test]
    fn flat_functions_do_not_take_for_ever() {
        let mut asked = 0;
        let function = |x: f64| {
            asked += 1;
            (x - 0.2).powi(9)
        };
        let root = bracketed_root(function, (0.0, -(0.2f64.powi(9))), (1.0, 0.8f64.powi(9)));
        assert!((root - 0.2).abs() < 1e-6 && asked < 200, "{root}, {asked}");
    }
}
