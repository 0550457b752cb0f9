//! Values of variables in FMI 2.0, one for each reference.

use std::ffi::c_int;

use super::Instance2;
use crate::call_error::CallError;
use crate::calls::Calls;
use crate::description::{Value, ValueType};
use crate::ffi::{Component, Symbol};
use crate::fmu_instance::numbers_of_texts;
use crate::instance::Values;
use crate::numbers::{as_number, c_texts, convert, fitting, pointers};

type Getter2<T> = unsafe extern "C" fn(Component, *const u32, usize, *mut T) -> c_int;
type Setter2<T> = unsafe extern "C" fn(Component, *const u32, usize, *const T) -> c_int;

/// Has the FMU write the values of these variables.
fn get<T>(
    calls: &mut Calls,
    function: Symbol<Getter2<T>>,
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
    function: Symbol<Setter2<T>>,
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

impl Instance2 {
    fn get_integers(
        &mut self,
        function: Symbol<Getter2<c_int>>,
        references: &[u32],
        values: &mut [f64],
        number: impl Fn(c_int) -> f64,
    ) -> Result<(), CallError> {
        let integers = self.scratch.int32(references.len());
        get(&mut self.calls, function, references, integers)?;
        convert(integers, values, number);
        Ok(())
    }

    fn set_integers(
        &mut self,
        function: Symbol<Setter2<c_int>>,
        references: &[u32],
        values: &[f64],
        integer: impl Fn(f64) -> Result<c_int, CallError>,
    ) -> Result<(), CallError> {
        // A missing function is reported before a value that does not fit.
        function.find()?;
        let integers = self.scratch.int32(references.len());

        for (place, &value) in integers.iter_mut().zip(values) {
            *place = integer(value)?;
        }
        set(&mut self.calls, function, references, integers, values)
    }

    fn get_texts(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        let function = self.version.functions.get_string;
        let texts = self.scratch.texts(references.len());
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
            values,
        )
    }
}

impl Values for Instance2 {
    fn get_floats(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions.get_real;
        get(&mut self.calls, function, references, values)
    }

    fn set_floats(&mut self, references: &[u32], values: &[f64]) -> Result<(), CallError> {
        if references.is_empty() {
            return Ok(());
        }

        let function = self.version.functions.set_real;
        set(&mut self.calls, function, references, values, values)
    }

    fn get_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &mut [f64],
    ) -> Result<(), CallError> {
        let functions = &self.version.functions;
        match kind {
            ValueType::Float64 | ValueType::Float32 => self.get_floats(references, values),
            ValueType::Boolean => {
                let truth = |integer| f64::from(u8::from(integer != 0));
                self.get_integers(functions.get_boolean, references, values, truth)
            }
            ValueType::String => self.get_texts(references, values),
            _ => self.get_integers(functions.get_integer, references, values, f64::from),
        }
    }

    fn set_values(
        &mut self,
        kind: ValueType,
        references: &[u32],
        values: &[f64],
    ) -> Result<(), CallError> {
        let functions = &self.version.functions;
        match kind {
            ValueType::Float64 | ValueType::Float32 => self.set_floats(references, values),
            ValueType::Boolean => {
                let truth = |value| Ok(c_int::from(value != 0.0));
                self.set_integers(functions.set_boolean, references, values, truth)
            }
            ValueType::String => self.set_texts(references, values),
            _ => {
                let whole = |value| Ok(fitting(value, ValueType::Int32)? as i32);
                self.set_integers(functions.set_integer, references, values, whole)
            }
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
