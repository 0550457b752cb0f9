//! Whether bounds are much wider than what they bound.

use super::Piece;
use crate::interval::Interval;

/// Bounds are loose that are so many times as wide as what the polynomials of the start reach, where that matters: by
/// more than this part of a state, and of the largest one.
const LOOSE: f64 = 1.5;
const LEAST_EXCESS: f64 = 1e-3;
const LEAST_EXCESS_OF_ALL: f64 = 1e-9;

/// A piece is to blame that sticks out by this part of the whole.
const STICKS_OUT: f64 = 0.1;

/// Cutting is given up where it leaves more than this part of what bounds are too wide by, or where early ends come no
/// later than by this part of the run.
const LEAST_GAIN: f64 = 0.8;
const LEAST_ADVANCE: f64 = 0.01;

/// What all pieces reach at the end, and what their polynomials do.
pub(super) struct Looseness {
    states: Vec<(Interval, Interval)>,
    /// Pieces that did not get to the end.
    early: usize,
    reached: f64,
}

impl Looseness {
    /// Of the leaves.
    pub fn of(leaves: &[Piece]) -> Self {
        let mut states: Vec<(Interval, Interval)> = Vec::new();
        for piece in leaves {
            let outcome = &piece.found.outcome;
            // What has no polynomials is bounded by trajectories.
            let own = piece.found.last.as_ref().map(|last| &last.boxes);
            let own = own.unwrap_or(&outcome.states);
            let pairs = outcome.states.iter().copied().zip(own.iter().copied());
            if states.is_empty() {
                states = pairs.collect();
            } else {
                for (all, one) in states.iter_mut().zip(pairs) {
                    *all = (all.0.hull(one.0), all.1.hull(one.1));
                }
            }
        }
        let reached = leaves.iter().map(|piece| piece.found.outcome.reached);
        Self {
            states,
            early: leaves.iter().filter(|piece| !piece.is_complete()).count(),
            reached: reached.fold(f64::INFINITY, f64::min),
        }
    }

    fn is_loose_in(&self, bounds: Interval, own: Interval) -> bool {
        let excess = bounds.width() - own.width();
        bounds.width() > LOOSE * own.width()
            && excess > LEAST_EXCESS * bounds.magnitude()
            && excess > LEAST_EXCESS_OF_ALL * self.magnitude()
    }

    /// That of the largest state.
    fn magnitude(&self) -> f64 {
        let states = self.states.iter();
        states.fold(0.0, |most, (bounds, _)| most.max(bounds.magnitude()))
    }

    /// Whether any state's bounds are loose.
    pub fn is_loose(&self) -> bool {
        let mut states = self.states.iter();
        states.any(|(bounds, own)| self.is_loose_in(*bounds, *own))
    }

    /// Whether a leaf sticks out of what all polynomials reach, in a state whose bounds are loose.
    pub fn is_to_blame(&self, leaf: &Piece) -> bool {
        let states = self.states.iter().zip(&leaf.found.outcome.states);
        let mut loose = states.filter(|((bounds, own), _)| self.is_loose_in(*bounds, *own));
        loose.any(|((_, own), range)| {
            let margin = STICKS_OUT * own.width();
            range.lo < own.lo - margin || own.hi + margin < range.hi
        })
    }

    /// How much too wide the worst state is.
    fn worst(&self) -> f64 {
        let loose = self.states.iter().filter(|(b, o)| self.is_loose_in(*b, *o));
        let excess = loose.map(|(bounds, own)| bounds.width() - own.width());
        excess.fold(0.0, f64::max)
    }

    /// Whether more is bounded, or better, than before, over a run of this duration.
    pub fn is_gain_over(&self, before: &Self, duration: f64) -> bool {
        if self.early > 0 || before.early > 0 {
            // Some halves of what ended early reach the end, or all get further: not the last bit before an explosion.
            let further = self.reached - before.reached > LEAST_ADVANCE * duration;
            return self.early < 2 * before.early || further;
        }
        self.worst() < LEAST_GAIN * before.worst()
    }
}
