//! What is known of systems of all levels while they are flattened.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use crate::binding::Binding;
use crate::graph::Graph;
use crate::library::Library;
use crate::source::Folder;
use crate::ssd::Description;
use crate::structure::{Component, Connector, Kind};

/// A system with its place in the hierarchy.
pub(crate) struct Scope {
    pub path: String,
    /// The system's own name, which some tools write where nothing should stand.
    pub name: String,
    pub connectors: HashMap<String, (usize, Kind)>,
    pub elements: HashMap<String, Member>,
}

/// What an element has become.
#[derive(Clone, Copy)]
pub(crate) enum Member {
    Component(usize),
    System(usize),
    Dictionary(usize),
}

/// An element with parameter bindings.
pub(crate) struct Bound {
    pub member: Member,
    pub description: Rc<Description>,
    pub system: usize,
    pub element: Option<usize>,
    pub folder: Folder,
    /// The file of a component.
    pub source: Option<PathBuf>,
}

impl Bound {
    pub fn bindings(&self) -> &[Binding] {
        let system = &self.description.systems[self.system];
        self.element.map_or(&system.bindings, |element| {
            &system.elements[element].bindings
        })
    }
}

/// A file and where it is.
#[derive(Clone)]
pub(crate) struct Located {
    pub file: PathBuf,
    pub folder: Folder,
    pub description: Rc<Description>,
}

impl Located {
    /// The root system, which is read last.
    pub fn root(&self) -> usize {
        self.description.systems.len() - 1
    }
}

pub(crate) struct Flattener<'u> {
    pub library: Library<'u>,
    pub graph: Graph,
    pub scopes: Vec<Scope>,
    pub components: Vec<Component>,
    /// Nodes of the connectors of each component, and their kinds.
    pub connectors: Vec<HashMap<String, usize>>,
    pub kinds: Vec<HashMap<String, Kind>>,
    pub references: Vec<DictionaryReference>,
    /// Nodes of the entries of each dictionary.
    pub dictionaries: Vec<HashMap<String, usize>>,
    /// Dictionaries by name, of the systems around.
    pub visible: Vec<HashMap<String, usize>>,
    pub bound: Vec<Bound>,
    pub names: HashSet<String>,
    /// The systems around.
    pub stack: Vec<(PathBuf, usize)>,
    pub elements: usize,
}

impl<'u> Flattener<'u> {
    pub fn new(library: Library<'u>) -> Self {
        Self {
            library,
            graph: Graph::default(),
            scopes: Vec::new(),
            components: Vec::new(),
            connectors: Vec::new(),
            kinds: Vec::new(),
            references: Vec::new(),
            dictionaries: Vec::new(),
            visible: Vec::new(),
            bound: Vec::new(),
            names: HashSet::new(),
            stack: Vec::new(),
            elements: 0,
        }
    }
}

/// A reference to a signal dictionary.
pub(crate) struct DictionaryReference {
    pub path: String,
    pub dictionary: usize,
    pub connectors: HashMap<String, Connector>,
    /// Nodes by the name of the connector and the direction of the values, which may be both.
    pub nodes: HashMap<(String, bool), usize>,
}
