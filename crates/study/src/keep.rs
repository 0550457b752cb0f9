//! What is kept of each run: measures of variables, times of events, and expressions of them.

use std::sync::Arc;

use dovetail_core::nearest;
use dovetail_equations::{Evaluator, Model, Program, Source};

use crate::StudyError;
use crate::condition::Condition;
use crate::measures::{Measure, Measures};

/// The variables of a model.
pub struct VariableNames<'a> {
    /// All of them, in the model's order.
    pub all: &'a [String],
    /// Those that a measure without a name is taken of.
    pub recorded: &'a [String],
    /// The full name of what the user calls so.
    pub qualify: &'a dyn Fn(&str) -> String,
}

/// What an expression is made of.
#[derive(Clone, Debug)]
enum Term {
    /// A measure of the variable at this position among those that are needed.
    Measure(Measure, usize),
    /// The time at which something becomes true.
    When(Condition),
}

impl Term {
    /// The positions of its variables.
    fn variables_mut(&mut self) -> &mut [usize] {
        match self {
            Self::Measure(_, variable) => std::slice::from_mut(variable),
            Self::When(condition) => &mut condition.variables,
        }
    }
}

/// A column of the table.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    terms: Vec<Term>,
    /// What is made of the terms; none: the only one is the value.
    program: Option<Arc<Program>>,
}

/// What is kept of each run.
#[derive(Clone, Debug)]
pub struct Kept {
    columns: Vec<Column>,
    /// The variables that are needed, in the model's order.
    variables: Vec<String>,
}

impl Kept {
    /// What these texts ask for: `final`, `min`, `max` or `mean` of all recorded variables, or an expression such as
    /// `max(car.x) - final(car.v)`. Without any, the final values.
    pub fn new(texts: &[String], names: &VariableNames<'_>) -> Result<Self, StudyError> {
        let usual = [Measure::Final.name().to_owned()];
        let texts = if texts.is_empty() { &usual } else { texts };
        let mut columns = Vec::new();
        for text in texts {
            match Measure::named(text.trim()) {
                Some(measure) => columns.extend(measured(measure, names)),
                None => columns.push(expression(text.trim(), names)?),
            }
        }
        check_names(&columns)?;

        Ok(Self::of(columns, names.all))
    }

    /// Positions among all variables become positions among those that are needed.
    fn of(mut columns: Vec<Column>, all: &[String]) -> Self {
        let mut needed: Vec<usize> = Vec::new();
        let each = |columns: &mut Vec<Column>, visit: &mut dyn FnMut(&mut usize)| {
            let terms = columns.iter_mut().flat_map(|column| &mut column.terms);
            terms.flat_map(Term::variables_mut).for_each(visit);
        };
        each(&mut columns, &mut |variable| needed.push(*variable));
        needed.sort_unstable();
        needed.dedup();
        each(&mut columns, &mut |variable| {
            let position = needed.binary_search(variable);
            *variable = position.expect("BUG: every variable of a term is needed");
        });
        let variables = needed.iter().map(|&index| all[index].clone()).collect();

        Self { columns, variables }
    }

    /// The names of the columns: what they are.
    pub fn names(&self) -> Vec<String> {
        let columns = self.columns.iter();
        columns.map(|column| column.name.clone()).collect()
    }

    /// The variables that are needed, in the model's order: the columns of [`measures`](Self::measures).
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Whether nothing but the last row of a run is needed.
    pub fn last_only(&self) -> bool {
        let mut terms = self.columns.iter().flat_map(|column| &column.terms);
        terms.all(|term| matches!(term, Term::Measure(Measure::Final, _)))
    }

    /// What is to be measured in a run.
    pub fn measures(&self) -> Measures {
        let terms = self.columns.iter().flat_map(|column| &column.terms);
        let conditions = terms.filter_map(|term| match term {
            Term::When(condition) => Some(condition),
            Term::Measure(..) => None,
        });
        Measures::new(self.variables.len(), self.last_only()).with_conditions(conditions)
    }

    /// The values of a run, one for each column.
    pub fn values(&self, measures: &Measures) -> Vec<f64> {
        // Conditions are searched for in the order of the terms.
        let mut times = measures.times();
        let columns = self.columns.iter();
        columns
            .map(|column| column.value(measures, &mut times))
            .collect()
    }
}

impl Column {
    fn value(&self, measures: &Measures, times: &mut dyn Iterator<Item = f64>) -> f64 {
        let value = |term: &Term| match term {
            Term::Measure(measure, variable) => measures.value(*measure, *variable),
            Term::When(_) => times.next().expect("BUG: each condition has a time"),
        };
        let values: Vec<f64> = self.terms.iter().map(value).collect();
        let Some(program) = &self.program else {
            return values[0];
        };

        let mut evaluator = Evaluator::new(Arc::clone(program), &0.0, &[]);
        evaluator.set_inputs(&values);
        let mut result = [0.0];
        evaluator.run(&mut result);
        result[0]
    }
}

/// A measure of every recorded variable.
fn measured(measure: Measure, names: &VariableNames<'_>) -> Vec<Column> {
    let column = |variable: &String| {
        let index = names.all.iter().position(|name| name == variable)?;
        Some(Column {
            name: format!("{}({variable})", measure.name()),
            terms: vec![Term::Measure(measure, index)],
            program: None,
        })
    };
    names.recorded.iter().filter_map(column).collect()
}

fn check_names(columns: &[Column]) -> Result<(), StudyError> {
    for (index, column) in columns.iter().enumerate() {
        let name = &column.name;
        if columns[..index].iter().any(|other| other.name == *name) {
            return Err(StudyError::new(format!("`{name}` is kept twice")));
        }
    }
    Ok(())
}

/// An expression: measures of variables become inputs of a formula in the equation language.
fn expression(text: &str, names: &VariableNames<'_>) -> Result<Column, StudyError> {
    let blame = |what: String| StudyError::new(format!("`{text}` cannot be kept: {what}"));
    let (formula, terms) = with_inputs(text, names).map_err(blame)?;
    if terms.is_empty() {
        let what = "it has no measure of a variable, such as final(NAME), min(NAME), max(NAME), mean(NAME) or when(NAME > VALUE)";
        return Err(blame(what.to_owned()));
    }
    let inputs: Vec<String> = (0..terms.len()).map(input_name).collect();
    if formula.trim() == inputs[0] {
        return Ok(Column {
            name: text.to_owned(),
            terms,
            program: None,
        });
    }

    let model = Model::parse(&Source {
        inputs: inputs.iter().map(String::as_str).collect(),
        outputs: vec![("value", &formula)],
        ..Source::default()
    });
    let model = model.map_err(|errors| blame(first_message(&errors)))?;
    let uses = model.output_dependencies(0);
    if uses.time || !uses.switches.is_empty() || !uses.slopes.is_empty() || !model.delays.is_empty()
    {
        return Err(blame(
            "`time`, `der` and `delay` have no meaning there".to_owned(),
        ));
    }

    Ok(Column {
        name: text.to_owned(),
        terms,
        program: Some(Arc::new(model.output_program())),
    })
}

fn first_message(errors: &[dovetail_equations::SyntaxError]) -> String {
    let message = errors.first().map(|error| error.message.clone());
    let message = message.unwrap_or_default();
    format!("{message}; a variable is written within a measure, such as final(NAME)")
}

/// A name that no model has.
fn input_name(index: usize) -> String {
    format!("measure_of_variable_{index}")
}

/// The text with every measure of a variable replaced by an input.
fn with_inputs(text: &str, names: &VariableNames<'_>) -> Result<(String, Vec<Term>), String> {
    let mut formula = String::new();
    let mut terms = Vec::new();
    let mut rest = text;

    while let Some(call) = next_call(rest) {
        formula += &rest[..call.start];
        let inner = rest[call.inner.clone()].trim();
        match term(call.word, inner, names)? {
            Some(term) => {
                formula += &input_name(terms.len());
                terms.push(term);
                rest = &rest[call.inner.end + 1..];
            }
            // The least or largest of several values.
            None => {
                formula += &rest[call.start..call.inner.start];
                rest = &rest[call.inner.start..];
            }
        }
    }
    formula += rest;
    Ok((formula, terms))
}

/// What `word(inner)` stands for; none where it is the least or largest of several values.
fn term(word: Word, inner: &str, names: &VariableNames<'_>) -> Result<Option<Term>, String> {
    let measure = match word {
        Word::Measure(measure) => measure,
        Word::When => return condition(inner, names).map(|found| Some(Term::When(found))),
    };
    let qualified = (names.qualify)(inner);
    match names.all.iter().position(|name| *name == qualified) {
        Some(variable) => Ok(Some(Term::Measure(measure, variable))),
        None if inner.contains(',') && matches!(measure, Measure::Min | Measure::Max) => Ok(None),
        None => Err(unknown(inner, &qualified, names)),
    }
}

/// A comparison in which variables become inputs.
fn condition(text: &str, names: &VariableNames<'_>) -> Result<Condition, String> {
    let mut formula = String::new();
    let mut variables = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        // The letter of an exponent belongs to its number.
        let is_exponent = rest[..start].ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let name = &rest[start..start + name_length(&rest[start..])];
        let qualified = (names.qualify)(name);
        formula += &rest[..start];
        match names.all.iter().position(|known| *known == qualified) {
            Some(variable) if !is_exponent => {
                formula += &input_name(variables.len());
                variables.push(variable);
            }
            None if !is_exponent && name.contains('.') => {
                return Err(unknown(name, &qualified, names));
            }
            _ => formula += name,
        }
        rest = &rest[start + name.len()..];
    }
    formula += rest;
    if variables.is_empty() {
        return Err(format!("`when({text})` has no variable of the model"));
    }

    let inputs: Vec<String> = (0..variables.len()).map(input_name).collect();
    Condition::parse(&formula, &inputs, variables)
}

/// The bytes of the name that a text begins with, `car.v` or `box.r[1,2]`.
fn name_length(text: &str) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    match text[end..]
        .strip_prefix('[')
        .and_then(|rest| rest.find(']'))
    {
        Some(inside) => end + inside + 2,
        None => end,
    }
}

fn unknown(inner: &str, qualified: &str, names: &VariableNames<'_>) -> String {
    let known = names.all.iter().map(String::as_str);
    let hint = match nearest(qualified, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    format!("there is no variable `{inner}`{hint}")
}

/// What stands before a parenthesis.
#[derive(Clone, Copy)]
enum Word {
    Measure(Measure),
    When,
}

impl Word {
    fn named(name: &str) -> Option<Self> {
        match name {
            "when" => Some(Self::When),
            _ => Measure::named(name).map(Self::Measure),
        }
    }
}

/// `word(inner)` in a text.
struct Call {
    word: Word,
    start: usize,
    inner: std::ops::Range<usize>,
}

/// The first one.
fn next_call(text: &str) -> Option<Call> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut from = 0;
    while let Some(found) = text[from..].find('(') {
        let open = from + found;
        let before = text[..open].trim_end();
        let word_start = before.rfind(|c| !is_word(c)).map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        if let Some(word) = Word::named(&before[word_start..])
            && let Some(close) = closing(text, open)
        {
            return Some(Call {
                word,
                start: word_start,
                inner: open + 1..close,
            });
        }
        from = open + 1;
    }
    None
}

/// The parenthesis that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text[open..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_report::Sink;

    fn kept(texts: &[&str]) -> Result<Kept, StudyError> {
        let all = ["car.x", "car.v", "box.r[1,2]"].map(String::from);
        let names = VariableNames {
            all: &all,
            recorded: &all[..2],
            qualify: &|name| name.to_owned(),
        };
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        Kept::new(&texts, &names)
    }

    /// The values of a run with rows of all three variables.
    fn values(kept: &Kept) -> Vec<f64> {
        let all = ["car.x", "car.v", "box.r[1,2]"];
        let rows = [[1.0, 10.0, -4.0], [5.0, 20.0, 8.0], [3.0, 30.0, 9.0]];
        let mut measures = kept.measures();
        for (time, row) in rows.iter().enumerate() {
            let needed = kept.variables().iter();
            let position = |name: &String| all.iter().position(|known| known == name).unwrap();
            let row: Vec<f64> = needed.map(|name| row[position(name)]).collect();
            measures.row(time as f64, &row).unwrap();
        }
        kept.values(&measures)
    }

    #[test]
    fn final_values_are_kept_unless_something_else_is_asked_for() {
        let usual = kept(&[]).unwrap();
        assert_eq!(usual.names(), ["final(car.x)", "final(car.v)"]);
        assert!(usual.last_only());
        assert_eq!(values(&usual), [3.0, 30.0]);
        let both = kept(&["min", "mean"]).unwrap();
        assert!(!both.last_only());
        assert_eq!(values(&both), [1.0, 10.0, 3.5, 20.0]);
    }

    #[test]
    fn expressions_combine_measures() {
        let texts = [
            "max(car.x) - final( car.v )",
            "max(box.r[1,2])",
            "max(min(car.x), 2, max(car.v)/10)",
            "sqrt(abs(min(box.r[1,2])))",
            "if final(car.x) > 2 then 1 else 0",
        ];
        let kept = kept(&texts).unwrap();
        assert_eq!(kept.names(), texts);
        assert_eq!(values(&kept), [-25.0, 9.0, 3.0, 2.0, 1.0]);
    }

    #[test]
    fn the_time_of_an_event_can_be_kept() {
        let texts = [
            "when(car.v > 1e1 + 2.5)",
            "10*when( box.r[1,2] >= 2 ) - final(car.x)",
            "when(car.x < 0)",
        ];
        let kept = kept(&texts).unwrap();
        assert!(!kept.last_only());
        assert_eq!(kept.variables(), ["car.x", "car.v", "box.r[1,2]"]);
        let found = values(&kept);
        assert_eq!(found[..2], [0.25, 5.0 - 3.0]);
        assert!(found[2].is_nan());
    }

    #[test]
    fn only_what_is_needed_is_recorded() {
        let kept = kept(&["max(car.v)"]).unwrap();
        assert_eq!(kept.variables(), ["car.v"]);
    }

    #[test]
    fn what_cannot_be_kept_is_refused_with_what_was_meant() {
        for (text, words) in [
            ("max(car.y)", "no variable `car.y`; did you mean `car.x`?"),
            ("car.x", "no measure of a variable"),
            ("max(car.x) - car.v", "within a measure"),
            ("max(car.x) +", "cannot be kept"),
            ("max(car.x) + time", "`time`"),
            ("max(car.x", "no measure"),
            ("der(max(car.x))", "`der`"),
            ("", "no measure"),
            ("when(car.v)", "compares nothing"),
            ("when(car.w > 1)", "no variable `car.w`"),
            ("when(1 > 2)", "no variable of the model"),
        ] {
            let error = kept(&[text]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(
            kept(&["min", "min"])
                .unwrap_err()
                .to_string()
                .contains("kept twice")
        );
    }
}
