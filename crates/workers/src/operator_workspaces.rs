//! Room to compute operators in, shared by all systems of equal sizes that live in one place.

use std::collections::HashMap;

use dovetail_core::{OperatorShape, OperatorTask};
use dovetail_numerics::{Laplace, OperatorRows, RowSizes};

/// Workspaces, made when the first system of a size asks for its operators.
#[derive(Default)]
pub(crate) struct OperatorWorkspaces {
    by_shape: HashMap<OperatorShape, OperatorRows>,
}

impl OperatorWorkspaces {
    /// Computes the operators that a task asks for.
    pub fn compute(&mut self, task: &mut OperatorTask) {
        let shape = task.shape;
        let rows = self
            .by_shape
            .entry(shape)
            .or_insert_with(|| OperatorRows::new(sizes(shape)));
        let laplace = if shape.inverted {
            Laplace::GaverStehfest
        } else {
            Laplace::Exact
        };

        let computed = rows.compute(laplace, &task.matrices, task.size, &mut task.operators);
        task.pole = computed.err().map(|pole| pole.at);
    }
}

fn sizes(shape: OperatorShape) -> RowSizes {
    RowSizes {
        states: shape.states,
        inputs: shape.inputs,
        outputs: shape.outputs,
        degree: shape.degree,
        with_states: shape.with_states,
    }
}
