//! The matrix of all systems coupled, `A_c = A + B Φᵀ (I − D Φᵀ)⁻¹ C`, by what it does to a vector.
//!
//! It is never formed: where feedthrough leads through many systems it has few zeros, and the
//! blocks of the systems have many.

use super::assembled::AssembledLu;
use super::coupled_blocks::{Block, BlockLayout};

/// The operator.
pub(super) struct CoupledOperator {
    /// The blocks of all systems.
    pub numbers: Vec<f64>,
    /// `I − D Φᵀ`, where some coupling variable depends at once on another one.
    loops: AssembledLu,
    passes_through: bool,
    /// Where the numbers of D are.
    feedthrough: Vec<usize>,
    /// Room for coupling variables.
    variables: Vec<f64>,
}

impl CoupledOperator {
    pub fn new(layout: &BlockLayout) -> Self {
        let places = layout.places();
        let is_feedthrough = |&k: &usize| places[k].0 == Block::Feedthrough;
        let feedthrough: Vec<usize> = (0..places.len()).filter(is_feedthrough).collect();
        let place = |&k: &usize| (places[k].1 - layout.states, places[k].2 - layout.states);
        let loops = AssembledLu::new(layout.variables, feedthrough.iter().map(place));

        Self {
            numbers: vec![0.0; layout.numbers],
            loops,
            passes_through: false,
            feedthrough,
            variables: vec![0.0; layout.variables],
        }
    }

    /// The numbers have been set; true if loops through feedthrough are other ones.
    pub fn prepare(&mut self, layout: &BlockLayout) -> bool {
        self.passes_through = layout.passes_through(&self.numbers);
        let numbers = &self.numbers;
        self.passes_through
            && self
                .loops
                .set(self.feedthrough.iter().map(|&k| -numbers[k]))
    }

    /// `(I − D Φᵀ)⁻¹`, in place; without loops, or where they are singular, nothing changes.
    pub fn close_loops(&mut self, variables: &mut [f64]) {
        if self.passes_through && self.loops.is_regular() {
            self.loops.solve(variables);
        }
    }

    /// How coupling variables follow states: `(I − D Φᵀ)⁻¹ C x`.
    pub fn follow(&mut self, layout: &BlockLayout, states: &[f64], variables: &mut [f64]) {
        layout.observe(&self.numbers, states, variables);
        self.close_loops(variables);
    }

    /// `A_c x`.
    pub fn apply(&mut self, layout: &BlockLayout, states: &[f64], slopes: &mut [f64]) {
        let mut variables = std::mem::take(&mut self.variables);
        self.follow(layout, states, &mut variables);
        layout.drive(&self.numbers, states, &variables, slopes);
        self.variables = variables;
    }
}
