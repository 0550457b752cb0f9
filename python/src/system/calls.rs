//! Calls of what is written in Python, and what may be wrong with the answers.

use std::sync::Arc;

use dovetail::core::Error;
use numpy::{PyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyArithmeticError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::PythonModel;

/// One system in Python, made.
pub(super) struct Instance {
    name: String,
    model: Arc<PythonModel>,
    /// None where it only describes itself.
    object: Option<Py<PyAny>>,
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CallFailure(String);

impl Instance {
    /// Makes one, with these parameters.
    pub fn make(
        name: &str,
        model: Arc<PythonModel>,
        parameters: &[(String, f64)],
    ) -> Result<Self, String> {
        let made = Python::attach(|py| {
            let _call = model.calls.begin(py);
            let values = PyDict::new(py);
            for (key, value) in parameters {
                values.set_item(key, value)?;
            }
            model.description.make.call1(py, (values,))
        });
        match made {
            Ok(object) => Ok(Self {
                name: name.to_owned(),
                model,
                object: Some(object),
            }),
            Err(exception) => {
                let text = format!("`{name}` could not be made: {exception}");
                model.note(exception);
                Err(text)
            }
        }
    }

    /// One that is never called.
    pub fn described(name: &str, model: Arc<PythonModel>) -> Self {
        Self {
            name: name.to_owned(),
            model,
            object: None,
        }
    }

    pub fn model(&self) -> &PythonModel {
        &self.model
    }

    /// An error of this system, with the exception kept for its traceback.
    fn failed(&self, time: f64, what: &str, exception: PyErr) -> Error {
        let reason = CallFailure(format!("{what} raised {exception}"));
        self.model.note(exception);
        Error::system(&self.name, time, reason)
    }

    /// Calls `method(time, vector, …)` and reads so many numbers of its answer.
    pub fn numbers(&self, call: Call<'_>, into: &mut [f64]) -> Result<(), Error> {
        let answer = self.attached(|py| {
            let answer = self.call(py, &call)?;
            read(&answer, into)
        });
        match answer {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => {
                let reason = CallFailure(format!("{} returned {wrong}", call.method));
                Err(Error::system(&self.name, call.time, reason))
            }
            Err(exception) => Err(self.failed(call.time, call.method, exception)),
        }
    }

    /// The same where a model may not be defined: false where it answers no finite numbers, or raises what mathematics does.
    pub fn defined_numbers(&self, call: Call<'_>, into: &mut [f64]) -> Result<bool, Error> {
        let answer = self.attached(|py| {
            let answer = self.call(py, &call)?;
            read(&answer, into)
        });
        let is_of_mathematics = |exception: &PyErr| {
            Python::attach(|py| {
                exception.is_instance_of::<PyArithmeticError>(py)
                    || exception.is_instance_of::<PyValueError>(py)
            })
        };
        match answer {
            Ok(None) => Ok(into.iter().all(|number| number.is_finite())),
            Ok(Some(_)) => Ok(false),
            Err(exception) if is_of_mathematics(&exception) => Ok(false),
            Err(exception) => Err(self.failed(call.time, call.method, exception)),
        }
    }

    /// Calls `jacobians(t, x, u)` and reads the four matrices of its answer, each column by column.
    pub fn matrices(
        &self,
        call: Call<'_>,
        into: [(&mut [f64], [usize; 2]); 4],
    ) -> Result<(), Error> {
        let names = ["A", "B", "C", "D"];
        let answer = self.attached(|py| {
            let answer = self.call(py, &call)?;
            for (position, (numbers, [rows, columns])) in into.into_iter().enumerate() {
                let Ok(matrix) = answer.get_item(position) else {
                    return Ok(Some(format!(
                        "{}, where A, B, C and D are expected",
                        shown(&answer)
                    )));
                };
                let flat = py.import("numpy")?.call_method1("ravel", (&matrix, "F"));
                let shape = py.import("numpy")?.call_method1("shape", (&matrix,));
                let fits = shape.and_then(|shape| shape.extract::<Vec<usize>>());
                let fits = fits.is_ok_and(|shape| shape == [rows, columns] || rows * columns == 0);
                let wrong = match flat {
                    Ok(flat) if fits => match rows * columns {
                        0 => None,
                        _ => read(&flat, numbers)?,
                    },
                    _ => Some(shown(&matrix)),
                };
                if let Some(wrong) = wrong {
                    let name = names[position];
                    return Ok(Some(format!(
                        "{wrong} as {name}, which is {rows} × {columns}"
                    )));
                }
            }
            Ok(None)
        });
        match answer {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => {
                let reason = CallFailure(format!("jacobians returned {wrong}"));
                Err(Error::system(&self.name, call.time, reason))
            }
            Err(exception) => Err(self.failed(call.time, call.method, exception)),
        }
    }

    /// What `save()` answers.
    pub fn save(&self, time: f64) -> Result<Py<PyAny>, Error> {
        let saved = self.attached(|py| self.object(py)?.call_method0("save").map(Bound::unbind));
        saved.map_err(|exception| self.failed(time, "save", exception))
    }

    /// `restore(state)`.
    pub fn restore(&self, time: f64, state: &Py<PyAny>) -> Result<(), Error> {
        let restored = self.attached(|py| {
            let object = self.object(py)?;
            object.call_method1("restore", (state,)).map(drop)
        });
        restored.map_err(|exception| self.failed(time, "restore", exception))
    }

    /// What `save()` answers, as bytes.
    pub fn pickled(&self, time: f64) -> Result<Vec<u8>, Error> {
        let saved = self.save(time)?;
        let bytes = self.attached(|py| {
            let pickle = py.import("pickle")?;
            let bytes = pickle.call_method1("dumps", (saved,))?;
            Ok(bytes.cast_into::<PyBytes>()?.as_bytes().to_vec())
        });
        bytes.map_err(|exception| self.failed(time, "save", exception))
    }

    /// `restore` of what was pickled.
    pub fn unpickle(&self, time: f64, bytes: &[u8]) -> Result<(), Error> {
        let state = self.attached(|py| {
            let pickle = py.import("pickle")?;
            let bytes = PyBytes::new(py, bytes);
            pickle.call_method1("loads", (bytes,)).map(Bound::unbind)
        });
        let state = state.map_err(|exception| self.failed(time, "restore", exception))?;
        self.restore(time, &state)
    }

    /// Does something in Python, which whoever waits for it may end.
    fn attached<T>(&self, act: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
        Python::attach(|py| {
            let _call = self.model.calls.begin(py);
            act(py)
        })
    }

    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object.as_ref();
        let object = object.expect("BUG: only systems that were made are called");
        Ok(object.bind(py).clone())
    }

    fn call<'py>(&self, py: Python<'py>, call: &Call<'_>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object(py)?;
        let vector = |numbers: &[f64]| PyArray1::from_slice(py, numbers);
        match call.second {
            Second::States(states) => {
                let arguments = (call.time, vector(states), vector(call.inputs));
                object.call_method1(call.method, arguments)
            }
            Second::Size(size) => {
                object.call_method1(call.method, (call.time, size, vector(call.inputs)))
            }
        }
    }
}

/// A call: `method(time, second, inputs)`.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub method: &'static str,
    pub time: f64,
    pub second: Second<'a>,
    pub inputs: &'a [f64],
}

/// The second argument.
#[derive(Clone, Copy)]
pub(super) enum Second<'a> {
    States(&'a [f64]),
    Size(f64),
}

/// Reads as many numbers as there are places. What it is that was returned, where it is something else; or what was raised on the way.
fn read(answer: &Bound<'_, PyAny>, into: &mut [f64]) -> PyResult<Option<String>> {
    let count = into.len();
    let expected = || match count {
        0 => "where nothing is expected".to_owned(),
        1 => "where 1 number is expected".to_owned(),
        _ => format!("where {count} numbers are expected"),
    };
    if let Ok(array) = answer.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        if array.ndim() > 1 || array.len() != into.len() {
            let shape = array.shape();
            return Ok(Some(format!("an array of shape {shape:?}, {}", expected())));
        }
        for (place, number) in into.iter_mut().zip(array.as_array()) {
            *place = *number;
        }
        return Ok(None);
    }
    if answer.is_instance_of::<PyString>() {
        return Ok(Some(format!(
            "the string {}, {}",
            shown(answer),
            expected()
        )));
    }
    if into.is_empty() && (answer.is_none() || answer.len().is_ok_and(|len| len == 0)) {
        return Ok(None);
    }
    if let ([place], Ok(number)) = (&mut *into, answer.extract::<f64>()) {
        *place = number;
        return Ok(None);
    }

    let wrong = || Ok(Some(format!("{}, {}", shown(answer), expected())));
    let Ok(entries) = answer.try_iter() else {
        return wrong();
    };
    let mut numbers = Vec::with_capacity(count);
    for entry in entries {
        match entry?.extract::<f64>() {
            Ok(number) => numbers.push(number),
            Err(_) => return wrong(),
        }
    }
    if numbers.len() != into.len() {
        return Ok(Some(format!("{} numbers, {}", numbers.len(), expected())));
    }
    into.copy_from_slice(&numbers);
    Ok(None)
}

/// A value as Python shows it, cut where that is long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    let text = value
        .repr()
        .map_or_else(|_| "something".to_owned(), |text| text.to_string());
    if text.chars().count() <= MOST {
        return text;
    }
    let cut: String = text.chars().take(MOST).collect();
    format!("{cut}…")
}
