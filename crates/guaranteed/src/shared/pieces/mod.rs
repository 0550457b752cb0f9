//! Boxes cut into pieces: what a nonlinear model makes of a smaller box is bounded far better.
//!
//! Pieces are halves of boxes, cut where a number matters most to the set. Each is enclosed by itself, and reported are
//! the hulls of all on one grid of times. Which pieces there are follows from the problem alone, never from the time
//! that anything takes, and so do the bounds, for any number of threads.

mod crew;
mod grid;
mod looseness;

use std::num::NonZeroUsize;

use super::buffered::BufferedRows;
use super::stepper::Spread;
use super::{Enclosed, in_one_piece};
use crate::api::{EnclosureObserver, EnclosureOutcome, Options, Pieces, StopReason};
use crate::distribution::Distribution;
use crate::problem::Problem;
use crate::requirements::{Dimension, Place};

use crew::Crew;
use grid::GridRows;
use looseness::Looseness;

/// What pieces may cost where nobody has said how many there are to be: about so many operations in all, a minute of
/// one core at most. Where bounds reach the end and are loose, that is less of a trouble.
const MOST_WORK: f64 = 3e10;
const MOST_WORK_IF_LOOSE: f64 = 1e10;
const MOST_PIECES: usize = 512;

/// A piece of half the size may take so many times the work, if it gets further.
const DEARER: f64 = 2.0;

/// So many numbers of a form are multiplied and added in a step, for each operation of the equations: about half of the
/// square of the order, and what comes with it.
const PRODUCTS_OF_A_STEP: f64 = 150.0;

/// How boxes are cut.
pub(super) struct Cutting {
    dimensions: Vec<Dimension>,
    wanted: Option<NonZeroUsize>,
}

/// A piece, and what came of it.
struct Piece {
    place: Place,
    cuts: usize,
    rows: GridRows,
    found: Enclosed,
}

impl Piece {
    fn is_complete(&self) -> bool {
        self.found.outcome.stopped.is_none()
    }

    fn steps(&self) -> f64 {
        let outcome = &self.found.outcome;
        (outcome.steps + outcome.rejected) as f64
    }
}

impl Cutting {
    /// Nothing where there is nothing to cut, or where that would change nothing: matrices move boxes without loss.
    pub fn of(problem: &Problem, pieces: Pieces) -> Option<Self> {
        let wanted = match pieces {
            Pieces::Automatic => None,
            Pieces::Number(count) if count == NonZeroUsize::MIN => return None,
            Pieces::Number(count) => Some(count),
        };
        let all = Dimension::all(problem).into_iter();
        let dimensions: Vec<Dimension> = all.filter(Dimension::can_be_cut).collect();
        let linear = problem.affine && !problem.has_uncertain_parameters();

        (!dimensions.is_empty() && !linear).then_some(Self { dimensions, wanted })
    }

    /// Encloses `problem` in one piece first, and in as many as it takes then.
    pub fn enclose(
        &self,
        problem: &Problem,
        options: &Options,
        distribution: &Distribution,
        watcher: &mut dyn EnclosureObserver,
    ) -> EnclosureOutcome {
        let mut buffered = BufferedRows::new(watcher);
        let whole = in_one_piece(problem, options, distribution, &mut buffered);
        let uncut = Piece {
            place: Place::of(problem),
            cuts: 0,
            rows: GridRows::default(),
            found: whole,
        };
        let stopped = &uncut.found.outcome.stopped;
        let interrupted = stopped.is_some() && !is_blown_up(stopped);
        if interrupted || !self.is_due(std::slice::from_ref(&uncut)) {
            buffered.report();
            return uncut.found.outcome;
        }

        let crew = Crew {
            problem,
            options,
            distribution,
            wants_tubes: buffered.wants_tubes() || buffered.wants_parts(),
            cost: cost_of_a_step(problem),
        };
        let uncut_outcome = uncut.found.outcome.clone();
        let (leaves, tried) = self.cut(uncut, &crew, buffered.watcher());
        let reached = grid::reached(leaves.iter().map(|piece| &piece.rows));
        let better = reached >= uncut_outcome.reached && leaves.len() > 1;
        if !better {
            buffered.report();
            let mut outcome = uncut_outcome;
            if tried > 0 {
                outcome.remarks.push(format!(
                    "{tried} pieces of the boxes at the start got no further"
                ));
            }
            return outcome;
        }

        let rows = leaves.iter().map(|piece| &piece.rows);
        let last = grid::report(rows, buffered.watcher());
        joined(problem, &leaves, reached, last)
    }

    /// Whether any of these leaves is to be cut.
    fn is_due(&self, leaves: &[Piece]) -> bool {
        match self.wanted {
            Some(wanted) => leaves.len() < wanted.get(),
            None => {
                leaves.iter().any(|leaf| !leaf.is_complete()) || Looseness::of(leaves).is_loose()
            }
        }
    }

    /// Cuts until all is well, or nothing is gained any more; the leaves in the order of the boxes, and how many pieces were
    /// tried.
    fn cut(
        &self,
        uncut: Piece,
        crew: &Crew<'_>,
        watcher: &mut dyn EnclosureObserver,
    ) -> (Vec<Piece>, usize) {
        let mut leaves = vec![uncut];
        let mut work = 0.0;
        let mut tried = 0;
        let mut last = Looseness::of(&leaves);

        loop {
            let chosen = self.chosen(&leaves, work, crew);
            if chosen.is_empty() {
                return (leaves, tried);
            }
            let halves: Vec<(Place, usize)> = chosen
                .iter()
                .flat_map(|&(index, position)| {
                    let leaf = &leaves[index];
                    let halves = self.dimensions[position].halves(&leaf.place);
                    halves.map(|half| (half, leaf.cuts + 1))
                })
                .collect();
            tried += halves.len();
            let Some(found) = crew.enclose(halves, watcher) else {
                return (leaves, tried); // interrupted
            };

            work += found
                .iter()
                .map(|piece| piece.steps() * crew.cost)
                .sum::<f64>();
            let mut found = found.into_iter();
            let mut next = Vec::with_capacity(leaves.len() + chosen.len());
            for (index, leaf) in leaves.into_iter().enumerate() {
                if chosen.iter().any(|&(cut, _)| cut == index) {
                    next.extend(found.by_ref().take(2));
                } else {
                    next.push(leaf);
                }
            }
            leaves = next;
            let now = Looseness::of(&leaves);
            let gained = now.is_gain_over(&last, crew.problem.duration());
            if self.wanted.is_none() && !gained {
                return (leaves, tried);
            }
            last = now;
        }
    }

    /// The leaves to cut next, each with the dimension across which.
    fn chosen(&self, leaves: &[Piece], work: f64, crew: &Crew<'_>) -> Vec<(usize, usize)> {
        let divisible = |index: usize| Some((index, self.widest_effect(&leaves[index])?));
        let Some(wanted) = self.wanted else {
            let looseness = Looseness::of(leaves);
            let early = leaves.iter().any(|leaf| !leaf.is_complete());
            let bad = (0..leaves.len()).filter(|&index| match early {
                true => !leaves[index].is_complete(),
                false => looseness.is_to_blame(&leaves[index]),
            });
            let chosen: Vec<(usize, usize)> = bad.filter_map(divisible).collect();
            let steps: f64 = chosen.iter().map(|&(index, _)| leaves[index].steps()).sum();
            let next = 2.0 * DEARER * steps * crew.cost;
            let most = if early { MOST_WORK } else { MOST_WORK_IF_LOOSE };
            let spent = work + next > most || leaves.len() + chosen.len() > MOST_PIECES;
            return if spent { Vec::new() } else { chosen };
        };

        // The ones that got least far first, then those that were cut least.
        let mut order: Vec<usize> = (0..leaves.len()).collect();
        let reached = |index: usize| leaves[index].found.outcome.reached;
        order.sort_by(|&a, &b| {
            let far = reached(a).total_cmp(&reached(b));
            far.then(leaves[a].cuts.cmp(&leaves[b].cuts))
                .then(a.cmp(&b))
        });
        let least = order.first().map_or(0, |&first| leaves[first].cuts);
        let complete = leaves.iter().all(Piece::is_complete);
        let alike = order.into_iter().filter(|&index| {
            let early = !leaves[index].is_complete();
            early || (complete && leaves[index].cuts == least)
        });
        let mut chosen: Vec<(usize, usize)> = alike.filter_map(divisible).collect();
        chosen.truncate(wanted.get().saturating_sub(leaves.len()));
        chosen.sort_unstable();
        chosen
    }

    /// The dimension that matters most to the set of a piece, among those that can be cut.
    fn widest_effect(&self, piece: &Piece) -> Option<usize> {
        let spread: Option<&Spread> = piece.found.useful.as_ref().or(piece.found.last.as_ref());
        let effect = |position: usize| match spread {
            Some(spread) if spread.effects.len() == self.dimensions.len() => {
                spread.effects[position]
            }
            _ => relative_width(&self.dimensions[position], &piece.place),
        };
        let positions = 0..self.dimensions.len();
        let candidates = positions.filter(|&k| self.dimensions[k].is_divisible(&piece.place));
        candidates.max_by(|&a, &b| effect(a).total_cmp(&effect(b)).then(b.cmp(&a)))
    }
}

/// How wide a number's box is, against the number.
fn relative_width(dimension: &Dimension, place: &Place) -> f64 {
    let range = dimension.range(place);
    range.width() / range.magnitude()
}

fn is_blown_up(stopped: &Option<StopReason>) -> bool {
    matches!(stopped, Some(StopReason::BlownUp { .. }))
}

/// About how many operations a step takes.
fn cost_of_a_step(problem: &Problem) -> f64 {
    let states = problem.dimension() as f64;
    let numbers = Dimension::all(problem).len() as f64;
    let form = 1.0 + numbers + 0.5 * numbers * numbers + 10.0 * states;
    let operations: f64 = problem.costs().iter().sum();
    PRODUCTS_OF_A_STEP * operations * form
}

/// What all pieces together say.
fn joined(
    problem: &Problem,
    leaves: &[Piece],
    reached: f64,
    mut last: Vec<crate::interval::Interval>,
) -> EnclosureOutcome {
    let outcomes = || leaves.iter().map(|piece| &piece.found.outcome);
    let first_stopped = outcomes().filter(|outcome| outcome.stopped.is_some());
    let stopped = first_stopped.min_by(|a, b| a.reached.total_cmp(&b.reached));
    let useful = outcomes().filter_map(|outcome| outcome.useful_until);
    let observed = last.split_off(problem.names().len());

    EnclosureOutcome {
        reached,
        steps: outcomes().map(|outcome| outcome.steps).sum(),
        rejected: outcomes().map(|outcome| outcome.rejected).sum(),
        states: last,
        observed,
        stopped: stopped.and_then(|outcome| outcome.stopped.clone()),
        useful_until: useful.reduce(f64::min).map(|until| until.min(reached)),
        pieces: leaves.len(),
        remarks: vec![format!(
            "the boxes at the start were cut into {} pieces, and bounds are the hulls of all",
            leaves.len()
        )],
    }
}
