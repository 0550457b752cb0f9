//! The recursions of Taylor coefficients.

use dovetail_equations::Unary;

use super::SeriesTape;
use super::cells::Cell;
use super::lowering::{Operation, Register};
use crate::functions::Function;
use crate::interval::Interval;

impl SeriesTape {
    /// Computes coefficient `k` of every register; lower ones and coefficient `k` of the states are known.
    pub fn compute(&mut self, k: usize) {
        for register in 0..self.lowered.operations.len() {
            if k > 0 && self.still[register] {
                continue;
            }
            match self.frozen[register] {
                Some(range) => self.set(register, k, if k == 0 { range } else { Interval::ZERO }),
                None => self.coefficient(register, k),
            }
        }
    }

    fn coefficient(&mut self, out: Register, k: usize) {
        match self.lowered.operations[out] {
            Operation::Constant(value) => self.set(out, k, value),
            Operation::Parameter(index) => self.parameter(out, index),
            Operation::Time => {
                let value = [self.time, Interval::ONE]
                    .get(k)
                    .copied()
                    .unwrap_or(Interval::ZERO);
                self.set(out, k, value);
            }
            Operation::Switch(index) => self.set(out, k, self.switches[index]),
            Operation::State(_) | Operation::Companion => {}
            Operation::Add(a, b) => self.sum_of_two((out, k), (a, k), (b, k), 1.0),
            Operation::Subtract(a, b) => self.sum_of_two((out, k), (a, k), (b, k), -1.0),
            Operation::Negate(a) => self.sum((out, k), [((a, k), -1.0)]),
            Operation::Multiply(a, b) if self.is_factor(a) && !self.plain[b] => {
                self.scaled(out, a, b, k)
            }
            Operation::Multiply(a, b) if self.is_factor(b) && !self.plain[a] => {
                self.scaled(out, b, a, k)
            }
            Operation::Multiply(a, b) => {
                self.clear((out, k));
                (0..=k).for_each(|j| self.add_product((out, k), (a, j), (b, k - j), 1.0));
            }
            Operation::Square(a) => {
                self.clear((out, k));
                self.add_square((out, k), a, 0..k + 1, 1.0);
            }
            Operation::Divide(a, b) => self.quotient(out, a, b, k),
            Operation::Sqrt(a) => self.root(out, a, k),
            Operation::Exp(a) => self.exponential(out, a, k),
            Operation::SineCosine(a) => {
                self.rotation(out, a, k, -1.0, [Function::Sin, Function::Cos])
            }
            Operation::HyperbolicSineCosine(a) => {
                self.rotation(out, a, k, 1.0, [Function::Sinh, Function::Cosh])
            }
            Operation::Tanh(a) => self.hyperbolic_tangent(out, a, k),
            Operation::Primitive {
                function,
                argument,
                over,
                sign,
            } => {
                self.primitive(out, k, (function, argument, over, sign));
            }
            Operation::Angle { watched, .. } if self.outlook.ranges[watched] != Interval::ONE => {
                self.set(out, k, Interval::ENTIRE);
                self.set(out + 1, k, Interval::ENTIRE);
            }
            Operation::Angle { y, x, over, .. } => self.angle(out, k, y, x, over),
            Operation::Abs(a, watched) => self.magnitude(out, a, k, self.outlook.ranges[watched]),
            Operation::Step(operation, _, watched) => {
                let value = decided(operation, self.outlook.ranges[watched]);
                self.set(out, k, value.unwrap_or(Interval::ENTIRE));
            }
            Operation::Select(a, b, watched) => match self.outlook.ranges[watched] {
                range if !range.contains(0.0) => self.sum((out, k), [((a, k), 1.0)]),
                range if range == Interval::ZERO => self.sum((out, k), [((b, k), 1.0)]),
                _ => self.set(out, k, Interval::ENTIRE),
            },
        }
    }

    fn parameter(&mut self, out: Register, index: usize) {
        let range = self.parameters[index];
        self.set(out, 0, range);
        if let (Some(symbol), false) = (self.symbols[index], self.plain[out]) {
            let shape = self.shape;
            let form = self.form_mut((out, 0));
            form[1 + symbol] = std::mem::take(&mut form[shape.radius()]);
        }
    }

    fn quotient(&mut self, out: Register, a: Register, b: Register, k: usize) {
        if k == 0 && self.plain[out] {
            self.apply((out + 1, 0), Function::Reciprocal, (b, 0));
            return self.set(out, 0, self.interval((a, 0)) / self.interval((b, 0)));
        }
        if k == 0 {
            self.apply((out + 1, 0), Function::Reciprocal, (b, 0));
            self.clear((out, 0));
            return self.add_product((out, 0), (a, 0), (out + 1, 0), 1.0);
        }
        // q_k = (a_k − Σ b_j q_{k−j}) / b_0
        let sum = (out + 1, k);
        self.clear(sum);
        self.add(sum, (a, k), 1.0);
        (1..=k).for_each(|j| self.add_product(sum, (b, j), (out, k - j), -1.0));
        self.finish_quotient(out, k);
    }

    /// Multiplies a sum by the reciprocal in the register after `out`, which has coefficient 0 only: the others gather sums.
    fn finish_quotient(&mut self, out: Register, k: usize) {
        self.clear((out, k));
        self.add_product((out, k), (out + 1, k), (out + 1, 0), 1.0);
    }

    fn root(&mut self, out: Register, a: Register, k: usize) {
        if k == 0 {
            self.apply((out, 0), Function::Sqrt, (a, 0));
            self.apply((out + 1, 0), Function::Reciprocal, (out, 0));
            return self.divide((out + 1, 0), 2.0);
        }
        // s_k = (a_k − Σ s_j s_{k−j}) / (2 s_0)
        let sum = (out + 1, k);
        self.clear(sum);
        self.add(sum, (a, k), 1.0);
        self.add_square(sum, out, 1..k, -1.0);
        self.finish_quotient(out, k);
    }

    fn exponential(&mut self, out: Register, a: Register, k: usize) {
        if k == 0 {
            return self.apply((out, 0), Function::Exp, (a, 0));
        }
        self.integrate((out, k), a, out, 1.0);
    }

    /// `out_k = sign / k · Σ j a_j b_{k−j}`: what has the derivative `± a' b`.
    fn integrate(&mut self, out: Cell, a: Register, b: Register, sign: f64) {
        let k = out.1;
        self.clear(out);
        (1..=k).for_each(|j| self.add_product(out, (a, j), (b, k - j), sign * j as f64));
        self.divide(out, k as f64);
    }

    fn rotation(
        &mut self,
        out: Register,
        a: Register,
        k: usize,
        sign: f64,
        functions: [Function; 2],
    ) {
        if k == 0 {
            self.apply((out, 0), functions[0], (a, 0));
            return self.apply((out + 1, 0), functions[1], (a, 0));
        }
        self.integrate((out, k), a, out + 1, 1.0);
        self.integrate((out + 1, k), a, out, sign);
    }

    fn hyperbolic_tangent(&mut self, out: Register, a: Register, k: usize) {
        if k == 0 {
            self.apply((out, 0), Function::Tanh, (a, 0));
            self.clear((out + 1, 0));
            self.add_constant((out + 1, 0), Interval::ONE);
            return self.add_product((out + 1, 0), (out, 0), (out, 0), -1.0);
        }
        self.integrate((out, k), a, out + 1, 1.0);
        self.clear((out + 1, k));
        self.add_square((out + 1, k), out, 0..k + 1, -1.0);
    }

    fn primitive(
        &mut self,
        out: Register,
        k: usize,
        (function, a, over, sign): (Function, Register, Register, f64),
    ) {
        if k == 0 {
            self.apply((out, 0), function, (a, 0));
            return self.apply((out + 1, 0), Function::Reciprocal, (over, 0));
        }
        // over · p' = ± a':  p_k = (± a_k − Σ_{j<k} (j / k) p_j over_{k−j}) / over_0
        let sum = (out + 1, k);
        self.clear(sum);
        (1..k).for_each(|j| self.add_product(sum, (out, j), (over, k - j), -(j as f64)));
        self.divide(sum, k as f64);
        self.add(sum, (a, k), sign);
        self.finish_quotient(out, k);
    }

    fn angle(&mut self, out: Register, k: usize, y: Register, x: Register, over: Register) {
        if k == 0 {
            self.apply_angle((out, 0), (y, 0), (x, 0));
            return self.apply((out + 1, 0), Function::Reciprocal, (over, 0));
        }
        // (x² + y²) a' = x y' − y x'
        let sum = (out + 1, k);
        self.clear(sum);
        for j in 1..=k {
            self.add_product(sum, (y, j), (x, k - j), j as f64);
            self.add_product(sum, (x, j), (y, k - j), -(j as f64));
        }
        (1..k).for_each(|j| self.add_product(sum, (out, j), (over, k - j), -(j as f64)));
        self.divide(sum, k as f64);
        self.finish_quotient(out, k);
    }

    /// `|a|`: where its sign is open on the step, the line through both ends of the range, give or take half their distance.
    fn magnitude(&mut self, out: Register, a: Register, k: usize, range: Interval) {
        if range.lo >= 0.0 {
            return self.sum((out, k), [((a, k), 1.0)]);
        }
        if range.hi <= 0.0 {
            return self.sum((out, k), [((a, k), -1.0)]);
        }
        if !range.is_finite() {
            return self.set(out, k, Interval::ENTIRE);
        }
        let slope = ((range.hi + range.lo) / (range.hi - range.lo)).clamp(-1.0, 1.0);
        self.clear((out, k));
        self.add_scaled((out, k), Interval::point(slope), (a, k));
        if k == 0 {
            let (slope, one) = (Interval::point(slope), Interval::ONE);
            let right = (one - slope) * Interval::point(range.hi);
            let left = (one + slope) * Interval::point(-range.lo);
            self.add_constant((out, 0), Interval::new(0.0, right.hi.max(left.hi).max(0.0)));
        }
    }
}

/// The value of a step function, where it is the same throughout.
pub(super) fn decided(operation: Unary, range: Interval) -> Option<Interval> {
    let value = match operation {
        Unary::Sign => range.sign(),
        Unary::Floor => range.floor(),
        _ => range.ceil(),
    };
    value.is_point().then_some(value)
}
