//! Taylor series in time, order by order, over intervals and over forms: one tape for both.
//!
//! A register whose value is free of symbols is a series of intervals; the others are series of forms. Where everything is
//! declared free of symbols, the tape computes interval Taylor series.

mod cells;
mod lowering;
mod recursions;

use std::sync::Arc;

use dovetail_equations::{Evaluator, Program};

use crate::forms::FormShape;
use crate::interval::Interval;
use lowering::{Lowered, Operation, Register, Watched, lower};

/// What is assumed of a step while its series are built: the range of every argument that decides something (of `abs`,
/// `floor`, a condition). Whoever builds series has to check afterwards that the assumptions hold throughout the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outlook {
    pub ranges: Vec<Interval>,
}

impl Outlook {
    /// Whether what was `found` is within what was assumed.
    pub fn covers(&self, found: &Self) -> bool {
        self.ranges
            .iter()
            .zip(&found.ranges)
            .all(|(assumed, found)| found.within(*assumed))
    }

    /// Whether an argument that had a sign throughout has none in what was `found`: a kink that the step meets.
    pub fn opens(&self, found: &Self) -> bool {
        let signed = |range: &Interval| range.lo >= 0.0 || range.hi <= 0.0;
        self.ranges
            .iter()
            .zip(&found.ranges)
            .any(|(assumed, found)| signed(assumed) && !signed(found))
    }

    /// With a margin, so that a second look may find a little more; but what has a sign keeps it.
    pub fn widened(&self) -> Self {
        let widened = |range: &Interval| {
            let wider = if range.is_point() {
                *range
            } else {
                range.widened(0.05 * range.width())
            };
            match *range {
                Interval { lo, .. } if lo >= 0.0 => Interval::new(wider.lo.max(0.0), wider.hi),
                Interval { hi, .. } if hi <= 0.0 => Interval::new(wider.lo, wider.hi.min(0.0)),
                _ => wider,
            }
        };
        Self {
            ranges: self.ranges.iter().map(widened).collect(),
        }
    }
}

/// Series of a program's registers.
#[derive(Clone, Debug)]
pub(crate) struct SeriesTape {
    lowered: Lowered,
    /// The states that the program uses, each with its register.
    leaves: Vec<(usize, Register)>,
    /// For each register, whether it is free of symbols, whether it is constant in time, and whether it is free of states.
    plain: Vec<bool>,
    still: Vec<bool>,
    stateless: Vec<bool>,
    shape: FormShape,
    /// How many coefficients a series may have.
    room: usize,
    /// Which slot of forms a register has.
    slots: Vec<usize>,
    intervals: Vec<Interval>,
    forms: Vec<f64>,
    scratch: Vec<f64>,
    /// Registers of time alone that are taken as constant intervals on the step.
    frozen: Vec<Option<Interval>>,
    parameters: Vec<Interval>,
    /// The primary symbol of each parameter that has one.
    symbols: Vec<Option<usize>>,
    switches: Vec<Interval>,
    time: Interval,
    outlook: Outlook,
}

/// A coefficient of a result: an interval where it is free of symbols, else a form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coefficient<'t> {
    Plain(Interval),
    Form(&'t [f64]),
}

impl SeriesTape {
    /// A tape over forms, in which `symbols` tells the primary symbol of each parameter that has one; or, without symbols at
    /// all, over intervals.
    pub fn new(
        program: &Program,
        parameters: &[Interval],
        symbols: Option<&[Option<usize>]>,
    ) -> Self {
        let lowered = lower(program, parameters);
        let Kinds {
            plain,
            still,
            stateless,
        } = classify(&lowered, symbols);
        let count = lowered.operations.len();
        let mut next = 0;
        let slots = plain
            .iter()
            .map(|&plain| {
                if plain {
                    0
                } else {
                    next += 1;
                    next - 1
                }
            })
            .collect();
        let watched = lowered.watched.len();
        let state = |(register, operation): (usize, &Operation)| match operation {
            Operation::State(state) => Some((*state, register)),
            _ => None,
        };
        let leaves = lowered
            .operations
            .iter()
            .enumerate()
            .filter_map(state)
            .collect();
        Self {
            leaves,
            plain,
            still,
            stateless,
            shape: FormShape {
                primaries: 0,
                quadratic: false,
                errors: 0,
            },
            room: 0,
            slots,
            intervals: Vec::new(),
            forms: Vec::new(),
            scratch: Vec::new(),
            frozen: vec![None; count],
            parameters: parameters.to_vec(),
            symbols: symbols.map_or_else(|| vec![None; parameters.len()], <[_]>::to_vec),
            switches: Vec::new(),
            time: Interval::ZERO,
            outlook: Outlook {
                ranges: vec![Interval::ENTIRE; watched],
            },
            lowered,
        }
    }

    /// Begins series of up to `room` coefficients at `time` (an interval, where every instant of it is meant).
    pub fn begin(&mut self, shape: FormShape, room: usize, time: Interval, switches: &[Interval]) {
        self.shape = shape;
        self.room = room;
        self.time = time;
        self.switches.clear();
        self.switches.extend_from_slice(switches);
        let count = self.lowered.operations.len();
        self.intervals.resize(count * room, Interval::ZERO);
        let full = self.plain.iter().filter(|plain| !**plain).count();
        self.forms.resize(full * room * shape.width(), 0.0);
    }

    /// What this tape needs an outlook on.
    pub fn needs_outlook(&self) -> bool {
        !self.lowered.watched.is_empty()
    }

    /// Sets what is assumed of the step.
    pub fn set_outlook(&mut self, outlook: &Outlook) {
        self.outlook.clone_from(outlook);
    }

    /// What is assumed of the step.
    pub fn outlook(&self) -> &Outlook {
        &self.outlook
    }

    /// Whether a condition, or a jump, is not decided by what is assumed.
    pub fn is_undecided(&self) -> bool {
        !self.is_decided_by(&self.outlook)
    }

    /// Whether anything depends on time alone, other than through switches.
    pub fn has_clock(&self) -> bool {
        let mut kinds = self
            .stateless
            .iter()
            .zip(&self.still)
            .zip(&self.lowered.operations);
        kinds.any(|((stateless, still), operation)| {
            *stateless && !*still && *operation != Operation::Time
        })
    }

    /// Whether every condition, and every jump, is decided by these ranges.
    pub fn is_decided_by(&self, outlook: &Outlook) -> bool {
        self.lowered
            .operations
            .iter()
            .all(|operation| match *operation {
                Operation::Select(_, _, watched) | Operation::Angle { watched, .. } => {
                    let range = outlook.ranges[watched];
                    !range.contains(0.0) || range == Interval::ZERO
                }
                Operation::Step(operation, _, watched) => {
                    recursions::decided(operation, outlook.ranges[watched]).is_some()
                }
                _ => true,
            })
    }

    /// The ranges that an evaluation of the same program on intervals found.
    pub fn outlook_of(&self, evaluator: &Evaluator<Interval>) -> Outlook {
        let register = |r: usize| *evaluator.register(r);
        let range = |watched: &Watched| match *watched {
            Watched::Register(r) => register(r),
            Watched::Difference(a, b) => register(a) - register(b),
            Watched::Quotient(a, b) => register(a) / register(b),
            Watched::Angle(y, x) if register(x).lo > 0.0 || !register(y).contains(0.0) => {
                Interval::ONE
            }
            Watched::Angle(..) => Interval::new(0.0, 1.0),
        };
        Outlook {
            ranges: self.lowered.watched.iter().map(range).collect(),
        }
    }

    /// Sets coefficient `k` of every state that the program uses, as forms.
    pub fn set_states<'f>(&mut self, k: usize, form: impl Fn(usize) -> &'f [f64]) {
        for index in 0..self.leaves.len() {
            let (state, register) = self.leaves[index];
            self.set_state_form(register, k, form(state));
        }
    }

    /// Sets coefficient `k` of every state that the program uses, as intervals.
    pub fn set_state_intervals(&mut self, k: usize, range: impl Fn(usize) -> Interval) {
        for &(state, register) in &self.leaves {
            self.intervals[register * self.room + k] = range(state);
        }
    }

    /// Sets coefficient `k` of a state as a form. States that the program does not use are ignored.
    pub fn set_state_form(&mut self, register: Register, k: usize, form: &[f64]) {
        let (slot, width) = (self.slots[register], self.shape.width());
        let start = (slot * self.room + k) * width;
        self.forms[start..start + width].copy_from_slice(form);
    }

    /// Sets coefficient `k` of a state as an interval.
    pub fn set_state_interval(&mut self, register: Register, k: usize, value: Interval) {
        self.intervals[register * self.room + k] = value;
    }

    /// The states that the program uses, each with its register.
    pub fn states(&self) -> impl Iterator<Item = (usize, Register)> + '_ {
        self.leaves.iter().copied()
    }

    /// Coefficient `k` of a result.
    pub fn result(&self, index: usize, k: usize) -> Coefficient<'_> {
        let register = self.lowered.results[index];
        if k > 0 && self.still[register] {
            return Coefficient::Plain(Interval::ZERO);
        }
        match self.plain[register] {
            true => Coefficient::Plain(self.intervals[register * self.room + k]),
            false => Coefficient::Form(self.form(register, k)),
        }
    }

    fn form(&self, register: Register, k: usize) -> &[f64] {
        let width = self.shape.width();
        let start = (self.slots[register] * self.room + k) * width;
        &self.forms[start..start + width]
    }

    /// Takes registers of time alone as constant intervals over `span` where that loses less than `loss` of their size, and
    /// where their series would not help: towards the end of a smooth step function, for one.
    pub fn freeze(&mut self, evaluator: &Evaluator<Interval>, loss: f64) {
        for (register, place) in self.lowered.places.iter().enumerate() {
            let Some(place) = *place else { continue };
            let timed = self.plain[place] && self.stateless[place] && !self.still[place];
            let range = *evaluator.register(register);
            let tiny = range.is_finite() && range.radius() <= loss;
            let eligible = timed && tiny && self.lowered.operations[place] != Operation::Time;
            self.frozen[place] = eligible.then_some(range);
        }
    }
}

impl SeriesTape {
    /// Freezes what `other`, a tape of the same program, has frozen.
    pub fn freeze_like(&mut self, other: &Self) {
        self.frozen.clone_from(&other.frozen);
    }
}

/// What is known of registers without computing them.
struct Kinds {
    plain: Vec<bool>,
    still: Vec<bool>,
    stateless: Vec<bool>,
}

fn classify(lowered: &Lowered, symbols: Option<&[Option<usize>]>) -> Kinds {
    let mut kinds = Kinds {
        plain: Vec::new(),
        still: Vec::new(),
        stateless: Vec::new(),
    };
    for operation in &lowered.operations {
        let inherited = |flags: &[bool]| match operation {
            Operation::Companion => flags[flags.len() - 1],
            _ => operands(operation).into_iter().flatten().all(|r| flags[r]),
        };
        let (plain, still, stateless) = match *operation {
            Operation::Constant(_) | Operation::Switch(_) => (true, true, true),
            Operation::Parameter(index) => (
                symbols.is_none_or(|symbols| symbols[index].is_none()),
                true,
                true,
            ),
            Operation::Time => (true, false, true),
            Operation::State(_) => (symbols.is_none(), false, false),
            // Constant where it is decided, and nothing is known where it is not.
            Operation::Step(..) => (true, true, inherited(&kinds.stateless)),
            // What decides it counts, too.
            Operation::Select(_, _, watched) => {
                let stateless = inherited(&kinds.stateless) && !lowered.watched_states[watched];
                (inherited(&kinds.plain), inherited(&kinds.still), stateless)
            }
            _ => (
                inherited(&kinds.plain),
                inherited(&kinds.still),
                inherited(&kinds.stateless),
            ),
        };
        kinds.plain.push(plain);
        kinds.still.push(still);
        kinds.stateless.push(stateless);
    }
    kinds
}

fn operands(operation: &Operation) -> [Option<Register>; 3] {
    match *operation {
        Operation::Add(a, b)
        | Operation::Subtract(a, b)
        | Operation::Multiply(a, b)
        | Operation::Divide(a, b) => [Some(a), Some(b), None],
        Operation::Select(a, b, _) => [Some(a), Some(b), None],
        Operation::Negate(a) | Operation::Square(a) | Operation::Sqrt(a) | Operation::Exp(a) => {
            [Some(a), None, None]
        }
        Operation::SineCosine(a) | Operation::HyperbolicSineCosine(a) | Operation::Tanh(a) => {
            [Some(a), None, None]
        }
        Operation::Primitive { argument, over, .. } => [Some(argument), Some(over), None],
        Operation::Angle { y, x, over, .. } => [Some(y), Some(x), Some(over)],
        Operation::Abs(a, _) | Operation::Step(_, a, _) => [Some(a), None, None],
        _ => [None; 3],
    }
}

/// The program of every system with its tape.
pub(crate) fn tapes(
    programs: &[Arc<Program>],
    parameters: &[Interval],
    symbols: Option<&[Option<usize>]>,
) -> Vec<SeriesTape> {
    programs
        .iter()
        .map(|program| SeriesTape::new(program, parameters, symbols))
        .collect()
}

#[cfg(test)]
mod tests;
