//! What the values of a variable are, as others see it.

use dovetail_fmi::description::ValueType;
use serde::{Deserialize, Serialize};

/// What the values of a variable are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of FMI 3.0")]
pub enum FaceType {
    Float,
    Float32,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    /// A whole number that stands for an item.
    Enumeration,
    Boolean,
    Text,
}

impl FaceType {
    /// That of a variable of an FMU.
    pub(crate) fn of(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Float64 => Self::Float,
            ValueType::Float32 => Self::Float32,
            ValueType::Int8 => Self::Int8,
            ValueType::UInt8 => Self::UInt8,
            ValueType::Int16 => Self::Int16,
            ValueType::UInt16 => Self::UInt16,
            ValueType::Int32 => Self::Int32,
            ValueType::UInt32 => Self::UInt32,
            ValueType::Int64 => Self::Int64,
            ValueType::UInt64 => Self::UInt64,
            ValueType::Enumeration => Self::Enumeration,
            ValueType::Boolean | ValueType::Clock => Self::Boolean,
            ValueType::String | ValueType::Binary => Self::Text,
        }
    }

    /// Whether the values are numbers that are not whole.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Float32)
    }

    /// The least and the largest of whole numbers.
    pub fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Self::UInt8 => (0, u8::MAX.into()),
            Self::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Self::UInt16 => (0, u16::MAX.into()),
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::UInt32 => (0, u32::MAX.into()),
            Self::Int64 | Self::Enumeration => (i64::MIN.into(), i64::MAX.into()),
            Self::UInt64 => (0, u64::MAX.into()),
            Self::Float | Self::Float32 | Self::Boolean | Self::Text => return None,
        })
    }

    /// A number as a value of this type is written: whole numbers within their range.
    pub(crate) fn text_of(self, value: f64) -> String {
        match (self, self.range()) {
            (Self::Boolean, _) => (value != 0.0).to_string(),
            (_, Some((least, largest))) => (value as i128).clamp(least, largest).to_string(),
            _ => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_within_their_range() {
        let largest = u64::MAX as f64; // 2^64, one more than there is
        assert_eq!(FaceType::UInt64.text_of(largest), u64::MAX.to_string());
        assert_eq!(FaceType::UInt32.text_of(4_294_967_295.0), "4294967295");
        assert_eq!(FaceType::Int8.text_of(-300.0), "-128");
        assert_eq!(FaceType::Boolean.text_of(1.0), "true");
        assert_eq!(FaceType::Float.text_of(0.5), "0.5");
    }
}
