//! The unknowns of nonlinear loops as forms, where only the states are known: at the start and
//! after every switching time.
//!
//! About the center of the states the solution of `r(x, v) = 0` is nearly affine:
//! `ṽ(x) = v_c + S (x − x_c)`. What that misses is at most `e` if `|Y| |r(x, ṽ)| + |I − Y r_v| e ≤
//! e`, with `Y` near the inverse of `r_v` and `r_v` over `ṽ ± e` (Krawczyk).

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Number, Program};
use nalgebra::{DMatrix, DVector};

use crate::duals::constants;
use crate::forms::FormShape;
use crate::interval::{Interval, middles};
use crate::loops::Loops;
use crate::problem::Problem;
use crate::rounding::above;
use crate::series::tape::{Coefficient, SeriesTape};

/// Newton's method is given up after so many iterations.
const MOST_ITERATIONS: usize = 50;

/// A step of Newton's method is not damped below this.
const LEAST_FRACTION: f64 = 1e-3;

/// Residuals and updates that are smaller, against the unknowns, count as zero.
const SOLVED: f64 = 1e-15;

/// How often a bound of what is missed is guessed, and improved once it holds.
const MOST_GUESSES: usize = 10;
const IMPROVEMENTS: usize = 4;

/// The equations of the loops, on numbers and on intervals, and on forms.
pub(super) struct LoopUnknowns {
    states: usize,
    unknowns: usize,
    numbers: Evaluator<Dual<f64>>,
    intervals: Evaluator<Dual<Interval>>,
    forms: SeriesTape,
    evaluator: Evaluator<Interval>,
    guesses: Vec<f64>,
    /// Whether unknowns jump where switches change.
    switched: bool,
    /// Whether the unknowns have been solved for.
    closed: bool,
}

/// What is the same for all evaluations at an instant.
#[derive(Clone, Copy)]
pub(super) struct Instant<'a> {
    pub time: f64,
    pub switches: &'a [Interval],
}

/// `r_x` and `r_v`.
struct ResidualSlopes {
    by_states: DMatrix<f64>,
    by_unknowns: DMatrix<f64>,
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// The entry of an identity matrix.
fn identity(i: usize, j: usize) -> Interval {
    if i == j {
        Interval::ONE
    } else {
        Interval::ZERO
    }
}

impl LoopUnknowns {
    pub fn new(
        problem: &Problem,
        loops: &Loops,
        parameters: &[Interval],
        symbols: &[Option<usize>],
    ) -> Self {
        let program = Arc::new(Program::compile(&problem.graph, &loops.residuals));
        let numbers = Evaluator::new(
            Arc::clone(&program),
            &Dual::constant(0.0),
            &constants(&middles(parameters)),
        );
        let intervals = Evaluator::new(
            Arc::clone(&program),
            &Dual::constant(Interval::ZERO),
            &constants(parameters),
        );

        Self {
            states: problem.names.len(),
            unknowns: loops.unknowns.len(),
            numbers,
            intervals,
            forms: SeriesTape::new(&program, parameters, Some(symbols)),
            evaluator: Evaluator::new(program, &Interval::ZERO, parameters),
            guesses: loops.guesses.clone(),
            switched: loops.switched,
            closed: false,
        }
    }

    /// Whether the unknowns have to be solved for: at first, and where a switch may make them jump.
    pub fn is_due(&self) -> bool {
        self.switched || !self.closed
    }

    /// Fills the forms of the unknowns, which come after those of the states; their radii hold what
    /// is not affine.
    pub fn close(&mut self, at: Instant<'_>, shape: FormShape, forms: &mut [f64]) -> Option<()> {
        // Of several solutions, the one next to where the unknowns are.
        let begin = if self.closed {
            self.unknown_centers(shape, forms)
        } else {
            self.guesses.clone()
        };
        let inverse = self.linearize(at, shape, forms, begin)?;
        let missed = self.missed(at, shape, forms, &inverse, None)?;
        self.add_missed(shape, forms, &missed);
        self.closed = true;

        Some(())
    }

    /// Forms of the unknowns from those of the states, where they are narrower than the unknowns as
    /// states have become; `None` where that is not so, or where it is not sure that they mean the
    /// same solution.
    pub fn renewed(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
    ) -> Option<Vec<f64>> {
        let before = shape.ranges(forms).split_off(self.states);
        let mut renewed = forms.to_vec();
        let begin = self.unknown_centers(shape, forms);
        let inverse = self.linearize(at, shape, &mut renewed, begin)?;
        let missed = self.missed(at, shape, &renewed, &inverse, Some(&before))?;
        self.add_missed(shape, &mut renewed, &missed);
        let after = shape.ranges(&renewed).split_off(self.states);
        let mut pairs = after.iter().zip(&before);

        pairs
            .all(|(after, before)| after.width() <= before.width())
            .then_some(renewed)
    }

    /// The centers of the states.
    fn state_centers(&self, shape: FormShape, forms: &[f64]) -> Vec<f64> {
        let states = forms.chunks_exact(shape.width()).take(self.states);
        states.map(|form| form[0]).collect()
    }

    /// The centers of the unknowns.
    fn unknown_centers(&self, shape: FormShape, forms: &[f64]) -> Vec<f64> {
        let unknowns = forms.chunks_exact(shape.width()).skip(self.states);
        unknowns.map(|form| form[0]).collect()
    }

    /// Makes the unknowns affine in the states, about the solution at their center; returns about
    /// the inverse of `r_v` there.
    fn linearize(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &mut [f64],
        begin: Vec<f64>,
    ) -> Option<DMatrix<f64>> {
        let centers = self.state_centers(shape, forms);
        let unknowns = self.newton(at, &centers, begin)?;
        let slopes = self.slopes(at, &centers, &unknowns);
        let inverse = slopes.by_unknowns.try_inverse()?;
        let sensitivity = -&inverse * slopes.by_states;
        let (known, open) = forms.split_at_mut(self.states * shape.width());

        for (i, form) in open.chunks_exact_mut(shape.width()).enumerate() {
            form.fill(0.0);
            for (j, state) in known.chunks_exact(shape.width()).enumerate() {
                let mut moved = state.to_vec();
                moved[0] = 0.0;
                shape.add_scaled(form, Interval::point(sensitivity[(i, j)]), &moved);
            }
            shape.add_constant(form, Interval::point(unknowns[i]));
        }
        Some(inverse)
    }

    fn add_missed(&self, shape: FormShape, forms: &mut [f64], missed: &[f64]) {
        let unknowns = &mut forms[self.states * shape.width()..];
        shape.widen_each(unknowns, missed);
    }
}

/// The solution at the center of the states.
impl LoopUnknowns {
    /// Newton's method.
    fn newton(&mut self, at: Instant<'_>, centers: &[f64], begin: Vec<f64>) -> Option<Vec<f64>> {
        let mut unknowns = begin;
        for _ in 0..MOST_ITERATIONS {
            let residual = DVector::from_vec(self.residual(at, centers, &unknowns));
            let jacobian = self.slopes(at, centers, &unknowns).by_unknowns;
            let update = jacobian.lu().solve(&residual)?;
            let size = largest(residual.as_slice());
            unknowns = self.damped(at, centers, &unknowns, &update, size);
            if largest(update.as_slice()) <= SOLVED * (1.0 + largest(&unknowns)) {
                return Some(unknowns);
            }
        }
        // Nearly solved is good enough: what is missed is bounded afterwards.
        unknowns.iter().all(|v| v.is_finite()).then_some(unknowns)
    }

    /// An update of the unknowns, damped while the residual would grow from `size`.
    fn damped(
        &mut self,
        at: Instant<'_>,
        centers: &[f64],
        unknowns: &[f64],
        update: &DVector<f64>,
        size: f64,
    ) -> Vec<f64> {
        let mut fraction = 1.0;
        loop {
            let pairs = unknowns.iter().zip(update);
            let trial: Vec<f64> = pairs.map(|(v, u)| v - fraction * u).collect();
            let better = largest(&self.residual(at, centers, &trial)) <= size.max(SOLVED);
            if better || fraction < LEAST_FRACTION {
                return trial;
            }
            fraction *= 0.5;
        }
    }

    fn residual(&mut self, at: Instant<'_>, centers: &[f64], unknowns: &[f64]) -> Vec<f64> {
        let all = constants(&[centers, unknowns].concat());
        let results = self.evaluate_numbers(at, &all);
        results.iter().map(|dual| dual.value).collect()
    }

    fn evaluate_numbers(&mut self, at: Instant<'_>, all: &[Dual<f64>]) -> Vec<Dual<f64>> {
        let switches = middles(at.switches);
        self.numbers.set_time(&Dual::constant(at.time));
        self.numbers.set_switches(&constants(&switches));
        self.numbers.set_states(all);
        self.numbers.results()
    }

    fn slopes(&mut self, at: Instant<'_>, centers: &[f64], unknowns: &[f64]) -> ResidualSlopes {
        let mut all = constants(&[centers, unknowns].concat());
        let mut matrix = DMatrix::zeros(self.unknowns, all.len());

        for j in 0..all.len() {
            all[j].derivative = 1.0;
            let results = self.evaluate_numbers(at, &all);
            all[j].derivative = 0.0;
            for (i, result) in results.iter().enumerate() {
                matrix[(i, j)] = result.derivative;
            }
        }
        ResidualSlopes {
            by_states: matrix.columns(0, self.states).into_owned(),
            by_unknowns: matrix.columns(self.states, self.unknowns).into_owned(),
        }
    }
}

/// A condition for bounds of what forms miss: `direct + rest · e ≤ e`.
struct Krawczyk {
    /// `|Y| |r(x, ṽ)|`.
    direct: Vec<f64>,
    /// `|I − Y r_v|`.
    rest: DMatrix<f64>,
}

impl Krawczyk {
    fn bound(&self, from: &[f64]) -> Vec<f64> {
        let sum = |i: usize| {
            let terms = from.iter().enumerate().map(|(j, e)| self.rest[(i, j)] * e);
            terms.sum::<f64>()
        };
        let direct = self.direct.iter().enumerate();
        direct.map(|(i, direct)| above(direct + sum(i))).collect()
    }

    /// The bound holds for itself in turn, and gets better by it.
    fn improved(&self, found: Vec<f64>) -> Vec<f64> {
        (0..IMPROVEMENTS).fold(found, |found, _| self.bound(&found))
    }
}

/// What forms of the unknowns miss.
impl LoopUnknowns {
    /// How far the unknowns can be from their forms. Where they are known to lie in boxes, the
    /// solution found is the only one in them.
    fn missed(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
        inverse: &DMatrix<f64>,
        known: Option<&[Interval]>,
    ) -> Option<Vec<f64>> {
        let boxes = shape.ranges(forms);
        let residual = self.residual_ranges(at, shape, forms, &boxes);
        let direct = self.direct(inverse, &residual);
        let mut guess: Vec<f64> = direct.iter().map(|d| above(2.0 * d)).collect();

        if let Some(known) = known {
            enlarge_to(&mut guess, &boxes[self.states..], known);
        }

        for _ in 0..MOST_GUESSES {
            let condition = Krawczyk {
                direct: direct.clone(),
                rest: self.rest(at, &self.widened(&boxes, &guess), inverse),
            };
            let found = condition.bound(&guess);
            if found.iter().any(|e| !e.is_finite()) {
                return None;
            }
            if found.iter().zip(&guess).all(|(found, guess)| found < guess) {
                return Some(condition.improved(found));
            }
            let pairs = found.iter().zip(&guess);
            guess = pairs.map(|(e, g)| above(2.0 * e).max(*g)).collect();
        }
        None
    }

    /// `|Y| |r|`.
    fn direct(&self, inverse: &DMatrix<f64>, residual: &[f64]) -> Vec<f64> {
        let size = |i: usize| {
            let terms = residual.iter().enumerate();
            let terms = terms.map(|(j, r)| inverse[(i, j)].abs() * r);
            above(terms.sum::<f64>())
        };
        (0..self.unknowns).map(size).collect()
    }

    /// Boxes in which those of the unknowns are wider by `margins`.
    fn widened(&self, boxes: &[Interval], margins: &[f64]) -> Vec<Interval> {
        let mut wide = boxes.to_vec();
        for (range, &margin) in wide[self.states..].iter_mut().zip(margins) {
            *range = range.widened(margin);
        }
        wide
    }

    /// How large the residuals are, by the better of two ways.
    fn residual_ranges(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
        boxes: &[Interval],
    ) -> Vec<f64> {
        let rough = self.residuals_on_intervals(at, boxes);
        let fine = self.residuals_on_forms(at, shape, forms);
        let pairs = fine.into_iter().zip(rough);

        pairs
            .map(|(fine, rough)| fine.intersection(rough).unwrap_or(fine).magnitude())
            .collect()
    }

    fn residuals_on_intervals(&mut self, at: Instant<'_>, boxes: &[Interval]) -> Vec<Interval> {
        let evaluator = &mut self.evaluator;
        evaluator.set_time(&Interval::point(at.time));
        evaluator.set_switches(at.switches);
        evaluator.set_states(boxes);
        evaluator.results()
    }

    /// After those on intervals, which decide conditions.
    fn residuals_on_forms(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
    ) -> Vec<Interval> {
        let width = shape.width();
        let assumptions = self.forms.assumptions_from(&self.evaluator);
        self.forms
            .begin(shape, 1, Interval::point(at.time), at.switches);
        self.forms.set_assumptions(&assumptions);
        self.forms
            .set_states(0, |state| &forms[state * width..][..width]);
        self.forms.compute(0);
        let range = |i: usize| match self.forms.result(i, 0) {
            Coefficient::Plain(range) => range,
            Coefficient::Form(form) => shape.range(form),
        };

        (0..self.unknowns).map(range).collect()
    }

    /// `|I − Y r_v|` over a box.
    fn rest(
        &mut self,
        at: Instant<'_>,
        boxes: &[Interval],
        inverse: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut all = constants(boxes);
        let time = Interval::point(at.time);
        self.intervals.set_time(&Dual::constant(time));
        self.intervals.set_switches(&constants(at.switches));
        let mut results = vec![Dual::constant(Interval::ZERO); self.unknowns];
        let mut rest = DMatrix::zeros(self.unknowns, self.unknowns);

        for j in 0..self.unknowns {
            all[self.states + j].derivative = Interval::ONE;
            self.intervals.set_states(&all);
            self.intervals.run(&mut results);
            all[self.states + j].derivative = Interval::ZERO;
            for i in 0..self.unknowns {
                let product = row_product(inverse, i, &results);
                rest[(i, j)] = (identity(i, j) - product).magnitude();
            }
        }
        rest
    }
}

/// A row of `Y` times a column of `r_v`, which is the derivatives of `results`.
fn row_product(inverse: &DMatrix<f64>, row: usize, results: &[Dual<Interval>]) -> Interval {
    let column = results.iter().enumerate();
    column.fold(Interval::ZERO, |sum, (k, result)| {
        let entry = Interval::point(inverse[(row, k)]);
        sum.add(&entry.multiply(&result.derivative))
    })
}

/// Every value that the unknowns are `known` to have is within the guess of every value of their
/// forms.
fn enlarge_to(guess: &mut [f64], own: &[Interval], known: &[Interval]) {
    let pairs = own.iter().zip(known);
    let apart = pairs.map(|(own, known)| (*known - *own).magnitude());

    for (guess, needed) in guess.iter_mut().zip(apart) {
        *guess = guess.max(above(needed));
    }
}
