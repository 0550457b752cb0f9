//! Values of all types as floating-point numbers, and back.

use std::ffi::{CString, c_char};

use crate::description::{Value, ValueType};
use crate::instance::CallError;
use crate::strings;

/// Room for values on their way to and from a unit, kept so that nothing is allocated during a run.
#[derive(Default)]
pub(crate) struct Scratch {
    pub int32: Vec<i32>,
    pub texts: Vec<*const c_char>,
    /// Values of the other types of 3.0, as bytes wide enough for each.
    pub words: Vec<u64>,
}

impl Scratch {
    /// Room for so many integers.
    pub fn int32(&mut self, count: usize) -> *mut i32 {
        self.int32.clear();
        self.int32.resize(count, 0);
        self.int32.as_mut_ptr()
    }

    /// Room for so many texts.
    pub fn texts(&mut self, count: usize) -> *mut *const c_char {
        self.texts.clear();
        self.texts.resize(count, std::ptr::null());
        self.texts.as_mut_ptr()
    }

    /// Room for so many values of at most eight bytes each, aligned for all.
    pub fn words(&mut self, count: usize) -> *mut u64 {
        self.words.clear();
        self.words.resize(count, 0);
        self.words.as_mut_ptr()
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
        // The largest numbers of 64 bits are rounded up on their way through floating point, and cut back when they are set.
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

/// A value as a number; texts by their numbers.
pub(crate) fn as_number(value: &Value) -> f64 {
    match value {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        Value::Boolean(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => strings::number(text),
        Value::Binary(_) => f64::NAN,
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
