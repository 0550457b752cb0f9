//! System structures of SSP 1.0 and 2.0, read down to components, parameters and connections, and written.
//!
//! [`read`] takes the folder of an unpacked `.ssp`, or any folder with an `.ssd` in it, and returns
//! what there is to simulate: nested systems, signal dictionaries and other packages are gone, and
//! every connection runs from the variable of one component to that of another, with all that
//! happens to the values between them. Values of parameters have found their components; which of
//! them an FMU has a variable for only the FMU knows.

mod binding;
mod component;
mod connect;
mod declarations;
mod dictionary;
mod error;
mod flatten;
mod flattener;
mod graph;
mod library;
mod parameters;
mod route;
mod source;
mod ssb;
mod ssd;
mod ssm;
mod ssv;
mod structure;
mod transform;
mod unit;
mod value;
mod warnings;
mod write;
mod xml;

use std::path::Path;

pub use error::{Place, SspError};
pub use library::{DEFAULT_SSD, Unpack};
pub use structure::{
    Component, Connection, Connector, DataType, Dimension, Endpoint, Experiment, Implementation,
    Kind, Parameter, Structure,
};
pub use transform::{Map, Route, Step, Transform};
pub use unit::{BASE_UNITS, BaseUnit, UnitDef, UnitMismatch};
pub use value::{Enumeration, EnumerationItem, ParameterValue};
pub use write::{
    NotInSsp, SspVersion, WrittenComponent, WrittenConnection, WrittenConnector, WrittenEnd,
    WrittenFile, WrittenParameter, WrittenStructure, WrittenType, write,
};

/// A parameter set (`.ssv`) that belongs to no structure.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSet {
    /// The parameters, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// What looks odd.
    pub warnings: Vec<String>,
}

/// Reads a parameter set in a file of its own.
pub fn read_parameter_set(file: &Path) -> Result<ParameterSet, SspError> {
    let (set, warnings) = library::read_set_alone(file)?;
    let parameters = set.into_iter().map(|parameter| Parameter {
        name: parameter.name,
        value: parameter.value,
        dimensions: parameter.dimensions,
        unit: parameter.unit,
        route: Route::default(),
        place: parameter.place,
    });
    let parameters = parameters.collect();
    Ok(ParameterSet {
        parameters,
        warnings,
    })
}

/// Reads the system structure `ssd` of the package in the folder `root`. No reference may leave
/// that folder.
///
/// A package may have several, [`DEFAULT_SSD`] and variants of it beside. `unpack` is asked at most
/// once for each archive.
pub fn read(ssd: &Path, root: &Path, unpack: &mut Unpack<'_>) -> Result<Structure, SspError> {
    flatten::read(ssd, root, unpack)
}
