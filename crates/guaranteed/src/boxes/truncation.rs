//! The local truncation error (5) of a Runge-Kutta step.
//!
//! Solution and scheme, as functions of the step size `h`, have the same Taylor coefficients up to
//! order `p`. So they differ after `H` by `H^{p+1} (c_{p+1}(ξ) - φ_{p+1}(η))`, with the
//! coefficients `p + 1` of the solution somewhere in the step and of the scheme for some size in
//! `[0, H]`. The first is bounded over the Picard box. For the second, all stages are evaluated on
//! series in `h` about every size in `[0, H]` at once.

use std::iter::zip;

use super::input::Input;
use super::scheme::{Scheme, Stage};
use super::shared_step::SharedStep;
use super::system_tape::SystemTape;
use crate::forms::FormShape;
use crate::interval::Interval;

/// What the error is bounded on.
pub(super) struct StepTruncation<'a> {
    pub scheme: &'a Scheme,
    /// Whether derivatives are affine in states and inputs, and free of time.
    pub affine: bool,
    pub shared: &'a SharedStep,
    pub inputs: &'a [&'a Input],
    /// The system's states at the start of the step.
    pub start: &'a [Interval],
    /// Its Picard box.
    pub picard: &'a [Interval],
}

/// Taylor coefficients of a system's states or slopes: order by order.
type Series = Vec<Vec<Interval>>;

impl StepTruncation<'_> {
    /// The error of every state.
    pub fn error(&self, system: &mut SystemTape) -> Vec<Interval> {
        let exact = self.solution(system);
        let numerical = self.numerical(system);
        let power =
            (0..=self.scheme.order).fold(Interval::ONE, |power, _| power * self.shared.size);
        let pairs = zip(exact, numerical);

        pairs
            .map(|(exact, numerical)| power * (exact - numerical))
            .collect()
    }

    fn elapsed(&self) -> Interval {
        self.shared.elapsed()
    }

    /// Begins series about all times that have `elapsed`.
    fn begin(&self, system: &mut SystemTape, capacity: usize, elapsed: Interval) {
        self.shared
            .begin_series(&mut system.tape, FormShape::NO_SYMBOLS, capacity, elapsed);
    }

    /// Computes coefficient `k` of the slopes from that of the states.
    fn compute(&self, system: &mut SystemTape, k: usize, own: &[Interval], elapsed: Interval) {
        let input = |j: usize| self.inputs[j].coefficient(k, elapsed);
        system.compute(k, |i| own[i], input);
    }
}

/// The solution.
impl StepTruncation<'_> {
    /// Coefficient `p + 1` of the solution, anywhere in the step.
    fn solution(&self, system: &mut SystemTape) -> Vec<Interval> {
        let elapsed = self.elapsed();
        self.begin(system, self.scheme.order + 1, elapsed);
        let mut coefficient = self.picard.to_vec();

        for k in 0..=self.scheme.order {
            self.compute(system, k, &coefficient, elapsed);
            let divisor = Interval::point(k as f64 + 1.0);
            let rates = system.results(self.start.len(), k);
            coefficient = rates.map(|rate| rate / divisor).collect();
        }
        coefficient
    }
}

/// The scheme.
impl StepTruncation<'_> {
    /// Coefficient `p + 1` of `φ(h) = x + h Σ b_i k_i(h)`, about any `h` in `[0, H]`:
    /// `Σ b_i (h k_{i,p+1} + k_{i,p})`.
    fn numerical(&self, system: &mut SystemTape) -> Vec<Interval> {
        let order = self.scheme.order;
        let sizes = self.elapsed();
        let mut sums = vec![Interval::ZERO; self.start.len()];

        if self.affine && self.inputs.iter().all(|input| input.is_constant()) {
            // A polynomial in h whose degree is the number of stages, which is `p`.
            return sums;
        }

        let mut slopes = vec![vec![Interval::ZERO; self.start.len()]; order + 2];
        for stage in self.scheme.stages {
            slopes = self.stage(system, stage, &slopes);
            let weight = self.scheme.weight(stage);
            for (i, sum) in sums.iter_mut().enumerate() {
                let coefficient = sizes * slopes[order + 1][i] + slopes[order][i];
                *sum = *sum + weight * coefficient;
            }
        }
        sums
    }

    /// The slopes of a stage as series in `h`, from those of the stage before.
    ///
    /// The tape's own variable is the stage's time, which advances by `c` where `h` advances by 1:
    /// coefficient `k` in `h` is `c^k` times that of the tape. Powers of two scale without
    /// rounding.
    fn stage(&self, system: &mut SystemTape, stage: &Stage, before: &Series) -> Series {
        let states = self.start.len();
        let node = Interval::point(stage.node);
        let elapsed = node * self.elapsed();
        self.begin(system, before.len(), elapsed);
        let mut slopes = vec![vec![Interval::ZERO; states]; before.len()];
        // Without a node, nothing depends on the size of the step.
        let orders = if stage.node == 0.0 { 1 } else { before.len() };
        let mut scale = Interval::ONE;

        for (k, slopes) in slopes.iter_mut().enumerate().take(orders) {
            let arguments = (0..states).map(|i| self.argument(stage, before, i, k));
            let own: Vec<Interval> = arguments.map(|argument| argument / scale).collect();
            self.compute(system, k, &own, elapsed);
            let results = system.results(states, k);
            *slopes = results.map(|slope| slope * scale).collect();
            scale = scale * node;
        }
        slopes
    }

    /// Coefficient `k` of `x + c h k_{i-1}(h)`, about any `h` in `[0, H]`.
    fn argument(&self, stage: &Stage, before: &Series, state: usize, k: usize) -> Interval {
        let node = Interval::point(stage.node);
        let moved = self.elapsed() * before[k][state];

        if k == 0 {
            self.start[state] + node * moved
        } else {
            Interval::ZERO + node * (moved + before[k - 1][state])
        }
    }
}
