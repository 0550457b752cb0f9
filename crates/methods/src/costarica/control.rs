//! The control part `y_C`: what of an output the linearisation does not explain, continued to the end of the step.
//!
//! It is known at the communication times only. The continuation is a polynomial through its newest values: of degree 0
//! (zero-order hold), 1 (first-order hold), or of the degree up to 2 that would have served best last time (flexible order).

/// How the control part is continued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// The degree that would have met the newest value best.
    #[default]
    Flexible,
    /// Held.
    ZeroOrder,
    /// Continued along the line through the last two values.
    FirstOrder,
}

/// Values that are kept: a parabola, and one more to judge it by.
const DEPTH: usize = 4;

/// The recent values of the control part of all outputs of a system.
pub(crate) struct ControlPart {
    control: Control,
    times: [f64; DEPTH],
    values: [Vec<f64>; DEPTH],
    kept: usize,
}

impl ControlPart {
    pub fn new(control: Control, outputs: usize) -> Self {
        Self { control, times: [f64::NAN; DEPTH], values: std::array::from_fn(|_| vec![0.0; outputs]), kept: 0 }
    }

    /// Takes the values at `time` in.
    pub fn record(&mut self, time: f64, values: &[f64]) {
        self.times.rotate_right(1);
        self.values.rotate_right(1);
        self.kept = (self.kept + 1).min(DEPTH);
        self.times[0] = time;
        self.values[0].copy_from_slice(values);
    }

    /// An event was crossed: what came before says nothing of what comes.
    pub fn forget(&mut self) {
        self.kept = 0;
    }

    /// Value, slope and curvature of one output's control part, `ahead` of the newest time.
    pub fn ahead(&self, output: usize, ahead: f64) -> [f64; 3] {
        let degree = match self.control {
            Control::ZeroOrder => 0,
            Control::FirstOrder => 1.min(self.kept - 1),
            Control::Flexible => self.best_degree(output),
        };
        self.continued(output, 0, degree, ahead)
    }

    /// The degree whose polynomial through the points before the newest meets the newest best; the lower one in a tie.
    fn best_degree(&self, output: usize) -> usize {
        let newest = self.values[0][output];
        let miss = |degree: usize| {
            let found = self.continued(output, 1, degree, self.times[0] - self.times[1])[0];
            (found - newest).abs()
        };
        let degrees = 0..self.kept.saturating_sub(1).min(3);
        degrees.map(|q| (miss(q), q)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, degree)| degree)
    }

    /// Newton's form of the polynomial of `degree` through the points from age `from` on, with two derivatives.
    fn continued(&self, output: usize, from: usize, degree: usize, ahead: f64) -> [f64; 3] {
        let value = |age: usize| self.values[from + age][output];
        let gap = |a: usize, b: usize| self.times[from + a] - self.times[from + b];
        let (d1, d2, h1);
        match degree {
            0 => return [value(0), 0.0, 0.0],
            1 => {
                d1 = (value(0) - value(1)) / gap(0, 1);
                return [value(0) + d1 * ahead, d1, 0.0];
            }
            _ => {
                h1 = gap(0, 1);
                d1 = (value(0) - value(1)) / h1;
                d2 = (d1 - (value(1) - value(2)) / gap(1, 2)) / gap(0, 2);
            }
        }
        [value(0) + ahead * (d1 + d2 * (ahead + h1)), d1 + d2 * (2.0 * ahead + h1), 2.0 * d2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(control: Control, f: impl Fn(f64) -> f64) -> ControlPart {
        let mut part = ControlPart::new(control, 1);
        [0.0, 0.2, 0.3, 0.5].iter().for_each(|&t| part.record(t, &[f(t)]));
        part
    }

    #[test]
    fn flexible_order_continues_what_it_sees() {
        let parabola = recorded(Control::Flexible, |t| 1.0 + t - 2.0 * t * t).ahead(0, 0.2);
        let expected = [1.0 + 0.7 - 2.0 * 0.49, 1.0 - 4.0 * 0.7, -4.0];
        assert!(parabola.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{parabola:?}");
        assert_eq!(recorded(Control::Flexible, |_| 3.0).ahead(0, 0.2), [3.0, 0.0, 0.0]);
    }

    #[test]
    fn holds_are_holds() {
        let line = |t: f64| 2.0 * t;
        assert_eq!(recorded(Control::ZeroOrder, line).ahead(0, 0.1), [1.0, 0.0, 0.0]);
        let first = recorded(Control::FirstOrder, line).ahead(0, 0.1);
        assert!((first[0] - 1.2).abs() < 1e-15 && (first[1] - 2.0).abs() < 1e-15);
    }
}
