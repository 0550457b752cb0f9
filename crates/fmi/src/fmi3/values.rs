//! Values of variables in FMI 3.0: of many types, and arrays with several values for one reference.

use std::ffi::c_int;

use super::Instance3;
use crate::call_error::CallError;
use crate::calls::{Calls, Purpose};
use crate::description::{Value, ValueType};
use crate::ffi::{Component, Symbol};
use crate::fmu_instance::numbers_of_texts;
use crate::instance::Values;
use crate::numbers::{Scalar, as_number, c_texts, convert, pointers};

type Getter3<T> = unsafe extern "C" fn(Component, *const u32, usize, *mut T, usize) -> c_int;
type Setter3<T> = unsafe extern "C" fn(Component, *const u32, usize, *const T, usize) -> c_int;

/// Has the FMU write the values of these variables.
fn get<T>(
    calls: &mut Calls,
    function: Symbol<Getter3<T>>,
    references: &[u32],
    values: &mut [T],
) -> Result<(), CallError> {
    // SAFETY: the pointers belong to slices of these lengths.
    calls.get_values(function, references, |f, component| unsafe {
        f(
            component,
            references.as_ptr(),
            references.len(),
            values.as_mut_ptr(),
            values.len(),
        )
    })
}

/// Gives the FMU values of these variables, which the log shows in this way.
fn set<T>(
    calls: &mut Calls,
    function: Symbol<Setter3<T>>,
    references: &[u32],
    values: &[T],
    shown: &dyn std::fmt::Debug,
) -> Result<(), CallError> {
    // SAFETY: the pointers belong to slices of these lengths.
    calls.set_values(function, references, shown, |f, component| unsafe {
        f(
            component,
            references.as_ptr(),
            references.len(),
            values.as_ptr(),
            values.len(),
        )
    })
}

/// Zeros as values of another type.
fn as_scalars<T: Scalar>(words: &mut [u64]) -> &mut [T] {
    // SAFETY: words are at least as wide as a scalar and aligned for all, and zeros are a value of
    // each type.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<T>(), words.len()) }
}

impl Instance3 {
    /// Gets values of a type through words of ours.
    fn get_scalars<T: Scalar>(
        &mut self,
        function: Symbol<Getter3<T>>,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let scalars = as_scalars::<T>(self.scratch.words(values.len()));
        get(&mut self.calls, function, references, scalars)?;
        convert(scalars, values, T::to_number);
        Ok(())
    }

    /// Sets values of a type through words of ours.
    fn set_scalars<T: Scalar>(
        &mut self,
        function: Symbol<Setter3<T>>,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        // A missing function is reported before a value that does not fit.
        function.find()?;
        let scalars = as_scalars::<T>(self.scratch.words(values.len()));

        for (scalar, &value) in scalars.iter_mut().zip(values) {
            *scalar = T::of_number(value, kind)?;
        }
        set(&mut self.calls, function, references, scalars, &values)
    }

    fn get_booleans(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions.get_boolean;
        self.get_scalars(function, references, values)?;

        for value in values {
            *value = f64::from(u8::from(*value != 0.0));
        }
        Ok(())
    }

    fn get_texts(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions.get_string;
        let texts = self.scratch.texts(values.len());
        get(&mut self.calls, function, references, texts)?;
        numbers_of_texts(function.name, texts, values)
    }

    fn set_texts(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        let function = self.version.functions.set_string;
        let texts = c_texts(values);
        set(
            &mut self.calls,
            function,
            references,
            &pointers(&texts),
            &texts,
        )
    }

    fn set_bytes(&mut self, reference: u32, bytes: &[u8]) -> Result<(), CallError> {
        let function = self.version.functions.set_binary;
        let size = bytes.len();
        let place = bytes.as_ptr();
        let arguments = || format!("[{reference}]");

        // SAFETY: one reference, one size, one pointer to so many bytes.
        self.calls.demand(
            function,
            Purpose::Values,
            arguments,
            |f, component| unsafe {
                f(
                    component,
                    &raw const reference,
                    1,
                    &raw const size,
                    &raw const place,
                    1,
                )
            },
        )
    }
}

impl Values for Instance3 {
    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions.get_float64;
        get(&mut self.calls, function, references, values)
    }

    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions.set_float64;
        set(&mut self.calls, function, references, values, &values)
    }

    fn get_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let f = &self.version.functions;
        match kind {
            ValueType::Float64 => self.get_floats(references, values),
            ValueType::Float32 => self.get_scalars(f.get_float32, references, values),
            ValueType::Int64 | ValueType::Enumeration => {
                self.get_scalars(f.get_int64, references, values)
            }
            ValueType::Int32 => self.get_scalars(f.get_int32, references, values),
            ValueType::Int16 => self.get_scalars(f.get_int16, references, values),
            ValueType::Int8 => self.get_scalars(f.get_int8, references, values),
            ValueType::UInt64 => self.get_scalars(f.get_uint64, references, values),
            ValueType::UInt32 => self.get_scalars(f.get_uint32, references, values),
            ValueType::UInt16 => self.get_scalars(f.get_uint16, references, values),
            ValueType::UInt8 => self.get_scalars(f.get_uint8, references, values),
            ValueType::Boolean => self.get_booleans(references, values),
            ValueType::String => self.get_texts(references, values),
            ValueType::Binary | ValueType::Clock => Ok(()), // not part of any interface
        }
    }

    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let f = &self.version.functions;
        match kind {
            ValueType::Float64 => self.set_floats(references, values),
            ValueType::Float32 => self.set_scalars(f.set_float32, kind, references, values),
            ValueType::Int64 | ValueType::Enumeration => {
                self.set_scalars(f.set_int64, kind, references, values)
            }
            ValueType::Int32 => self.set_scalars(f.set_int32, kind, references, values),
            ValueType::Int16 => self.set_scalars(f.set_int16, kind, references, values),
            ValueType::Int8 => self.set_scalars(f.set_int8, kind, references, values),
            ValueType::UInt64 => self.set_scalars(f.set_uint64, kind, references, values),
            ValueType::UInt32 => self.set_scalars(f.set_uint32, kind, references, values),
            ValueType::UInt16 => self.set_scalars(f.set_uint16, kind, references, values),
            ValueType::UInt8 => self.set_scalars(f.set_uint8, kind, references, values),
            ValueType::Boolean => self.set_scalars(f.set_boolean, kind, references, values),
            ValueType::String => self.set_texts(references, values),
            ValueType::Binary | ValueType::Clock => Ok(()), // not part of any interface
        }
    }

    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError> {
        if let (ValueType::Binary, [Value::Binary(bytes)]) = (kind, values) {
            return self.set_bytes(reference, bytes);
        }

        let numbers: Vec<f64> = values.iter().map(as_number).collect();
        self.set_values(kind, &[reference], &numbers)
    }
}
