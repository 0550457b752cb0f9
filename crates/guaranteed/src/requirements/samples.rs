//! Boxes and points of boxes: what is cut, and where trajectories begin.

use crate::interval::Interval;
use crate::problem::Problem;

/// The boxes of all states and parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub states: Vec<Interval>,
    pub parameters: Vec<Interval>,
}

impl Place {
    pub fn of(problem: &Problem) -> Self {
        Self {
            states: problem.start.clone(),
            parameters: problem.parameters.clone(),
        }
    }

    /// Its middle.
    pub fn middle(&self) -> Self {
        let middle = |range: &Interval| Interval::point(range.middle());
        Self {
            states: self.states.iter().map(middle).collect(),
            parameters: self.parameters.iter().map(middle).collect(),
        }
    }
}

/// A number that is not known: a state at the start, or a parameter with all that are the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dimension {
    State(usize),
    Parameters {
        indices: Vec<usize>,
        /// Whether it may change at any instant: a part of its range says nothing about the others.
        disturbed: bool,
    },
}

impl Dimension {
    /// All numbers of a problem that are not known.
    pub fn all(problem: &Problem) -> Vec<Self> {
        let states = (0..problem.start.len()).filter(|&state| !problem.start[state].is_point());
        let first = |index: &usize| {
            problem.same_as[*index] == *index && !problem.parameters[*index].is_point()
        };
        let parameters = (0..problem.parameters.len()).filter(first);
        let parameters = parameters.map(|index| Self::Parameters {
            indices: (0..problem.parameters.len())
                .filter(|&other| problem.same_as[other] == index)
                .collect(),
            disturbed: problem.disturbed[index],
        });
        states.map(Self::State).chain(parameters).collect()
    }

    /// Whether boxes may be cut across it.
    pub fn can_be_cut(&self) -> bool {
        !matches!(
            self,
            Self::Parameters {
                disturbed: true,
                ..
            }
        )
    }

    pub fn range(&self, place: &Place) -> Interval {
        match self {
            Self::State(state) => place.states[*state],
            Self::Parameters { indices, .. } => place.parameters[indices[0]],
        }
    }

    pub fn set(&self, place: &mut Place, range: Interval) {
        match self {
            Self::State(state) => place.states[*state] = range,
            Self::Parameters { indices, .. } => {
                for &index in indices {
                    place.parameters[index] = range;
                }
            }
        }
    }

    /// The number of a place that can be cut where its range has a middle.
    pub fn is_divisible(&self, place: &Place) -> bool {
        let range = self.range(place);
        let middle = range.middle();
        self.can_be_cut() && range.lo < middle && middle < range.hi
    }

    /// A place cut in two across it.
    pub fn halves(&self, place: &Place) -> [Place; 2] {
        let range = self.range(place);
        let middle = range.middle();
        [(range.lo, middle), (middle, range.hi)].map(|(lo, hi)| {
            let mut half = place.clone();
            self.set(&mut half, Interval::new(lo, hi));
            half
        })
    }
}
