//! The local truncation error (5) of a Runge-Kutta step.
//!
//! Solution and scheme, as functions of the step size `h`, have the same Taylor coefficients up to order `p`. So they
//! differ after `H` by `H^{p+1} (c_{p+1}(ξ) - φ_{p+1}(η))`, with the coefficients `p + 1` of the solution somewhere in
//! the step and of the scheme for some size in `[0, H]`. The first is bounded over the Picard box. For the second, all
//! stages are evaluated on series in `h` about every size in `[0, H]` at once.

use super::input::Input;
use super::scheme::{Registers, Scheme, Stage};
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::series::tape::{Coefficient, SeriesTape};

/// Series over intervals only.
pub(super) const NO_SYMBOLS: FormShape = FormShape {
    primaries: 0,
    quadratic: false,
    errors: 0,
};

/// What the error is bounded on.
pub(super) struct Step<'a> {
    pub scheme: Scheme,
    /// Whether derivatives are affine in states and inputs, and free of time.
    pub affine: bool,
    pub time: f64,
    pub size: Interval,
    pub switches: &'a [Interval],
    pub inputs: &'a [&'a Input],
    /// The system's states at the start of the step.
    pub start: &'a [Interval],
    /// Its Picard box.
    pub picard: &'a [Interval],
}

/// Taylor coefficients of a system's states or slopes: order by order.
type Series = Vec<Vec<Interval>>;

impl Step<'_> {
    /// The error of every state.
    pub fn error(&self, tape: &mut SeriesTape, registers: &Registers) -> Vec<Interval> {
        let exact = self.solution(tape, registers);
        let numerical = self.numerical(tape, registers);
        let power = (0..=self.scheme.order).fold(Interval::ONE, |power, _| power * self.size);
        exact
            .into_iter()
            .zip(numerical)
            .map(|(exact, numerical)| power * (exact - numerical))
            .collect()
    }

    fn elapsed(&self) -> Interval {
        Interval::new(0.0, self.size.hi)
    }

    /// Coefficient `p + 1` of the solution, anywhere in the step.
    fn solution(&self, tape: &mut SeriesTape, registers: &Registers) -> Vec<Interval> {
        let elapsed = self.elapsed();
        tape.begin(
            NO_SYMBOLS,
            self.scheme.order + 1,
            Interval::point(self.time) + elapsed,
            self.switches,
        );
        let mut coefficient = self.picard.to_vec();
        for k in 0..=self.scheme.order {
            self.set(tape, registers, k, &coefficient, elapsed);
            tape.compute(k);
            let divisor = Interval::point(k as f64 + 1.0);
            coefficient = results(tape, self.start.len(), k)
                .into_iter()
                .map(|rate| rate / divisor)
                .collect();
        }
        coefficient
    }

    fn set(
        &self,
        tape: &mut SeriesTape,
        registers: &Registers,
        k: usize,
        own: &[Interval],
        elapsed: Interval,
    ) {
        for &(i, register) in &registers.own {
            tape.set_state_interval(register, k, own[i]);
        }
        for &(j, register) in &registers.foreign {
            tape.set_state_interval(register, k, self.inputs[j].coefficient(k, elapsed));
        }
    }

    /// Coefficient `p + 1` of `φ(h) = x + h Σ b_i k_i(h)`, about any `h` in `[0, H]`: `Σ b_i (h k_{i,p+1} + k_{i,p})`.
    fn numerical(&self, tape: &mut SeriesTape, registers: &Registers) -> Vec<Interval> {
        let (order, sizes) = (self.scheme.order, self.elapsed());
        let mut sums = vec![Interval::ZERO; self.start.len()];
        if self.affine && self.inputs.iter().all(|input| input.is_constant()) {
            // A polynomial in h whose degree is the number of stages, which is `p`.
            return sums;
        }
        let mut slopes = vec![vec![Interval::ZERO; self.start.len()]; order + 2];
        for stage in self.scheme.stages {
            slopes = self.stage(tape, registers, stage, &slopes);
            let weight = self.scheme.weight(stage);
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = *sum + weight * (sizes * slopes[order + 1][i] + slopes[order][i]);
            }
        }
        sums
    }

    /// The slopes of a stage as series in `h`, from those of the stage before.
    ///
    /// The tape's own variable is the stage's time, which advances by `c` where `h` advances by 1: coefficient `k` in
    /// `h` is `c^k` times that of the tape. Powers of two scale without rounding.
    fn stage(
        &self,
        tape: &mut SeriesTape,
        registers: &Registers,
        stage: &Stage,
        before: &Series,
    ) -> Series {
        let (states, count) = (self.start.len(), before.len());
        let node = Interval::point(stage.node);
        let elapsed = node * self.elapsed();
        tape.begin(
            NO_SYMBOLS,
            count,
            Interval::point(self.time) + elapsed,
            self.switches,
        );
        let mut slopes = vec![vec![Interval::ZERO; states]; count];
        // Without a node, nothing depends on the size of the step.
        let orders = if stage.node == 0.0 { 1 } else { count };
        let mut scale = Interval::ONE;
        for (k, slopes) in slopes.iter_mut().enumerate().take(orders) {
            let own: Vec<Interval> = (0..states)
                .map(|i| self.argument(stage, before, i, k) / scale)
                .collect();
            self.set(tape, registers, k, &own, elapsed);
            tape.compute(k);
            *slopes = results(tape, states, k)
                .into_iter()
                .map(|slope| slope * scale)
                .collect();
            scale = scale * node;
        }
        slopes
    }

    /// Coefficient `k` of `x + c h k_{i-1}(h)`, about any `h` in `[0, H]`.
    fn argument(&self, stage: &Stage, before: &Series, state: usize, k: usize) -> Interval {
        let sizes = self.elapsed();
        let moved = match k {
            0 => sizes * before[0][state],
            _ => sizes * before[k][state] + before[k - 1][state],
        };
        let start = if k == 0 {
            self.start[state]
        } else {
            Interval::ZERO
        };
        start + Interval::point(stage.node) * moved
    }
}

/// Coefficient `k` of all results of a tape over intervals.
pub(super) fn results(tape: &SeriesTape, count: usize, k: usize) -> Vec<Interval> {
    let result = |index: usize| match tape.result(index, k) {
        Coefficient::Plain(value) => value,
        Coefficient::Form(_) => Interval::ENTIRE,
    };
    (0..count).map(result).collect()
}
