//! The exact hull of a linear system with switching times: `center ± |exp(At)| r`.

use dovetail_guaranteed::Interval;
use dovetail_scenario::Scenario;

use super::{Equations, High};

type Matrix = Vec<Vec<High>>;

/// The hull of all trajectories from a box, as it moves through time.
pub struct Hull {
    equations: Equations,
    start: Vec<Interval>,
    time: High,
    /// The flow from the start until now; its last row and column belong to the constant 1.
    flow: Matrix,
    /// The flow's rate until the next switching time.
    rate: Matrix,
}

impl Hull {
    /// At the start of a model whose derivatives are affine in the states.
    pub fn new(scenario: &Scenario) -> Self {
        let boxes = scenario.boxes().expect("BUG: equations");
        assert!(
            boxes
                .iter()
                .flat_map(|b| &b.parameters)
                .all(|p| p.is_point()),
            "BUG: uncertain parameters"
        );
        let equations = Equations::of(scenario);
        let start = boxes.into_iter().flat_map(|b| b.states).collect();
        let flow = unit(equations.states + 1);
        let time = High::exactly(scenario.start_time);
        let mut hull = Self {
            equations,
            start,
            time,
            rate: flow.clone(),
            flow,
        };
        hull.enter();
        hull
    }

    fn enter(&mut self) {
        self.equations.enter(&self.time);
        let (n, zero) = (self.equations.states, High::exactly(0.0));
        let mut states = vec![zero.clone(); n];
        let constant = self.equations.derivatives(&self.time, &states);
        self.rate = vec![vec![zero; n + 1]; n + 1];
        for j in 0..n {
            states[j] = High::exactly(1.0);
            let column = self.equations.derivatives(&self.time, &states);
            states[j] = High::exactly(0.0);
            for i in 0..n {
                self.rate[i][j] = &column[i] - &constant[i];
                self.rate[i][n] = constant[i].clone();
            }
        }
    }

    /// Moves on to `time`.
    pub fn advance(&mut self, time: f64) {
        let end = High::exactly(time);
        while let Some(threshold) = self.equations.next_threshold(&self.time, &end) {
            self.flow_until(threshold);
            self.enter();
        }
        self.flow_until(end);
    }

    fn flow_until(&mut self, end: High) {
        let step = exponential(&self.rate, &(&end - &self.time));
        self.flow = product(&step, &self.flow);
        self.time = end;
    }

    /// The bounds of every state.
    pub fn bounds(&self) -> Vec<(High, High)> {
        let (n, zero) = (self.start.len(), High::exactly(0.0));
        let bound = |row: &Vec<High>| {
            let (mut center, mut radius) = (row[n].clone(), zero.clone());
            for (entry, range) in row.iter().zip(&self.start) {
                let (lo, hi) = (High::exactly(range.lo), High::exactly(range.hi));
                center = center + &(entry * &(&lo + &hi).half());
                radius = radius + &(entry.abs() * &(&hi - &lo).half());
            }
            (&center - &radius, &center + &radius)
        };
        self.flow[..n].iter().map(bound).collect()
    }

    /// The most by which `boxes` are beyond the hull on either side; fails where they do not hold
    /// it, with no allowance.
    pub fn excess(&self, boxes: &[Interval]) -> f64 {
        let mut most = 0.0_f64;
        for (state, ((low, high), range)) in self.bounds().iter().zip(boxes).enumerate() {
            let below = low - &High::exactly(range.lo);
            let above = &High::exactly(range.hi) - high;
            let (below, above) = (below.rounded(), above.rounded());
            let time = &self.time;
            assert!(
                below >= 0.0 && above >= 0.0,
                "state {state}, t = {time}: {low} to {high} is not in {range:?}"
            );
            most = most.max(below).max(above);
        }
        most
    }
}

fn unit(n: usize) -> Matrix {
    (0..n)
        .map(|i| {
            (0..n)
                .map(|j| High::exactly(f64::from(u8::from(i == j))))
                .collect()
        })
        .collect()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let zero = High::exactly(0.0);
    let entry = |row: &Vec<High>, j: usize| {
        let terms = row
            .iter()
            .zip(b)
            .filter(|(x, y)| **x != zero && y[j] != zero);
        terms.fold(zero.clone(), |sum, (x, y)| sum + &(x * &y[j]))
    };
    a.iter()
        .map(|row| (0..b.len()).map(|j| entry(row, j)).collect())
        .collect()
}

fn scaled(a: &Matrix, factor: &High) -> Matrix {
    a.iter()
        .map(|row| row.iter().map(|x| x * factor).collect())
        .collect()
}

/// By scaling and squaring: with a norm of at most 2⁻⁸, what is cut off after 24 terms is below
/// 2⁻²⁵⁰.
fn exponential(rate: &Matrix, time: &High) -> Matrix {
    let norm = rate
        .iter()
        .map(|row| row.iter().map(|x| x.abs().rounded()).sum::<f64>())
        .fold(0.0, f64::max);
    let squarings = (norm * time.rounded()).max(1e-300).log2().ceil().max(-8.0) as i32 + 8;
    let small = scaled(rate, &(time * &High::exactly(0.5_f64.powi(squarings))));
    let (mut sum, mut term) = (unit(rate.len()), unit(rate.len()));
    for k in 1..=24 {
        term = scaled(
            &product(&term, &small),
            &(High::exactly(1.0) / &High::exactly(f64::from(k))),
        );
        for (sum, term) in sum.iter_mut().flatten().zip(term.iter().flatten()) {
            *sum = &*sum + term;
        }
    }
    (0..squarings).for_each(|_| sum = product(&sum, &sum));
    sum
}
