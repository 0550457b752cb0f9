//! What is asked about all trajectories of a model: bounds of outputs and of expressions, and conditions that are to
//! hold always or to be reached in time.

use std::sync::Arc;

use dovetail_core::{glob, nearest};
use dovetail_equations::{Model, Source, is_name};
use dovetail_guaranteed::{Additions, Counterexample, Expression, Goal, Requirement, Variable};

use crate::diagnostic::{BadModel, Problem};
use crate::events::conditions::rename;
use crate::scenario::Scenario;

/// The word before the time up to which a condition is to hold, and before that by which it is to be reached.
const UNTIL: &str = "until";
const BY: &str = "by";

/// Questions about a model, checked.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// What is required.
    pub requirements: Vec<Requirement>,
    expressions: Vec<Expression>,
    conditions: Vec<Expression>,
}

impl Questions {
    /// What a problem needs to answer them.
    pub(crate) fn additions(&self, start: f64) -> Additions {
        let deadlines = self
            .requirements
            .iter()
            .map(|requirement| requirement.goal.deadline());
        Additions {
            expressions: self.expressions.clone(),
            conditions: self.conditions.clone(),
            marks: deadlines.filter(|&deadline| deadline > start).collect(),
            ..Additions::default()
        }
    }
}

/// A variable by its name and what it is.
struct Named {
    name: String,
    variable: Variable,
}

impl Scenario {
    /// The questions: variables that fit a pattern, or expressions, whose bounds are `recorded`; conditions that are to
    /// hold `always`, perhaps `until 30`; conditions that are to be `reached`, perhaps `by 10`.
    pub fn questions(
        &self,
        recorded: &[String],
        always: &[String],
        reached: &[String],
    ) -> Result<Questions, BadModel> {
        let mut questions = Questions::default();
        let names = self.named_variables();
        for text in recorded {
            let found = self
                .recorded(text, &names)
                .map_err(|problem| self.bad(problem))?;
            for expression in found {
                let known = questions.expressions.iter();
                if !known
                    .map(|known| &known.name)
                    .any(|name| *name == expression.name)
                {
                    questions.expressions.push(expression);
                }
            }
        }

        for (texts, word) in [(always, UNTIL), (reached, BY)] {
            for text in texts {
                let (condition, time) = self.deadline(text, word).map_err(|p| self.bad(p))?;
                let choice = format!("if ({condition}) then 1 else 0");
                let expression = self.expression(text, &choice, &names);
                questions
                    .conditions
                    .push(expression.map_err(|problem| self.bad(problem))?);
                let goal = match word {
                    UNTIL => Goal::Always { until: time },
                    _ => Goal::Reach { by: time },
                };
                let text = text.clone();
                questions.requirements.push(Requirement { text, goal });
            }
        }
        Ok(questions)
    }

    /// The values that start a run on the trajectory of a counterexample, `system.name` and value.
    pub fn start_values(&self, example: &Counterexample) -> Vec<(String, f64)> {
        let Ok(equations) = self.equations() else {
            return Vec::new();
        };
        let mut states = example.states.iter();
        let mut parameters = example.parameters.iter();
        let mut values: Vec<(String, f64)> = Vec::new();
        for known in equations {
            let system = &known.definition.name;
            let model = &known.definition.model;
            let boxes = known.boxes;
            let states = model
                .states
                .iter()
                .zip(boxes.states.iter().zip(&mut states));
            for (name, (range, value)) in states {
                if !range.is_point() {
                    values.push((format!("{system}.{name}"), *value));
                }
            }
            let parameters = model
                .parameters
                .iter()
                .zip(boxes.parameters.iter().zip(&mut parameters));
            for (name, (range, value)) in parameters {
                if !range.is_point() {
                    let name = match self.is_shared(system, name) {
                        true => format!("constants.{name}"),
                        false => format!("{system}.{name}"),
                    };
                    values.push((name, *value));
                }
            }
        }
        let inputs = self
            .disturbances
            .iter()
            .map(|(input, _)| self.input_name(*input));
        values.extend(inputs.zip(parameters.copied()));
        values.dedup_by(|one, other| one.0 == other.0);
        let mut seen = std::collections::HashSet::new();
        values.retain(|(name, _)| seen.insert(name.clone()));
        values
    }

    /// Whether a parameter of a system is a constant of the model.
    pub(crate) fn is_shared(&self, system: &str, name: &str) -> bool {
        let mut shared = self.shared.iter();
        shared.any(|member| member.constant == name && member.system == system)
    }

    /// The name of an input (stacked).
    pub(crate) fn input_name(&self, input: usize) -> String {
        let systems = 0..self.connections.systems();
        let mut owners = systems.filter(|&k| self.connections.inputs_of(k).contains(&input));
        let system = owners.next().expect("BUG: every input has a system");
        let interface = &self.connections.interfaces()[system];
        let position = input - self.connections.inputs_of(system).start;
        interface.qualified(&interface.inputs[position].name)
    }

    /// All variables; what is a state and an output under one name counts as the state.
    fn named_variables(&self) -> Vec<Named> {
        let mut all: Vec<Named> = Vec::new();
        let mut states = 0;
        for (system, interface) in self.connections.interfaces().iter().enumerate() {
            let mut add = |name: &str, variable| {
                let name = interface.qualified(name);
                if !all.iter().rev().any(|known| known.name == name) {
                    all.push(Named { name, variable });
                }
            };
            for state in &interface.states {
                add(state, Variable::State(states));
                states += 1;
            }
            let outputs = self.connections.outputs_of(system);
            for (output, position) in interface.outputs.iter().zip(outputs) {
                add(&output.name, Variable::Output(position));
            }
            let inputs = self.connections.inputs_of(system);
            for (input, position) in interface.inputs.iter().zip(inputs) {
                add(&input.name, Variable::Input(position));
            }
        }
        all
    }

    /// The variables that fit a pattern, states aside, whose bounds are reported anyway; or an expression.
    fn recorded(&self, text: &str, names: &[Named]) -> Result<Vec<Expression>, Problem> {
        let bare = |named: &Named| {
            named
                .name
                .split_once('.')
                .is_some_and(|(_, name)| name == text)
        };
        let mut fitting: Vec<&Named> = names
            .iter()
            .filter(|named| glob::matches(text, &named.name))
            .collect();
        if fitting.is_empty() {
            fitting = names.iter().filter(|named| bare(named)).collect();
        }
        if !fitting.is_empty() {
            let others = fitting
                .into_iter()
                .filter(|n| !matches!(n.variable, Variable::State(_)));
            return others
                .map(|named| self.expression(&named.name, &named.name, names))
                .collect();
        }

        let pattern = text
            .chars()
            .all(|c| c.is_alphanumeric() || "._*?".contains(c));
        if pattern {
            let near = nearest(text, names.iter().map(|named| named.name.as_str()));
            let near = near
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            return Err(Problem::general(format!(
                "no variable matches `{text}`{near}"
            )));
        }
        Ok(vec![self.expression(text, text, names)?])
    }

    /// An expression of variables such as `tank.level`, and of time.
    fn expression(&self, name: &str, text: &str, names: &[Named]) -> Result<Expression, Problem> {
        let renamed = rename(text, self.connections.interfaces(), &[]);
        let wrong = |message: String| Problem::general(format!("`{name}`: {message}"));
        let mut variables = Vec::new();
        for (_, qualified) in &renamed.variables {
            let found = names.iter().find(|named| named.name == *qualified);
            let found = found.expect("BUG: a variable that was found has a name");
            variables.push(found.variable);
        }
        if let Some(unknown) = unknown_variable(&renamed.text) {
            let near = nearest(unknown, names.iter().map(|named| named.name.as_str()));
            let near = near
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            return Err(wrong(format!("there is no variable `{unknown}`{near}")));
        }

        let parsed = Model::parse(&Source {
            inputs: renamed
                .variables
                .iter()
                .map(|(name, _)| name.as_str())
                .collect(),
            outputs: vec![("value", &renamed.text)],
            ..Source::default()
        });
        let model = match parsed {
            Ok(model) => model,
            Err(errors) => return Err(wrong(errors[0].message.clone())),
        };
        Ok(Expression {
            name: name.to_owned(),
            model: Arc::new(model),
            variables,
        })
    }

    /// The condition before `word` and a time, and that time; the end of the run where it is missing.
    fn deadline<'t>(&self, text: &'t str, word: &str) -> Result<(&'t str, f64), Problem> {
        let wrong = |message: String| Problem::general(format!("`{text}`: {message}"));
        let other = if word == UNTIL { BY } else { UNTIL };
        if split_word(text, other).is_some() {
            let message = format!("`{other}` does not fit here: write `{word}` and a time");
            return Err(wrong(message));
        }
        let Some((condition, time)) = split_word(text, word) else {
            return Ok((text, self.stop_time));
        };
        let time: f64 = time.trim().parse().map_err(|_| {
            wrong(format!(
                "`{}` after `{word}` is not a time in seconds",
                time.trim()
            ))
        })?;
        if !(time > self.start_time && time <= self.stop_time) {
            return Err(wrong(format!(
                "the run is from {} s to {} s, and {time} s is not within it",
                self.start_time, self.stop_time
            )));
        }
        Ok((condition, time))
    }
}

/// What stands before and after the last such word.
fn split_word<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let spaced = format!(" {word} ");
    let place = text.rfind(&spaced)?;
    Some((&text[..place], &text[place + spaced.len()..]))
}

/// A name with a dot in it that has been left as it was.
fn unknown_variable(text: &str) -> Option<&str> {
    let ends = |c: char| !(c == '_' || c == '.' || c.is_alphanumeric());
    let mut words = text.split(ends);
    words.find(|word| {
        let parts = word.split_once('.');
        parts.is_some_and(|(system, name)| is_name(system) && !name.is_empty())
    })
}
