//! Values of variables in FMI 3.0: of many types, and arrays with several values for one reference.

use std::ffi::c_int;

use super::Instance3;
use crate::binaries;
use crate::call_error::CallError;
use crate::calls::Calls;
use crate::description::{Value, ValueType};
use crate::ffi::{Component, Symbol};
use crate::fmu_instance::numbers_of_texts;
use crate::instance::Values;
use crate::numbers::{Scalar, Wide, as_number, c_texts, convert, pointers};

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

/// The bits of whole numbers for a type of 64 bits; none for other types and values.
fn exact_words(kind: ValueType, values: &[Value]) -> Option<Vec<u64>> {
    let word = |value: &Value| match (kind, value) {
        (ValueType::Int64 | ValueType::Enumeration, Value::Integer(whole)) => {
            i64::try_from(*whole).ok().map(i64::cast_unsigned)
        }
        (ValueType::UInt64, Value::Integer(whole)) => u64::try_from(*whole).ok(),
        _ => None,
    };
    values.iter().map(word).collect()
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

    /// Sets whole numbers of 64 bits, given as their bits.
    fn set_words(
        &mut self,
        kind: ValueType,
        reference: u32,
        words: &[u64],
    ) -> Result<(), CallError> {
        let references = [reference];
        match kind {
            ValueType::UInt64 => {
                let function = self.version.functions.set_uint64;
                set(&mut self.calls, function, &references, words, &words)
            }
            _ => {
                let function = self.version.functions.set_int64;
                let signed: Vec<i64> = words.iter().map(|&word| word.cast_signed()).collect();
                set(&mut self.calls, function, &references, &signed, &signed)
            }
        }
    }

    /// Gets whole numbers of 64 bits; those that floating point does not have are noted.
    fn get_wide<T: Wide>(
        &mut self,
        function: Symbol<Getter3<T>>,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let scalars = as_scalars::<T>(self.scratch.words(values.len()));
        get(&mut self.calls, function, references, scalars)?;
        convert(scalars, values, T::to_number);
        let rounded = scalars.iter().position(|&scalar| !scalar.is_exact());
        if let Some(place) = rounded {
            let reference = references.get(place).copied();
            let monitor = &self.calls.journal.monitor;
            monitor.note(|notes| notes.rounded = notes.rounded.or(reference));
        }
        Ok(())
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

    fn get_binaries(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions.get_binary;
        let mut sizes = vec![0; values.len()];
        let mut places = vec![std::ptr::null(); values.len()];
        // SAFETY: the pointers belong to lists of these lengths.
        self.calls
            .get_values(function, references, |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    references.len(),
                    sizes.as_mut_ptr(),
                    places.as_mut_ptr(),
                    places.len(),
                )
            })?;
        binaries::numbers_of(function.name, &sizes, &places, values)
    }

    fn set_binaries(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        let function = self.version.functions.set_binary;
        let all = binaries::of_numbers(values);
        let sizes: Vec<usize> = all.iter().map(Vec::len).collect();
        let places: Vec<*const u8> = all.iter().map(|bytes| bytes.as_ptr()).collect();
        let digits: Vec<String> = match self.calls.journal.log {
            Some(_) => all.iter().map(|bytes| binaries::digits(bytes)).collect(),
            None => Vec::new(),
        };
        // SAFETY: so many sizes and pointers, each to so many bytes.
        self.calls
            .set_values(function, references, &digits, |f, component| unsafe {
                f(
                    component,
                    references.as_ptr(),
                    references.len(),
                    sizes.as_ptr(),
                    places.as_ptr(),
                    places.len(),
                )
            })
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
                self.get_wide(f.get_int64, references, values)
            }
            ValueType::Int32 => self.get_scalars(f.get_int32, references, values),
            ValueType::Int16 => self.get_scalars(f.get_int16, references, values),
            ValueType::Int8 => self.get_scalars(f.get_int8, references, values),
            ValueType::UInt64 => self.get_wide(f.get_uint64, references, values),
            ValueType::UInt32 => self.get_scalars(f.get_uint32, references, values),
            ValueType::UInt16 => self.get_scalars(f.get_uint16, references, values),
            ValueType::UInt8 => self.get_scalars(f.get_uint8, references, values),
            ValueType::Boolean => self.get_booleans(references, values),
            ValueType::String => self.get_texts(references, values),
            ValueType::Binary => self.get_binaries(references, values),
            ValueType::Clock => Ok(()), // not a value
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
            ValueType::Binary => self.set_binaries(references, values),
            ValueType::Clock => Ok(()), // not a value
        }
    }

    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError> {
        if let Some(words) = exact_words(kind, values) {
            return self.set_words(kind, reference, &words);
        }
        let numbers: Vec<f64> = values.iter().map(as_number).collect();
        self.set_values(kind, &[reference], &numbers)
    }
}
