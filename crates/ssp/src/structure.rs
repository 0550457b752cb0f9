//! A system structure without its hierarchy: components, their parameters, and what connects them.

use std::path::PathBuf;

use crate::error::Place;
use crate::transform::Route;
use crate::unit::{UnitDef, UnitMismatch};
use crate::value::{Enumeration, ParameterValue};

/// A system structure, flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// The name of the system structure.
    pub name: String,
    /// What its author says of it.
    pub description: Option<String>,
    /// The components of all levels, in the order in which they are written.
    pub components: Vec<Component>,
    /// The connections between them, in the order of the components that they feed.
    pub connections: Vec<Connection>,
    /// The times of the default experiment.
    pub experiment: Experiment,
    /// The method and its options, by key, that an annotation of ours keeps.
    pub run_options: Vec<(String, String)>,
    /// What was ignored or assumed, one sentence each.
    pub warnings: Vec<String>,
}

/// When to start and stop, as far as it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Start time.
    pub start_time: Option<f64>,
    /// Stop time.
    pub stop_time: Option<f64>,
    /// The step that an annotation of the Open Simulation Platform proposes.
    pub step_size: Option<f64>,
}

/// A component that is an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its name with those of the systems around it, `Plant.heater`. Unique. The root system has no
    /// part in it.
    pub name: String,
    /// The FMU, which exists: a file, or a folder.
    pub source: PathBuf,
    /// The kind of FMU that is asked for.
    pub implementation: Implementation,
    /// The values for its variables, by name. SSP has the ones ignored that the FMU has no
    /// variable for.
    pub parameters: Vec<Parameter>,
    /// The connectors that the system structure declares; the FMU may have more variables.
    pub connectors: Vec<Connector>,
    /// Where it is written.
    pub place: Place,
}

/// What kind of FMU to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Implementation {
    /// Whichever there is.
    #[default]
    Any,
    /// Co-Simulation.
    CoSimulation,
    /// Model Exchange.
    ModelExchange,
    /// Scheduled Execution.
    ScheduledExecution,
}

/// A value for a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The variable.
    pub name: String,
    /// The value as it is written, before its route. See [`Parameter::value_in`].
    pub value: ParameterValue,
    /// The sizes of an array; none for a scalar.
    pub dimensions: Vec<u64>,
    /// The unit of `value`; none is that of the variable.
    pub unit: Option<UnitDef>,
    /// From the value as written to the value of the variable.
    pub route: Route,
    /// Where the value is written.
    pub place: Place,
}

impl Parameter {
    /// The value for a variable with a given unit; no unit means that nothing is known, and that
    /// nothing is converted.
    pub fn value_in(&self, variable: Option<&UnitDef>) -> Result<ParameterValue, UnitMismatch> {
        Ok(self
            .route
            .resolve(self.unit.as_ref(), variable)?
            .value(self.value.clone()))
    }
}

/// What a connector is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An input.
    Input,
    /// An output.
    Output,
    /// A parameter.
    Parameter,
    /// A parameter that is computed in initialization.
    CalculatedParameter,
    /// A parameter that sizes depend on.
    StructuralParameter,
    /// A constant.
    Constant,
    /// A variable that can be read.
    Local,
    /// Both, as its connections have it; for signal dictionaries.
    Inout,
    /// Not said.
    Unspecified,
}

/// The type of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are those of FMI
pub enum DataType {
    Float64,
    Float32,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    String,
    Enumeration,
    Binary,
    Clock,
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Of a size that is fixed.
    Fixed(u64),
    /// Of the size that a connector of the same component gives.
    Connector(String),
    /// Of a size that only the FMU knows.
    Unknown,
}

/// A connector of a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// The name of the variable.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// Its type; none is that of the variable. `Real` is `Float64` and `Integer` is `Int32`.
    pub data_type: Option<DataType>,
    /// Its unit; none is that of the variable.
    pub unit: Option<UnitDef>,
    /// Its enumeration, where it is defined.
    pub enumeration: Option<Enumeration>,
    /// The dimensions of an array; none for a scalar.
    pub dimensions: Vec<Dimension>,
    /// Where it is written.
    pub place: Place,
}

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Index of the component.
    pub component: usize,
    /// Name of the variable.
    pub variable: String,
    /// The element of an array as it is written (`startIndices`); none is the whole variable.
    pub indices: Option<Vec<u64>>,
}

/// An output, or a calculated parameter, that feeds an input, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Where values come from.
    pub from: Endpoint,
    /// Where they go. Each is fed once.
    pub to: Endpoint,
    /// All that happens to them on the way: transformations and conversions of units.
    pub route: Route,
    /// The unit that the system structure gives for `from`.
    pub from_unit: Option<UnitDef>,
    /// The unit that the system structure gives for `to`.
    pub to_unit: Option<UnitDef>,
    /// Where the connection is written; of several through nested systems, the last.
    pub place: Place,
}
