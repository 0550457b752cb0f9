//! What a system went through within a step.

use crate::signal::Knot;

/// Knots within a step, in the order of time, where its two ends do not say enough: steps of a
/// system that moves many times faster than it is coupled.
///
/// Only who looks between communication times reads it; a system need not give any.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Path {
    times: Vec<f64>,
    outputs: Vec<Knot>,
    states: Vec<Knot>,
}

impl Path {
    /// How many knots there are at most.
    pub const MOST: usize = 128;

    /// Nothing is known but the end.
    pub fn clear(&mut self) {
        self.times.clear();
        self.outputs.clear();
        self.states.clear();
    }

    /// How many knots there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Whether there is room for one more.
    pub fn has_room(&self) -> bool {
        self.len() < Self::MOST
    }

    /// Begins a knot after all others; all its outputs and states are to follow.
    pub fn push(&mut self, time: f64) {
        self.times.push(time);
    }

    /// Adds the next output of the last knot.
    pub fn push_output(&mut self, output: Knot) {
        self.outputs.push(output);
    }

    /// Adds the next state of the last knot.
    pub fn push_state(&mut self, state: Knot) {
        self.states.push(state);
    }

    /// When the knots are.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The outputs at a knot.
    pub fn outputs(&self, knot: usize) -> &[Knot] {
        part(&self.outputs, knot, self.len())
    }

    /// The states at a knot.
    pub fn states(&self, knot: usize) -> &[Knot] {
        part(&self.states, knot, self.len())
    }

    /// Becomes another one; memory is used again.
    pub fn copy_from(&mut self, other: &Self) {
        self.times.clone_from(&other.times);
        self.outputs.clone_from(&other.outputs);
        self.states.clone_from(&other.states);
    }
}

/// One of so many equal parts.
fn part(all: &[Knot], index: usize, parts: usize) -> &[Knot] {
    let width = all.len() / parts.max(1);
    &all[index * width..][..width]
}
