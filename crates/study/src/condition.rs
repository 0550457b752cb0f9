//! The time at which something becomes true in a run: `when(car.v > 10)`.

use std::sync::Arc;

use dovetail_equations::{Evaluator, Model, Program, Source};

/// A comparison of two expressions of variables and `time`, as how far its left side is above its right one.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The positions of its variables among those that are needed.
    pub variables: Vec<usize>,
    /// Positive or, where `rises` is false, negative where the comparison is true.
    margin: Arc<Program>,
    rises: bool,
}

/// What is written between the sides, and whether the left one is to be above.
const COMPARISONS: [(&str, bool); 4] = [(">=", true), ("<=", false), (">", true), ("<", false)];

impl Condition {
    /// Reads `left > right`, in which `inputs` stand for the variables.
    pub fn parse(text: &str, inputs: &[String], variables: Vec<usize>) -> Result<Self, String> {
        let found = COMPARISONS.iter().find_map(|(sign, rises)| {
            let (left, right) = text.split_once(sign)?;
            Some((left, right, *rises))
        });
        let Some((left, right, rises)) = found else {
            return Err(format!(
                "`{}` compares nothing: write when(NAME > VALUE)",
                text.trim()
            ));
        };

        let margin = format!("({left}) - ({right})");
        let model = Model::parse(&Source {
            inputs: inputs.iter().map(String::as_str).collect(),
            outputs: vec![("margin", &margin)],
            ..Source::default()
        });
        let model = model.map_err(|errors| {
            let first = errors.first().map(|error| error.message.clone());
            first.unwrap_or_default()
        })?;
        let uses = model.output_dependencies(0);
        if !uses.slopes.is_empty() || !model.delays.is_empty() {
            return Err("`der` and `delay` have no meaning there".to_owned());
        }
        Ok(Self {
            variables,
            margin: Arc::new(model.output_program()),
            rises,
        })
    }
}

/// Looks for the first time of a condition in the rows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    condition: Condition,
    evaluator: Evaluator<f64>,
    inputs: Vec<f64>,
    /// Time and margin of the row before.
    before: Option<(f64, f64)>,
    found: Option<f64>,
}

impl Search {
    pub fn new(condition: &Condition) -> Self {
        Self {
            evaluator: Evaluator::new(Arc::clone(&condition.margin), &0.0, &[]),
            inputs: vec![0.0; condition.variables.len()],
            condition: condition.clone(),
            before: None,
            found: None,
        }
    }

    /// The first time at which it is true, on straight lines between rows; NaN where it never is.
    pub fn time(&self) -> f64 {
        self.found.unwrap_or(f64::NAN)
    }

    /// One more row.
    pub fn row(&mut self, time: f64, values: &[f64]) {
        if self.found.is_some() {
            return;
        }
        for (input, &variable) in self.inputs.iter_mut().zip(&self.condition.variables) {
            *input = values[variable];
        }
        self.evaluator.set_time(&time);
        self.evaluator.set_inputs(&self.inputs);
        let mut margin = [0.0];
        self.evaluator.run(&mut margin);
        let margin = if self.condition.rises {
            margin[0]
        } else {
            -margin[0]
        };

        if margin > 0.0 {
            let crossing = self.before.map(|(before, below)| {
                let share = -below / (margin - below);
                before + share.clamp(0.0, 1.0) * (time - before)
            });
            self.found = Some(crossing.unwrap_or(time));
        }
        self.before = Some((time, margin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_of(text: &str, rows: &[(f64, f64)]) -> f64 {
        let condition = Condition::parse(text, &["x".to_owned()], vec![0]).unwrap();
        let mut search = Search::new(&condition);
        rows.iter()
            .for_each(|(time, value)| search.row(*time, &[*value]));
        search.time()
    }

    #[test]
    fn the_first_crossing_is_found_between_rows() {
        let rows = [(0.0, 0.0), (1.0, 2.0), (2.0, -2.0), (3.0, 4.0)];
        assert_eq!(time_of("x > 1", &rows), 0.5);
        assert_eq!(time_of("2*x <= -2", &rows), 1.75);
        assert_eq!(time_of("x > 4.5 - time", &rows), 2.0 + 4.5 / 7.0);
        assert_eq!(time_of("x >= -1", &rows), 0.0);
        assert!(time_of("x > 5", &rows).is_nan());
        // A jump has two rows at one time.
        assert_eq!(time_of("x > 1", &[(0.0, 0.0), (1.0, 0.0), (1.0, 3.0)]), 1.0);
    }

    #[test]
    fn what_compares_nothing_is_refused() {
        let refused = |text: &str| Condition::parse(text, &["x".to_owned()], vec![0]).unwrap_err();
        assert!(refused("x").contains("compares nothing"));
        assert!(refused("der(x) > 1").contains("`der`"));
        assert!(!refused("x > y").is_empty());
    }
}
