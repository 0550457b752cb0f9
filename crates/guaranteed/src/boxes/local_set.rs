//! The affine set that a system keeps of its own states, with symbols that no other system knows.
//!
//! Along with the states it keeps their divided differences over past macro-steps in the same
//! symbols: what a state was and what it is depend on one another, and a difference of boxes would
//! not know it.

use crate::forms::FormShape;
use crate::interval::Interval;
use crate::rounding::above;
use crate::system_part::{ProblemPart, SystemPart};

/// Error symbols for each state that a reduction leaves, and as many again may gather before the
/// next.
const SYMBOLS_PER_STATE: usize = 10;

/// A form for each state of a system.
pub(super) type Forms = Vec<Vec<f64>>;

/// `x = c + G ε + E η`: ε are the symbols of initial boxes and uncertain parameters, η those of
/// errors.
pub(super) struct LocalSet {
    pub shape: FormShape,
    pub states: Forms,
    /// How many differences are wanted beside the states.
    degree: usize,
    /// Divided differences that end at the latest time: of order 1, 2 and so on.
    differences: Vec<Forms>,
    /// The times that they are over, latest first.
    times: Vec<f64>,
}

/// The symbol of each parameter that is uncertain and that a system uses, from `first` on; and how
/// many symbols there are then.
fn parameter_symbols(
    part: &ProblemPart,
    system: &SystemPart,
    first: usize,
) -> (Vec<Option<usize>>, usize) {
    let mut symbols = vec![None; part.parameters.len()];
    let mut next = first;

    for &index in &system.parameters {
        if !part.parameters[index].is_point() {
            symbols[index] = Some(next);
            next += 1;
        }
    }
    (symbols, next)
}

/// Boxes as forms, with a symbol for each that is not a point from the coefficient `first` on.
fn named_boxes(shape: FormShape, boxes: &[Interval], first: usize) -> Forms {
    let mut next = first;
    let form = |&range: &Interval| {
        let mut form = constant(shape, range);
        if !range.is_point() {
            form[next] = std::mem::take(&mut form[shape.radius()]);
            next += 1;
        }
        form
    };
    boxes.iter().map(form).collect()
}

fn constant(shape: FormShape, value: Interval) -> Vec<f64> {
    let mut form = vec![0.0; shape.width()];
    shape.set_constant(&mut form, value);
    form
}

fn count_wide(boxes: &[Interval]) -> usize {
    boxes.iter().filter(|range| !range.is_point()).count()
}

impl LocalSet {
    /// The start boxes of a system; and the symbol of each parameter that is uncertain and that the
    /// system uses.
    pub fn new(
        part: &ProblemPart,
        system: &SystemPart,
        degree: usize,
    ) -> (Self, Vec<Option<usize>>) {
        let start = &part.start[system.states.clone()];
        let (symbols, primaries) = parameter_symbols(part, system, count_wide(start));
        let shape = FormShape {
            primaries,
            ..FormShape::NO_SYMBOLS
        };
        let set = Self {
            shape,
            states: named_boxes(shape, start, 1),
            degree,
            differences: Vec::new(),
            times: vec![part.start_time],
        };

        (set, symbols)
    }

    /// The box of every state.
    pub fn boxes(&self) -> Vec<Interval> {
        self.states
            .iter()
            .map(|form| self.shape.range(form))
            .collect()
    }

    /// The divided differences of a state, of order 1 and higher.
    pub fn differences_of(&self, state: usize) -> Vec<Interval> {
        self.differences
            .iter()
            .map(|forms| self.shape.range(&forms[state]))
            .collect()
    }

    /// Forgets all symbols: what is left are boxes.
    pub fn restart(&mut self, boxes: &[Interval]) {
        let before = self.shape;
        let shape = FormShape {
            errors: count_wide(boxes),
            ..before
        };
        self.shape = shape;
        self.states = named_boxes(shape, boxes, shape.first_error());

        for form in self.differences.iter_mut().flatten() {
            *form = constant(shape, before.range(form));
        }
    }

    /// Goes on to the states at `time`, whose anonymous radii become symbols.
    pub fn adopt(&mut self, states: Forms, time: f64) {
        let mut before = std::mem::replace(&mut self.states, states);
        self.name_radii(&mut before);
        self.divide_differences(before, time);
        let reduced = SYMBOLS_PER_STATE * self.states.len();

        if self.shape.errors > 2 * reduced {
            self.reduce(reduced);
        }
    }

    /// Makes the radii of the states symbols, which all forms get space for.
    fn name_radii(&mut self, before: &mut Forms) {
        let radius = self.shape.radius();
        let named: Vec<usize> = (0..self.states.len())
            .filter(|&i| self.states[i][radius] != 0.0)
            .collect();
        let others = self.differences.iter_mut().flatten().chain(before);

        for form in others.chain(&mut self.states) {
            form.splice(radius..radius, std::iter::repeat_n(0.0, named.len()));
        }

        self.shape.errors += named.len();
        for (place, &state) in named.iter().enumerate() {
            let form = &mut self.states[state];
            form[radius + place] = std::mem::take(&mut form[self.shape.radius()]);
        }
    }

    /// Newton's table:
    /// `x[T_n … T_{n-j}] = (x[T_n … T_{n-j+1}] - x[T_{n-1} … T_{n-j}]) / (T_n - T_{n-j})`.
    fn divide_differences(&mut self, before: Forms, time: f64) {
        let mut old = vec![before];
        old.append(&mut self.differences);
        let mut table: Vec<Forms> = Vec::new();

        for (forms, &since) in old.iter().take(self.degree).zip(&self.times) {
            let scale = Interval::ONE / (Interval::point(time) - Interval::point(since));
            let lower = table.last().unwrap_or(&self.states);
            let pairs = lower.iter().zip(forms);
            let next = pairs.map(|(new, old)| self.scaled_difference(new, old, scale));
            table.push(next.collect());
        }

        self.differences = table;
        self.times.insert(0, time);
        self.times.truncate(self.degree.max(1));
    }

    fn scaled_difference(&self, new: &[f64], old: &[f64], scale: Interval) -> Vec<f64> {
        let mut change = new.to_vec();
        let mut result = vec![0.0; new.len()];
        self.shape.add(&mut change, old, -1.0);
        self.shape.add_scaled(&mut result, scale, &change);
        result
    }
}

/// Fewer error symbols.
impl LocalSet {
    /// Puts the error symbols that are nearest to a box into one (Girard): `limit` are left, one
    /// for each state of them new.
    fn reduce(&mut self, limit: usize) {
        let first = self.shape.first_error();
        let order = self.farthest_from_a_box_first();
        let (kept, merged) = order.split_at(limit - self.states.len());
        let reduction = Reduction {
            shape: self.shape,
            kept,
            merged,
            limit,
        };

        for form in self.differences.iter_mut().flatten() {
            let mut short = reduction.kept_part(form);
            short[first + limit] = above(short[first + limit] + reduction.merged_part(form));
            *form = short;
        }

        for (i, form) in self.states.iter_mut().enumerate() {
            let mut short = reduction.kept_part(form);
            short[first + kept.len() + i] = reduction.merged_part(form);
            *form = short;
        }
        self.shape.errors = limit;
    }

    /// The columns of error symbols.
    fn farthest_from_a_box_first(&self) -> Vec<usize> {
        let first = self.shape.first_error();
        let mut order: Vec<usize> = (first..self.shape.radius()).collect();
        let distances: Vec<f64> = order
            .iter()
            .map(|&column| self.distance_from_a_box(column))
            .collect();
        let distance = |column: usize| distances[column - first];
        order.sort_by(|&a, &b| distance(b).total_cmp(&distance(a)).then(a.cmp(&b)));

        order
    }

    fn distance_from_a_box(&self, column: usize) -> f64 {
        let sizes = || self.states.iter().map(|form| form[column].abs());
        let sum = sizes().sum::<f64>();
        sum - sizes().fold(0.0, f64::max)
    }
}

/// Which error symbols are kept, of `limit` afterwards, and which are merged.
struct Reduction<'c> {
    shape: FormShape,
    kept: &'c [usize],
    merged: &'c [usize],
    limit: usize,
}

impl Reduction<'_> {
    /// A form with the symbols that are kept, and zeros for the new ones.
    fn kept_part(&self, form: &[f64]) -> Vec<f64> {
        let first = self.shape.first_error();
        let mut short = form[..first].to_vec();
        short.extend(self.kept.iter().map(|&column| form[column]));
        short.resize(first + self.limit, 0.0);
        short.push(form[self.shape.radius()]);

        short
    }

    /// How far the others reach.
    fn merged_part(&self, form: &[f64]) -> f64 {
        let sizes = self.merged.iter().map(|&column| form[column].abs());
        above(sizes.sum::<f64>())
    }
}
