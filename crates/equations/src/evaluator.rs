//! Runs a program on one kind of number.

use std::ops::Range;
use std::sync::Arc;

use crate::number::Number;
use crate::tape::{Instruction, Program};

/// The registers of a program. Setting leaves and running allocate nothing.
///
/// A setter takes one value per variable of its kind; a program that does not use the last ones
/// ignores them. What has not been set is 0.
#[derive(Debug, Clone)]
pub struct Evaluator<T> {
    program: Arc<Program>,
    registers: Vec<T>,
}

impl<T: Number> Evaluator<T> {
    /// Registers for `program`, with `parameters` set. `example` may be any number of the kind.
    pub fn new(program: Arc<Program>, example: &T, parameters: &[T]) -> Self {
        let mut registers = vec![example.lift(0.0); program.registers()];
        for (register, &constant) in registers.iter_mut().zip(&program.constants) {
            *register = example.lift(constant);
        }

        let mut evaluator = Self { program, registers };
        evaluator.set_parameters(parameters);
        evaluator
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Sets the parameters and everything that depends on them alone.
    pub fn set_parameters(&mut self, parameters: &[T]) {
        self.set(self.program.layout.parameters.clone(), parameters);
        let start = self.program.layout.unknowns.end;
        execute(&self.program.prelude, start, &mut self.registers);
    }

    /// Sets the time.
    pub fn set_time(&mut self, time: &T) {
        self.registers[self.program.layout.time].clone_from(time);
    }

    /// Sets the conditions on time, each 1 or 0.
    pub fn set_switches(&mut self, switches: &[T]) {
        self.set(self.program.layout.switches.clone(), switches);
    }

    /// Sets the states.
    pub fn set_states(&mut self, states: &[T]) {
        self.set(self.program.layout.states.clone(), states);
    }

    /// Sets the inputs.
    pub fn set_inputs(&mut self, inputs: &[T]) {
        self.set(self.program.layout.inputs.clone(), inputs);
    }

    /// Sets the slopes of the inputs.
    pub fn set_slopes(&mut self, slopes: &[T]) {
        self.set(self.program.layout.slopes.clone(), slopes);
    }

    /// Sets the unknowns of a composed model.
    pub fn set_unknowns(&mut self, unknowns: &[T]) {
        self.set(self.program.layout.unknowns.clone(), unknowns);
    }

    /// What a register holds after a run.
    pub fn register(&self, index: usize) -> &T {
        &self.registers[index]
    }

    /// Evaluates every expression of the program.
    pub fn run(&mut self, results: &mut [T]) {
        assert_eq!(
            results.len(),
            self.program.results.len(),
            "BUG: wrong number of results"
        );
        self.run_body();

        for (result, &register) in results.iter_mut().zip(&self.program.results) {
            result.clone_from(&self.registers[register]);
        }
    }

    /// Evaluates every expression of the program, into a new vector.
    pub fn results(&mut self) -> Vec<T> {
        self.run_body();
        let registers = self.program.results.iter();
        registers.map(|&r| self.registers[r].clone()).collect()
    }

    fn run_body(&mut self) {
        let start = self.program.layout.unknowns.end + self.program.prelude.len();
        execute(&self.program.body, start, &mut self.registers);
    }

    fn set(&mut self, registers: Range<usize>, values: &[T]) {
        let registers = &mut self.registers[registers];
        assert!(
            values.len() >= registers.len(),
            "BUG: fewer values than the program has variables"
        );
        registers.clone_from_slice(&values[..registers.len()]);
    }
}

#[inline]
fn execute<T: Number>(instructions: &[Instruction], start: usize, registers: &mut [T]) {
    for (offset, instruction) in instructions.iter().enumerate() {
        registers[start + offset] = compute(instruction, registers);
    }
}

#[inline(always)]
fn compute<T: Number>(instruction: &Instruction, registers: &[T]) -> T {
    let register = |index: u32| &registers[index as usize];
    match *instruction {
        Instruction::Add(a, b) => register(a).add(register(b)),
        Instruction::Subtract(a, b) => register(a).subtract(register(b)),
        Instruction::Multiply(a, b) => register(a).multiply(register(b)),
        Instruction::Divide(a, b) => register(a).divide(register(b)),
        Instruction::Unary(operation, a) => register(a).unary(operation),
        Instruction::Binary(operation, a, b) => register(a).binary(operation, register(b)),
        Instruction::PowerInteger(a, exponent) => register(a).power_integer(exponent),
        Instruction::Select(a, b, c) => T::select(register(a), register(b), register(c)),
    }
}
