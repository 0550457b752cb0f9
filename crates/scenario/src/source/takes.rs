//! The numbers that a variable can take.

use dovetail_fmi::description::ValueType;
use serde::{Deserialize, Serialize};

/// The numbers that a variable can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Takes {
    /// All.
    #[default]
    Any,
    /// Whole ones from the first to the second.
    Whole(f64, f64),
    /// 0 and 1, for false and true.
    Truth,
}

impl Takes {
    /// Those of a type of FMI.
    pub fn of_type(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Int8 => Self::Whole(f64::from(i8::MIN), f64::from(i8::MAX)),
            ValueType::Int16 => Self::Whole(f64::from(i16::MIN), f64::from(i16::MAX)),
            ValueType::Int32 => Self::Whole(f64::from(i32::MIN), f64::from(i32::MAX)),
            ValueType::UInt8 => Self::Whole(0.0, f64::from(u8::MAX)),
            ValueType::UInt16 => Self::Whole(0.0, f64::from(u16::MAX)),
            ValueType::UInt32 => Self::Whole(0.0, f64::from(u32::MAX)),
            ValueType::Int64 | ValueType::Enumeration => {
                Self::Whole(i64::MIN as f64, (i64::MAX as f64).next_down())
            }
            ValueType::UInt64 => Self::Whole(0.0, (u64::MAX as f64).next_down()),
            ValueType::Boolean => Self::Truth,
            _ => Self::Any,
        }
    }

    /// Whether this is one of them, or what is wrong.
    pub fn check(self, value: f64) -> Result<(), String> {
        match self {
            Self::Any => Ok(()),
            Self::Truth if value == 0.0 || value == 1.0 => Ok(()),
            Self::Truth => Err(format!(
                "{value:?} is no truth value: these are true and false, or 1 and 0"
            )),
            Self::Whole(..) if value.fract() != 0.0 => {
                Err(format!("{value:?} is not a whole number"))
            }
            Self::Whole(least, most) if !(least..=most).contains(&value) => Err(format!(
                "{value:?} is not within {least:.0} to {most:.0}, the range of its type"
            )),
            Self::Whole(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_numbers() {
        let takes = |value_type, value| Takes::of_type(value_type).check(value).is_ok();
        assert!(takes(ValueType::Float32, 0.5));
        assert!(takes(ValueType::Int8, -128.0) && !takes(ValueType::Int8, 128.0));
        assert!(!takes(ValueType::Int32, 1.5) && !takes(ValueType::Int32, 1e300));
        assert!(!takes(ValueType::UInt64, -1.0) && takes(ValueType::UInt64, 1e19));
        assert!(!takes(ValueType::UInt64, 1.8446744073709552e19));
        assert!(!takes(ValueType::Int64, 9.223_372_036_854_776e18));
        assert!(takes(ValueType::Boolean, 1.0) && !takes(ValueType::Boolean, 0.3));
    }
}
