//! Values as they are written in a model file.

use std::fmt;

use dovetail_guaranteed::Interval;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A number, or a box `[lower, upper]` of which an ordinary run takes the middle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    pub lower: f64,
    pub upper: f64,
    /// Whether it was written as a box, which may have no extent.
    #[serde(default)]
    pub is_box: bool,
}

impl Bounds {
    pub fn point(value: f64) -> Self {
        Self {
            lower: value,
            upper: value,
            is_box: false,
        }
    }

    /// A box of two numbers.
    pub fn between(lower: f64, upper: f64) -> Self {
        Self {
            lower,
            upper,
            is_box: true,
        }
    }

    /// What is enclosed: a number as the double that it is; a box with the decimal numbers that it was written with.
    pub fn interval(&self) -> Interval {
        if self.is_box {
            Interval::between_decimals(self.lower, self.upper)
        } else {
            Interval::point(self.lower)
        }
    }

    pub fn middle(&self) -> f64 {
        if self.lower == self.upper {
            self.lower
        } else {
            self.lower + 0.5 * (self.upper - self.lower)
        }
    }
}

/// A value as it is written. Which of them fits depends on what it is given to.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// With a decimal point or an exponent.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// In quotes.
    Text(String),
    /// In brackets.
    List(Vec<Given>),
}

impl Given {
    /// A value of a file, unless it is a table or a date.
    pub(crate) fn of(value: &toml::Value) -> Option<Self> {
        Some(match value {
            toml::Value::Float(number) => Self::Number(*number),
            toml::Value::Integer(number) => Self::Integer(*number),
            toml::Value::Boolean(truth) => Self::Boolean(*truth),
            toml::Value::String(text) => Self::Text(text.clone()),
            toml::Value::Array(items) => {
                let items = items.iter().map(Self::of);
                Self::List(items.collect::<Option<_>>()?)
            }
            toml::Value::Table(_) | toml::Value::Datetime(_) => return None,
        })
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// A number or a box, or what is wrong.
    pub(crate) fn bounds(&self) -> Result<Bounds, String> {
        if let Some(number) = self.number() {
            return Ok(Bounds::point(number));
        }

        let Self::List(items) = self else {
            return Err(format!(
                "wrong type: {}, expected a number, or a box [lower, upper]",
                self.shape()
            ));
        };
        match items
            .iter()
            .map(Self::number)
            .collect::<Option<Vec<f64>>>()
            .as_deref()
        {
            Some(&[lower, upper]) => Ok(Bounds::between(lower, upper)),
            _ => Err("expected a box of two numbers, [lower, upper]".to_owned()),
        }
    }

    /// What it is, for messages.
    pub(crate) fn shape(&self) -> String {
        match self {
            Self::Number(number) => format!("number `{number}`"),
            Self::Integer(number) => format!("integer `{number}`"),
            Self::Boolean(truth) => format!("boolean `{truth}`"),
            Self::Text(text) => format!("string {text:?}"),
            Self::List(_) => "sequence".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Given;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a box [lower, upper], or for an FMU also a text, true, false or a list")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Given, E> {
                Ok(Given::Number(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Given, E> {
                Ok(Given::Integer(value))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Given, E> {
                Ok(Given::Boolean(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Given, E> {
                Ok(Given::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Given, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Given::List(items))
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_two_ends() {
        let one = Given::List(vec![Given::Integer(1), Given::Number(2.5)]);
        assert_eq!(one.bounds().unwrap().middle(), 1.75);
        assert_eq!(Given::Integer(3).bounds().unwrap().middle(), 3.0);
        assert!(Given::List(vec![Given::Integer(1); 3]).bounds().is_err());
    }

    #[test]
    fn boxes_contain_the_decimal_numbers_they_are_written_with() {
        let written = Bounds::between(0.9, 0.1 + 1.0).interval();
        assert_eq!(
            (written.lo, written.hi),
            (0.9_f64.next_down(), 1.1_f64.next_up())
        );
        for exact in [0.0, 1.0, -0.5, 1e20, 2.0_f64.powi(-1074) * 0.0, 0.375, -3e9] {
            assert_eq!(
                Bounds::between(exact, exact).interval(),
                Interval::point(exact)
            );
        }
        assert_eq!(Bounds::point(0.1).interval(), Interval::point(0.1));
    }
}
