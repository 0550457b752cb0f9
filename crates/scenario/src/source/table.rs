//! The table of a system in a model file, as it is written.

use std::fmt;
use std::ops::Range;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::value::Given;

/// A table of named things, in the order of the file.
pub(crate) type Named<T> = IndexMap<Spanned<String>, Spanned<T>>;

/// A system as it is written: the keys that several kinds of sources have, and those that only some kind knows.
#[derive(Debug, Default)]
pub struct SystemTable {
    /// The file, seen from the folder of the model.
    pub(crate) fmu: Option<Spanned<String>>,
    /// Of an FMU with both: `co-simulation` or `model-exchange`.
    pub(crate) interface: Option<Spanned<String>>,
    /// Whether an FMU is tried out before the run; otherwise what it declares is believed.
    pub(crate) probe: Option<bool>,
    /// Reals of an FMU that are declared discrete and are continuous.
    pub(crate) continuous: Vec<String>,
    /// Parts of a communication step of an FMU that only takes constant inputs.
    pub(crate) sub_steps: Option<Spanned<u64>>,
    pub(crate) inputs: Named<Given>,
    pub(crate) parameters: Named<Given>,
    pub(crate) states: Named<Given>,
    /// Start values of states that only clauses change.
    pub(crate) discrete: Named<Given>,
    /// The time between two ticks of the system's clock.
    pub(crate) sample: Option<Spanned<f64>>,
    /// What is set anew at events.
    pub(crate) when: Vec<Spanned<WhenTable>>,
    pub(crate) equations: Option<Spanned<String>>,
    pub(crate) outputs: Named<String>,
    pub(crate) units: Named<String>,
    pub(crate) imposed_step: Option<Spanned<f64>>,
    pub(crate) restrict: Option<Restrict>,
    /// Keys that are none of these.
    pub(crate) others: Named<toml::Value>,
    /// Values that the user gives to a source that looks them up itself.
    pub(crate) overridden: Vec<(String, String)>,
    /// The constants of the model.
    pub(crate) constants: Vec<(String, f64)>,
    /// Names of inputs, and of parameters that are to be inputs, which tables and events of the model change.
    pub(crate) changed: Vec<String>,
}

/// A clause: what is set anew when its condition becomes true.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WhenTable {
    pub condition: Spanned<String>,
    #[serde(default)]
    pub set: Named<String>,
    #[serde(default)]
    pub reset: Named<String>,
    #[serde(default)]
    pub at_rest: Named<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Restrict {
    pub input_degree: Option<Spanned<usize>>,
    pub rollback: Option<bool>,
    pub linearization: Option<bool>,
    pub output_derivatives: Option<bool>,
    pub imposed_step: Option<Spanned<f64>>,
}

/// The keys that every table may have, in the order in which they are listed.
pub(crate) const KEYS: [&str; 16] = [
    "fmu",
    "interface",
    "probe",
    "continuous",
    "sub-steps",
    "inputs",
    "parameters",
    "states",
    "discrete",
    "sample",
    "when",
    "equations",
    "outputs",
    "units",
    "imposed-step",
    "restrict",
];

impl SystemTable {
    /// The value of a key that only some kind of source knows; none also where it is a table.
    pub fn value(&self, key: &str) -> Option<Given> {
        let (_, value) = self.entry(key)?;
        Given::of(value.get_ref())
    }

    /// Names and texts of the values that the user gives to a source that looks them up itself.
    pub fn overridden(&self) -> &[(String, String)] {
        &self.overridden
    }

    /// Where in the file such a key and its value stand.
    pub fn place(&self, key: &str) -> Option<Range<usize>> {
        let (key, value) = self.entry(key)?;
        Some(key.span().start..value.span().end)
    }

    fn entry(&self, key: &str) -> Option<(&Spanned<String>, &Spanned<toml::Value>)> {
        self.others.iter().find(|(known, _)| known.get_ref() == key)
    }

    /// Whether the table has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        match key {
            "fmu" => self.fmu.is_some(),
            "equations" => self.equations.is_some(),
            _ => self.entry(key).is_some(),
        }
    }

    /// Reads the value of a key.
    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        key: Spanned<String>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match key.get_ref().as_str() {
            "fmu" => self.fmu = map.next_value()?,
            "interface" => self.interface = map.next_value()?,
            "probe" => self.probe = map.next_value()?,
            "continuous" => self.continuous = map.next_value()?,
            "sub-steps" => self.sub_steps = map.next_value()?,
            "inputs" => self.inputs = map.next_value()?,
            "parameters" => self.parameters = map.next_value()?,
            "states" => self.states = map.next_value()?,
            "discrete" => self.discrete = map.next_value()?,
            "sample" => self.sample = map.next_value()?,
            "when" => self.when = map.next_value()?,
            "equations" => self.equations = map.next_value()?,
            "outputs" => self.outputs = map.next_value()?,
            "units" => self.units = map.next_value()?,
            "imposed-step" => self.imposed_step = map.next_value()?,
            "restrict" => self.restrict = map.next_value()?,
            _ => {
                let value = map.next_value()?;
                self.others.insert(key, value);
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for SystemTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = SystemTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct SystemTable")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SystemTable, A::Error> {
                let mut table = SystemTable::default();
                while let Some(key) = map.next_key()? {
                    table.read(key, &mut map)?;
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}
