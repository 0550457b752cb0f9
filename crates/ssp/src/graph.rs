//! The connectors of all levels as nodes, and what connects them as edges in the direction of the
//! values.

use std::collections::HashMap;

use crate::error::{Place, SspError, dotted};
use crate::structure::{Connector, DataType, Kind};
use crate::transform::Map;
use crate::unit::UnitDef;
use crate::value::Enumeration;

/// What a node belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owner {
    /// A component, where values begin and end.
    Component(usize),
    /// A system, into which values flow here.
    Into,
    /// A system, out of which values flow here; or a signal dictionary.
    OutOf,
}

pub(crate) struct Node {
    pub owner: Owner,
    /// The system or component, for messages and empty for the root.
    pub path: String,
    pub name: String,
    pub data_type: Option<DataType>,
    pub unit: Option<UnitDef>,
    pub enumeration: Option<Enumeration>,
    pub incoming: Vec<usize>,
    pub outgoing: Vec<usize>,
}

impl Owner {
    pub fn is_component(&self) -> bool {
        matches!(self, Self::Component(_))
    }
}

impl Node {
    pub fn new(owner: Owner, path: &str, connector: &Connector) -> Self {
        Self {
            data_type: connector.data_type,
            unit: connector.unit.clone(),
            enumeration: connector.enumeration.clone(),
            ..Self::untyped(owner, path, &connector.name)
        }
    }

    fn untyped(owner: Owner, path: &str, name: &str) -> Self {
        Self {
            owner,
            path: path.into(),
            name: name.into(),
            data_type: None,
            unit: None,
            enumeration: None,
            incoming: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// A connector of a component that the system structure uses without having declared it.
    pub fn undeclared(component: usize, path: &str, name: &str) -> Self {
        Self::untyped(Owner::Component(component), path, name)
    }

    /// Its name for messages.
    pub fn full_name(&self) -> String {
        dotted(&self.path, &self.name)
    }
}

/// Which way values go through a system's connector.
pub(crate) fn owner_of(kind: Kind) -> Owner {
    match kind {
        Kind::Input | Kind::Parameter | Kind::StructuralParameter => Owner::Into,
        _ => Owner::OutOf,
    }
}

/// A connection between two nodes.
pub(crate) struct Edge {
    pub from: usize,
    pub from_indices: Option<Vec<u64>>,
    pub to: usize,
    pub to_indices: Option<Vec<u64>>,
    pub transformation: Option<Map>,
    pub suppress_unit_conversion: bool,
    pub place: Place,
}

#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// The edge that feeds a node, or an element of it.
    feeding: HashMap<(usize, Option<Vec<u64>>), usize>,
}

impl Graph {
    pub fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds an edge. What is fed twice has no value; only the very same connection may come twice,
    /// and is not added.
    pub fn connect(&mut self, edge: Edge) -> Result<bool, SspError> {
        if let Some(other) = self.clashing(&edge) {
            if other.has_same_ends(&edge) {
                return Ok(false);
            }
            return Err(self.fed_twice(&edge, other));
        }

        let index = self.edges.len();
        let key = (edge.to, edge.to_indices.clone());
        self.feeding.insert(key, index);
        self.nodes[edge.from].outgoing.push(index);
        self.nodes[edge.to].incoming.push(index);
        self.edges.push(edge);

        Ok(true)
    }

    /// An edge that feeds the same node, or an element of it, already.
    fn clashing(&self, edge: &Edge) -> Option<&Edge> {
        let same = self.feeding.get(&(edge.to, edge.to_indices.clone()));
        let clashing = match &edge.to_indices {
            Some(_) => same.or_else(|| self.feeding.get(&(edge.to, None))),
            None => same.or(self.nodes[edge.to].incoming.first()),
        };
        clashing.map(|&index| &self.edges[index])
    }

    fn fed_twice(&self, edge: &Edge, other: &Edge) -> SspError {
        let message = format!(
            "`{}` is fed here by `{}`, and at {} by `{}`; remove one of the two connections",
            self.name(edge.to),
            self.name(edge.from),
            other.place,
            self.name(other.from),
        );
        SspError::connection(&edge.place, message)
    }

    /// The name of a node for messages.
    pub fn name(&self, node: usize) -> String {
        self.nodes[node].full_name()
    }
}

impl Edge {
    /// An edge between whole connectors that changes nothing.
    pub fn plain(from: usize, to: usize, place: &Place) -> Self {
        Self {
            from,
            from_indices: None,
            to,
            to_indices: None,
            transformation: None,
            suppress_unit_conversion: false,
            place: place.clone(),
        }
    }

    /// Whether it leads from or to single elements of arrays.
    pub fn has_indices(&self) -> bool {
        self.from_indices.is_some() || self.to_indices.is_some()
    }

    fn has_same_ends(&self, other: &Self) -> bool {
        self.from == other.from
            && self.from_indices == other.from_indices
            && self.to_indices == other.to_indices
    }
}
