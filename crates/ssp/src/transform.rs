//! What happens to a value between where it comes from and where it goes.

use crate::unit::{UnitDef, UnitMismatch};
use crate::value::{EnumerationItem, ParameterValue};

/// One change of a value. Values that a table does not name are kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// `factor · value + offset`.
    Linear {
        /// The factor.
        factor: f64,
        /// The offset.
        offset: f64,
    },
    /// What becomes of `false` and of `true`.
    Boolean([bool; 2]),
    /// Pairs of source and target.
    Integer(Vec<(i128, i128)>),
    /// Pairs of source and target, with the numbers that the enumerations of the two connectors
    /// give them.
    Enumeration(Vec<(EnumerationItem, EnumerationItem)>),
}

/// Changes of a value, one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transform {
    /// The changes, in order. Linear ones in a row are joined, and none is the identity.
    pub maps: Vec<Map>,
}

impl Transform {
    /// Whether values stay as they are.
    pub fn is_identity(&self) -> bool {
        self.maps.is_empty()
    }

    /// Factor and offset, where that is all there is.
    pub fn linear(&self) -> Option<(f64, f64)> {
        match self.maps.as_slice() {
            [] => Some((1.0, 0.0)),
            [Map::Linear { factor, offset }] => Some((*factor, *offset)),
            _ => None,
        }
    }

    /// Adds a change after the present ones.
    pub fn push(&mut self, map: Map) {
        let joined = match (self.maps.last_mut(), &map) {
            (
                _,
                Map::Linear {
                    factor: 1.0,
                    offset: 0.0,
                },
            ) => return,
            (
                Some(Map::Linear {
                    factor: a,
                    offset: b,
                }),
                Map::Linear { factor, offset },
            ) => {
                (*a, *b) = (factor * *a, factor * *b + offset);
                *a == 1.0 && *b == 0.0
            }
            _ => {
                self.maps.push(map);
                false
            }
        };
        if joined {
            self.maps.pop();
        }
    }

    /// The target of a value that is a number: a float, an integer, 0 or 1, or the number of an
    /// item.
    pub fn number(&self, value: f64) -> f64 {
        self.maps.iter().fold(value, |value, map| map.number(value))
    }

    /// The target of a parameter's value, element by element.
    pub fn value(&self, value: ParameterValue) -> ParameterValue {
        self.maps.iter().fold(value, |value, map| map.value(value))
    }
}

impl Map {
    fn number(&self, value: f64) -> f64 {
        match self {
            Self::Linear { factor, offset } => factor * value + offset,
            Self::Boolean(table) => f64::from(table[usize::from(value != 0.0)]),
            Self::Integer(table) => looked_up(
                value,
                table
                    .iter()
                    .map(|&(source, target)| (source as f64, target as f64)),
            ),
            Self::Enumeration(table) => {
                let numbers = |(from, to): &(EnumerationItem, EnumerationItem)| {
                    Some((from.value? as f64, to.value? as f64))
                };
                looked_up(value, table.iter().filter_map(numbers))
            }
        }
    }

    fn integer(&self, value: i128) -> i128 {
        match self {
            Self::Integer(table) => table
                .iter()
                .find(|&&(source, _)| source == value)
                .map_or(value, |&(_, target)| target),
            _ => value,
        }
    }

    fn item(&self, item: EnumerationItem) -> EnumerationItem {
        match self {
            Self::Enumeration(table) => {
                let entry = table.iter().find(|(source, _)| source.name == item.name);
                entry.map_or(item, |(_, target)| target.clone())
            }
            Self::Integer(_) => match item.value.map(|value| self.integer(i128::from(value))) {
                // Only the number is known after this; it is a name that no enumeration has.
                Some(value) if item.value.map(i128::from) != Some(value) => EnumerationItem {
                    name: value.to_string(),
                    value: i64::try_from(value).ok(),
                },
                _ => item,
            },
            _ => item,
        }
    }

    /// A table for another type leaves a value alone; a linear change makes a float of an integer.
    fn value(&self, value: ParameterValue) -> ParameterValue {
        use ParameterValue::{Boolean, Enumeration, Float, Integer};
        match (self, value) {
            (Self::Linear { .. }, Float(values)) => {
                Float(values.into_iter().map(|value| self.number(value)).collect())
            }
            (Self::Linear { .. }, Integer(values)) => Float(
                values
                    .into_iter()
                    .map(|value| self.number(value as f64))
                    .collect(),
            ),
            (Self::Boolean(table), Boolean(values)) => Boolean(
                values
                    .into_iter()
                    .map(|value| table[usize::from(value)])
                    .collect(),
            ),
            (Self::Integer(_), Integer(values)) => Integer(
                values
                    .into_iter()
                    .map(|value| self.integer(value))
                    .collect(),
            ),
            (Self::Integer(_) | Self::Enumeration(_), Enumeration(items)) => {
                Enumeration(items.into_iter().map(|item| self.item(item)).collect())
            }
            (_, value) => value,
        }
    }
}

fn looked_up(value: f64, mut table: impl Iterator<Item = (f64, f64)>) -> f64 {
    table
        .find(|&(source, _)| source == value)
        .map_or(value, |(_, target)| target)
}

/// A step of a route.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A change of unit.
    Convert {
        /// The unit before; none is that of the variable the value comes from.
        from: Option<UnitDef>,
        /// The unit after; none is that of the variable the value goes to.
        to: Option<UnitDef>,
    },
    /// A transformation.
    Map(Map),
}

/// What a value meets on its way. Only where both variables' units are known is it one
/// [`Transform`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// The steps, in order. Conversions between units that the system structure knows are maps
    /// already.
    pub steps: Vec<Step>,
}

impl Route {
    /// The transform between a variable with unit `source` and one with unit `target`.
    ///
    /// No unit means that nothing is known, and that nothing is to be converted. The two are used
    /// only where the system structure leaves the units of connectors to the variables.
    pub fn resolve(
        &self,
        source: Option<&UnitDef>,
        target: Option<&UnitDef>,
    ) -> Result<Transform, UnitMismatch> {
        let mut transform = Transform::default();
        for step in &self.steps {
            match step {
                Step::Map(map) => transform.push(map.clone()),
                Step::Convert { from, to } => {
                    if let (Some(from), Some(to)) =
                        (from.as_ref().or(source), to.as_ref().or(target))
                    {
                        let (factor, offset) = from.conversion(to)?;
                        transform.push(Map::Linear { factor, offset });
                    }
                }
            }
        }
        Ok(transform)
    }

    /// Adds a conversion; between two known units it becomes a map.
    pub(crate) fn convert(
        &mut self,
        from: Option<&UnitDef>,
        to: Option<&UnitDef>,
    ) -> Result<(), UnitMismatch> {
        match (from, to) {
            (Some(from), Some(to)) => {
                let (factor, offset) = from.conversion(to)?;
                if (factor, offset) != (1.0, 0.0) {
                    self.steps.push(Step::Map(Map::Linear { factor, offset }));
                }
            }
            _ => self.steps.push(Step::Convert {
                from: from.cloned(),
                to: to.cloned(),
            }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_maps_in_a_row_are_one() {
        let mut transform = Transform::default();
        transform.push(Map::Linear {
            factor: 2.0,
            offset: 1.0,
        });
        transform.push(Map::Linear {
            factor: 3.0,
            offset: -1.0,
        });
        assert_eq!(transform.linear(), Some((6.0, 2.0)));
        transform.push(Map::Linear {
            factor: 1.0 / 6.0,
            offset: -2.0 / 6.0,
        });
        assert!(transform.is_identity());
    }

    #[test]
    fn a_table_keeps_what_it_does_not_name() {
        let transform = Transform {
            maps: vec![Map::Integer(vec![(1, 10), (2, 20)])],
        };
        assert_eq!(
            [1.0, 2.0, 3.0].map(|value| transform.number(value)),
            [10.0, 20.0, 3.0]
        );
        let values = ParameterValue::Integer(vec![2, 7]);
        assert_eq!(
            transform.value(values),
            ParameterValue::Integer(vec![20, 7])
        );
    }
}
