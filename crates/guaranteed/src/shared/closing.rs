//! The unknowns of nonlinear loops as forms, where only the states are known: at the start and after every switching time.
//!
//! About the centre of the states the solution of `r(x, v) = 0` is nearly affine: `ṽ(x) = v_c + S (x − x_c)`. What that misses is
//! at most `e` if `|Y| |r(x, ṽ)| + |I − Y r_v| e ≤ e`, with `Y` near the inverse of `r_v` and `r_v` over `ṽ ± e` (Krawczyk).

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Number, Program};
use nalgebra::{DMatrix, DVector};

use crate::forms::FormShape;
use crate::interval::Interval;
use crate::loops::Loops;
use crate::problem::Problem;
use crate::rounding::above;
use crate::series::{Coefficient, SeriesTape};

/// The equations of the loops, on numbers and on intervals, and on forms.
pub(super) struct Closing {
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

impl Closing {
    pub fn new(
        problem: &Problem,
        loops: &Loops,
        parameters: &[Interval],
        symbols: &[Option<usize>],
    ) -> Self {
        let program = Arc::new(Program::compile(&problem.graph, &loops.residuals));
        let middles: Vec<Dual<f64>> = parameters
            .iter()
            .map(|p| Dual::constant(p.middle()))
            .collect();
        let ranges: Vec<Dual<Interval>> = parameters.iter().map(|&p| Dual::constant(p)).collect();
        Self {
            states: problem.names.len(),
            unknowns: loops.unknowns.len(),
            numbers: Evaluator::new(Arc::clone(&program), &Dual::constant(0.0), &middles),
            intervals: Evaluator::new(
                Arc::clone(&program),
                &Dual::constant(Interval::ZERO),
                &ranges,
            ),
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

    /// Fills the forms of the unknowns, which come after those of the states; their radii hold what is not affine.
    pub fn close(&mut self, at: Instant<'_>, shape: FormShape, forms: &mut [f64]) -> Option<()> {
        // Of several solutions, the one next to where the unknowns are.
        let begin = if self.closed {
            self.centres(shape, forms).1
        } else {
            self.guesses.clone()
        };
        let inverse = self.linearise(at, shape, forms, begin)?;
        let missed = self.missed(at, shape, forms, &inverse, None)?;
        self.add_missed(shape, forms, &missed);
        self.closed = true;
        Some(())
    }

    /// Forms of the unknowns from those of the states, where they are narrower than the unknowns as states have become; `None` where
    /// that is not so, or where it is not sure that they mean the same solution.
    pub fn renewed(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
    ) -> Option<Vec<f64>> {
        let before: Vec<Interval> = forms
            .chunks_exact(shape.width())
            .map(|form| shape.range(form))
            .collect();
        let mut renewed = forms.to_vec();
        let begin = self.centres(shape, forms).1;
        let inverse = self.linearise(at, shape, &mut renewed, begin)?;
        let missed = self.missed(at, shape, &renewed, &inverse, Some(&before[self.states..]))?;
        self.add_missed(shape, &mut renewed, &missed);
        let after = renewed
            .chunks_exact(shape.width())
            .map(|form| shape.range(form));
        let narrower = after
            .zip(&before)
            .skip(self.states)
            .all(|(after, before)| after.width() <= before.width());
        narrower.then_some(renewed)
    }

    /// The centres of states and unknowns.
    fn centres(&self, shape: FormShape, forms: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut states: Vec<f64> = forms
            .chunks_exact(shape.width())
            .map(|form| form[0])
            .collect();
        let unknowns = states.split_off(self.states);
        (states, unknowns)
    }

    /// Makes the unknowns affine in the states, about the solution at their centre; returns about the inverse of `r_v` there.
    fn linearise(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &mut [f64],
        begin: Vec<f64>,
    ) -> Option<DMatrix<f64>> {
        let width = shape.width();
        let (centres, _) = self.centres(shape, forms);
        let unknowns = self.newton(at, &centres, begin)?;
        let (by_states, by_unknowns) = self.slopes(at, &centres, &unknowns);
        let inverse = by_unknowns.try_inverse()?;
        let sensitivity = -&inverse * by_states;
        let (known, open) = forms.split_at_mut(self.states * width);
        for (i, form) in open.chunks_exact_mut(width).enumerate() {
            form.fill(0.0);
            for (j, state) in known.chunks_exact(width).enumerate() {
                let mut moved = state.to_vec();
                moved[0] = 0.0;
                shape.add_scaled(form, Interval::point(sensitivity[(i, j)]), &moved);
            }
            shape.add_constant(form, Interval::point(unknowns[i]));
        }
        Some(inverse)
    }

    fn add_missed(&self, shape: FormShape, forms: &mut [f64], missed: &[f64]) {
        for (form, missed) in forms
            .chunks_exact_mut(shape.width())
            .skip(self.states)
            .zip(missed)
        {
            form[shape.radius()] = above(form[shape.radius()] + missed);
        }
    }

    /// Newton's method at the centre of the states.
    fn newton(&mut self, at: Instant<'_>, centres: &[f64], begin: Vec<f64>) -> Option<Vec<f64>> {
        const MOST_ITERATIONS: usize = 50;
        let mut unknowns = begin;
        for _ in 0..MOST_ITERATIONS {
            let residual = DVector::from_vec(self.residual(at, centres, &unknowns));
            let (_, jacobian) = self.slopes(at, centres, &unknowns);
            let update = jacobian.lu().solve(&residual)?;
            let size = |v: &[f64]| v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            // Damped while the residual would grow.
            let mut fraction = 1.0;
            loop {
                let trial: Vec<f64> = unknowns
                    .iter()
                    .zip(&update)
                    .map(|(v, u)| v - fraction * u)
                    .collect();
                let better = size(&self.residual(at, centres, &trial))
                    <= size(residual.as_slice()).max(1e-15);
                if better || fraction < 1e-3 {
                    unknowns = trial;
                    break;
                }
                fraction *= 0.5;
            }
            if size(update.as_slice()) <= 1e-15 * (1.0 + size(&unknowns)) {
                return Some(unknowns);
            }
        }
        // Nearly solved is good enough: what is missed is bounded afterwards.
        unknowns.iter().all(|v| v.is_finite()).then_some(unknowns)
    }

    fn residual(&mut self, at: Instant<'_>, centres: &[f64], unknowns: &[f64]) -> Vec<f64> {
        let all: Vec<Dual<f64>> = centres
            .iter()
            .chain(unknowns)
            .map(|&v| Dual::constant(v))
            .collect();
        self.evaluate_numbers(at, &all)
            .iter()
            .map(|dual| dual.value)
            .collect()
    }

    fn evaluate_numbers(&mut self, at: Instant<'_>, all: &[Dual<f64>]) -> Vec<Dual<f64>> {
        let switches: Vec<Dual<f64>> = at
            .switches
            .iter()
            .map(|s| Dual::constant(s.middle()))
            .collect();
        let mut results = vec![Dual::constant(0.0); self.unknowns];
        self.numbers.set_time(&Dual::constant(at.time));
        self.numbers.set_switches(&switches);
        self.numbers.set_states(all);
        self.numbers.run(&mut results);
        results
    }

    /// `r_x` and `r_v` at the centre.
    fn slopes(
        &mut self,
        at: Instant<'_>,
        centres: &[f64],
        unknowns: &[f64],
    ) -> (DMatrix<f64>, DMatrix<f64>) {
        let mut all: Vec<Dual<f64>> = centres
            .iter()
            .chain(unknowns)
            .map(|&v| Dual::constant(v))
            .collect();
        let mut matrix = DMatrix::zeros(self.unknowns, all.len());
        for j in 0..all.len() {
            all[j].derivative = 1.0;
            let results = self.evaluate_numbers(at, &all);
            all[j].derivative = 0.0;
            results
                .iter()
                .enumerate()
                .for_each(|(i, result)| matrix[(i, j)] = result.derivative);
        }
        let by_states = matrix.columns(0, self.states).into_owned();
        (
            by_states,
            matrix.columns(self.states, self.unknowns).into_owned(),
        )
    }

    /// How far the unknowns can be from their forms. Where they are known to lie in boxes, the solution found is the only one in them.
    fn missed(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
        inverse: &DMatrix<f64>,
        known: Option<&[Interval]>,
    ) -> Option<Vec<f64>> {
        const MOST_GUESSES: usize = 10;
        let boxes: Vec<Interval> = forms
            .chunks_exact(shape.width())
            .map(|form| shape.range(form))
            .collect();
        let residual: Vec<f64> = self.residual_ranges(at, shape, forms, &boxes);
        let size = |i: usize| {
            above(
                (0..self.unknowns)
                    .map(|j| inverse[(i, j)].abs() * residual[j])
                    .sum::<f64>(),
            )
        };
        let direct: Vec<f64> = (0..self.unknowns).map(size).collect();
        let mut guess: Vec<f64> = direct.iter().map(|d| above(2.0 * d)).collect();
        if let Some(known) = known {
            // Every value that the unknowns may have is within the guess of every value of their forms.
            let apart = |(own, known): (&Interval, &Interval)| (*known - *own).magnitude();
            let needed = boxes[self.states..].iter().zip(known).map(apart);
            guess
                .iter_mut()
                .zip(needed)
                .for_each(|(guess, needed)| *guess = guess.max(above(needed)));
        }
        for _ in 0..MOST_GUESSES {
            let mut wide = boxes.clone();
            wide[self.states..]
                .iter_mut()
                .zip(&guess)
                .for_each(|(range, &e)| *range = range.widened(e));
            let rest = self.rest(at, &wide, inverse);
            let bound = |from: &[f64]| -> Vec<f64> {
                let sum = |i: usize| {
                    (0..self.unknowns)
                        .map(|j| rest[(i, j)] * from[j])
                        .sum::<f64>()
                };
                (0..self.unknowns)
                    .map(|i| above(direct[i] + sum(i)))
                    .collect()
            };
            let found = bound(&guess);
            if found.iter().any(|e| !e.is_finite()) {
                return None;
            }
            if found.iter().zip(&guess).all(|(found, guess)| found < guess) {
                // The bound holds for itself in turn, and gets better by it.
                return Some((0..4).fold(found, |found, _| bound(&found)));
            }
            guess = found
                .iter()
                .zip(&guess)
                .map(|(e, g)| above(2.0 * e).max(*g))
                .collect();
        }
        None
    }

    fn residual_ranges(
        &mut self,
        at: Instant<'_>,
        shape: FormShape,
        forms: &[f64],
        boxes: &[Interval],
    ) -> Vec<f64> {
        let time = Interval::point(at.time);
        let mut results = vec![Interval::ZERO; self.unknowns];
        self.evaluator.set_time(&time);
        self.evaluator.set_switches(at.switches);
        self.evaluator.set_states(boxes);
        self.evaluator.run(&mut results);
        let outlook = self.forms.outlook_of(&self.evaluator);
        self.forms.begin(shape, 1, time, at.switches);
        self.forms.set_outlook(&outlook);
        let states: Vec<(usize, usize)> = self.forms.states().collect();
        for (state, register) in states {
            let start = state * shape.width();
            self.forms
                .set_state_form(register, 0, &forms[start..start + shape.width()]);
        }
        self.forms.compute(0);
        let range = |(i, rough): (usize, &Interval)| {
            let fine = match self.forms.result(i, 0) {
                Coefficient::Plain(range) => range,
                Coefficient::Form(form) => shape.range(form),
            };
            fine.intersection(*rough).unwrap_or(fine).magnitude()
        };
        results.iter().enumerate().map(range).collect()
    }

    /// `|I − Y r_v|` over a box.
    fn rest(
        &mut self,
        at: Instant<'_>,
        boxes: &[Interval],
        inverse: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut all: Vec<Dual<Interval>> = boxes.iter().map(|&b| Dual::constant(b)).collect();
        let switches: Vec<Dual<Interval>> =
            at.switches.iter().map(|&s| Dual::constant(s)).collect();
        let mut results = vec![Dual::constant(Interval::ZERO); self.unknowns];
        self.intervals
            .set_time(&Dual::constant(Interval::point(at.time)));
        self.intervals.set_switches(&switches);
        let mut rest = DMatrix::zeros(self.unknowns, self.unknowns);
        for j in 0..self.unknowns {
            all[self.states + j].derivative = Interval::ONE;
            self.intervals.set_states(&all);
            self.intervals.run(&mut results);
            all[self.states + j].derivative = Interval::ZERO;
            for i in 0..self.unknowns {
                let product = (0..self.unknowns).fold(Interval::ZERO, |sum, k| {
                    sum.add(&Interval::point(inverse[(i, k)]).multiply(&results[k].derivative))
                });
                let identity = if i == j {
                    Interval::ONE
                } else {
                    Interval::ZERO
                };
                rest[(i, j)] = (identity - product).magnitude();
            }
        }
        rest
    }
}
