//! The interface of a system: its inputs, outputs and observable states.

use crate::shared_list::SharedList;

/// The interface of a system.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Interface {
    /// The system's name in the model.
    pub name: String,
    /// Inputs, in the order in which signals are passed.
    pub inputs: SharedList<Input>,
    /// Outputs, in the order in which responses hold them.
    pub outputs: SharedList<Output>,
    /// States that can be observed; a state that is also an output has the output's name.
    pub states: SharedList<String>,
}

/// One input.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Input {
    /// Its name within the system.
    pub name: String,
    /// A first guess of its value, where initialization starts.
    pub start: f64,
    /// Its unit, where the model gives one.
    pub unit: Option<String>,
    /// Whether the system uses its slope, and not its value alone.
    pub uses_slope: bool,
    /// Whether derivatives and outputs are affine in it, as far as that is known.
    pub affine: bool,
    /// Whether the system remembers it: its errors live on, and come back later.
    pub delayed: bool,
    /// What its values are.
    pub kind: SignalKind,
}

/// One output.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Output {
    /// Its name within the system.
    pub name: String,
    /// The inputs (their positions) on which it depends at once: feedthrough.
    pub depends_on: Vec<usize>,
    /// The inputs on whose slopes it depends at once.
    pub depends_on_slopes: Vec<usize>,
    /// A usual magnitude of its values, where the model gives one.
    pub nominal: Option<f64>,
    /// Its unit, where the model gives one.
    pub unit: Option<String>,
    /// What its values are.
    pub kind: SignalKind,
}

/// What the values of a variable are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SignalKind {
    /// A quantity that changes in the course of time: it has slopes and may be predicted.
    #[default]
    Continuous,
    /// A number that jumps: an integer, a truth value, a quantity that a controller sets. It is held, never predicted.
    Discrete,
    /// A text, of which only those who exchange it know what its number stands for. It is held and not recorded.
    Text,
}

impl Interface {
    /// `system.variable`, the name under which users know it.
    pub fn qualified(&self, variable: &str) -> String {
        format!("{}.{variable}", self.name)
    }
}
