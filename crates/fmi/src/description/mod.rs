//! `modelDescription.xml`: what an FMU says of itself, the same for all versions of the standard.

mod defaults;
mod dimensions;
mod encoding;
mod findings;
mod kind;
mod limits;
mod number;
mod one;
mod read;
mod start;
mod structure;
mod typed_elements;
mod units;
mod variables;
mod xml;

pub use findings::{DescriptionError, Strictness, Warning};
pub use read::read;

/// The version of the standard that an FMU follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// FMI 1.0.
    One,
    /// FMI 2.0 and its patches.
    Two,
    /// FMI 3.0 and its patches.
    Three,
}

/// What an FMU says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The standard it follows.
    pub version: Version,
    /// `fmiVersion` as written, "2.0" or "3.0.1", say.
    pub fmi_version: String,
    /// The model's name in the tool that made it.
    pub model_name: String,
    /// What `instantiate` must be given: `guid` (2.0) or `instantiationToken` (3.0).
    pub token: String,
    /// The FMU's own words about itself.
    pub description: Option<String>,
    /// The tool that made it.
    pub generation_tool: Option<String>,
    /// What it can do for Co-Simulation, if it can.
    pub co_simulation: Option<InterfaceDescription>,
    /// What it can do for Model Exchange, if it can.
    pub model_exchange: Option<InterfaceDescription>,
    /// Whether it has the Scheduled Execution of 3.0, which is not for us.
    pub scheduled_execution: bool,
    /// All variables, in the order of the file; other parts refer to their positions here.
    pub variables: Vec<Variable>,
    /// The units of measure it defines.
    pub units: Vec<UnitDefinition>,
    /// Outputs, states and indicators.
    pub structure: Structure,
    /// When and how finely it would like to be run.
    pub experiment: DefaultExperiment,
    /// Names of the categories of log messages.
    pub log_categories: Vec<String>,
}

/// The attributes of `<CoSimulation>` or `<ModelExchange>`; those that do not belong to a version
/// keep their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterfaceDescription {
    /// Name of the library in `binaries/`, without its ending.
    pub model_identifier: String,
    /// `needsExecutionTool`.
    pub needs_execution_tool: bool,
    /// `canBeInstantiatedOnlyOncePerProcess`.
    pub only_once_per_process: bool,
    /// `canGetAndSetFMUState`.
    pub state: bool,
    /// `canSerializeFMUState`.
    pub serialization: bool,
    /// `providesDirectionalDerivative(s)`.
    pub directional_derivatives: bool,
    /// `providesAdjointDerivatives` (3.0).
    pub adjoint_derivatives: bool,
    /// `canHandleVariableCommunicationStepSize`.
    pub variable_step: bool,
    /// `fixedInternalStepSize` (3.0).
    pub fixed_internal_step: Option<f64>,
    /// `canInterpolateInputs` (2.0).
    pub interpolates_inputs: bool,
    /// `maxOutputDerivativeOrder`.
    pub output_derivatives: usize,
    /// `providesIntermediateUpdate` (3.0).
    pub intermediate_update: bool,
    /// `mightReturnEarlyFromDoStep` (3.0).
    pub might_return_early: bool,
    /// `canReturnEarlyAfterIntermediateUpdate` (3.0).
    pub can_return_early: bool,
    /// `hasEventMode` (3.0).
    pub event_mode: bool,
    /// `providesEvaluateDiscreteStates` (3.0).
    pub evaluates_discrete_states: bool,
    /// `needsCompletedIntegratorStep`; in 2.0 `completedIntegratorStepNotNeeded`, turned round.
    pub needs_completed_step: bool,
}

/// One variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, as free as the standard allows.
    pub name: String,
    /// The handle by which values are set and got; in 2.0 several variables (aliases) may share one
    /// per type.
    pub reference: u32,
    /// What kind of value it holds.
    pub value_type: ValueType,
    /// Input, output, parameter and so on.
    pub causality: Causality,
    /// How it may change.
    pub variability: Variability,
    /// How its start value is meant; where the file is silent, what the standard says.
    pub initial: Option<Initial>,
    /// The start value, one entry for each element, as far as given; a single entry of an array is
    /// meant for all its elements.
    pub start: Vec<Value>,
    /// The unit of measure: its own, or that of its declared type.
    pub unit: Option<String>,
    /// `relativeQuantity`: a difference, so that the offset of its unit does not count.
    pub relative: bool,
    /// A typical size.
    pub nominal: Option<f64>,
    /// The smallest value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// The state (a position among the variables) whose derivative it is.
    pub derivative_of: Option<usize>,
    /// Sizes of an array (3.0); empty for a scalar.
    pub dimensions: Vec<Dimension>,
    /// May be set or got during intermediate update (3.0).
    pub intermediate_update: bool,
    /// The clocks it belongs to (3.0), as value references; a clocked variable is not for us.
    pub clocks: Vec<u32>,
    /// For an enumeration: the names of its items with their values.
    pub items: Vec<(String, i64)>,
    /// Other names of the same variable (3.0); in 2.0 aliases are variables that share a reference.
    pub aliases: Vec<String>,
    /// The FMU's own words about it.
    pub description: Option<String>,
    /// Where it stands in the file, from 1.
    pub line: u32,
}

impl Variable {
    /// Whether it is a parameter that may be changed in the course of a run.
    pub fn is_tunable(&self) -> bool {
        self.causality == Causality::Parameter && self.variability == Variability::Tunable
    }
}

/// The size of an array in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A number.
    Fixed(usize),
    /// The start value of the structural parameter with this value reference.
    Parameter(u32),
}

impl Dimension {
    /// The size, where it is a number.
    pub(crate) fn fixed(self) -> Option<usize> {
        match self {
            Self::Fixed(size) => Some(size),
            Self::Parameter(_) => None,
        }
    }
}

/// The kinds of values. `Real` and `Integer` of 2.0 are `Float64` and `Int32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum ValueType {
    Float64,
    Float32,
    Int64,
    Int32,
    Int16,
    Int8,
    UInt64,
    UInt32,
    UInt16,
    UInt8,
    Boolean,
    Enumeration,
    String,
    Binary,
    Clock,
}

/// A value as a description or a model file gives it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Value {
    /// Of the floating-point types.
    Float(f64),
    /// Of the integer types and enumerations.
    Integer(i128),
    /// A truth value.
    Boolean(bool),
    /// A text.
    String(String),
    /// Bytes.
    Binary(Vec<u8>),
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Causality {
    StructuralParameter,
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
    Dependent,
}

/// How a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    Continuous,
    /// Of a clock (3.0).
    Clock,
}

/// How a start value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Initial {
    Exact,
    Approx,
    Calculated,
}

/// A unit of measure: `base = factor · value + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitDefinition {
    /// Its name.
    pub name: String,
    /// Exponents of kg, m, s, A, K, mol, cd, rad; without it the unit converts to nothing.
    pub exponents: Option<[i32; 8]>,
    /// Factor to the base unit.
    pub factor: f64,
    /// Offset in the base unit.
    pub offset: f64,
}

/// The parts of a model, as positions among the variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// The outputs.
    pub outputs: Vec<Unknown>,
    /// The derivatives of the continuous states; their `derivative_of` are the states.
    pub derivatives: Vec<Unknown>,
    /// The event indicators (3.0): value references with their number of elements are found through
    /// the variables.
    pub event_indicators: Vec<usize>,
    /// `numberOfEventIndicators` (1.0 and 2.0).
    pub indicator_count: usize,
    /// `numberOfContinuousStates` (1.0), where states have no variables.
    pub nameless_states: usize,
    /// What is computed at initialization.
    pub initial_unknowns: Vec<usize>,
}

/// Something that is computed, and from what.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// A position among the variables.
    pub variable: usize,
    /// The variables it depends on; `None` where the file does not say, and then all must be
    /// assumed.
    pub dependencies: Option<Vec<usize>>,
}

/// `DefaultExperiment`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub struct DefaultExperiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub step_size: Option<f64>,
}

impl Description {
    /// The variable of this name.
    pub(crate) fn variable_named(&self, name: &str) -> Option<&Variable> {
        let mut variables = self.variables.iter();
        variables.find(|variable| variable.name == name)
    }
}

impl ValueType {
    /// Whether values are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float64 | Self::Float32)
    }

    /// Whether values are numbers, items of an enumeration among them.
    pub fn is_number(self) -> bool {
        !matches!(
            self,
            Self::Boolean | Self::String | Self::Binary | Self::Clock
        )
    }
}
