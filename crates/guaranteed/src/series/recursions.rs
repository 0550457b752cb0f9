//! The recursions of Taylor coefficients.

use super::cells::{Cell, companion};
use super::operation::{
    Angle, Arithmetic, LeafKind, Operation, Piecewise, Primitive, Register, Smooth, step_value,
};
use super::tape::SeriesTape;
use crate::functions::IntervalFunction;
use crate::interval::Interval;

/// Two functions that are the derivatives of one another, but for a sign.
#[derive(Clone, Copy)]
struct Rotation {
    functions: [IntervalFunction; 2],
    /// Of the derivative of the second function.
    sign: f64,
}

const TRIGONOMETRIC: Rotation = Rotation {
    functions: [IntervalFunction::Sin, IntervalFunction::Cos],
    sign: -1.0,
};

const HYPERBOLIC: Rotation = Rotation {
    functions: [IntervalFunction::Sinh, IntervalFunction::Cosh],
    sign: 1.0,
};

/// What to compute.
impl SeriesTape {
    /// Computes coefficient `k` of every register; lower ones and coefficient `k` of the states are
    /// known.
    pub fn compute(&mut self, k: usize) {
        for register in 0..self.lowered.operations.len() {
            if k > 0 && self.is_still(register) {
                continue;
            }
            let cell = (register, k);
            match self.frozen[register] {
                Some(range) if k == 0 => self.set(cell, range),
                Some(_) => self.set(cell, Interval::ZERO),
                None => self.coefficient(cell),
            }
        }
    }

    fn coefficient(&mut self, out: Cell) {
        match self.lowered.operations[out.0] {
            Operation::Leaf(leaf) => self.leaf(out, leaf),
            Operation::Arithmetic(operation) => self.arithmetic(out, operation),
            Operation::Smooth(operation) => self.smooth(out, operation),
            Operation::Piecewise(operation) => self.piecewise(out, operation),
            Operation::Companion => {}
        }
    }

    fn leaf(&mut self, out: Cell, leaf: LeafKind) {
        match leaf {
            LeafKind::Constant(value) => self.set(out, value),
            LeafKind::Parameter(index) => self.parameter(out.0, index),
            LeafKind::Time => self.set(out, self.time_coefficient(out.1)),
            LeafKind::Switch(index) => self.set(out, self.switches[index]),
            LeafKind::State(_) => {}
        }
    }

    fn arithmetic(&mut self, out: Cell, operation: Arithmetic) {
        let k = out.1;
        match operation {
            Arithmetic::Add(a, b) => self.sum_of_two(out, (a, k), (b, k), 1.0),
            Arithmetic::Subtract(a, b) => self.sum_of_two(out, (a, k), (b, k), -1.0),
            Arithmetic::Negate(a) => self.copy(out, (a, k), -1.0),
            Arithmetic::Multiply(a, b) => self.product(out, a, b),
            Arithmetic::Square(a) => self.square(out, a),
            Arithmetic::Divide(a, b) if k == 0 => self.first_quotient(out, a, b),
            Arithmetic::Divide(a, b) => self.quotient(out, a, b),
        }
    }

    fn smooth(&mut self, out: Cell, operation: Smooth) {
        match operation {
            Smooth::Sqrt(a) => self.root(out, a),
            Smooth::Exp(a) => self.exponential(out, a),
            Smooth::SineCosine(a) => self.rotation(out, a, TRIGONOMETRIC),
            Smooth::HyperbolicSineCosine(a) => self.rotation(out, a, HYPERBOLIC),
            Smooth::Tanh(a) => self.hyperbolic_tangent(out, a),
            Smooth::Primitive(primitive) => self.primitive(out, primitive),
            Smooth::Angle(angle) => self.angle(out, angle),
        }
    }

    fn piecewise(&mut self, out: Cell, operation: Piecewise) {
        match operation {
            Piecewise::Abs(a, guard) => self.magnitude(out, a, self.assumed(guard)),
            Piecewise::Step(operation, _, guard) => {
                let value = step_value(operation, self.assumed(guard));
                self.set(out, value.unwrap_or(Interval::ENTIRE));
            }
            Piecewise::Select(a, b, guard) => self.select(out, a, b, self.assumed(guard)),
        }
    }
}

/// Leaves.
impl SeriesTape {
    fn parameter(&mut self, out: Register, index: usize) {
        let cell = (out, 0);
        self.set(cell, self.parameters[index]);
        let Some(symbol) = self.symbols[index] else {
            return;
        };

        if !self.is_plain(out) {
            let radius = self.cells.shape().radius();
            let form = self.cells.form_mut(cell);
            form[1 + symbol] = std::mem::take(&mut form[radius]);
        }
    }

    fn time_coefficient(&self, k: usize) -> Interval {
        match k {
            0 => self.time,
            1 => Interval::ONE,
            _ => Interval::ZERO,
        }
    }
}

/// Arithmetic.
impl SeriesTape {
    fn product(&mut self, out: Cell, a: Register, b: Register) {
        let k = out.1;
        if self.is_factor(a) && !self.is_plain(b) {
            self.scaled(out, a, (b, k));
        } else if self.is_factor(b) && !self.is_plain(a) {
            self.scaled(out, b, (a, k));
        } else {
            self.clear(out);
            self.add_convolution(out, a, b, 0..k + 1, |_| 1.0);
        }
    }

    fn square(&mut self, out: Cell, a: Register) {
        self.clear(out);
        self.add_square(out, a, 0..out.1 + 1, 1.0);
    }

    fn first_quotient(&mut self, out: Cell, a: Register, b: Register) {
        let reciprocal = companion(out);
        self.apply(reciprocal, IntervalFunction::Reciprocal, (b, 0));

        if self.is_plain(out.0) {
            let quotient = self.interval((a, 0)) / self.interval((b, 0));
            return self.set(out, quotient);
        }

        self.clear(out);
        self.add_product(out, (a, 0), reciprocal, 1.0);
    }

    /// `q_k = (a_k − Σ b_j q_{k−j}) / b_0`.
    fn quotient(&mut self, out: Cell, a: Register, b: Register) {
        let k = out.1;
        let sum = companion(out);
        self.copy(sum, (a, k), 1.0);
        self.add_convolution(sum, b, out.0, 1..k + 1, |_| -1.0);
        self.finish_quotient(out);
    }

    /// Multiplies a sum by the reciprocal in the register after `out`, which has coefficient 0
    /// only: the others gather sums.
    fn finish_quotient(&mut self, out: Cell) {
        let sum = companion(out);
        let reciprocal = (sum.0, 0);
        self.clear(out);
        self.add_product(out, sum, reciprocal, 1.0);
    }
}

/// Smooth functions.
impl SeriesTape {
    fn root(&mut self, out: Cell, a: Register) {
        let k = out.1;
        let sum = companion(out);

        if k == 0 {
            self.apply(out, IntervalFunction::Sqrt, (a, 0));
            self.apply(sum, IntervalFunction::Reciprocal, out);
            return self.divide(sum, 2.0);
        }

        // s_k = (a_k − Σ s_j s_{k−j}) / (2 s_0)
        self.copy(sum, (a, k), 1.0);
        self.add_square(sum, out.0, 1..k, -1.0);
        self.finish_quotient(out);
    }

    fn exponential(&mut self, out: Cell, a: Register) {
        if out.1 == 0 {
            self.apply(out, IntervalFunction::Exp, (a, 0));
        } else {
            self.integrate(out, a, out.0, 1.0);
        }
    }

    /// `out_k = sign / k · Σ j a_j b_{k−j}`: what has the derivative `± a' b`.
    fn integrate(&mut self, out: Cell, a: Register, b: Register, sign: f64) {
        let k = out.1;
        self.clear(out);
        self.add_convolution(out, a, b, 1..k + 1, |j| sign * j);
        self.divide(out, k as f64);
    }

    fn rotation(&mut self, out: Cell, a: Register, rotation: Rotation) {
        let second = companion(out);
        if out.1 == 0 {
            self.apply(out, rotation.functions[0], (a, 0));
            self.apply(second, rotation.functions[1], (a, 0));
        } else {
            self.integrate(out, a, second.0, 1.0);
            self.integrate(second, a, out.0, rotation.sign);
        }
    }

    fn hyperbolic_tangent(&mut self, out: Cell, a: Register) {
        let k = out.1;
        let derivative = companion(out);

        if k == 0 {
            self.apply(out, IntervalFunction::Tanh, (a, 0));
            self.clear(derivative);
            self.add_constant(derivative, Interval::ONE);
            return self.add_product(derivative, out, out, -1.0);
        }

        self.integrate(out, a, derivative.0, 1.0);
        self.clear(derivative);
        self.add_square(derivative, out.0, 0..k + 1, -1.0);
    }

    fn primitive(&mut self, out: Cell, primitive: Primitive) {
        let k = out.1;
        let sum = companion(out);

        if k == 0 {
            self.apply(out, primitive.function, (primitive.argument, 0));
            return self.apply(sum, IntervalFunction::Reciprocal, (primitive.over, 0));
        }

        // over · p' = ± a':  p_k = (± a_k − Σ_{j<k} (j / k) p_j over_{k−j}) / over_0
        self.clear(sum);
        self.add_convolution(sum, out.0, primitive.over, 1..k, |j| -j);
        self.divide(sum, k as f64);
        self.add(sum, (primitive.argument, k), primitive.sign);

        self.finish_quotient(out);
    }

    fn angle(&mut self, out: Cell, angle: Angle) {
        if self.assumed(angle.guard) != Interval::ONE {
            self.set(out, Interval::ENTIRE);
            self.set(companion(out), Interval::ENTIRE);
        } else if out.1 == 0 {
            self.apply_angle(out, (angle.y, 0), (angle.x, 0));
            self.apply(
                companion(out),
                IntervalFunction::Reciprocal,
                (angle.over, 0),
            );
        } else {
            self.angle_off_the_cut(out, angle);
        }
    }

    /// `(x² + y²) a' = x y' − y x'`.
    fn angle_off_the_cut(&mut self, out: Cell, Angle { y, x, over, .. }: Angle) {
        let k = out.1;
        let sum = companion(out);
        self.clear(sum);

        for j in 1..=k {
            self.add_product(sum, (y, j), (x, k - j), j as f64);
            self.add_product(sum, (x, j), (y, k - j), -(j as f64));
        }

        self.add_convolution(sum, out.0, over, 1..k, |j| -j);
        self.divide(sum, k as f64);
        self.finish_quotient(out);
    }
}

/// What depends on assumptions.
impl SeriesTape {
    /// The range that is assumed of a guard.
    fn assumed(&self, guard: usize) -> Interval {
        self.assumptions().ranges[guard]
    }

    fn select(&mut self, out: Cell, a: Register, b: Register, condition: Interval) {
        let k = out.1;
        if !condition.contains(0.0) {
            self.copy(out, (a, k), 1.0);
        } else if condition == Interval::ZERO {
            self.copy(out, (b, k), 1.0);
        } else {
            self.set(out, Interval::ENTIRE);
        }
    }

    fn magnitude(&mut self, out: Cell, a: Register, range: Interval) {
        let a = (a, out.1);
        if range.lo >= 0.0 {
            self.copy(out, a, 1.0);
        } else if range.hi <= 0.0 {
            self.copy(out, a, -1.0);
        } else if range.is_finite() {
            self.kinked_magnitude(out, a, range);
        } else {
            self.set(out, Interval::ENTIRE);
        }
    }

    /// `|a|` where its sign is open on the step: the line through both ends of the range, give or
    /// take half their distance.
    fn kinked_magnitude(&mut self, out: Cell, a: Cell, range: Interval) {
        let slope = ((range.hi + range.lo) / (range.hi - range.lo)).clamp(-1.0, 1.0);
        let slope = Interval::point(slope);
        self.clear(out);
        self.add_scaled(out, slope, a);

        if out.1 == 0 {
            let right = (Interval::ONE - slope) * Interval::point(range.hi);
            let left = (Interval::ONE + slope) * Interval::point(-range.lo);
            let largest = right.hi.max(left.hi).max(0.0);
            self.add_constant(out, Interval::new(0.0, largest));
        }
    }
}
