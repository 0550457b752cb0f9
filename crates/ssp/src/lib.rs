//! System structures of SSP 1.0 and 2.0, read down to components, parameters and connections.
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

/// Reads the system structure `ssd` of the package in the folder `root`. No reference may leave
/// that folder.
///
/// A package may have several, [`DEFAULT_SSD`] and variants of it beside. `unpack` is asked at most
/// once for each archive.
pub fn read(ssd: &Path, root: &Path, unpack: &mut Unpack<'_>) -> Result<Structure, SspError> {
    flatten::read(ssd, root, unpack)
}
