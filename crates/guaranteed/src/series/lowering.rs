//! From a program to operations that have a recursion for their Taylor coefficients.
//!
//! Functions without a recursion of their own are written with others: `tan` as a quotient, `min` with `abs`, and so on.
//! Conditions are not operations here: which branch holds on a step is found on intervals and told by the [`Outlook`].
//!
//! [`Outlook`]: super::Outlook

use dovetail_equations::{Binary, Instruction, Program, Unary};

use crate::functions::Function;
use crate::interval::Interval;

/// A register of the lowered program.
pub(super) type Register = usize;

/// One operation. Its result is a register of its own; some fill the register after it, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    Constant(Interval),
    Parameter(usize),
    Time,
    Switch(usize),
    State(usize),
    Add(Register, Register),
    Subtract(Register, Register),
    Negate(Register),
    Multiply(Register, Register),
    Square(Register),
    /// The reciprocal of the divisor's value is the register after the quotient.
    Divide(Register, Register),
    /// The reciprocal of twice the root is the register after it.
    Sqrt(Register),
    Exp(Register),
    /// Sine, then cosine.
    SineCosine(Register),
    /// Hyperbolic sine, then cosine.
    HyperbolicSineCosine(Register),
    /// `tanh`, then `1 − tanh²`.
    Tanh(Register),
    /// A function whose derivative is ±1 over another register; the reciprocal of that one's value is the register after.
    Primitive {
        function: Function,
        argument: Register,
        over: Register,
        sign: f64,
    },
    /// The angle of `(x, y)`, unless the outlook has them meet the cut; `over` is `x² + y²`, the reciprocal of its value the
    /// register after.
    Angle {
        y: Register,
        x: Register,
        over: Register,
        watched: usize,
    },
    Abs(Register, usize),
    /// `sign`, `floor` or `ceil`: a constant where it is decided.
    Step(Unary, Register, usize),
    /// One of two, decided by the condition that the outlook tells.
    Select(Register, Register, usize),
    /// Filled together with the register before.
    Companion,
}

/// What an outlook has to tell a range of, in registers of the program: values, or truth values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Watched {
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
    pub watched: Vec<Watched>,
    /// For each of them, whether it depends on states.
    pub watched_states: Vec<bool>,
    /// The register of each register of the program; truth values have none.
    pub places: Vec<Option<Register>>,
    /// For each register of the program, whether it depends on states.
    stateful: Vec<bool>,
    /// The parameters that are whole numbers, by the register of the program.
    integers: Vec<Option<i32>>,
}

/// Lowers a program, for these parameters.
pub(super) fn lower(program: &Program, parameters: &[Interval]) -> Lowered {
    let count = program.registers();
    let mut lowering = Lowered {
        places: vec![None; count],
        stateful: vec![false; count],
        integers: vec![None; count],
        ..Lowered::default()
    };
    let layout = program.layout();
    layout
        .states
        .clone()
        .for_each(|register| lowering.stateful[register] = true);
    for (register, range) in layout.parameters.clone().zip(parameters) {
        lowering.integers[register] = whole(*range);
    }
    lowering.place_leaves(program);
    for (register, instruction) in program.instructions() {
        lowering.stateful[register] = operands(instruction)
            .iter()
            .any(|&operand| lowering.stateful[operand as usize]);
        lowering.places[register] = lowering.instruction(instruction);
    }
    lowering.results = program
        .result_registers()
        .iter()
        .map(|&r| lowering.number(r))
        .collect();
    lowering
}

/// Which registers are operands or results.
fn used(program: &Program) -> Vec<bool> {
    let mut used = vec![false; program.registers()];
    program
        .result_registers()
        .iter()
        .for_each(|&register| used[register] = true);
    for (_, instruction) in program.instructions() {
        operands(instruction)
            .iter()
            .for_each(|&register| used[register as usize] = true);
    }
    used
}

/// The operands of an instruction, some of them twice.
fn operands(instruction: Instruction) -> [u32; 3] {
    match instruction {
        Instruction::Add(a, b)
        | Instruction::Subtract(a, b)
        | Instruction::Multiply(a, b)
        | Instruction::Divide(a, b)
        | Instruction::Binary(_, a, b) => [a, b, b],
        Instruction::Unary(_, a) | Instruction::PowerInteger(a, _) => [a; 3],
        Instruction::Select(a, b, c) => [a, b, c],
    }
}

/// The whole number that an interval is, if it is one that powers are multiplied out for.
fn whole(range: Interval) -> Option<i32> {
    let value = range.lo;
    (range.is_point() && value.fract() == 0.0 && value.abs() <= 1e6).then_some(value as i32)
}

impl Lowered {
    fn place_leaves(&mut self, program: &Program) {
        let layout = program.layout();
        let constants = program
            .constants()
            .iter()
            .map(|&value| Operation::Constant(Interval::point(value)));
        let leaves = constants
            .enumerate()
            .chain(
                layout
                    .parameters
                    .clone()
                    .enumerate()
                    .map(|(index, r)| (r, Operation::Parameter(index))),
            )
            .chain([(layout.time, Operation::Time)])
            .chain(
                layout
                    .switches
                    .clone()
                    .enumerate()
                    .map(|(index, r)| (r, Operation::Switch(index))),
            )
            .chain(
                layout
                    .states
                    .clone()
                    .enumerate()
                    .map(|(index, r)| (r, Operation::State(index))),
            );
        // A system's program has room for the variables of all systems before it, and uses few of them.
        let used = used(program);
        for (register, leaf) in leaves.filter(|(register, _)| used[*register]) {
            self.places[register] = Some(self.push(leaf));
        }
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
        self.push(Operation::Constant(value))
    }

    fn watch(&mut self, watched: Watched) -> usize {
        let stateful = match watched {
            Watched::Register(a) => self.stateful[a],
            Watched::Difference(a, b) | Watched::Quotient(a, b) | Watched::Angle(a, b) => {
                self.stateful[a] || self.stateful[b]
            }
        };
        self.watched_states.push(stateful);
        self.watched.push(watched);
        self.watched.len() - 1
    }

    /// The register of a number of the program.
    fn number(&self, register: usize) -> Register {
        self.places[register].expect("BUG: a condition is used as a number")
    }

    fn instruction(&mut self, instruction: Instruction) -> Option<Register> {
        let of = |lowered: &Self, r: u32| lowered.number(r as usize);
        Some(match instruction {
            Instruction::Add(a, b) => self.push(Operation::Add(of(self, a), of(self, b))),
            Instruction::Subtract(a, b) => self.push(Operation::Subtract(of(self, a), of(self, b))),
            Instruction::Multiply(a, b) if a == b => self.push(Operation::Square(of(self, a))),
            Instruction::Multiply(a, b) => self.push(Operation::Multiply(of(self, a), of(self, b))),
            Instruction::Divide(a, b) => self.pair(Operation::Divide(of(self, a), of(self, b))),
            Instruction::Unary(Unary::Not, _) => return None,
            Instruction::Unary(operation, a) => self.unary(operation, a as usize),
            Instruction::Binary(operation, a, b) => {
                return self.binary(operation, a as usize, b as usize);
            }
            Instruction::PowerInteger(a, exponent) => self.power_integer(of(self, a), exponent),
            Instruction::Select(condition, a, b) => {
                // A choice between conditions is a condition itself.
                let (Some(a), Some(b)) = (self.places[a as usize], self.places[b as usize]) else {
                    return None;
                };
                let watched = self.watch(Watched::Register(condition as usize));
                self.push(Operation::Select(a, b, watched))
            }
        })
    }

    fn unary(&mut self, operation: Unary, register: usize) -> Register {
        let a = self.number(register);
        match operation {
            Unary::Negate => self.push(Operation::Negate(a)),
            Unary::Sin => self.pair(Operation::SineCosine(a)),
            Unary::Cos => self.pair(Operation::SineCosine(a)) + 1,
            Unary::Tan => {
                let sine = self.pair(Operation::SineCosine(a));
                self.pair(Operation::Divide(sine, sine + 1))
            }
            Unary::Asin => self.arc(Function::Asin, a, 1.0),
            Unary::Acos => self.arc(Function::Acos, a, -1.0),
            Unary::Atan => {
                let (square, one) = (
                    self.push(Operation::Square(a)),
                    self.constant(Interval::ONE),
                );
                let over = self.push(Operation::Add(one, square));
                self.pair(Operation::Primitive {
                    function: Function::Atan,
                    argument: a,
                    over,
                    sign: 1.0,
                })
            }
            Unary::Sinh => self.pair(Operation::HyperbolicSineCosine(a)),
            Unary::Cosh => self.pair(Operation::HyperbolicSineCosine(a)) + 1,
            Unary::Tanh => self.pair(Operation::Tanh(a)),
            Unary::Exp => self.push(Operation::Exp(a)),
            Unary::Log => self.log(a),
            Unary::Log10 => {
                let log = self.log(a);
                let scale = self.constant(Interval::ONE / Interval::point(10.0).log());
                self.push(Operation::Multiply(scale, log))
            }
            Unary::Sqrt => self.pair(Operation::Sqrt(a)),
            Unary::Abs => {
                let watched = self.watch(Watched::Register(register));
                self.push(Operation::Abs(a, watched))
            }
            Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not => {
                let watched = self.watch(Watched::Register(register));
                self.push(Operation::Step(operation, a, watched))
            }
        }
    }

    fn log(&mut self, a: Register) -> Register {
        self.pair(Operation::Primitive {
            function: Function::Log,
            argument: a,
            over: a,
            sign: 1.0,
        })
    }

    /// An arc sine or cosine: its derivative is ±1 over `√(1 − a²)`.
    fn arc(&mut self, function: Function, a: Register, sign: f64) -> Register {
        let (square, one) = (
            self.push(Operation::Square(a)),
            self.constant(Interval::ONE),
        );
        let rest = self.push(Operation::Subtract(one, square));
        let over = self.pair(Operation::Sqrt(rest));
        self.pair(Operation::Primitive {
            function,
            argument: a,
            over,
            sign,
        })
    }

    fn binary(&mut self, operation: Binary, left: usize, right: usize) -> Option<Register> {
        let (Some(a), Some(b)) = (self.places[left], self.places[right]) else {
            return None;
        };
        Some(match operation {
            Binary::Add => self.push(Operation::Add(a, b)),
            Binary::Subtract => self.push(Operation::Subtract(a, b)),
            Binary::Multiply => self.push(Operation::Multiply(a, b)),
            Binary::Divide => self.pair(Operation::Divide(a, b)),
            Binary::Power if self.integers[right].is_some() => {
                let exponent = self.integers[right].unwrap_or(0);
                self.power_integer(a, exponent)
            }
            Binary::Power => {
                let log = self.log(a);
                let product = self.push(Operation::Multiply(b, log));
                self.push(Operation::Exp(product))
            }
            Binary::Atan2 => {
                let (y, x) = (
                    self.push(Operation::Square(a)),
                    self.push(Operation::Square(b)),
                );
                let over = self.push(Operation::Add(x, y));
                let watched = self.watch(Watched::Angle(left, right));
                self.pair(Operation::Angle {
                    y: a,
                    x: b,
                    over,
                    watched,
                })
            }
            Binary::Min | Binary::Max => self.extreme(operation, (a, left), (b, right)),
            Binary::Modulo => {
                let watched = self.watch(Watched::Quotient(left, right));
                let quotient = self.pair(Operation::Divide(a, b));
                let whole = self.push(Operation::Step(Unary::Floor, quotient, watched));
                let part = self.push(Operation::Multiply(b, whole));
                self.push(Operation::Subtract(a, part))
            }
            Binary::Less | Binary::LessEqual | Binary::Equal | Binary::And | Binary::Or => {
                return None;
            }
        })
    }

    /// `(a + b ∓ |a − b|) / 2`.
    fn extreme(
        &mut self,
        operation: Binary,
        a: (Register, usize),
        b: (Register, usize),
    ) -> Register {
        let difference = self.push(Operation::Subtract(a.0, b.0));
        let watched = self.watch(Watched::Difference(a.1, b.1));
        let distance = self.push(Operation::Abs(difference, watched));
        let sum = self.push(Operation::Add(a.0, b.0));
        let twice = match operation {
            Binary::Min => self.push(Operation::Subtract(sum, distance)),
            _ => self.push(Operation::Add(sum, distance)),
        };
        let half = self.constant(Interval::point(0.5));
        self.push(Operation::Multiply(half, twice))
    }

    /// By squaring; one over it for a negative exponent.
    fn power_integer(&mut self, a: Register, exponent: i32) -> Register {
        let mut rest = exponent.unsigned_abs();
        let (mut power, mut square) = (None, a);
        while rest > 0 {
            if rest % 2 == 1 {
                power = Some(match power {
                    None => square,
                    Some(power) => self.push(Operation::Multiply(power, square)),
                });
            }
            rest /= 2;
            if rest > 0 {
                square = self.push(Operation::Square(square));
            }
        }
        let power = match power {
            Some(power) => power,
            None => self.constant(Interval::ONE),
        };
        if exponent > 0 {
            return power;
        }
        let one = self.constant(Interval::ONE);
        self.pair(Operation::Divide(one, power))
    }
}
