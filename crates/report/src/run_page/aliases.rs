//! Which recorded variables are one and the same signal, so that it is drawn once.

use std::collections::HashMap;

use dovetail_core::Source;

use super::RunPage;
use crate::variables::{Kind, Variable};

/// Curves that are nearer than this part of their range cannot be told apart on any screen.
const INVISIBLE: f64 = 1e-5;

/// For each recorded variable the one in whose place it is not drawn, if there is one.
pub(super) fn originals(page: &RunPage<'_>, columns: &[&[f64]]) -> Vec<Option<usize>> {
    let variables = page.selection.variables();
    let outputs = RecordedOutputs::of(page);
    let original = |(index, variable): (usize, &Variable)| match variable.kind {
        Kind::Input => {
            let source = outputs.source_of(page, variable)?;
            look_the_same(columns[index], columns[source]).then_some(source)
        }
        Kind::State => outputs.moving_as(columns[index], variable.system, columns),
        Kind::Output | Kind::Signal => None,
    };
    variables.iter().enumerate().map(original).collect()
}

/// Where outputs are among the recorded variables.
struct RecordedOutputs {
    by_position: HashMap<usize, usize>,
    by_system: HashMap<usize, Vec<usize>>,
}

impl RecordedOutputs {
    fn of(page: &RunPage<'_>) -> Self {
        let mut by_position = HashMap::new();
        let mut by_system: HashMap<usize, Vec<usize>> = HashMap::new();
        let variables = page.selection.variables().iter().enumerate();
        for (index, output) in variables.filter(|(_, variable)| variable.kind == Kind::Output) {
            by_position.insert(output.stacked(page.connections), index);
            by_system.entry(output.system).or_default().push(index);
        }
        Self {
            by_position,
            by_system,
        }
    }

    /// The output that feeds an input.
    fn source_of(&self, page: &RunPage<'_>, input: &Variable) -> Option<usize> {
        let stacked = input.stacked(page.connections);
        match page.connections.sources()[stacked] {
            Source::Output(output) => self.by_position.get(&output).copied(),
            Source::Constant(_) => None,
        }
    }

    /// The output of a system that has moved exactly as a state of it has.
    fn moving_as(&self, state: &[f64], system: usize, columns: &[&[f64]]) -> Option<usize> {
        let moves = state.iter().any(|value| *value != state[0]);
        let outputs = self.by_system.get(&system)?.iter().copied();
        outputs
            .filter(|_| moves)
            .find(|&output| look_the_same(state, columns[output]))
    }
}

fn look_the_same(values: &[f64], others: &[f64]) -> bool {
    let invisible = INVISIBLE * range(others);
    let mut pairs = values.iter().zip(others);
    pairs.all(|(value, other)| {
        let same = value == other || value.is_nan() && other.is_nan();
        same || (value - other).abs() <= invisible
    })
}

/// How far a column moves.
pub(super) fn range(values: &[f64]) -> f64 {
    let finite = values.iter().filter(|value| value.is_finite());
    let widest = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = finite.fold(widest, |(low, high), &value| {
        (low.min(value), high.max(value))
    });
    (high - low).max(0.0)
}
