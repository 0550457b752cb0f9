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

use dovetail::export::Fmi2Type;
use dovetail::scenario::FaceType;

use super::{OK, call};
use crate::instance::Number;
use crate::pointers::{array, array_mut, text};

/// Values of one type: how they are asked for and set.
macro_rules! values {
    ($get:ident, $set:ident, $type:ty, $number:ident, $accepts:expr, $from:expr, $to:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            component: *mut c_void,
            references: *const u32,
            count: usize,
            values: *mut $type,
        ) -> c_int {
            call(component, |instance| {
                // SAFETY: arrays of this length, as the standard has it.
                let (references, values) =
                    unsafe { (array(references, count)?, array_mut(values, count)?) };
                for (&reference, value) in references.iter().zip(values) {
                    *value = $from(instance.get_as(reference, $accepts)?)?;
                }
                Ok(OK)
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(
            component: *mut c_void,
            references: *const u32,
            count: usize,
            values: *const $type,
        ) -> c_int {
            call(component, |instance| {
                // SAFETY: arrays of this length, as the standard has it.
                let (references, values) =
                    unsafe { (array(references, count)?, array(values, count)?) };
                for (&reference, &value) in references.iter().zip(values) {
                    instance.set(reference, Number::$number($to(value)), $accepts)?;
                }
                Ok(OK)
            })
        }
    };
}

fn is_real(own: FaceType) -> bool {
    Fmi2Type::of(own) == Fmi2Type::Real
}

fn is_integer(own: FaceType) -> bool {
    matches!(Fmi2Type::of(own), Fmi2Type::Integer | Fmi2Type::Enumeration)
}

fn is_boolean(own: FaceType) -> bool {
    own == FaceType::Boolean
}

fn integer(number: Number) -> Result<c_int, String> {
    let whole = number.as_integer();
    c_int::try_from(whole).map_err(|_| format!("{whole} is no Integer of FMI 2.0"))
}

fn real(number: Number) -> Result<f64, String> {
    Ok(number.as_float())
}

fn boolean(number: Number) -> Result<c_int, String> {
    Ok(c_int::from(number.as_float() != 0.0))
}

values!(
    fmi2GetReal,
    fmi2SetReal,
    f64,
    Float,
    is_real,
    real,
    f64::from
);
values!(
    fmi2GetInteger,
    fmi2SetInteger,
    c_int,
    Integer,
    is_integer,
    integer,
    i128::from
);
values!(
    fmi2GetBoolean,
    fmi2SetBoolean,
    c_int,
    Boolean,
    is_boolean,
    boolean,
    |value| value != 0
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(
    component: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut *const c_char,
) -> c_int {
    call(component, |instance| {
        // SAFETY: arrays of this length, as the standard has it.
        let (references, values) =
            unsafe { (array(references, count)?, array_mut(values, count)?) };
        let texts = instance.get_texts(references)?;
        for (value, text) in values.iter_mut().zip(texts) {
            *value = text.as_ptr();
        }
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(
    component: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const *const c_char,
) -> c_int {
    call(component, |instance| {
        // SAFETY: arrays of this length, as the standard has it.
        let (references, values) = unsafe { (array(references, count)?, array(values, count)?) };
        for (&reference, &value) in references.iter().zip(values) {
            // SAFETY: a text, as the standard has it, or null.
            let value = unsafe { text(value) }.ok_or("a text is null")?;
            instance.set_text(reference, value)?;
        }
        Ok(OK)
    })
}
