//! A package in a folder of its own, made of texts.

#![allow(dead_code)] // each test file uses a part

use std::path::{Path, PathBuf};

use dovetail_ssp::{Component, Connection, ParameterValue, SspError, Structure, read};

const NAMESPACES: &str = r#"xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary" xmlns:other="http://example.org/other""#;

/// Units for all tests.
pub const UNITS: &str = r#"<ssd:Units>
<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>
<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
</ssd:Units>"#;

/// An .ssd with a root system of this content.
pub fn ssd(system: &str) -> String {
    ssd_with(system, UNITS)
}

/// An .ssd with a root system of this content and something after it.
pub fn ssd_with(system: &str, after: &str) -> String {
    format!(
        "<ssd:SystemStructureDescription {NAMESPACES} version=\"2.0\" name=\"test\">\n\
         <ssd:System name=\"root\">\n{system}\n</ssd:System>\n{after}\n</ssd:SystemStructureDescription>"
    )
}

/// A file of another kind: `ssv:ParameterSet` and the like.
pub fn file(element: &str, content: &str) -> String {
    format!("<{element} {NAMESPACES} version=\"1.0\" name=\"set\">\n{content}\n</{element}>")
}

/// A parameter set with numbers.
pub fn numbers(values: &[(&str, f64)]) -> String {
    let parameter = |(name, value): &(&str, f64)| {
        format!("<ssv:Parameter name=\"{name}\"><ssv:Real value=\"{value}\"/></ssv:Parameter>\n")
    };
    format!(
        "<ssv:Parameters>\n{}</ssv:Parameters>",
        values.iter().map(parameter).collect::<String>()
    )
}

/// A binding with its values in place.
pub fn inline(values: &[(&str, f64)]) -> String {
    let set = numbers(values);
    format!(
        "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version=\"1.0\" name=\"p\">{set}</ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>"
    )
}

/// Connectors, as `kind name unit`, the last of which may be left out.
pub fn connectors(all: &[&str]) -> String {
    let connector = |text: &&str| {
        let mut words = text.split(' ');
        let (kind, name) = (words.next().unwrap(), words.next().unwrap());
        let unit = words
            .next()
            .map_or(String::new(), |unit| format!(" unit=\"{unit}\""));
        format!(
            "<ssd:Connector name=\"{name}\" kind=\"{kind}\"><ssc:Real{unit}/></ssd:Connector>\n"
        )
    };
    format!(
        "<ssd:Connectors>\n{}</ssd:Connectors>",
        all.iter().map(connector).collect::<String>()
    )
}

/// A component that is an FMU.
pub fn unit(name: &str, all: &[&str]) -> String {
    unit_with(name, all, "")
}

/// A component that is an FMU, with bindings or the like.
pub fn unit_with(name: &str, all: &[&str], more: &str) -> String {
    let connectors = connectors(all);
    format!(
        "<ssd:Component name=\"{name}\" source=\"Unit.fmu\">{connectors}{more}</ssd:Component>\n"
    )
}

/// A connection between `element.connector`s, or connectors of the system, with something inside.
pub fn connect(start: &str, end: &str, more: &str) -> String {
    let side = |side: &str, name: &str| match name.rsplit_once('/') {
        Some((element, connector)) => {
            format!("{side}Element=\"{element}\" {side}Connector=\"{connector}\"")
        }
        None => format!("{side}Connector=\"{name}\""),
    };
    format!(
        "<ssd:Connection {} {}>{more}</ssd:Connection>\n",
        side("start", start),
        side("end", end)
    )
}

/// A folder with the FMU `Unit.fmu`.
pub struct Package {
    folder: tempfile::TempDir,
}

impl Package {
    pub fn new(ssd: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Unit.fmu"), "").unwrap();
        Self { folder }.with("SystemStructure.ssd", ssd)
    }

    pub fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn read(&self) -> Result<Structure, SspError> {
        self.read_file("SystemStructure.ssd")
    }

    /// Archives are "unpacked" to the folder that has their name and `.d`.
    pub fn read_file(&self, name: &str) -> Result<Structure, SspError> {
        let mut unpack = |archive: &Path| {
            let mut folder = archive.as_os_str().to_owned();
            folder.push(".d");
            let folder = PathBuf::from(folder);
            if folder.is_dir() {
                Ok(folder)
            } else {
                Err("no such folder".to_string())
            }
        };
        read(&self.path().join(name), self.path(), &mut unpack)
    }

    pub fn good(&self) -> Structure {
        self.read().unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn bad(&self) -> String {
        self.read().expect_err("this package is bad").to_string()
    }
}

/// A structure of a root system with this content.
pub fn structure(system: &str) -> Structure {
    Package::new(&ssd(system)).good()
}

/// The message of a root system that is wrong.
pub fn refused(system: &str) -> String {
    Package::new(&ssd(system)).bad()
}

/// Elements and connections.
pub fn system(elements: &str, connections: &str) -> String {
    format!(
        "<ssd:Elements>{elements}</ssd:Elements><ssd:Connections>{connections}</ssd:Connections>"
    )
}

/// Connections as `a.y -> b.u: factor offset`.
pub fn described(structure: &Structure) -> Vec<String> {
    structure
        .connections
        .iter()
        .map(|connection| describe(structure, connection))
        .collect()
}

fn describe(structure: &Structure, connection: &Connection) -> String {
    let name = |end: &dovetail_ssp::Endpoint| {
        let indices = end
            .indices
            .as_ref()
            .map_or(String::new(), |indices| format!("{indices:?}"));
        format!(
            "{}.{}{indices}",
            structure.components[end.component].name, end.variable
        )
    };
    let transform = connection.route.resolve(None, None).unwrap();
    let change = match transform.linear() {
        Some((1.0, 0.0)) => String::new(),
        Some((factor, offset)) => format!(": {factor} {offset}"),
        None => format!(": {:?}", transform.maps),
    };
    format!(
        "{} -> {}{change}",
        name(&connection.from),
        name(&connection.to)
    )
}

pub fn component<'a>(structure: &'a Structure, name: &str) -> &'a Component {
    structure
        .components
        .iter()
        .find(|component| component.name == name)
        .unwrap()
}

/// The float of a parameter whose unit the variable leaves open.
pub fn float(structure: &Structure, owner: &str, name: &str) -> Option<f64> {
    let parameter = component(structure, owner)
        .parameters
        .iter()
        .find(|parameter| parameter.name == name)?;
    match parameter.value_in(None).unwrap() {
        ParameterValue::Float(values) => Some(values[0]),
        other => panic!("{other:?}"),
    }
}
