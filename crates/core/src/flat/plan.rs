//! Who feeds whom, in places of a row.

use std::ops::Range;

use crate::connections::{Connections, Source};
use crate::flat::held_layout::HeldLayout;

/// Rows are a multiple of this long, so that they can be gone through in blocks.
pub(crate) const BLOCK: usize = 4;

/// Where the numbers of all systems are, and where each input comes from.
///
/// A row holds what was read from all systems, in the order of the systems and as they are read, and behind that the constants of
/// the model, so that every input has a place to be fetched from.
#[derive(Clone, Debug, Default)]
pub struct FeedPlan {
    /// In the order of the model.
    pub systems: Vec<PlannedSystem>,
    /// The order in which systems step.
    pub order: Vec<usize>,
    /// For each input, stacked: its place in the row before the step; or that plus the width of a row, where a system takes what
    /// another has just answered.
    pub feeds: Vec<u32>,
    /// How many numbers are read.
    pub values: usize,
    /// The length of a row.
    pub width: usize,
    constants: Vec<f64>,
}

/// Where the numbers of one system are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSystem {
    /// Its inputs among all inputs.
    pub inputs: Range<usize>,
    /// What is read from it, in a row.
    pub values: Range<usize>,
    /// The place of each output in a row.
    pub outputs: Vec<usize>,
    /// The place of each state.
    pub states: Vec<usize>,
}

impl FeedPlan {
    /// For systems with these layouts. They step in this order, each under the newest outputs of those before it; without an
    /// order all step under the outputs at the start of the step.
    pub fn new(connections: &Connections, layouts: &[HeldLayout], order: Option<&[usize]>) -> Self {
        let mut plan = Self::default();
        for (system, layout) in layouts.iter().enumerate() {
            let first = plan.values;
            let place = |&place: &usize| first + place;
            plan.values += layout.values;
            plan.systems.push(PlannedSystem {
                inputs: connections.inputs_of(system),
                values: first..plan.values,
                outputs: layout.outputs.iter().map(place).collect(),
                states: layout.states.iter().map(place).collect(),
            });
        }

        plan.constants = connections.sources().iter().filter_map(constant).collect();
        plan.width = (plan.values + plan.constants.len()).next_multiple_of(BLOCK);
        plan.order = match order {
            Some(order) => order.to_vec(),
            None => (0..layouts.len()).collect(),
        };
        plan.feeds = plan.find_feeds(connections, order.is_some());
        plan
    }

    fn find_feeds(&self, connections: &Connections, newest: bool) -> Vec<u32> {
        let mut turn = vec![0; self.systems.len()];
        for (position, &system) in self.order.iter().enumerate() {
            turn[system] = position;
        }

        let mut next_constant = self.values;
        let mut feeds = vec![0; connections.inputs()];
        for (system, place) in self.systems.iter().enumerate() {
            for input in place.inputs.clone() {
                feeds[input] = match connections.sources()[input] {
                    Source::Output(output) => {
                        let owner = connections.owner(output);
                        let position = output - connections.outputs_of(owner).start;
                        let is_newer = newest && turn[owner] < turn[system];
                        self.systems[owner].outputs[position] + usize::from(is_newer) * self.width
                    }
                    Source::Constant(_) => {
                        next_constant += 1;
                        next_constant - 1
                    }
                } as u32;
            }
        }
        feeds
    }

    /// How many inputs all systems have.
    pub fn inputs(&self) -> usize {
        self.feeds.len()
    }

    /// The place in a row from which an input is fed, and whether that is in the row that the step is writing.
    #[inline]
    pub fn source(&self, input: usize) -> (usize, bool) {
        let feed = self.feeds[input] as usize;
        if feed < self.width {
            (feed, false)
        } else {
            (feed - self.width, true)
        }
    }

    /// A row in which nothing is known but the constants.
    pub(crate) fn empty_row(&self) -> Vec<f64> {
        let mut row = vec![0.0; self.width];
        row[self.values..][..self.constants.len()].copy_from_slice(&self.constants);
        row
    }
}

fn constant(source: &Source) -> Option<f64> {
    match source {
        Source::Constant(value) => Some(*value),
        Source::Output(_) => None,
    }
}
