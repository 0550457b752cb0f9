//! What a system sets anew at events.

use nalgebra::DMatrix;

use crate::model::{Model, Trigger};

/// The clauses of a model.
pub(super) struct Clauses {
    all: Vec<Clause>,
    /// Scratch: whether conditions hold, and what would be set.
    pub truths: Vec<f64>,
    pub values: Vec<f64>,
    pub columns: DMatrix<f64>,
    /// States that are set in the round under way, with the number of the assignment.
    pub fired: Vec<(usize, usize)>,
}

struct Clause {
    /// The number of its condition; none of a clause that the clock runs.
    condition: Option<usize>,
    text: String,
    /// The number of its first assignment, and the states that it sets.
    first: usize,
    states: Vec<usize>,
    /// The states that it sets where it runs without end; their assignments come next.
    at_rest: Vec<usize>,
}

impl Clauses {
    pub fn of(model: &Model) -> Self {
        let mut conditions = 0..;
        let mut all = Vec::new();
        let mut assignments = 0;

        for when in &model.whens {
            let condition = match when.trigger {
                Trigger::Condition(_) => conditions.next(),
                Trigger::Sample => None,
            };
            all.push(Clause {
                condition,
                text: when.text.clone(),
                first: assignments,
                states: when.assignments.iter().map(|(state, _)| *state).collect(),
                at_rest: when.at_rest.iter().map(|(state, _)| *state).collect(),
            });
            assignments += when.all_assignments().count();
        }

        let conditions = conditions.start;
        let inputs = model.input_leaves();
        Self {
            all,
            truths: vec![0.0; conditions],
            values: vec![0.0; assignments],
            columns: DMatrix::zeros(assignments, model.states.len() + inputs),
            fired: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Notes which states are set: by clauses whose conditions have become true, or by the clock.
    pub fn fire(&mut self, before: &[f64], ticks: bool) {
        self.fired.clear();
        for clause in &self.all {
            let runs = match clause.condition {
                Some(condition) => self.truths[condition] == 1.0 && before[condition] == 0.0,
                None => ticks,
            };
            if runs {
                let states = clause.states.iter().enumerate();
                let fired = states.map(|(i, &state)| (state, clause.first + i));
                self.fired.extend(fired);
            }
        }
    }

    /// Those that run do so without end: notes which states are set instead. False where one of
    /// them does not say what it comes to.
    pub fn come_to_rest(&mut self, before: &[f64]) -> bool {
        self.fired.clear();
        for clause in &self.all {
            let Some(condition) = clause.condition else {
                continue;
            };
            if self.truths[condition] != 1.0 || before[condition] != 0.0 {
                continue;
            }
            if clause.at_rest.is_empty() {
                return false;
            }
            let first = clause.first + clause.states.len();
            let states = clause.at_rest.iter().enumerate();
            let fired = states.map(|(i, &state)| (state, first + i));
            self.fired.extend(fired);
        }
        true
    }

    /// The conditions of those that set these assignments.
    pub fn texts_of_fired(&self) -> Vec<String> {
        let fires = |clause: &&Clause| {
            let numbers = clause.first..clause.first + clause.states.len();
            self.fired
                .iter()
                .any(|(_, number)| numbers.contains(number))
        };
        let texts = self
            .all
            .iter()
            .filter(fires)
            .map(|clause| clause.text.clone());
        texts.collect()
    }
}
