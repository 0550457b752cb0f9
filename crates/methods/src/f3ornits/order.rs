//! Flexible order: the degree that would have served best on the step just made, F3ORNITS (18) to
//! (20).

use serde::{Deserialize, Serialize};

use super::StepControl;
use super::calibration::{HIGHEST, Points};

/// How much of an averaged error is kept when a new one comes in.
const KEPT: f64 = 0.7;
/// Another degree must be so many times better to be worth a change.
const HYSTERESIS: f64 = 1.5;

/// The degree of one output's estimates, and what led to it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The degree of the next estimate.
    pub degree: usize,
    /// Errors of every degree, averaged, as far as they are known.
    averages: [f64; HIGHEST + 1],
    known: usize,
}

impl Order {
    /// Nothing is known: values are held.
    pub fn new() -> Self {
        Self {
            degree: 0,
            averages: [0.0; HIGHEST + 1],
            known: 0,
        }
    }

    /// Chooses the degree, `most` at most, by how well each would have foretold `value` from the
    /// points before it, `elapsed` ago the newest of them. Always by extrapolation, (18); ties go
    /// to the lower degree.
    pub fn choose(
        &mut self,
        steering: StepControl,
        points: &Points,
        elapsed: f64,
        value: f64,
        most: usize,
    ) {
        let available = most.min(points.count() - 1);
        let mut best = 0;
        let mut least = f64::INFINITY;

        for degree in 0..=available {
            let miss = (points.extrapolate(degree).value(elapsed) - value).abs();
            let weighed = match steering {
                StepControl::Plain => miss, // (19), (20)
                // What rounding makes of so many values is not worth a choice.
                StepControl::Averaged => {
                    self.averaged(degree, miss.max(rounding(degree) * value.abs()))
                }
            };
            if weighed < least {
                best = degree;
                least = weighed;
            }
        }

        self.known = self.known.max(available + 1);
        self.degree = best;
    }

    /// Averages the error of `degree`, and weighs it up where that is not the degree in use.
    fn averaged(&mut self, degree: usize, miss: f64) -> f64 {
        let average = &mut self.averages[degree];
        *average = if degree < self.known {
            KEPT * *average + (1.0 - KEPT) * miss
        } else {
            miss
        };

        if degree == self.degree {
            *average
        } else {
            HYSTERESIS * *average
        }
    }
}

/// What continuing values with this degree makes of their rounding: the sum of the binomial
/// coefficients, and a little more.
fn rounding(degree: usize) -> f64 {
    f64::EPSILON * f64::from(4_u32 << degree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_core::{Connections, Interface, Knot, MacroStep, Output, Past};

    /// The past of an output that follows `f`, at irregular times up to 1.
    fn past(f: impl Fn(f64) -> f64) -> Points {
        let output = Output {
            name: "y".into(),
            ..Output::default()
        };
        let interface = Interface {
            name: "s".into(),
            outputs: vec![output].into(),
            ..Interface::default()
        };
        let connections = Connections::new(vec![interface], vec![]);
        let mut past = Past::new(&connections);
        let mut tasks = connections.tasks(0);
        for time in [0.0, 0.3, 0.5, 0.9, 1.0] {
            tasks[0].step = MacroStep::new(time - 0.1, time);
            tasks[0].response.reached = time;
            tasks[0].response.outputs[0] = Knot::value_only(f(time));
            past.record(&tasks);
        }
        Points::of(&past, 0, 0)
    }

    #[test]
    fn the_degree_is_that_of_what_is_seen_and_no_higher_than_needed() {
        let chosen = |f: fn(f64) -> f64, most: usize| {
            let mut order = Order::new();
            order.choose(StepControl::Plain, &past(f), 0.25, f(1.25), most);
            order.degree
        };
        assert_eq!(chosen(|_| 3.0, 3), 0, "ties go to the lower degree");
        assert_eq!(chosen(|t| 2.0 - t * t, 3), 2);
        assert_eq!(chosen(|t| 2.0 - t * t, 1), 1);
        assert_eq!(chosen(|t| t.powi(3), 4), 3);
    }

    #[test]
    fn an_averaged_choice_is_not_changed_by_a_single_error_that_is_a_little_better() {
        let line = past(|t| t);
        let mut order = Order::new();
        order.choose(StepControl::Averaged, &line, 0.2, 1.2, 1);
        assert_eq!(order.degree, 1);
        // Nearer to the held value than to the line, once.
        order.choose(StepControl::Averaged, &line, 0.2, 1.05, 1);
        assert_eq!(order.degree, 1);
        order.choose(StepControl::Plain, &line, 0.2, 1.05, 1);
        assert_eq!(order.degree, 0);
    }
}
