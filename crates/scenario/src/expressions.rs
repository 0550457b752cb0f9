//! Expressions outside of systems: constants, parameters in terms of each other, signals in terms of time.

use std::sync::Arc;

use dovetail_equations::{Evaluator, Model, Program, Source, SyntaxError, is_name, is_reserved};

/// Names with their values.
pub(crate) type Known = Vec<(String, f64)>;

/// Something that is given as a number or as an expression.
#[derive(Clone, Debug)]
pub(crate) struct Formula<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unresolved {
    /// Which of the expressions.
    pub formula: usize,
    pub message: String,
    pub help: Option<String>,
    /// Where in its text, in bytes, and how long; the whole where nothing is known.
    pub place: Option<(usize, usize)>,
}

impl Unresolved {
    fn of(formula: usize, error: SyntaxError) -> Self {
        Self {
            formula,
            message: error.message,
            help: error.help,
            place: Some((error.offset, error.length)),
        }
    }
}

/// The names that a text mentions.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !(c == '_' || c.is_alphanumeric());
    text.split(ends).filter(|word| is_name(word))
}

/// The names that equations define: what stands before an equals sign.
pub(crate) fn defined_in(text: &str) -> impl Iterator<Item = &str> {
    let statements = text.split(['\n', ';']);
    let names = statements.filter_map(|statement| Some(statement.split_once('=')?.0.trim()));
    names.filter(|name| is_name(name))
}

/// An expression of known names and perhaps of time, checked.
pub(crate) fn parse(text: &str, known: &Known) -> Result<Model, SyntaxError> {
    let parsed = Model::parse(&Source {
        parameters: known.iter().map(|(name, _)| name.as_str()).collect(),
        outputs: vec![("value", text)],
        ..Source::default()
    });
    parsed.map_err(|mut errors| errors.swap_remove(0))
}

/// The values of expressions that may depend on each other and on what is known.
pub(crate) fn resolve(known: &Known, formulas: &[Formula<'_>]) -> Result<Vec<f64>, Unresolved> {
    let mut values: Vec<Option<f64>> = vec![None; formulas.len()];
    let mut known = known.clone();

    while values.contains(&None) {
        let open = |name: &str| {
            let mut all = formulas.iter().zip(&values);
            all.any(|(formula, value)| formula.name == name && value.is_none())
        };
        let ready = (0..formulas.len()).find(|&k| {
            let mut names = names_in(formulas[k].text);
            values[k].is_none() && !names.any(open)
        });
        let Some(ready) = ready else {
            return Err(circle(formulas, &values));
        };
        let value = value_of(ready, formulas[ready].text, &known)?;
        values[ready] = Some(value);
        // What was known under that name is meant no longer.
        known.retain(|(name, _)| name != formulas[ready].name);
        known.push((formulas[ready].name.to_owned(), value));
    }
    Ok(values.into_iter().flatten().collect())
}

fn value_of(formula: usize, text: &str, known: &Known) -> Result<f64, Unresolved> {
    let refuse = |message: &str| Unresolved {
        formula,
        message: message.to_owned(),
        help: None,
        place: None,
    };
    let usable = known
        .iter()
        .filter(|(name, _)| !is_reserved(name) && is_name(name));
    let usable: Known = usable.cloned().collect();
    let model = parse(text, &usable).map_err(|error| Unresolved::of(formula, error))?;
    if names_in(text).any(|name| name == "time") {
        return Err(refuse(
            "it does not change in the course of time, so `time` has no value here",
        ));
    }

    let numbers: Vec<f64> = usable.iter().map(|(_, value)| *value).collect();
    let program = Program::compile(&model.graph, &model.output_roots);
    let value = Evaluator::new(Arc::new(program), &0.0, &numbers).results()[0];
    if value.is_finite() {
        Ok(value)
    } else {
        Err(refuse(&format!(
            "its value is {value}, which is not a finite number"
        )))
    }
}

fn circle(formulas: &[Formula<'_>], values: &[Option<f64>]) -> Unresolved {
    let open: Vec<usize> = (0..formulas.len())
        .filter(|&k| values[k].is_none())
        .collect();
    let names: Vec<String> = open.iter().map(|&k| formulas[k].name.to_owned()).collect();
    let message = match &names[..] {
        [one] => format!("`{one}` is given in terms of itself"),
        _ => format!(
            "{} are given in terms of each other",
            dovetail_core::list_names(&names)
        ),
    };
    Unresolved {
        formula: open[0],
        message,
        help: Some("give one of them as a number".to_owned()),
        place: None,
    }
}

/// The expression with the constants in it written as numbers, so that it means the same anywhere.
pub(crate) fn with_numbers(text: &str, known: &Known) -> String {
    let mut all = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = |c: char| c == '_' || c.is_alphanumeric();
        let length = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(length);
        match known.iter().find(|(known, _)| known == name) {
            Some((_, value)) => all.push_str(&format!("({value:?})")),
            None => all.push_str(name),
        }
        let sign = after.chars().next().map_or(0, char::len_utf8);
        all.push_str(&after[..sign]);
        rest = &after[sign..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pairs: &[(&str, f64)]) -> Known {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    }

    fn formulas<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<Formula<'a>> {
        let pairs = pairs.iter();
        pairs.map(|&(name, text)| Formula { name, text }).collect()
    }

    #[test]
    fn values_follow_from_each_other_in_any_order() {
        let all = formulas(&[("c", "2*b"), ("b", "a^2 + g"), ("a", "3")]);
        let values = resolve(&known(&[("g", 1.0)]), &all).unwrap();
        assert_eq!(values, [20.0, 10.0, 3.0]);
    }

    #[test]
    fn what_has_no_value_is_said() {
        let message = |pairs: &[(&'static str, &'static str)]| {
            resolve(&known(&[("g", 1.0)]), &formulas(pairs))
                .unwrap_err()
                .message
        };
        assert!(message(&[("a", "a + 1")]).contains("in terms of itself"));
        assert!(message(&[("a", "b"), ("b", "a")]).contains("in terms of each other"));
        assert!(message(&[("a", "time")]).contains("`time` has no value here"));
        assert!(message(&[("a", "1/(g - 1)")]).contains("not a finite number"));
        assert!(message(&[("a", "h")]).contains("h"));
        assert!(message(&[("a", "2 +")]).len() > 3);
    }

    #[test]
    fn constants_are_written_as_numbers() {
        let text = with_numbers("g*gg + sin(g)", &known(&[("g", -9.81)]));
        assert_eq!(text, "(-9.81)*gg + sin((-9.81))");
        assert_eq!(
            with_numbers("1e3*θ", &known(&[("θ", 0.1), ("e3", 2.0)])),
            "1e3*(0.1)"
        );
    }
}
