//! The affine set that a system keeps of its own states, with symbols that no other system knows.
//!
//! Along with the states it keeps their divided differences over past macro-steps in the same symbols: what a state was
//! and what it is depend on one another, and a difference of boxes would not know it.

use dovetail_equations::{Leaf, leaves};

use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::rounding::above;

/// Error symbols for each state that a reduction leaves, and as many again may gather before the next.
const SYMBOLS_PER_STATE: usize = 10;

/// A form for each state of a system.
pub(super) type Forms = Vec<Vec<f64>>;

/// `x = c + G ε + E η`: ε are the symbols of initial boxes and uncertain parameters, η those of errors.
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

impl LocalSet {
    /// The start boxes of a system; and the symbol of each parameter that is uncertain and that the system uses.
    pub fn new(problem: &Problem, system: usize, degree: usize) -> (Self, Vec<Option<usize>>) {
        let own = problem.systems[system].clone();
        let start = &problem.start[own.clone()];
        let mut symbols = vec![None; problem.parameters.len()];
        let mut next = start.iter().filter(|x| !x.is_point()).count();
        for leaf in problem.derivatives[own]
            .iter()
            .flat_map(|&root| leaves(&problem.graph, root))
        {
            if let Leaf::Parameter(index) = leaf
                && !problem.parameters[index as usize].is_point()
                && symbols[index as usize].is_none()
            {
                symbols[index as usize] = Some(next);
                next += 1;
            }
        }
        let shape = FormShape {
            primaries: next,
            quadratic: false,
            errors: 0,
        };
        let mut used = 0;
        let form = |x: &Interval| {
            let mut form = vec![0.0; shape.width()];
            shape.set_constant(&mut form, *x);
            if !x.is_point() {
                used += 1;
                form[used] = std::mem::take(&mut form[shape.radius()]);
            }
            form
        };
        let states = start.iter().map(form).collect();
        let times = vec![problem.start_time];
        (
            Self {
                shape,
                states,
                degree,
                differences: Vec::new(),
                times,
            },
            symbols,
        )
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
        let wide: Vec<usize> = (0..boxes.len()).filter(|&i| !boxes[i].is_point()).collect();
        self.shape = FormShape {
            errors: wide.len(),
            ..before
        };
        let (shape, first) = (self.shape, self.shape.first_error());
        let constant = |value: Interval| {
            let mut form = vec![0.0; shape.width()];
            shape.set_constant(&mut form, value);
            form
        };
        self.states = boxes.iter().map(|&x| constant(x)).collect();
        for (place, &state) in wide.iter().enumerate() {
            let form = &mut self.states[state];
            form[first + place] = std::mem::take(&mut form[shape.radius()]);
        }
        for form in self.differences.iter_mut().flatten() {
            *form = constant(before.range(form));
        }
    }

    /// Goes on to the states at `time`, whose anonymous radii become symbols.
    pub fn adopt(&mut self, states: Forms, time: f64) {
        let before = std::mem::replace(&mut self.states, states);
        self.name_radii(before, time);
        if self.shape.errors > 2 * SYMBOLS_PER_STATE * self.states.len() {
            self.reduce(SYMBOLS_PER_STATE * self.states.len());
        }
    }

    fn name_radii(&mut self, mut before: Forms, time: f64) {
        let radius = self.shape.radius();
        let named: Vec<usize> = (0..self.states.len())
            .filter(|&i| self.states[i][radius] != 0.0)
            .collect();
        let all = self
            .differences
            .iter_mut()
            .flatten()
            .chain(&mut before)
            .chain(&mut self.states);
        for form in all {
            form.splice(radius..radius, std::iter::repeat_n(0.0, named.len()));
        }
        self.shape.errors += named.len();
        for (place, &state) in named.iter().enumerate() {
            let form = &mut self.states[state];
            form[radius + place] = std::mem::take(&mut form[self.shape.radius()]);
        }
        self.divide_differences(before, time);
    }

    /// Newton's table: `x[T_n … T_{n-j}] = (x[T_n … T_{n-j+1}] - x[T_{n-1} … T_{n-j}]) / (T_n - T_{n-j})`.
    fn divide_differences(&mut self, before: Forms, time: f64) {
        let mut old = vec![before];
        old.append(&mut self.differences);
        let mut table: Vec<Forms> = Vec::new();
        for (forms, &since) in old.iter().take(self.degree).zip(&self.times) {
            let scale = Interval::ONE / (Interval::point(time) - Interval::point(since));
            let difference = |(new, old): (&Vec<f64>, &Vec<f64>)| {
                let (mut change, mut result) = (new.clone(), vec![0.0; new.len()]);
                self.shape.add(&mut change, old, -1.0);
                self.shape.add_scaled(&mut result, scale, &change);
                result
            };
            let lower = table.last().unwrap_or(&self.states);
            let next = lower.iter().zip(forms).map(difference).collect();
            table.push(next);
        }
        self.differences = table;
        self.times.insert(0, time);
        self.times.truncate(self.degree.max(1));
    }

    /// Puts the error symbols that are nearest to a box into one (Girard): `limit` are left, one for each state of them
    /// new.
    fn reduce(&mut self, limit: usize) {
        let (first, last) = (self.shape.first_error(), self.shape.radius());
        let mut order: Vec<usize> = (first..last).collect();
        let badness: Vec<f64> = order
            .iter()
            .map(|&column| self.distance_from_a_box(column))
            .collect();
        order.sort_by(|&a, &b| {
            badness[b - first]
                .total_cmp(&badness[a - first])
                .then(a.cmp(&b))
        });
        let (kept, merged) = order.split_at(limit - self.states.len());
        let reach =
            |form: &[f64]| above(merged.iter().map(|&column| form[column].abs()).sum::<f64>());
        let shorter = |form: &[f64]| {
            let mut short = form[..first].to_vec();
            short.extend(kept.iter().map(|&column| form[column]));
            short.resize(first + limit, 0.0);
            short.push(form[last]);
            short
        };
        for forms in &mut self.differences {
            for form in forms {
                let mut short = shorter(form);
                short[first + limit] = above(short[first + limit] + reach(form));
                *form = short;
            }
        }
        for (i, form) in self.states.iter_mut().enumerate() {
            let mut short = shorter(form);
            short[first + kept.len() + i] = reach(form);
            *form = short;
        }
        self.shape.errors = limit;
    }

    fn distance_from_a_box(&self, column: usize) -> f64 {
        let sizes = || self.states.iter().map(|form| form[column].abs());
        sizes().sum::<f64>() - sizes().fold(0.0, f64::max)
    }
}
