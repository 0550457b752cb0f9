//! Values of all types as floating-point numbers, and back.

use std::ffi::{CString, c_char};

use crate::binaries;
use crate::call_error::CallError;
use crate::description::{Value, ValueType};
use crate::strings;

/// Room for values on their way to and from an FMU, kept so that nothing is allocated during a run.
#[derive(Default)]
pub(crate) struct ValueScratch {
    int32: Vec<i32>,
    chars: Vec<c_char>,
    texts: Vec<*const c_char>,
    /// Values of the other types of 3.0, as bytes wide enough for each.
    words: Vec<u64>,
}

impl ValueScratch {
    /// Room for so many integers.
    pub fn int32(&mut self, count: usize) -> &mut [i32] {
        zeroed(&mut self.int32, count, 0)
    }

    /// Room for so many characters.
    pub fn chars(&mut self, count: usize) -> &mut [c_char] {
        zeroed(&mut self.chars, count, 0)
    }

    /// Room for so many texts.
    pub fn texts(&mut self, count: usize) -> &mut [*const c_char] {
        zeroed(&mut self.texts, count, std::ptr::null())
    }

    /// Room for so many values of at most eight bytes each, aligned for all.
    pub fn words(&mut self, count: usize) -> &mut [u64] {
        zeroed(&mut self.words, count, 0)
    }
}

fn zeroed<T: Copy>(room: &mut Vec<T>, count: usize, zero: T) -> &mut [T] {
    room.clear();
    room.resize(count, zero);
    room
}

/// A type of FMI 3.0 that is at most eight bytes wide and that zeros are a value of.
pub(crate) trait Scalar: Copy {
    fn to_number(self) -> f64;

    /// The nearest value, if the type `kind` holds it.
    fn of_number(number: f64, kind: ValueType) -> Result<Self, CallError>;
}

macro_rules! integer_scalars {
    ($($type:ty)*) => {$(
        impl Scalar for $type {
            fn to_number(self) -> f64 {
                self as f64
            }

            fn of_number(number: f64, kind: ValueType) -> Result<Self, CallError> {
                Ok(fitting(number, kind)? as $type)
            }
        }
    )*};
}

integer_scalars! { i8 i16 i32 i64 u8 u16 u32 u64 }

/// A whole number of 64 bits, of which floating point does not have all.
pub(crate) trait Wide: Scalar {
    /// Whether its number is the same.
    fn is_exact(self) -> bool;
}

impl Wide for i64 {
    fn is_exact(self) -> bool {
        self.to_number() as i128 == i128::from(self)
    }
}

impl Wide for u64 {
    fn is_exact(self) -> bool {
        self.to_number() as i128 == i128::from(self)
    }
}

impl Scalar for f32 {
    fn to_number(self) -> f64 {
        f64::from(self)
    }

    fn of_number(number: f64, _kind: ValueType) -> Result<Self, CallError> {
        Ok(number as f32)
    }
}

/// Only on its way to an FMU: what an FMU writes may be any byte.
impl Scalar for bool {
    fn to_number(self) -> f64 {
        f64::from(u8::from(self))
    }

    fn of_number(number: f64, _kind: ValueType) -> Result<Self, CallError> {
        Ok(number != 0.0)
    }
}

/// The smallest and the largest number that an integer type holds.
fn bounds(kind: ValueType) -> (f64, f64) {
    match kind {
        ValueType::Int8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        ValueType::Int16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        ValueType::Int32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        ValueType::UInt8 => (0.0, f64::from(u8::MAX)),
        ValueType::UInt16 => (0.0, f64::from(u16::MAX)),
        ValueType::UInt32 => (0.0, f64::from(u32::MAX)),
        // The largest numbers of 64 bits are rounded up on their way through floating point, and
        // cut back when they are set.
        ValueType::UInt64 => (0.0, u64::MAX as f64),
        _ => (i64::MIN as f64, i64::MAX as f64),
    }
}

/// The nearest integer, if the type holds it.
pub(crate) fn fitting(value: f64, kind: ValueType) -> Result<i128, CallError> {
    let (least, most) = bounds(kind);
    let rounded = value.round();

    if rounded >= least && rounded <= most {
        let (least, most) = if kind == ValueType::UInt64 {
            (0, u64::MAX.into())
        } else {
            (i64::MIN.into(), i64::MAX.into())
        };
        Ok((rounded as i128).clamp(least, most))
    } else {
        Err(CallError::DoesNotFit {
            value,
            value_type: kind,
        })
    }
}

/// A value as a number; texts and bytes by their numbers.
pub(crate) fn as_number(value: &Value) -> f64 {
    match value {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        Value::Boolean(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => strings::number(text),
        Value::Binary(bytes) => strings::number(&binaries::digits(bytes)),
    }
}

/// Texts for C, by their numbers.
pub(crate) fn c_texts(numbers: &[f64]) -> Vec<CString> {
    let text = |&number: &f64| c_text(&strings::text(number));
    numbers.iter().map(text).collect()
}

/// What an FMU is given of texts.
pub(crate) fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// The numbers of values of another type.
pub(crate) fn convert<T: Copy>(from: &[T], to: &mut [f64], number: impl Fn(T) -> f64) {
    for (place, &value) in to.iter_mut().zip(from) {
        *place = number(value);
    }
}

/// A text for C, cut at the first zero.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_rounded_and_must_fit() {
        assert_eq!(fitting(2.6, ValueType::Int8), Ok(3));
        assert!(
            fitting(128.0, ValueType::Int8).is_err() && fitting(-1.0, ValueType::UInt64).is_err()
        );
        assert!(
            fitting(f64::NAN, ValueType::Int32).is_err()
                && fitting(1e300, ValueType::Int64).is_err()
        );
    }
}
