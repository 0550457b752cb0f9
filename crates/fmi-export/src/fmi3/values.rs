//! Values of variables.

#![allow(
    unsafe_code,
    reason = "the C interface of the standard: names that C finds, and pointers of importers"
)]
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    reason = "the names and the rules of use are those of the standard"
)]

use std::ffi::{c_char, c_int, c_void};

use dovetail::scenario::FaceType;

use super::{OK, call};
use crate::instance::Number;
use crate::pointers::{array, array_mut, text};
use crate::registry;

/// Values of one type: how they are asked for and set.
macro_rules! values {
    ($get:ident, $set:ident, $type:ty, $number:ident, $accepts:expr, $from:expr, $to:expr) => {
        getter!($get, $type, $accepts, $from);
        setter!(
            #[unsafe(no_mangle)]
            $set,
            $type,
            $number,
            $accepts,
            $to
        );
    };
}

macro_rules! getter {
    ($get:ident, $type:ty, $accepts:expr, $from:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            instance: *mut c_void,
            references: *const u32,
            count: usize,
            values: *mut $type,
            value_count: usize,
        ) -> c_int {
            call(instance, |instance| {
                check_counts(count, value_count)?;
                // SAFETY: arrays of these lengths, as the standard has it.
                let (references, values) =
                    unsafe { (array(references, count)?, array_mut(values, count)?) };
                for (&reference, value) in references.iter().zip(values) {
                    *value = $from(instance.get_as(reference, $accepts)?)?;
                }
                Ok(())
            })
        }
    };
}

macro_rules! setter {
    ($(#[$exported:meta])? $set:ident, $type:ty, $number:ident, $accepts:expr, $to:expr) => {
        $(#[$exported])?
        pub unsafe extern "C" fn $set(
            instance: *mut c_void,
            references: *const u32,
            count: usize,
            values: *const $type,
            value_count: usize,
        ) -> c_int {
            call(instance, |instance| {
                check_counts(count, value_count)?;
                // SAFETY: arrays of these lengths, as the standard has it.
                let (references, values) =
                    unsafe { (array(references, count)?, array(values, count)?) };
                for (&reference, &value) in references.iter().zip(values) {
                    instance.set(reference, Number::$number($to(value)), $accepts)?;
                }
                Ok(())
            })
        }
    };
}

/// All variables are scalars.
pub(super) fn check_counts(references: usize, values: usize) -> Result<(), String> {
    match references == values {
        true => Ok(()),
        false => Err(format!(
            "{references} references and {values} values: all variables are scalars"
        )),
    }
}

fn float(number: Number) -> Result<f64, String> {
    Ok(number.as_float())
}

fn is_float(own: FaceType) -> bool {
    own == FaceType::Float
}

getter!(fmi3GetFloat64, f64, is_float, float);
setter!(set_float64, f64, Float, is_float, f64::from);

/// Also within a step, in the callback of the importer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
    value_count: usize,
) -> c_int {
    let taken = check_counts(count, value_count).and_then(|()| {
        // SAFETY: arrays of these lengths, as the standard has it.
        let (own, all) = unsafe { (array(references, count)?, array(values, count)?) };
        registry::set_within_step(instance, own, all)
    });
    match taken {
        Ok(true) => OK,
        // SAFETY: as this function is called.
        Ok(false) => unsafe { set_float64(instance, references, count, values, value_count) },
        Err(sentence) => call(instance, |_| Err(sentence)),
    }
}

values!(
    fmi3GetFloat32,
    fmi3SetFloat32,
    f32,
    Float,
    |own| own == FaceType::Float32,
    |number: Number| Ok::<f32, String>(number.as_float() as f32),
    f64::from
);
// A `bool` of an importer that is neither 0 nor 1 must not become one of Rust.
values!(
    fmi3GetBoolean,
    fmi3SetBoolean,
    u8,
    Boolean,
    |own| own == FaceType::Boolean,
    |number: Number| Ok::<u8, String>(u8::from(number.as_float() != 0.0)),
    |value| value != 0
);

/// Whole numbers.
macro_rules! integers {
    ($($get:ident, $set:ident, $type:ident, $($face:ident)|+);+ $(;)?) => {
        $(values!(
            $get,
            $set,
            $type,
            Integer,
            |own| matches!(own, $(FaceType::$face)|+),
            |number: Number| {
                let whole = number.as_integer();
                $type::try_from(whole).map_err(|_| format!("{whole} is no {}", stringify!($type)))
            },
            i128::from
        );)+
    };
}

integers!(
    fmi3GetInt8, fmi3SetInt8, i8, Int8;
    fmi3GetUInt8, fmi3SetUInt8, u8, UInt8;
    fmi3GetInt16, fmi3SetInt16, i16, Int16;
    fmi3GetUInt16, fmi3SetUInt16, u16, UInt16;
    fmi3GetInt32, fmi3SetInt32, i32, Int32;
    fmi3GetUInt32, fmi3SetUInt32, u32, UInt32;
    fmi3GetInt64, fmi3SetInt64, i64, Int64 | Enumeration;
    fmi3GetUInt64, fmi3SetUInt64, u64, UInt64;
);

fn no_such_type(count: usize) -> Result<(), String> {
    match count {
        0 => Ok(()),
        _ => Err("no variable of this FMU is of this type".to_owned()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetBinary(
    instance: *mut c_void,
    _references: *const u32,
    count: usize,
    _sizes: *mut usize,
    _values: *mut c_void,
    _value_count: usize,
) -> c_int {
    call(instance, |_| no_such_type(count))
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetBinary(
    instance: *mut c_void,
    _references: *const u32,
    count: usize,
    _sizes: *const usize,
    _values: *const c_void,
    _value_count: usize,
) -> c_int {
    call(instance, |_| no_such_type(count))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetString(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut *const c_char,
    value_count: usize,
) -> c_int {
    call(instance, |instance| {
        check_counts(count, value_count)?;
        // SAFETY: arrays of these lengths, as the standard has it.
        let (references, values) =
            unsafe { (array(references, count)?, array_mut(values, count)?) };
        let texts = instance.get_texts(references)?;
        for (value, text) in values.iter_mut().zip(texts) {
            *value = text.as_ptr();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetString(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const *const c_char,
    value_count: usize,
) -> c_int {
    call(instance, |instance| {
        check_counts(count, value_count)?;
        // SAFETY: arrays of these lengths, as the standard has it.
        let (references, values) = unsafe { (array(references, count)?, array(values, count)?) };
        for (&reference, &value) in references.iter().zip(values) {
            // SAFETY: a text, as the standard has it, or null.
            let value = unsafe { text(value) }.ok_or("a text is null")?;
            instance.set_text(reference, value)?;
        }
        Ok(())
    })
}
