//! What a single enclosure leaves open: boxes are cut, steps made shorter and single trajectories tried, until
//! everything is decided or a budget is spent.
//!
//! The order of all this follows from the problem alone, and so does the answer: the budget is one of enclosures and
//! of steps, never of time.

use std::collections::VecDeque;

use super::judge::Judging;
use super::samples::{Dimension, Place};
use super::{Answer, Counterexample, Judgement, Requirement, Verdict};
use crate::api::{Options, Pieces};
use crate::enclose;
use crate::interval::Interval;
use crate::problem::Problem;

/// Enclosures that are spent on what is open, and steps of all of them together.
const MOST_ENCLOSURES: usize = 600;
const MOST_STEPS: usize = 300_000;

/// Up to so many unknown numbers each is tried by itself, and up to so many all corners are tried.
const MOST_PROBED: usize = 24;
const MOST_CORNERS_OF: usize = 4;

/// Steps of the first pieces, at least; and how many times more with every cut.
const STEPS_AT_FIRST: f64 = 24.0;
const STEPS_PER_CUT: f64 = 1.25;

/// What cannot be cut is asked again with steps that are shorter, so many times.
const MOST_SHORTENINGS: u32 = 12;

/// The search for answers.
pub(super) struct Refinement<'r> {
    problem: &'r Problem,
    options: &'r Options,
    requirements: &'r [Requirement],
    dimensions: Vec<Dimension>,
    whole: Place,
    /// For each requirement and dimension how much it matters.
    weights: Vec<Vec<f64>>,
    verdicts: Vec<Verdict>,
    enclosures: usize,
    steps: usize,
}

/// A part of the boxes, with the requirements that are open there.
struct Piece {
    place: Place,
    open: Vec<usize>,
    cuts: u32,
}

impl<'r> Refinement<'r> {
    pub fn new(
        problem: &'r Problem,
        options: &'r Options,
        requirements: &'r [Requirement],
    ) -> Self {
        let dimensions = Dimension::all(problem);
        let verdicts = requirements.iter().map(|requirement| Verdict {
            text: requirement.text.clone(),
            answer: Answer::Undecided,
            time: None,
            counterexample: None,
        });
        Self {
            problem,
            options,
            requirements,
            weights: vec![vec![1.0; dimensions.len()]; requirements.len()],
            dimensions,
            whole: Place::of(problem),
            verdicts: verdicts.collect(),
            enclosures: 0,
            steps: 0,
        }
    }

    /// Answers, where a first enclosure of everything has been judged like this.
    pub fn decide(
        mut self,
        first: &[Judgement],
        proceed: &mut dyn FnMut() -> bool,
    ) -> Vec<Verdict> {
        let mut open = Vec::new();
        for (index, judgement) in first.iter().enumerate() {
            let whole = self.whole.clone();
            if !self.take(index, judgement, &whole) {
                open.push(index);
            }
        }

        self.probe_all(&mut open);
        let mut waiting = VecDeque::from([Piece {
            place: self.whole.clone(),
            open: open.clone(),
            cuts: 0,
        }]);
        while let Some(piece) = waiting.pop_front() {
            if self.is_spent() || !proceed() {
                waiting.push_front(piece);
                break;
            }
            waiting.extend(self.cut(piece));
        }

        for index in open {
            let left = waiting.iter().any(|piece| piece.open.contains(&index));
            let verdict = &mut self.verdicts[index];
            if !left && verdict.answer == Answer::Undecided {
                verdict.answer = Answer::Proved;
            }
        }
        for verdict in &mut self.verdicts {
            if verdict.answer == Answer::Undecided {
                verdict.time = None;
            }
        }
        self.verdicts
    }

    fn is_spent(&self) -> bool {
        self.enclosures >= MOST_ENCLOSURES || self.steps >= MOST_STEPS
    }

    /// Takes what has been found of all trajectories from a place; whether that says something for certain.
    fn take(&mut self, index: usize, judgement: &Judgement, place: &Place) -> bool {
        let whole = *place == self.whole;
        let verdict = &mut self.verdicts[index];
        match judgement {
            Judgement::Open => return false,
            Judgement::Met(time) => {
                verdict.time = verdict.time.max_time(*time);
                if whole {
                    verdict.answer = Answer::Proved;
                }
            }
            Judgement::Missed(time) => {
                let middle = place.middle();
                let values = |ranges: &[Interval]| ranges.iter().map(|r| r.lo).collect();
                verdict.answer = Answer::Violated;
                verdict.time = *time;
                verdict.counterexample = Some(Counterexample {
                    states: values(&middle.states),
                    parameters: values(&middle.parameters),
                });
            }
        }
        true
    }

    /// Encloses all trajectories from a place; what that says of these requirements, and how bad each is.
    fn ask(&mut self, place: &Place, open: &[usize], step: Option<f64>) -> Vec<(Judgement, f64)> {
        let deadlines = open
            .iter()
            .map(|&index| self.requirements[index].goal.deadline());
        let stop = deadlines.fold(self.problem.start_time, f64::max);
        let problem = self
            .problem
            .narrowed(place.states.clone(), place.parameters.clone(), stop);
        let options = Options {
            step: shorter(self.options.step, step),
            output_interval: None,
            threads: 1,
            pieces: Pieces::ONE,
            ..self.options.clone()
        };
        let mut judging = Judging::alone(
            &problem,
            self.requirements,
            MOST_STEPS - self.steps.min(MOST_STEPS - 1),
        );
        enclose(&problem, &options, &mut judging);
        self.enclosures += 1;
        self.steps += judging.steps();

        let all = judging.progress();
        open.iter()
            .map(|&index| (all[index].judgement(), all[index].badness))
            .collect()
    }

    /// Cuts a piece in two, or takes shorter steps where nothing can be cut; gives what is still open then.
    fn cut(&mut self, piece: Piece) -> Vec<Piece> {
        let open: Vec<usize> = piece
            .open
            .iter()
            .copied()
            .filter(|&k| self.is_open(k))
            .collect();
        if open.is_empty() {
            return Vec::new();
        }

        let cuts = piece.cuts + 1;
        let parts = match self.cut_across(&piece.place, &open) {
            Some(position) => self.dimensions[position].halves(&piece.place).to_vec(),
            None if cuts <= MOST_SHORTENINGS => vec![piece.place],
            None => {
                // Nothing more can be done here: it stays open.
                self.enclosures = MOST_ENCLOSURES;
                return vec![Piece { open, ..piece }];
            }
        };
        let duration = self.problem.duration();
        let step = duration / (STEPS_AT_FIRST * STEPS_PER_CUT.powi(cuts as i32));
        let mut left = Vec::new();
        for place in parts {
            let found = self.ask(&place, &open, Some(step));
            let mut still = Vec::new();
            for (&index, (judgement, _)) in open.iter().zip(&found) {
                if !self.take(index, judgement, &place) {
                    still.push(index);
                }
            }
            self.probe(&place.middle(), &mut still);
            if !still.is_empty() {
                left.push(Piece {
                    place,
                    open: still,
                    cuts,
                });
            }
        }
        left
    }

    fn is_open(&self, index: usize) -> bool {
        self.verdicts[index].answer == Answer::Undecided
    }

    /// The dimension that matters most for what is open, by the part of it that is left.
    fn cut_across(&self, place: &Place, open: &[usize]) -> Option<usize> {
        let effect = |position: usize| {
            let dimension = &self.dimensions[position];
            let width = dimension.range(place).width();
            let part = width / dimension.range(&self.whole).width();
            let weight: f64 = open
                .iter()
                .map(|&index| self.weights[index][position])
                .sum();
            part * weight
        };
        let divisible = |position: &usize| self.dimensions[*position].is_divisible(place);
        let candidates = (0..self.dimensions.len()).filter(divisible);
        candidates.max_by(|&a, &b| effect(a).total_cmp(&effect(b)).then(b.cmp(&a)))
    }
}

/// Single trajectories.
impl Refinement<'_> {
    /// Tries a trajectory; takes from `open` what it violates, and gives how bad the others are.
    fn probe(&mut self, point: &Place, open: &mut Vec<usize>) -> Vec<f64> {
        if open.is_empty() || self.is_spent() {
            return vec![0.0; self.requirements.len()];
        }

        let found = self.ask(point, open, None);
        let mut badness = vec![0.0; self.requirements.len()];
        for (&index, (judgement, bad)) in open.clone().iter().zip(&found) {
            badness[index] = *bad;
            if matches!(judgement, Judgement::Missed(_)) {
                self.take(index, judgement, point);
                open.retain(|&other| other != index);
            }
        }
        badness
    }

    /// Tries the middle, the ends of every unknown number, and the corner that looks worst.
    fn probe_all(&mut self, open: &mut Vec<usize>) {
        let middle = self.whole.middle();
        let here = self.probe(&middle, open);
        let dimensions = self.dimensions.clone();
        if dimensions.len() > MOST_PROBED {
            return;
        }

        let mut worst = vec![middle.clone(); self.requirements.len()];
        for (position, dimension) in dimensions.iter().enumerate() {
            let range = dimension.range(&self.whole).as_written();
            let ends = [range.lo, range.hi].map(|end| {
                let mut point = middle.clone();
                dimension.set(&mut point, Interval::point(end));
                self.probe(&point, open)
            });
            for &index in open.iter() {
                let [low, high] = [ends[0][index], ends[1][index]];
                let effect = (high - low).abs().max((high - here[index]).abs());
                self.weights[index][position] = if effect.is_finite() { effect } else { 1.0 };
                let end = if high >= low { range.hi } else { range.lo };
                dimension.set(&mut worst[index], Interval::point(end));
            }
        }
        self.even_out_weights();
        for index in open.clone() {
            self.probe(&worst[index].clone(), open);
        }
        if dimensions.len() <= MOST_CORNERS_OF {
            for corner in 0..1_usize << dimensions.len() {
                let mut point = middle.clone();
                for (position, dimension) in dimensions.iter().enumerate() {
                    let range = dimension.range(&self.whole).as_written();
                    let end = if corner >> position & 1 == 1 {
                        range.hi
                    } else {
                        range.lo
                    };
                    dimension.set(&mut point, Interval::point(end));
                }
                self.probe(&point, open);
            }
        }
    }

    /// What has no effect at the middle may have one elsewhere: nothing counts for nothing.
    fn even_out_weights(&mut self) {
        for weights in &mut self.weights {
            let most = weights.iter().copied().fold(0.0, f64::max);
            for weight in weights {
                *weight = if most > 0.0 {
                    weight.max(1e-3 * most) / most
                } else {
                    1.0
                };
            }
        }
    }
}

fn shorter(given: Option<f64>, wanted: Option<f64>) -> Option<f64> {
    match (given, wanted) {
        (Some(given), Some(wanted)) => Some(given.min(wanted)),
        (given, wanted) => given.or(wanted),
    }
}

/// The later one of two times that may not be known.
trait LaterTime {
    fn max_time(self, other: Self) -> Self;
}

impl LaterTime for Option<f64> {
    fn max_time(self, other: Self) -> Self {
        match (self, other) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        }
    }
}
