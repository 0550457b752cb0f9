//! The series of one system, whose states are its own or inputs.

use dovetail_equations::Program;

use super::field::Field;
use crate::interval::Interval;
use crate::series::tape::SeriesTape;

/// A tape, and where the system's variables are on it.
pub(super) struct SystemTape {
    pub tape: SeriesTape,
    /// Own states, by their place in the system, each with its register.
    pub own: Vec<(usize, usize)>,
    /// Inputs, by their place among the inputs, each with its register.
    pub foreign: Vec<(usize, usize)>,
}

impl SystemTape {
    /// Over the symbols of parameters, or, without symbols at all, over intervals.
    pub fn new(
        program: &Program,
        parameters: &[Interval],
        symbols: Option<&[Option<usize>]>,
        field: &Field,
    ) -> Self {
        let tape = SeriesTape::new(program, parameters, symbols);
        let mut own = Vec::new();
        let mut foreign = Vec::new();

        for (state, register) in tape.states() {
            if field.own.contains(&state) {
                own.push((state - field.own.start, register));
            } else if let Some(input) = field.foreign.iter().position(|&f| f == state) {
                foreign.push((input, register));
            }
        }
        Self { tape, own, foreign }
    }

    /// Sets coefficient `k` of own states and inputs, by their places, and computes the results.
    pub fn compute(
        &mut self,
        k: usize,
        own: impl Fn(usize) -> Interval,
        foreign: impl Fn(usize) -> Interval,
    ) {
        for &(place, register) in &self.own {
            self.tape.set_state_interval(register, k, own(place));
        }

        for &(place, register) in &self.foreign {
            self.tape.set_state_interval(register, k, foreign(place));
        }
        self.tape.compute(k);
    }

    /// Coefficient `k` of the first `count` results, over intervals.
    pub fn results(&self, count: usize, k: usize) -> impl Iterator<Item = Interval> {
        (0..count).map(move |index| self.tape.result(index, k).plain_or_entire())
    }
}
