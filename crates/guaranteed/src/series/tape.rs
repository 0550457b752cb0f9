//! The tape: series of a program's registers.

use dovetail_equations::{Evaluator, Program};

use super::assumptions::Assumptions;
use super::cells::Cells;
use super::lowering::{Guard, Lowered, lower};
use super::operation::{
    LeafKind, Operation, Piecewise, Register, RegisterKind, Smooth, classify, step_value,
};
use crate::forms::FormShape;
use crate::interval::Interval;

/// Series of a program's registers.
#[derive(Clone, Debug)]
pub(crate) struct SeriesTape {
    pub(super) lowered: Lowered,
    /// The states that the program uses, each with its register.
    leaves: Vec<(usize, Register)>,
    /// What is known of each register beforehand.
    pub(super) kinds: Vec<RegisterKind>,
    pub(super) cells: Cells,
    pub(super) scratch: Vec<f64>,
    /// Registers of time alone that are taken as constant intervals on the step.
    pub(super) frozen: Vec<Option<Interval>>,
    pub(super) parameters: Vec<Interval>,
    /// The primary symbol of each parameter that has one.
    pub(super) symbols: Vec<Option<usize>>,
    pub(super) switches: Vec<Interval>,
    pub(super) time: Interval,
    assumptions: Assumptions,
}

/// A coefficient of a result: an interval where it is free of symbols, else a form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coefficient<'t> {
    Plain(Interval),
    Form(&'t [f64]),
}

impl Coefficient<'_> {
    /// The interval; all reals where it is a form.
    pub fn plain_or_entire(self) -> Interval {
        match self {
            Self::Plain(range) => range,
            Self::Form(_) => Interval::ENTIRE,
        }
    }

    /// Makes it a form.
    pub fn write(self, shape: FormShape, form: &mut [f64]) {
        match self {
            Self::Plain(range) => shape.set_constant(form, range),
            Self::Form(source) => form.copy_from_slice(source),
        }
    }
}

/// Before and after series are computed.
impl SeriesTape {
    /// A tape over forms, in which `symbols` has the primary symbol of each parameter that has one;
    /// or, without symbols at all, over intervals.
    pub fn new(
        program: &Program,
        parameters: &[Interval],
        symbols: Option<&[Option<usize>]>,
    ) -> Self {
        let lowered = lower(program, parameters);
        let kinds = classify(&lowered.operations, &lowered.guard_states, symbols);

        Self {
            leaves: lowered.states(),
            cells: Cells::new(&kinds),
            scratch: Vec::new(),
            frozen: vec![None; kinds.len()],
            kinds,
            parameters: parameters.to_vec(),
            symbols: symbols.map_or_else(|| vec![None; parameters.len()], <[_]>::to_vec),
            switches: Vec::new(),
            time: Interval::ZERO,
            assumptions: Assumptions::nothing(lowered.guards.len()),
            lowered,
        }
    }

    /// Begins series of up to `capacity` coefficients at `time` (an interval, where every instant
    /// of it is meant).
    pub fn begin(
        &mut self,
        shape: FormShape,
        capacity: usize,
        time: Interval,
        switches: &[Interval],
    ) {
        self.cells.resize(shape, capacity);
        self.time = time;
        self.switches.clear();
        self.switches.extend_from_slice(switches);
    }

    /// The states that the program uses, each with its register.
    pub fn states(&self) -> impl Iterator<Item = (usize, Register)> + '_ {
        self.leaves.iter().copied()
    }

    /// Sets coefficient `k` of every state that the program uses, as forms.
    pub fn set_states<'f>(&mut self, k: usize, form: impl Fn(usize) -> &'f [f64]) {
        for &(state, register) in &self.leaves {
            let cell = self.cells.form_mut((register, k));
            cell.copy_from_slice(form(state));
        }
    }

    /// Sets coefficient `k` of every state that the program uses, as intervals.
    pub fn set_state_intervals(&mut self, k: usize, range: impl Fn(usize) -> Interval) {
        for &(state, register) in &self.leaves {
            self.cells.set_interval((register, k), range(state));
        }
    }

    /// Sets coefficient `k` of a state as a form.
    pub fn set_state_form(&mut self, register: Register, k: usize, form: &[f64]) {
        self.cells.form_mut((register, k)).copy_from_slice(form);
    }

    /// Sets coefficient `k` of a state as an interval.
    pub fn set_state_interval(&mut self, register: Register, k: usize, value: Interval) {
        self.cells.set_interval((register, k), value);
    }

    /// Coefficient `k` of a result.
    pub fn result(&self, index: usize, k: usize) -> Coefficient<'_> {
        let register = self.lowered.results[index];
        let kind = self.kinds[register];

        if k > 0 && kind.still {
            Coefficient::Plain(Interval::ZERO)
        } else if kind.plain {
            Coefficient::Plain(self.cells.interval((register, k)))
        } else {
            Coefficient::Form(self.cells.form((register, k)))
        }
    }
}

/// What is assumed of the step.
impl SeriesTape {
    /// Whether anything of this tape is decided by assumptions.
    pub fn needs_assumptions(&self) -> bool {
        !self.lowered.guards.is_empty()
    }

    /// Sets what is assumed of the step.
    pub fn set_assumptions(&mut self, assumptions: &Assumptions) {
        self.assumptions.clone_from(assumptions);
    }

    /// What is assumed of the step.
    pub fn assumptions(&self) -> &Assumptions {
        &self.assumptions
    }

    /// Whether a condition, or a jump, is not decided by what is assumed.
    pub fn is_undecided(&self) -> bool {
        !self.is_decided_by(&self.assumptions)
    }

    /// Whether every condition, and every jump, is decided by these ranges.
    pub fn is_decided_by(&self, assumptions: &Assumptions) -> bool {
        let ranges = &assumptions.ranges;
        self.lowered
            .operations
            .iter()
            .all(|&operation| is_decided(operation, ranges))
    }

    /// The ranges that an evaluation of the same program on intervals found.
    pub fn assumptions_from(&self, evaluator: &Evaluator<Interval>) -> Assumptions {
        let guards = self.lowered.guards.iter();
        Assumptions {
            ranges: guards.map(|guard| guard_range(*guard, evaluator)).collect(),
        }
    }
}

fn is_decided(operation: Operation, ranges: &[Interval]) -> bool {
    let is_truth = |range: Interval| !range.contains(0.0) || range == Interval::ZERO;
    match operation {
        Operation::Piecewise(Piecewise::Select(_, _, guard)) => is_truth(ranges[guard]),
        Operation::Smooth(Smooth::Angle(angle)) => is_truth(ranges[angle.guard]),
        Operation::Piecewise(Piecewise::Step(operation, _, guard)) => {
            step_value(operation, ranges[guard]).is_some()
        }
        _ => true,
    }
}

fn guard_range(guard: Guard, evaluator: &Evaluator<Interval>) -> Interval {
    let register = |r: usize| *evaluator.register(r);
    match guard {
        Guard::Register(r) => register(r),
        Guard::Difference(a, b) => register(a) - register(b),
        Guard::Quotient(a, b) => register(a) / register(b),
        Guard::Angle(y, x) => off_the_cut(register(y), register(x)),
    }
}

/// As a truth value.
fn off_the_cut(y: Interval, x: Interval) -> Interval {
    if x.lo > 0.0 || !y.contains(0.0) {
        Interval::ONE
    } else {
        Interval::new(0.0, 1.0)
    }
}

/// Functions of time alone.
impl SeriesTape {
    /// Whether a register depends on time, and on no state.
    fn is_timed(&self, register: Register) -> bool {
        let kind = self.kinds[register];
        let clock = Operation::Leaf(LeafKind::Time);
        kind.stateless && !kind.still && self.lowered.operations[register] != clock
    }

    /// Whether anything depends on time alone, other than through switches.
    pub fn has_clock(&self) -> bool {
        (0..self.kinds.len()).any(|register| self.is_timed(register))
    }

    /// Takes registers of time alone as constant intervals where that loses less than `loss` of
    /// their size, and where their series would not help: towards the end of a smooth step
    /// function, for one.
    pub fn freeze(&mut self, evaluator: &Evaluator<Interval>, loss: f64) {
        for (source, place) in self.lowered.places.iter().enumerate() {
            let Some(register) = *place else { continue };
            let range = *evaluator.register(source);
            let tiny = range.is_finite() && range.radius() <= loss;
            let eligible = tiny && self.kinds[register].plain && self.is_timed(register);
            self.frozen[register] = eligible.then_some(range);
        }
    }

    /// Freezes what `other`, a tape of the same program, has frozen.
    pub fn freeze_like(&mut self, other: &Self) {
        self.frozen.clone_from(&other.frozen);
    }
}
