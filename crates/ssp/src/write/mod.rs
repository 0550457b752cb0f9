//! System structures as files: what [`read`](crate::read) understands, and other tools.
//!
//! Who writes one has components with their FMUs, connections between their variables, and values;
//! here they become the text of an `.ssd` and of one `.ssv` for each component that has values.

mod declared;
mod ssd;
mod ssv;
mod types;
mod xml;

use crate::structure::{DataType, Implementation, Kind};
use crate::transform::Map;
use crate::unit::UnitDef;
use crate::value::{Enumeration, ParameterValue};

use self::declared::Declared;
pub(crate) use self::ssd::METHOD_ANNOTATION;

/// The versions of SSP that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SspVersion {
    /// SSP 1.0: no arrays, and the types of FMI 2.0.
    One,
    /// SSP 2.0.
    Two,
}

/// A system structure to be written.
#[derive(Clone, Debug)]
pub struct WrittenStructure {
    /// Its name.
    pub name: String,
    /// The program that writes it, with its version.
    pub generation_tool: String,
    /// Its components.
    pub components: Vec<WrittenComponent>,
    /// What connects them.
    pub connections: Vec<WrittenConnection>,
    /// Start of the default experiment.
    pub start_time: f64,
    /// Its end.
    pub stop_time: f64,
    /// The method and its options, which SSP has no place for: kept in an annotation.
    pub run_options: Vec<(String, String)>,
}

/// A component.
#[derive(Clone, Debug)]
pub struct WrittenComponent {
    /// Its name.
    pub name: String,
    /// The FMU, seen from the folder of the package.
    pub source: String,
    /// The interface of the FMU that is meant.
    pub implementation: Implementation,
    /// Its inputs and outputs.
    pub connectors: Vec<WrittenConnector>,
    /// The values of its parameters and start values.
    pub parameters: Vec<WrittenParameter>,
}

/// A connector.
#[derive(Clone, Debug)]
pub struct WrittenConnector {
    /// The name of the variable.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// What its values are.
    pub typing: WrittenType,
    /// The sizes of an array; none for a scalar.
    pub dimensions: Vec<u64>,
}

/// A value of a variable.
#[derive(Clone, Debug)]
pub struct WrittenParameter {
    /// The name of the variable.
    pub name: String,
    /// What its values are.
    pub typing: WrittenType,
    /// The values, element by element.
    pub value: ParameterValue,
    /// The sizes of an array; none for a scalar.
    pub dimensions: Vec<u64>,
}

/// What the values of a variable are.
#[derive(Clone, Debug)]
pub struct WrittenType {
    /// The type.
    pub data_type: DataType,
    /// The unit, where it is defined.
    pub unit: Option<UnitDef>,
    /// The items of an enumeration.
    pub enumeration: Option<Enumeration>,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct WrittenEnd {
    /// Position among the components.
    pub component: usize,
    /// The variable.
    pub connector: String,
    /// The element of an array; none is the whole variable.
    pub indices: Vec<u64>,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct WrittenConnection {
    /// Where values come from.
    pub from: WrittenEnd,
    /// Where they go.
    pub to: WrittenEnd,
    /// What happens to them on the way, in place of a conversion of units; none: what the units of
    /// both ends ask for.
    pub map: Option<Map>,
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Seen from the folder of the package.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What a version of SSP cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{component}.{variable}` {what}")]
pub struct NotInSsp {
    /// The component.
    pub component: String,
    /// The variable.
    pub variable: String,
    /// What stands in the way.
    pub what: String,
    /// Whether SSP 2.0 can say it.
    pub in_two: bool,
}

/// The files of a package without its FMUs: the `.ssd` first.
pub fn write(
    structure: &WrittenStructure,
    version: SspVersion,
) -> Result<Vec<WrittenFile>, NotInSsp> {
    for component in &structure.components {
        types::check(component, version)?;
    }

    let mut files = vec![WrittenFile {
        name: crate::DEFAULT_SSD.to_owned(),
        text: ssd::text(structure, version),
    }];
    let with_values = structure.components.iter().enumerate();
    let with_values = with_values.filter(|(_, component)| !component.parameters.is_empty());
    files.extend(with_values.map(|(position, component)| WrittenFile {
        name: values_file(position, component),
        text: ssv::text(component, version),
    }));
    Ok(files)
}

/// The file of the values of a component, whose name may have letters that a file name may not.
fn values_file(position: usize, component: &WrittenComponent) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = component.name.chars().map(plain).collect();
    format!("resources/{}-{name}.ssv", position + 1)
}

impl SspVersion {
    /// The attribute of all files.
    fn number(self) -> &'static str {
        match self {
            Self::One => "1.0",
            Self::Two => "2.0",
        }
    }
}

/// What a parameter set declares: units and enumerations of these types.
fn declared<'a>(types: impl Iterator<Item = &'a WrittenType>) -> Declared {
    let mut declared = Declared::default();
    types.for_each(|typing| declared.add(typing));
    declared
}
