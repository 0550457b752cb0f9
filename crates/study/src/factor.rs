//! What is varied, and over which values.

use std::str::FromStr;

use crate::StudyError;

/// More values than these are no list but a mistake.
const MOST_VALUES: usize = 1_000_000;

/// A parameter, or the start value of a state or an input, that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// `system.name`.
    pub name: String,
    /// What it may be.
    pub values: Values,
}

/// What a factor may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Anything between two numbers; a grid takes so many, if that is said.
    Range {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
        /// How many values a grid takes, both ends among them.
        count: Option<usize>,
    },
    /// One of these.
    List(Vec<f64>),
}

impl Values {
    /// Where `unit`, from 0 to 1, falls.
    pub(crate) fn at(&self, unit: f64) -> f64 {
        match self {
            Self::Range { low, high, .. } => low + unit * (high - low),
            Self::List(list) => {
                let index = (unit * list.len() as f64) as usize;
                list[index.min(list.len() - 1)]
            }
        }
    }

    /// The values of a grid; `usual` where a range does not say how many. None where nobody says.
    pub(crate) fn levels(&self, usual: Option<usize>) -> Option<Vec<f64>> {
        let (low, high, count) = match self {
            Self::List(list) => return Some(list.clone()),
            Self::Range { low, high, count } => (*low, *high, count.or(usual)?),
        };
        if count == 1 {
            return Some(vec![low + 0.5 * (high - low)]);
        }

        let last = count - 1;
        let level = |index: usize| match index {
            0 => low,
            // Both ends are met to the bit.
            index if index == last => high,
            index => low + (high - low) * (index as f64 / last as f64),
        };
        Some((0..count).map(level).collect())
    }
}

impl FromStr for Factor {
    type Err = StudyError;

    /// `NAME=LO:HI:N`, `NAME=LO:HI` or `NAME=A,B,C`.
    fn from_str(text: &str) -> Result<Self, StudyError> {
        let Some((name, values)) = text.split_once('=') else {
            return Err(StudyError::new(format!(
                "`{text}`: expected NAME=LO:HI:N, NAME=LO:HI or NAME=A,B,C"
            )));
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(StudyError::new(format!("`{text}`: the name is missing")));
        }

        let values = if values.contains(':') {
            range(values)
        } else {
            list(values)
        };
        let blame = |what: String| StudyError::new(format!("`{name}`: {what}"));
        Ok(Self {
            name: name.to_owned(),
            values: values.map_err(blame)?,
        })
    }
}

fn range(text: &str) -> Result<Values, String> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (low, high, count) = match parts[..] {
        [low, high] => (number(low)?, number(high)?, None),
        [low, high, many] => (number(low)?, number(high)?, Some(count(many)?)),
        _ => return Err(format!("`{text}` is no range: expected LO:HI or LO:HI:N")),
    };
    if low >= high {
        return Err(format!("the range is empty: {low} is not below {high}"));
    }
    if !(high - low).is_finite() {
        return Err(format!("the range from {low} to {high} is too wide"));
    }
    Ok(Values::Range { low, high, count })
}

fn list(text: &str) -> Result<Values, String> {
    let numbers: Result<Vec<f64>, String> =
        text.split(',').map(|part| number(part.trim())).collect();
    Ok(Values::List(numbers?))
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok();
    let count = count.filter(|count| (1..=MOST_VALUES).contains(count));
    count.ok_or_else(|| {
        format!("`{text}` is no number of values: expected a whole number from 1 to {MOST_VALUES}")
    })
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_told_apart() {
        let range: Factor = "car.m=900:1100:3".parse().unwrap();
        assert_eq!(range.name, "car.m");
        assert_eq!(range.values.levels(None), Some(vec![900.0, 1000.0, 1100.0]));
        let list: Factor = "car.m = 1, -2,3e1".parse().unwrap();
        assert_eq!(list.values, Values::List(vec![1.0, -2.0, 30.0]));
        let open: Factor = "car.m=0:1".parse().unwrap();
        assert_eq!(open.values.levels(None), None);
        assert_eq!(open.values.levels(Some(2)), Some(vec![0.0, 1.0]));
    }

    #[test]
    fn both_ends_of_a_grid_are_met_to_the_bit() {
        let factor: Factor = "a.b=0.1:0.7:7".parse().unwrap();
        let levels = factor.values.levels(None).unwrap();
        assert_eq!((levels[0], levels[6]), (0.1, 0.7));
    }

    #[test]
    fn what_is_no_range_is_refused_by_name() {
        for (text, words) in [
            ("car.m", "expected NAME=LO:HI:N"),
            ("=1", "the name is missing"),
            ("a.b=2:1", "`a.b`: the range is empty"),
            ("a.b=0:1:0", "no number of values"),
            ("a.b=0:1:2:3", "no range"),
            ("a.b=1,,2", "`` is not a finite number"),
            ("a.b=nan", "not a finite number"),
            ("a.b=-1e308:1e308", "too wide"),
        ] {
            let error = text.parse::<Factor>().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
