//! Values of variables in FMI 1.0 and 2.0, one for each reference.

#![allow(
    unsafe_code,
    reason = "every function of an FMU is foreign code behind a pointer"
)]

use std::ffi::c_int;

use super::{ScalarVersion, Truth};
use crate::call_error::CallError;
use crate::calls::Calls;
use crate::description::{Value, ValueType};
use crate::ffi::{Component, Symbol};
use crate::fmu_instance::{FmuInstance, numbers_of_texts};
use crate::instance::Values;
use crate::numbers::{as_number, c_texts, convert, fitting, pointers};

type Getter<T> = unsafe extern "C" fn(Component, *const u32, usize, *mut T) -> c_int;
type Setter<T> = unsafe extern "C" fn(Component, *const u32, usize, *const T) -> c_int;

/// Has the FMU write the values of these variables.
fn get<T>(
    calls: &mut Calls,
    function: Symbol<Getter<T>>,
    references: &[u32],
    values: &mut [T],
) -> Result<(), CallError> {
    // SAFETY: the pointers belong to slices of this length.
    calls.get_values(function, references, |f, component| unsafe {
        f(
            component,
            references.as_ptr(),
            references.len(),
            values.as_mut_ptr(),
        )
    })
}

/// Gives the FMU values of these variables; the log shows them as numbers.
fn set<T>(
    calls: &mut Calls,
    function: Symbol<Setter<T>>,
    references: &[u32],
    values: &[T],
    shown: &[f64],
) -> Result<(), CallError> {
    // SAFETY: the pointers belong to slices of this length.
    calls.set_values(function, references, shown, |f, component| unsafe {
        f(
            component,
            references.as_ptr(),
            references.len(),
            values.as_ptr(),
        )
    })
}

impl<V: ScalarVersion> FmuInstance<V> {
    fn get_integers(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions().get_integer;
        let integers = self.scratch.int32(references.len());
        get(&mut self.calls, function, references, integers)?;
        convert(integers, values, f64::from);
        Ok(())
    }

    fn set_integers(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        let function = self.version.functions().set_integer;
        // A missing function is reported before a value that does not fit.
        function.find()?;
        let integers = self.scratch.int32(references.len());

        for (place, &value) in integers.iter_mut().zip(values) {
            *place = fitting(value, ValueType::Int32)? as i32;
        }
        set(&mut self.calls, function, references, integers, values)
    }

    fn get_truths(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions().get_boolean;
        let truths = V::Truth::room(&mut self.scratch, references.len());
        get(&mut self.calls, function, references, truths)?;
        convert(truths, values, |truth| f64::from(u8::from(truth.is_true())));
        Ok(())
    }

    fn set_truths(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        let function = self.version.functions().set_boolean;
        let truths = V::Truth::room(&mut self.scratch, references.len());

        for (place, &value) in truths.iter_mut().zip(values) {
            *place = V::Truth::of(value != 0.0);
        }
        set(&mut self.calls, function, references, truths, values)
    }

    fn get_texts(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions().get_string;
        let texts = self.scratch.texts(references.len());
        get(&mut self.calls, function, references, texts)?;
        numbers_of_texts(function.name, texts, values)
    }

    fn set_texts(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        let function = self.version.functions().set_string;
        let texts = c_texts(values);
        set(
            &mut self.calls,
            function,
            references,
            &pointers(&texts),
            values,
        )
    }
}

impl<V: ScalarVersion> Values for FmuInstance<V> {
    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions().get_real;
        get(&mut self.calls, function, references, values)
    }

    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions().set_real;
        set(&mut self.calls, function, references, values, values)
    }

    fn get_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        match kind {
            ValueType::Float64 | ValueType::Float32 => self.get_floats(references, values),
            ValueType::Boolean => self.get_truths(references, values),
            ValueType::String => self.get_texts(references, values),
            _ => self.get_integers(references, values),
        }
    }

    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        match kind {
            ValueType::Float64 | ValueType::Float32 => self.set_floats(references, values),
            ValueType::Boolean => self.set_truths(references, values),
            ValueType::String => self.set_texts(references, values),
            _ => self.set_integers(references, values),
        }
    }

    fn set_start(
        &mut self,
        kind: ValueType,
        reference: u32,
        values: &[Value],
    ) -> Result<(), CallError> {
        let first: Vec<f64> = values.iter().take(1).map(as_number).collect();
        self.set_values(kind, &[reference], &first)
    }
}
