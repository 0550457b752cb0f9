//! From a program to operations that have a recursion for their Taylor coefficients.
//!
//! Functions without a recursion of their own are written with others: `tan` as a quotient, `min`
//! with `abs`, and so on. Conditions are not operations here: which branch holds on a step is found
//! on intervals and given by the [`Assumptions`].
//!
//! [`Assumptions`]: super::assumptions::Assumptions

use std::iter;
use std::ops::Range;

use dovetail_equations::{Binary, Instruction, Program, Unary};

use super::operation::{
    Angle, Arithmetic, GuardIndex, LeafKind, Operation, Piecewise, Primitive, Register, Smooth,
};
use crate::functions::IntervalFunction;
use crate::interval::Interval;

/// Powers up to this exponent are multiplied out.
const LARGEST_EXPONENT: f64 = 1e6;

/// An argument that decides something, whose range the assumptions hold, in registers of the
/// program: values, or truth values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Guard {
    Register(usize),
    Difference(usize, usize),
    Quotient(usize, usize),
    /// Whether the point `(x, y)`, given as y and x, stays off the cut of the angle.
    Angle(usize, usize),
}

/// A program of operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Lowered {
    pub operations: Vec<Operation>,
    /// The register of each result.
    pub results: Vec<Register>,
    pub guards: Vec<Guard>,
    /// For each of them, whether it depends on states.
    pub guard_states: Vec<bool>,
    /// The register of each register of the program; truth values have none.
    pub places: Vec<Option<Register>>,
    /// For each register of the program, whether it depends on states.
    stateful: Vec<bool>,
    /// The parameters that are whole numbers, by the register of the program.
    integers: Vec<Option<i32>>,
}

/// Lowers a program, for these parameters.
pub(super) fn lower(program: &Program, parameters: &[Interval]) -> Lowered {
    let mut lowering = Lowered::new(program, parameters);
    lowering.place_leaves(program);

    for (register, instruction) in program.instructions() {
        lowering.stateful[register] = lowering.depends_on_states(instruction);
        lowering.places[register] = lowering.instruction(instruction);
    }

    let results = program.result_registers().iter();
    lowering.results = results.map(|&r| lowering.number(r)).collect();
    lowering
}

/// Which registers are operands or results.
fn used(program: &Program) -> Vec<bool> {
    let mut used = vec![false; program.registers()];
    for &register in program.result_registers() {
        used[register] = true;
    }

    for (_, instruction) in program.instructions() {
        for register in operands(instruction) {
            used[register as usize] = true;
        }
    }
    used
}

/// The operands of an instruction, some of them twice.
fn operands(instruction: Instruction) -> [u32; 3] {
    match instruction {
        Instruction::Add(a, b) | Instruction::Subtract(a, b) => [a, b, b],
        Instruction::Multiply(a, b) | Instruction::Divide(a, b) => [a, b, b],
        Instruction::Binary(_, a, b) => [a, b, b],
        Instruction::Unary(_, a) | Instruction::PowerInteger(a, _) => [a; 3],
        Instruction::Select(a, b, c) => [a, b, c],
    }
}

/// The whole number that an interval is, if it is one that powers are multiplied out for.
fn whole(range: Interval) -> Option<i32> {
    let value = range.lo;
    let whole = range.is_point() && value.fract() == 0.0;
    (whole && value.abs() <= LARGEST_EXPONENT).then_some(value as i32)
}

/// The leaves of a program, each with its register.
fn leaves(program: &Program) -> impl Iterator<Item = (usize, LeafKind)> {
    let layout = program.layout();
    let values = program.constants().iter().map(|&v| Interval::point(v));
    let constants = values.map(LeafKind::Constant).enumerate();

    constants
        .chain(numbered(&layout.parameters, LeafKind::Parameter))
        .chain(iter::once((layout.time, LeafKind::Time)))
        .chain(numbered(&layout.switches, LeafKind::Switch))
        .chain(numbered(&layout.states, LeafKind::State))
}

/// The leaves of one kind, in registers one after the other.
fn numbered(
    registers: &Range<usize>,
    leaf: fn(usize) -> LeafKind,
) -> impl Iterator<Item = (usize, LeafKind)> + use<> {
    let registers = registers.clone().enumerate();
    registers.map(move |(index, register)| (register, leaf(index)))
}

/// Before there are operations.
impl Lowered {
    fn new(program: &Program, parameters: &[Interval]) -> Self {
        let count = program.registers();
        let layout = program.layout();
        let mut lowered = Self {
            places: vec![None; count],
            stateful: vec![false; count],
            integers: vec![None; count],
            ..Self::default()
        };
        lowered.stateful[layout.states.clone()].fill(true);

        for (register, range) in layout.parameters.clone().zip(parameters) {
            lowered.integers[register] = whole(*range);
        }
        lowered
    }

    /// A system's program has registers for the variables of all systems before it, and uses few of
    /// them.
    fn place_leaves(&mut self, program: &Program) {
        let used = used(program);
        for (register, leaf) in leaves(program) {
            if used[register] {
                self.places[register] = Some(self.push(Operation::Leaf(leaf)));
            }
        }
    }

    fn depends_on_states(&self, instruction: Instruction) -> bool {
        let mut operands = operands(instruction).into_iter();
        operands.any(|operand| self.stateful[operand as usize])
    }
}

/// Operations.
impl Lowered {
    /// The states that are used, each with its register.
    pub fn states(&self) -> Vec<(usize, Register)> {
        let mut states = Vec::new();
        for (register, operation) in self.operations.iter().enumerate() {
            if let Operation::Leaf(LeafKind::State(state)) = *operation {
                states.push((state, register));
            }
        }
        states
    }

    fn push(&mut self, operation: Operation) -> Register {
        self.operations.push(operation);
        self.operations.len() - 1
    }

    fn pair(&mut self, operation: Operation) -> Register {
        let register = self.push(operation);
        self.push(Operation::Companion);
        register
    }

    fn constant(&mut self, value: Interval) -> Register {
        self.push(Operation::Leaf(LeafKind::Constant(value)))
    }

    fn arithmetic(&mut self, operation: Arithmetic) -> Register {
        self.push(Operation::Arithmetic(operation))
    }

    fn add(&mut self, a: Register, b: Register) -> Register {
        self.arithmetic(Arithmetic::Add(a, b))
    }

    fn subtract(&mut self, a: Register, b: Register) -> Register {
        self.arithmetic(Arithmetic::Subtract(a, b))
    }

    fn multiply(&mut self, a: Register, b: Register) -> Register {
        self.arithmetic(Arithmetic::Multiply(a, b))
    }

    fn square(&mut self, a: Register) -> Register {
        self.arithmetic(Arithmetic::Square(a))
    }

    fn divide(&mut self, a: Register, b: Register) -> Register {
        self.pair(Operation::Arithmetic(Arithmetic::Divide(a, b)))
    }

    fn smooth(&mut self, operation: Smooth) -> Register {
        self.pair(Operation::Smooth(operation))
    }

    fn exponential(&mut self, a: Register) -> Register {
        self.push(Operation::Smooth(Smooth::Exp(a)))
    }

    fn step(&mut self, operation: Unary, a: Register, guard: Guard) -> Register {
        let guard = self.guard(guard);
        self.push(Operation::Piecewise(Piecewise::Step(operation, a, guard)))
    }

    fn abs(&mut self, a: Register, guard: Guard) -> Register {
        let guard = self.guard(guard);
        self.push(Operation::Piecewise(Piecewise::Abs(a, guard)))
    }

    fn guard(&mut self, guard: Guard) -> GuardIndex {
        let stateful = match guard {
            Guard::Register(a) => self.stateful[a],
            Guard::Difference(a, b) | Guard::Quotient(a, b) | Guard::Angle(a, b) => {
                self.stateful[a] || self.stateful[b]
            }
        };
        self.guard_states.push(stateful);
        self.guards.push(guard);

        self.guards.len() - 1
    }

    /// The register of a number of the program.
    fn number(&self, register: usize) -> Register {
        self.places[register].expect("BUG: a condition is used as a number")
    }

    /// The register of an operand of an instruction.
    fn operand(&self, register: u32) -> Register {
        self.number(register as usize)
    }

    /// The registers of two operands, unless they are conditions.
    fn both(&self, a: usize, b: usize) -> Option<(Register, Register)> {
        Some((self.places[a]?, self.places[b]?))
    }
}

/// Instructions.
impl Lowered {
    /// `None` for conditions.
    fn instruction(&mut self, instruction: Instruction) -> Option<Register> {
        let register = match instruction {
            Instruction::Unary(Unary::Not, _) => return None,
            Instruction::Binary(operation, a, b) => {
                return self.binary(operation, a as usize, b as usize);
            }
            Instruction::Select(condition, a, b) => return self.select(condition, a, b),
            Instruction::Add(a, b) => self.add(self.operand(a), self.operand(b)),
            Instruction::Subtract(a, b) => self.subtract(self.operand(a), self.operand(b)),
            Instruction::Multiply(a, b) if a == b => self.square(self.operand(a)),
            Instruction::Multiply(a, b) => self.multiply(self.operand(a), self.operand(b)),
            Instruction::Divide(a, b) => self.divide(self.operand(a), self.operand(b)),
            Instruction::Unary(operation, a) => self.unary(operation, a as usize),
            Instruction::PowerInteger(a, exponent) => self.power_integer(self.operand(a), exponent),
        };
        Some(register)
    }

    /// A choice between conditions is a condition itself.
    fn select(&mut self, condition: u32, a: u32, b: u32) -> Option<Register> {
        let (a, b) = self.both(a as usize, b as usize)?;
        let guard = self.guard(Guard::Register(condition as usize));
        let select = Piecewise::Select(a, b, guard);
        Some(self.push(Operation::Piecewise(select)))
    }
}

/// Functions of one argument.
impl Lowered {
    fn unary(&mut self, operation: Unary, register: usize) -> Register {
        let a = self.number(register);
        match operation {
            Unary::Negate => self.arithmetic(Arithmetic::Negate(a)),
            Unary::Sin => self.smooth(Smooth::SineCosine(a)),
            Unary::Cos => self.smooth(Smooth::SineCosine(a)) + 1,
            Unary::Tan => self.tangent(a),
            Unary::Asin => self.arc(IntervalFunction::Asin, a, 1.0),
            Unary::Acos => self.arc(IntervalFunction::Acos, a, -1.0),
            Unary::Atan => self.arc_tangent(a),
            Unary::Sinh => self.smooth(Smooth::HyperbolicSineCosine(a)),
            Unary::Cosh => self.smooth(Smooth::HyperbolicSineCosine(a)) + 1,
            Unary::Tanh => self.smooth(Smooth::Tanh(a)),
            Unary::Exp => self.exponential(a),
            Unary::Log => self.log(a),
            Unary::Log10 => self.decimal_log(a),
            Unary::Sqrt => self.smooth(Smooth::Sqrt(a)),
            Unary::Abs => self.abs(a, Guard::Register(register)),
            Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not => {
                self.step(operation, a, Guard::Register(register))
            }
        }
    }

    fn tangent(&mut self, a: Register) -> Register {
        let sine = self.smooth(Smooth::SineCosine(a));
        self.divide(sine, sine + 1)
    }

    fn primitive(
        &mut self,
        function: IntervalFunction,
        argument: Register,
        over: Register,
    ) -> Register {
        self.signed_primitive(function, argument, over, 1.0)
    }

    fn signed_primitive(
        &mut self,
        function: IntervalFunction,
        argument: Register,
        over: Register,
        sign: f64,
    ) -> Register {
        self.smooth(Smooth::Primitive(Primitive {
            function,
            argument,
            over,
            sign,
        }))
    }

    fn log(&mut self, a: Register) -> Register {
        self.primitive(IntervalFunction::Log, a, a)
    }

    fn decimal_log(&mut self, a: Register) -> Register {
        let log = self.log(a);
        let scale = self.constant(Interval::ONE / Interval::point(10.0).log());
        self.multiply(scale, log)
    }

    fn one(&mut self) -> Register {
        self.constant(Interval::ONE)
    }

    /// Its derivative is 1 over `1 + a²`.
    fn arc_tangent(&mut self, a: Register) -> Register {
        let square = self.square(a);
        let one = self.one();
        let over = self.add(one, square);
        self.primitive(IntervalFunction::Atan, a, over)
    }

    /// An arc sine or cosine: its derivative is ±1 over `√(1 − a²)`.
    fn arc(&mut self, function: IntervalFunction, a: Register, sign: f64) -> Register {
        let square = self.square(a);
        let one = self.one();
        let rest = self.subtract(one, square);
        let over = self.smooth(Smooth::Sqrt(rest));
        self.signed_primitive(function, a, over, sign)
    }
}

/// Functions of two arguments, which come as registers of the program.
impl Lowered {
    fn binary(&mut self, operation: Binary, left: usize, right: usize) -> Option<Register> {
        let (a, b) = self.both(left, right)?;
        let register = match operation {
            Binary::Add => self.add(a, b),
            Binary::Subtract => self.subtract(a, b),
            Binary::Multiply => self.multiply(a, b),
            Binary::Divide => self.divide(a, b),
            Binary::Power => self.power(a, b, self.integers[right]),
            Binary::Atan2 => self.angle((a, left), (b, right)),
            Binary::Min => self.minimum((a, left), (b, right)),
            Binary::Max => self.maximum((a, left), (b, right)),
            Binary::Modulo => self.modulo((a, left), (b, right)),
            Binary::Less | Binary::LessEqual | Binary::Equal => return None,
            Binary::And | Binary::Or => return None,
        };
        Some(register)
    }

    fn angle(&mut self, y: (Register, usize), x: (Register, usize)) -> Register {
        let y_squared = self.square(y.0);
        let x_squared = self.square(x.0);
        let over = self.add(x_squared, y_squared);
        let guard = self.guard(Guard::Angle(y.1, x.1));

        self.smooth(Smooth::Angle(Angle {
            y: y.0,
            x: x.0,
            over,
            guard,
        }))
    }

    /// `a − b ⌊a / b⌋`.
    fn modulo(&mut self, a: (Register, usize), b: (Register, usize)) -> Register {
        let quotient = self.divide(a.0, b.0);
        let whole = self.step(Unary::Floor, quotient, Guard::Quotient(a.1, b.1));
        let part = self.multiply(b.0, whole);
        self.subtract(a.0, part)
    }

    /// `(a + b − |a − b|) / 2`.
    fn minimum(&mut self, a: (Register, usize), b: (Register, usize)) -> Register {
        let (distance, sum) = self.distance_and_sum(a, b);
        let twice = self.subtract(sum, distance);
        self.half(twice)
    }

    /// `(a + b + |a − b|) / 2`.
    fn maximum(&mut self, a: (Register, usize), b: (Register, usize)) -> Register {
        let (distance, sum) = self.distance_and_sum(a, b);
        let twice = self.add(sum, distance);
        self.half(twice)
    }

    fn distance_and_sum(
        &mut self,
        a: (Register, usize),
        b: (Register, usize),
    ) -> (Register, Register) {
        let difference = self.subtract(a.0, b.0);
        let distance = self.abs(difference, Guard::Difference(a.1, b.1));
        (distance, self.add(a.0, b.0))
    }

    fn half(&mut self, twice: Register) -> Register {
        let half = self.constant(Interval::point(0.5));
        self.multiply(half, twice)
    }
}

/// Powers.
impl Lowered {
    fn power(&mut self, base: Register, exponent: Register, whole: Option<i32>) -> Register {
        if let Some(whole) = whole {
            return self.power_integer(base, whole);
        }

        let log = self.log(base);
        let product = self.multiply(exponent, log);
        self.exponential(product)
    }

    /// One over the power for a negative exponent.
    fn power_integer(&mut self, base: Register, exponent: i32) -> Register {
        let power = self.power_by_squaring(base, exponent.unsigned_abs());
        if exponent > 0 {
            return power;
        }

        let one = self.one();
        self.divide(one, power)
    }

    fn power_by_squaring(&mut self, base: Register, exponent: u32) -> Register {
        let mut rest = exponent;
        let mut power = None;
        let mut square = base;

        while rest > 0 {
            if rest % 2 == 1 {
                power = Some(match power {
                    None => square,
                    Some(power) => self.multiply(power, square),
                });
            }
            rest /= 2;
            if rest > 0 {
                square = self.square(square);
            }
        }
        power.unwrap_or_else(|| self.one())
    }
}
