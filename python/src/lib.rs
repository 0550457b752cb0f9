//! `dovetail._native`: the engine for Python.
//!
//! What users see is written in Python, in the folder `dovetail`; this module has what needs the engine: runs, and systems
//! that are written in Python.

mod errors;
mod findings;
mod going_back;
mod measures;
mod progress;
mod remedies;
mod request;
mod run;
mod session;
mod system;
mod waiting;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(findings::check, module)?)?;
    module.add_function(wrap_pyfunction!(findings::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(measures::measured, module)?)?;
    module.add_function(wrap_pyfunction!(system::add_system, module)?)?;
    module.add_function(wrap_pyfunction!(system::remove_system, module)?)?;
    module.add_class::<session::Session>()?;
    Ok(())
}
