//! From the inputs of components back to the outputs that feed them, through the connectors of all
//! systems between.

use std::mem::take;

use crate::error::SspError;
use crate::graph::{Edge, Graph, Node, Owner};
use crate::structure::{Connection, Endpoint};
use crate::transform::{Map, Route, Step};
use crate::unit::{UnitDef, UnitMismatch};
use crate::value::{Enumeration, EnumerationItem};

/// The connections between components, in the order of what they feed.
pub(crate) fn connections(graph: &Graph) -> Result<Vec<Connection>, SspError> {
    let mut connections = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        if node.owner.is_component() {
            trace(graph, index, &mut connections)?;
        }
    }
    Ok(connections)
}

/// A place on the way back.
struct Position {
    node: usize,
    /// The element of it that is wanted.
    wanted: Option<Vec<u64>>,
    /// The element of the fed variable that this is for.
    fed: Option<Vec<u64>>,
    /// The edges passed, from the end.
    passed: Vec<usize>,
}

fn trace(graph: &Graph, sink: usize, connections: &mut Vec<Connection>) -> Result<(), SspError> {
    let mut open = vec![Position {
        node: sink,
        wanted: None,
        fed: None,
        passed: Vec::new(),
    }];
    while let Some(mut position) = open.pop() {
        let node = &graph.nodes[position.node];
        if node.owner.is_component() && !position.passed.is_empty() {
            connections.push(connection(graph, sink, position)?);
            continue;
        }
        if position.passed.len() > graph.edges.len() {
            return Err(circular(graph, &position));
        }
        for (number, &index) in node.incoming.iter().enumerate().rev() {
            let Some((wanted, fed)) = elements(&graph.edges[index], &position)? else {
                continue;
            };
            // Only arrays that are fed element by element have more than one. The last takes the
            // list along.
            let mut passed = if number == 0 {
                take(&mut position.passed)
            } else {
                position.passed.clone()
            };
            passed.push(index);
            open.push(Position {
                node: graph.edges[index].from,
                wanted,
                fed,
                passed,
            });
        }
    }
    Ok(())
}

fn circular(graph: &Graph, position: &Position) -> SspError {
    let name = graph.name(position.node);
    let last = position.passed[position.passed.len() - 1];
    let message = format!(
        "`{name}` feeds itself and no component's output is on the way; remove a connection"
    );

    SspError::connection(&graph.edges[last].place, message)
}

type Indices = Option<Vec<u64>>;

/// The elements before and after an edge, if it brings the one that is wanted.
fn elements(edge: &Edge, position: &Position) -> Result<Option<(Indices, Indices)>, SspError> {
    let nested = || SspError::Unsupported {
        place: edge.place.clone(),
        what: "an element of an array that is itself an element of an array".into(),
        help: "connect the element directly",
    };
    match (&position.wanted, &edge.to_indices) {
        (None, None) => Ok(Some((edge.from_indices.clone(), position.fed.clone()))),
        (None, Some(_)) if position.fed.is_some() => Err(nested()),
        (None, Some(element)) => Ok(Some((edge.from_indices.clone(), Some(element.clone())))),
        (Some(_), None) if edge.from_indices.is_some() => Err(nested()),
        (Some(wanted), None) => Ok(Some((Some(wanted.clone()), position.fed.clone()))),
        (Some(wanted), Some(element)) if wanted == element => {
            Ok(Some((edge.from_indices.clone(), position.fed.clone())))
        }
        (Some(_), Some(_)) => Ok(None),
    }
}

fn connection(graph: &Graph, sink: usize, position: Position) -> Result<Connection, SspError> {
    let source = &graph.nodes[position.node];
    let target = &graph.nodes[sink];
    let edges = position.passed.iter().rev();
    let legs: Vec<Leg> = edges.map(|&edge| Leg::of(graph, edge)).collect();
    let start = source.unit.as_ref().map_or(Symbol::Source, Symbol::Unit);
    let route = compile(Some(start), source.enumeration.as_ref(), &legs);
    let route = route.map_err(|(leg, mismatch)| {
        let passed = position.passed.len() - 1 - leg;
        let edge = &graph.edges[position.passed[passed]];
        different_units(graph, edge, mismatch)
    })?;

    Ok(Connection {
        from: endpoint(source, position.wanted),
        to: endpoint(target, position.fed),
        route,
        from_unit: source.unit.clone(),
        to_unit: target.unit.clone(),
        place: graph.edges[position.passed[0]].place.clone(),
    })
}

fn different_units(graph: &Graph, edge: &Edge, mismatch: UnitMismatch) -> SspError {
    let names = [edge.from, edge.to].map(|node| graph.name(node));
    SspError::units(&edge.place, names, mismatch)
}

fn endpoint(node: &Node, indices: Indices) -> Endpoint {
    let Owner::Component(component) = node.owner else {
        unreachable!("BUG: a connection ends at a system")
    };
    Endpoint {
        component,
        variable: node.name.clone(),
        indices,
    }
}

/// One connection of a path: what happens, and where it leads.
pub(crate) struct Leg<'a> {
    pub owner: &'a Owner,
    pub unit: Option<&'a UnitDef>,
    pub enumeration: Option<&'a Enumeration>,
    pub map: Option<&'a Map>,
    pub suppress_unit_conversion: bool,
}

impl<'a> Leg<'a> {
    /// The unit where it leads; a component without one has that of its variable.
    fn declared_unit(&self) -> Option<Symbol<'a>> {
        match self.unit {
            Some(unit) => Some(Symbol::Unit(unit)),
            None if self.owner.is_component() => Some(Symbol::Target),
            None => None,
        }
    }

    pub fn of(graph: &'a Graph, edge: usize) -> Self {
        let edge = &graph.edges[edge];
        let map = edge.transformation.as_ref();
        Self::to(&graph.nodes[edge.to], map, edge.suppress_unit_conversion)
    }

    pub fn to(node: &'a Node, map: Option<&'a Map>, suppress_unit_conversion: bool) -> Self {
        let enumeration = node.enumeration.as_ref();
        Self {
            owner: &node.owner,
            unit: node.unit.as_ref(),
            enumeration,
            map,
            suppress_unit_conversion,
        }
    }
}

/// The unit at a connector.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Symbol<'a> {
    /// That of the variable that values come from.
    Source,
    /// That of the variable that they go to.
    Target,
    Unit(&'a UnitDef),
}

impl<'a> Symbol<'a> {
    fn unit(self) -> Option<&'a UnitDef> {
        match self {
            Symbol::Unit(unit) => Some(unit),
            _ => None,
        }
    }
}

/// The route along `legs`; an error names the leg. Without `start` the value is in the unit of
/// where it goes first.
///
/// On each leg a conversion comes before the transformation, as SSP has it.
pub(crate) fn compile<'a>(
    start: Option<Symbol<'a>>,
    enumeration: Option<&'a Enumeration>,
    legs: &[Leg<'a>],
) -> Result<Route, (usize, UnitMismatch)> {
    let units = units(start, legs);
    let mut route = Route::default();
    let mut before = enumeration;

    for (index, leg) in legs.iter().enumerate() {
        let from = units[index];
        let to = units[index + 1];
        if from != to && !leg.suppress_unit_conversion {
            route
                .convert(from.unit(), to.unit())
                .map_err(|mismatch| (index, mismatch))?;
        }
        if let Some(map) = leg.map {
            route
                .steps
                .push(Step::Map(numbered(map, before, leg.enumeration)));
        }
        before = leg.enumeration;
    }
    Ok(route)
}

/// The units at all connectors of a path. A system's connector without one has that of the
/// connector *inside* the system that it is connected to.
fn units<'a>(start: Option<Symbol<'a>>, legs: &[Leg<'a>]) -> Vec<Symbol<'a>> {
    let declared = legs.iter().map(|leg| leg.declared_unit());
    let mut units: Vec<Option<Symbol>> = std::iter::once(start).chain(declared).collect();

    for (index, leg) in legs.iter().enumerate().rev() {
        if *leg.owner == Owner::Into && units[index + 1].is_none() {
            units[index + 1] = units.get(index + 2).copied().flatten();
        }
    }

    for index in 1..units.len() {
        units[index] = units[index].or(units[index - 1]);
    }

    for index in (0..legs.len()).rev() {
        units[index] = units[index].or(units[index + 1]);
    }
    units
        .into_iter()
        .map(|unit| unit.unwrap_or(Symbol::Target))
        .collect()
}

/// The table of an enumeration with the numbers of its items on both sides.
fn numbered(map: &Map, source: Option<&Enumeration>, target: Option<&Enumeration>) -> Map {
    let Map::Enumeration(table) = map else {
        return map.clone();
    };
    let item = |item: &EnumerationItem, enumeration: Option<&Enumeration>| EnumerationItem {
        name: item.name.clone(),
        value: enumeration.and_then(|enumeration| enumeration.number(&item.name)),
    };
    Map::Enumeration(
        table
            .iter()
            .map(|(from, to)| (item(from, source), item(to, target)))
            .collect(),
    )
}
