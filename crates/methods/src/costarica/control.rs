//! The control part `y_C`: what of an output the linearization does not explain, continued to the
//! end of the step.
//!
//! It is known at the communication times only. The continuation is a polynomial through its newest
//! values: of degree 0 (zero-order hold), 1 (first-order hold), or of the degree up to 2 that would
//! have served best last time (flexible order).
//!
//! Past values are those of the *present* linearization at past points, `y_i − C x_i − D u_i` with
//! the newest C and D. The paper keeps what each point's own linearization left; where C and D
//! change from step to step, so does `y_C` then, although nothing but the linearization has
//! changed, and following that change spoils the estimate and can feed on itself.

use dovetail_core::{Archive, Checkpoint, Error, Interface, Linearization, visit_fields};

use super::options::Control;
use crate::row_product::row_product;

/// The most values that are kept: a parabola, and one more to judge it by.
const DEPTH: usize = 4;

impl Control {
    /// How many values are kept.
    fn depth(self) -> usize {
        match self {
            Self::ZeroOrder | Self::Tangent => 1,
            Self::FirstOrder => 2,
            Self::Flexible => DEPTH,
        }
    }
}

/// The recent values of the control part of all outputs of a system.
pub(crate) struct ControlPart {
    control: Control,
    /// Where the system was, in a ring: times, and what [`PastPoint`] sees. In one piece, since models
    /// of thousands of systems live from memory that is close together.
    times: [f64; DEPTH],
    past: Vec<f64>,
    newest: usize,
    kept: usize,
    sizes: [usize; 4],
    /// What the present linearization leaves of the outputs at each of these points, newest first,
    /// and how fast it changes by itself.
    values: Vec<f64>,
    rates: Vec<f64>,
}

/// A system at a communication time: x, u, u' and g.
struct PastPoint<'a>([&'a [f64]; 4]);

impl<'a> PastPoint<'a> {
    fn of(past: &'a [f64], sizes: [usize; 4]) -> Self {
        let mut rest = past;
        Self(sizes.map(|size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part
        }))
    }
}

impl ControlPart {
    pub fn new(control: Control, interface: &Interface) -> Self {
        let states = interface.states.len();
        let inputs = interface.inputs.len();
        let outputs = interface.outputs.len();
        let sizes = [states, inputs, inputs, outputs];

        Self {
            control,
            times: [f64::NAN; DEPTH],
            past: vec![0.0; control.depth() * sizes.iter().sum::<usize>()],
            newest: 0,
            kept: 0,
            sizes,
            values: vec![0.0; control.depth() * outputs],
            rates: vec![0.0; outputs],
        }
    }

    /// The system stands at `time`, where it is `here`: `y_C = ỹ − C x̃ − D ũ`.
    pub fn record(&mut self, time: f64, here: &Linearization) {
        let depth = self.control.depth();
        self.newest = (self.newest + 1) % depth;
        self.kept = (self.kept + 1).min(depth);
        self.times[self.newest] = time;
        let known = here.x.iter().chain(&here.u);
        let known = known.chain(&here.u_slope).chain(&here.g);
        let newest = self.slot(0);

        for (kept, new) in self.past[newest].iter_mut().zip(known) {
            *kept = *new;
        }

        self.rates.copy_from_slice(here.g_time.as_slice());
        for age in 0..self.kept {
            let PastPoint([x, u, u_slope, g]) =
                PastPoint::of(&self.past[self.slot(age)], self.sizes);
            for (output, g) in g.iter().enumerate() {
                let explained = row_product(&here.c, output, x)
                    + row_product(&here.d, output, u)
                    + row_product(&here.d_slope, output, u_slope);
                self.values[age * self.sizes[3] + output] = g - explained;
            }
        }
    }

    /// The place of an age in the ring.
    fn place(&self, age: usize) -> usize {
        let depth = self.control.depth();
        (self.newest + depth - age) % depth
    }

    /// Where the point of an age is kept.
    fn slot(&self, age: usize) -> std::ops::Range<usize> {
        let stride: usize = self.sizes.iter().sum();
        let first = self.place(age) * stride;
        first..first + stride
    }

    fn value(&self, age: usize, output: usize) -> f64 {
        self.values[age * self.sizes[3] + output]
    }

    /// Whether anything has been recorded since the last event.
    pub fn is_known(&self) -> bool {
        self.kept > 0
    }

    fn time(&self, age: usize) -> f64 {
        self.times[self.place(age)]
    }

    /// An event was crossed: what came before says nothing of what comes.
    pub fn forget(&mut self) {
        self.kept = 0;
    }

    /// Value, slope and curvature of one output's control part, `ahead` of the newest time.
    pub fn ahead(&self, output: usize, ahead: f64) -> [f64; 3] {
        if self.control == Control::Tangent || self.control == Control::Flexible && self.kept <= 2 {
            // Too little to judge degrees by; a system that knows ∂g/∂t is followed along it.
            let value = self.value(0, output);
            let rate = self.rates[output];
            return [value + rate * ahead, rate, 0.0];
        }

        let degree = match self.control {
            Control::ZeroOrder => 0,
            Control::FirstOrder => 1.min(self.kept - 1),
            Control::Flexible | Control::Tangent => self.best_degree(output),
        };
        self.continued(output, 0, degree, ahead)
    }

    /// The degree whose polynomial through the points before the newest meets the newest best; the
    /// lower one in a tie.
    fn best_degree(&self, output: usize) -> usize {
        let newest = self.value(0, output);
        let miss = |degree: usize| {
            let found = self.continued(output, 1, degree, self.time(0) - self.time(1))[0];
            (found - newest).abs()
        };
        let degrees = 0..self.kept.saturating_sub(1).min(3);

        degrees
            .map(|q| (miss(q), q))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |(_, degree)| degree)
    }

    /// Newton's form of the polynomial of `degree` through the points from age `from` on, with two
    /// derivatives.
    fn continued(&self, output: usize, from: usize, degree: usize, ahead: f64) -> [f64; 3] {
        let value = |age: usize| self.value(from + age, output);
        let gap = |a: usize, b: usize| self.time(from + a) - self.time(from + b);
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
        [
            value(0) + ahead * (d1 + d2 * (ahead + h1)),
            d1 + d2 * (2.0 * ahead + h1),
            2.0 * d2,
        ]
    }
}

impl Checkpoint for ControlPart {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.times, self.newest, self.kept);
        archive.slice(&mut self.past)?;
        archive.slice(&mut self.values)?;
        archive.slice(&mut self.rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use dovetail_core::Output;

    /// An output that is `f(time)`, seen four times.
    fn recorded(control: Control, f: impl Fn(f64) -> f64) -> ControlPart {
        let output = Output {
            name: "y".into(),
            ..Output::default()
        };
        let interface = Interface {
            name: "s".into(),
            outputs: vec![output].into(),
            ..Interface::default()
        };
        let mut part = ControlPart::new(control, &interface);
        let mut here = Linearization::of(&interface);
        for time in [0.0, 0.2, 0.3, 0.5] {
            here.g[0] = f(time);
            part.record(time, &here);
        }
        part
    }

    #[test]
    fn flexible_order_continues_what_it_sees() {
        let parabola = recorded(Control::Flexible, |t| 1.0 + t - 2.0 * t * t).ahead(0, 0.2);
        let expected = [1.0 + 0.7 - 2.0 * 0.49, 1.0 - 4.0 * 0.7, -4.0];
        assert!(
            parabola
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{parabola:?}"
        );
        assert_eq!(
            recorded(Control::Flexible, |_| 3.0).ahead(0, 0.2),
            [3.0, 0.0, 0.0]
        );
    }

    #[test]
    fn a_linearization_that_changes_is_not_taken_for_a_change_of_the_output() {
        // y = u², and u = t: C x + D u explains all but the bend, whatever D was before.
        let input = dovetail_core::Input {
            name: "u".into(),
            ..Default::default()
        };
        let output = Output {
            name: "y".into(),
            depends_on: vec![0],
            ..Output::default()
        };
        let interface = Interface {
            name: "s".into(),
            inputs: vec![input].into(),
            outputs: vec![output].into(),
            ..Interface::default()
        };
        let mut part = ControlPart::new(Control::Flexible, &interface);
        let mut here = Linearization::of(&interface);
        for t in [1.0, 1.2, 1.3, 1.5] {
            here.u[0] = t;
            here.g[0] = t * t;
            here.d[(0, 0)] = 2.0 * t;
            part.record(t, &here);
        }
        // At u = 1.7: 1.7² = 2.89 = 3 · 1.7 + y_C.
        let found = part.ahead(0, 0.2)[0];
        assert!((found + 2.21).abs() < 1e-12, "{found}");
    }

    #[test]
    fn holds_are_holds() {
        let line = |t: f64| 2.0 * t;
        assert_eq!(
            recorded(Control::ZeroOrder, line).ahead(0, 0.1),
            [1.0, 0.0, 0.0]
        );
        let first = recorded(Control::FirstOrder, line).ahead(0, 0.1);
        assert!((first[0] - 1.2).abs() < 1e-15 && (first[1] - 2.0).abs() < 1e-15);
    }
}
