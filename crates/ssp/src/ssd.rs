//! System structure descriptions (`.ssd`) as they are written.

use std::collections::HashMap;
use std::rc::Rc;

use roxmltree::Node;

use crate::binding::{Binding, bindings};
use crate::declarations::{Declarations, transformation, typing};
use crate::error::{Place, SspError};
use crate::source::Reference;
use crate::ssb;
use crate::structure::{Connector, Experiment, Implementation, Kind};
use crate::transform::Map;
use crate::write::METHOD_ANNOTATION;
use crate::xml::{Reader, child, listed, tag, written};

/// Systems nest so deep, over all files together.
pub(crate) const DEEPEST: usize = 64;

/// A file.
pub(crate) struct Description {
    pub name: String,
    pub description: Option<String>,
    pub experiment: Experiment,
    /// What an annotation of ours says of the method.
    pub run_options: Vec<(String, String)>,
    /// The systems of the file; the root is the last.
    pub systems: Vec<System>,
    /// Systems that have an `id`, which components may refer to.
    pub ids: HashMap<String, usize>,
}

/// A system.
pub(crate) struct System {
    pub name: String,
    pub connectors: Vec<Connector>,
    pub bindings: Vec<Binding>,
    pub elements: Vec<Element>,
    pub connections: Vec<ConnectionElement>,
    pub dictionaries: Vec<Dictionary>,
    pub place: Place,
}

/// An element of a system.
pub(crate) struct Element {
    pub name: String,
    pub content: Content,
    /// Those of a component or a dictionary reference; a system has its own.
    pub connectors: Vec<Connector>,
    pub bindings: Vec<Binding>,
    pub place: Place,
}

pub(crate) enum Content {
    System(usize),
    Component {
        media_type: Option<String>,
        source: Option<String>,
        implementation: Implementation,
    },
    DictionaryReference(String),
}

/// A connection. Start and end do not say which way values flow.
pub(crate) struct ConnectionElement {
    pub start: End,
    pub end: End,
    pub transformation: Option<Map>,
    pub suppress_unit_conversion: bool,
    pub place: Place,
}

pub(crate) struct End {
    /// None is the system itself.
    pub element: Option<String>,
    pub connector: String,
    pub indices: Option<Vec<u64>>,
}

/// A signal dictionary of a system.
pub(crate) struct Dictionary {
    pub name: String,
    pub content: Reference<Vec<Connector>>,
    pub place: Place,
}

/// Reads a `SystemStructureDescription`.
pub(crate) fn read(reader: &mut Reader, root: Node) -> Result<Description, SspError> {
    check_root(reader, root)?;
    let declarations = Rc::new(Declarations::read(reader, root)?);
    let known = ["System", "Units", "Enumerations", "DefaultExperiment"];
    reader.children(root, &known);
    let Some(system) = child(root, "System") else {
        return Err(reader.malformed(root, "it has no `System`; add the root system"));
    };
    let mut parser = Parser {
        reader,
        declarations,
        systems: Vec::new(),
        ids: HashMap::new(),
    };
    parser.system(system, 1)?;
    let systems = parser.systems;
    let ids = parser.ids;

    Ok(Description {
        name: root.attribute("name").unwrap_or("").to_string(),
        description: root.attribute("description").map(String::from),
        experiment: experiment(reader, root)?,
        run_options: run_options(reader, root)?,
        systems,
        ids,
    })
}

/// Refuses other files, and warns of versions that are not known.
fn check_root(reader: &mut Reader, root: Node) -> Result<(), SspError> {
    if tag(root) != "SystemStructureDescription" {
        let message =
            "the file does not begin with `SystemStructureDescription`; give an .ssd file";
        return Err(reader.malformed(root, message));
    }

    let version = root.attribute("version").unwrap_or("");
    if !version.starts_with("1.") && !version.starts_with("2.") {
        let message =
            format!("the version `{version}` of SSP is not known; the file was read as one of 2.0");
        reader.warn(root, message);
    }
    Ok(())
}

fn experiment(reader: &Reader, root: Node) -> Result<Experiment, SspError> {
    let mut experiment = Experiment::default();
    let Some(node) = child(root, "DefaultExperiment") else {
        return Ok(experiment);
    };
    experiment.start_time = reader.number(node, "startTime")?;
    experiment.stop_time = reader.number(node, "stopTime")?;
    let mut algorithms = node
        .descendants()
        .filter(|node| tag(*node) == "FixedStepAlgorithm");
    experiment.step_size =
        algorithms.find_map(|node| node.attribute("baseStepSize")?.trim().parse().ok());

    Ok(experiment)
}

/// The options of the method, where the structure was written by this library.
fn run_options(reader: &Reader, root: Node) -> Result<Vec<(String, String)>, SspError> {
    let experiment = child(root, "DefaultExperiment");
    let mut annotations = experiment.into_iter().flat_map(|node| node.descendants());
    let ours = annotations.find(|node| {
        tag(*node) == "Annotation" && node.attribute("type") == Some(METHOD_ANNOTATION)
    });
    let options = ours.into_iter().flat_map(|node| node.descendants());
    let options = options.filter(|node| node.tag_name().name() == "Option");
    let pair = |node: Node| {
        let key = reader.required(node, "key")?;
        Ok((key.to_owned(), reader.required(node, "value")?.to_owned()))
    };
    options.map(pair).collect()
}

/// Systems that are nested too deep.
pub(crate) fn too_deep(place: &Place) -> SspError {
    let message = format!("systems are nested more than {DEEPEST} levels deep; join some of them");
    SspError::nesting(place, message)
}

/// What may be in a system.
const SYSTEM_CHILDREN: [&str; 7] = [
    "Connectors",
    "ParameterBindings",
    "Elements",
    "Connections",
    "SignalDictionaries",
    "Units",
    "Enumerations",
];

/// What may be in the elements of a system.
const ELEMENTS: [&str; 3] = ["System", "Component", "SignalDictionaryReference"];

struct Parser<'r, 'w> {
    reader: &'r mut Reader<'w>,
    declarations: Rc<Declarations>,
    systems: Vec<System>,
    ids: HashMap<String, usize>,
}

impl Parser<'_, '_> {
    fn system(&mut self, node: Node, depth: usize) -> Result<usize, SspError> {
        let place = self.reader.place(node);
        if depth > DEEPEST {
            return Err(too_deep(&place));
        }

        self.reader.children(node, &SYSTEM_CHILDREN);
        let elements = self.elements(node, depth)?;
        let connections = listed(node, "Connections", "Connection");
        let dictionaries = listed(node, "SignalDictionaries", "SignalDictionary");
        let system = System {
            name: node.attribute("name").unwrap_or("").into(),
            connectors: self.connectors(node)?,
            bindings: bindings(self.reader, &self.declarations, node)?,
            elements,
            connections: self.each(connections, Self::connection)?,
            dictionaries: self.each(dictionaries, Self::dictionary)?,
            place,
        };

        Ok(self.add(system, node.attribute("id")))
    }

    fn add(&mut self, system: System, id: Option<&str>) -> usize {
        let index = self.systems.len();
        self.systems.push(system);

        if let Some(id) = id {
            self.ids.insert(id.into(), index);
        }
        index
    }

    fn elements(&mut self, system: Node, depth: usize) -> Result<Vec<Element>, SspError> {
        let Some(list) = child(system, "Elements") else {
            return Ok(Vec::new());
        };
        let nodes = self.reader.children(list, &ELEMENTS);
        self.each(nodes, |parser, node| parser.element(node, depth))
    }

    fn element(&mut self, node: Node, depth: usize) -> Result<Element, SspError> {
        let name = self.reader.name(node)?.to_string();
        if name.is_empty() {
            let message = "its name is empty; give it one";
            return Err(self.reader.malformed(node, message));
        }

        let mut element = Element {
            name,
            content: Content::DictionaryReference(String::new()),
            connectors: Vec::new(),
            bindings: Vec::new(),
            place: self.reader.place(node),
        };
        match tag(node) {
            "System" => element.content = Content::System(self.system(node, depth + 1)?),
            "Component" => {
                self.reader
                    .children(node, &["Connectors", "ParameterBindings"]);
                element.bindings = bindings(self.reader, &self.declarations, node)?;
                element.connectors = self.connectors(node)?;
                element.content = self.component(node);
            }
            _ => {
                let dictionary = self.reader.required(node, "dictionary")?.to_string();
                element.connectors = self.connectors(node)?;
                element.content = Content::DictionaryReference(dictionary);
            }
        }
        Ok(element)
    }

    fn component(&mut self, node: Node) -> Content {
        let implementation = match node.attribute("implementation") {
            None | Some("any") => Implementation::Any,
            Some("CoSimulation") => Implementation::CoSimulation,
            Some("ModelExchange") => Implementation::ModelExchange,
            Some("ScheduledExecution") => Implementation::ScheduledExecution,
            Some(other) => {
                let message = format!("the implementation `{other}` is not known; any was taken");
                self.reader.warn(node, message);
                Implementation::Any
            }
        };
        let text = |attribute| node.attribute(attribute).map(String::from);

        Content::Component {
            media_type: text("type"),
            source: text("source"),
            implementation,
        }
    }

    fn connectors(&mut self, node: Node) -> Result<Vec<Connector>, SspError> {
        self.each(listed(node, "Connectors", "Connector"), Self::connector)
    }

    /// Reads nodes of one kind.
    fn each<'a, 'i, T>(
        &mut self,
        nodes: Vec<Node<'a, 'i>>,
        read: impl Fn(&mut Self, Node<'a, 'i>) -> Result<T, SspError>,
    ) -> Result<Vec<T>, SspError> {
        nodes.into_iter().map(|node| read(self, node)).collect()
    }

    fn connector(&mut self, node: Node) -> Result<Connector, SspError> {
        let typing = typing(self.reader, &self.declarations, node)?;
        let name = self.reader.name(node)?;
        let kind = self.kind(node);
        Ok(typing.into_connector(name, kind, self.reader.place(node)))
    }

    fn kind(&mut self, node: Node) -> Kind {
        match node.attribute("kind") {
            Some("input") => Kind::Input,
            Some("output") => Kind::Output,
            Some("parameter") => Kind::Parameter,
            Some("calculatedParameter") => Kind::CalculatedParameter,
            Some("structuralParameter") => Kind::StructuralParameter,
            Some("constant") => Kind::Constant,
            Some("local") => Kind::Local,
            Some("inout") => Kind::Inout,
            Some("unspecified") | None => Kind::Unspecified,
            Some(other) => {
                self.reader.warn(
                    node,
                    format!("the kind `{other}` of a connector is not known; taken as unspecified"),
                );
                Kind::Unspecified
            }
        }
    }

    fn connection(&mut self, node: Node) -> Result<ConnectionElement, SspError> {
        Ok(ConnectionElement {
            start: self.end(node, ["startElement", "startConnector", "startIndices"])?,
            end: self.end(node, ["endElement", "endConnector", "endIndices"])?,
            transformation: transformation(self.reader, node)?,
            suppress_unit_conversion: self.reader.flag(node, "suppressUnitConversion")?,
            place: self.reader.place(node),
        })
    }

    fn end(
        &mut self,
        node: Node,
        [element, connector, indices]: [&str; 3],
    ) -> Result<End, SspError> {
        let list = |text: &str| {
            let words = text
                .split([' ', '\t', '\n', ','])
                .filter(|word| !word.is_empty());
            words
                .map(|word| self.reader.parse(node, indices, word))
                .collect::<Result<Vec<u64>, _>>()
        };
        let found = node.attribute(indices).map(list).transpose()?;

        Ok(End {
            element: written(node, element).map(String::from),
            connector: self.reader.required(node, connector)?.into(),
            indices: found.filter(|list| !list.is_empty()),
        })
    }

    fn dictionary(&mut self, node: Node) -> Result<Dictionary, SspError> {
        Ok(Dictionary {
            name: self.reader.name(node)?.into(),
            content: self.dictionary_content(node)?,
            place: self.reader.place(node),
        })
    }

    fn dictionary_content(&mut self, node: Node) -> Result<Reference<Vec<Connector>>, SspError> {
        if let Some(source) = node.attribute("source") {
            return Ok(Reference::external(source, node));
        }

        let entries = match child(node, "SignalDictionary") {
            Some(inner) => ssb::read(self.reader, inner, &self.declarations)?,
            None => Vec::new(),
        };
        Ok(Reference::Inline(entries))
    }
}
