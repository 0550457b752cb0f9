//! The values of parameters.

/// An item of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumerationItem {
    /// Its name. The number of this name in the *variable's* type is what counts.
    pub name: String,
    /// Its number as far as the system structure knows it.
    pub value: Option<i64>,
}

/// An enumeration as a file defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumeration {
    /// Its name.
    pub name: String,
    /// Names and numbers of its items.
    pub items: Vec<(String, i64)>,
}

impl Enumeration {
    /// The number of an item.
    pub fn number(&self, item: &str) -> Option<i64> {
        self.items
            .iter()
            .find(|(name, _)| name == item)
            .map(|&(_, number)| number)
    }
}

/// One value, or the elements of an array in row-major order. A scalar has one element.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// `Real`, `Float64`, `Float32`.
    Float(Vec<f64>),
    /// `Integer` and the integers of FMI 3, which all fit.
    Integer(Vec<i128>),
    /// `Boolean`.
    Boolean(Vec<bool>),
    /// `String`.
    String(Vec<String>),
    /// `Enumeration`, by the names of items.
    Enumeration(Vec<EnumerationItem>),
    /// `Binary`.
    Binary(Vec<Vec<u8>>),
}

impl ParameterValue {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Boolean(values) => values.len(),
            Self::String(values) => values.len(),
            Self::Enumeration(values) => values.len(),
            Self::Binary(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives items the numbers that `enumeration` knows for them.
    pub(crate) fn numbered_by(mut self, enumeration: Option<&Enumeration>) -> Self {
        if let (Self::Enumeration(items), Some(enumeration)) = (&mut self, enumeration) {
            for item in items {
                item.value = enumeration.number(&item.name).or(item.value);
            }
        }
        self
    }
}
