//! Connections as they are written to edges of the graph. Which way values flow the kinds of the
//! connectors say.

use crate::error::{Place, SspError, known_keys};
use crate::flattener::{Flattener, Member};
use crate::graph::{Edge, Node, owner_of};
use crate::ssd::{ConnectionElement, End};
use crate::structure::{Connector, DataType, Kind};

/// What a connector can be to a connection.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Source,
    Sink,
    Either,
}

impl Role {
    fn opposite(self) -> Self {
        match self {
            Self::Source => Self::Sink,
            Self::Sink => Self::Source,
            Self::Either => Self::Either,
        }
    }
}

/// A connector that a connection names.
enum Handle {
    Node(usize),
    /// A reference to a dictionary, which has a node for each direction.
    Dictionary(usize, String),
}

impl Flattener<'_> {
    pub fn connect(
        &mut self,
        scope: usize,
        connection: &ConnectionElement,
    ) -> Result<(), SspError> {
        let place = &connection.place;
        let (start, start_role) = self.end(scope, &connection.start, place)?;
        let (end, end_role) = self.end(scope, &connection.end, place)?;
        let mut from = (start, &connection.start.indices);
        let mut to = (end, &connection.end.indices);

        if !self.forward(start_role, end_role, connection)? {
            std::mem::swap(&mut from, &mut to);
        }

        let edge = Edge {
            from: self.node(from.0, false, place)?,
            from_indices: from.1.clone(),
            to: self.node(to.0, true, place)?,
            to_indices: to.1.clone(),
            transformation: connection.transformation.clone(),
            suppress_unit_conversion: connection.suppress_unit_conversion,
            place: place.clone(),
        };
        self.refuse_clocks([edge.from, edge.to], place)?;

        if !self.graph.connect(edge)? {
            let message = "this connection is there already; the first one counts";
            self.library.warn(place, message);
        }
        Ok(())
    }

    /// A connector of the component that only stands outside.
    pub fn placeholder(&mut self, scope: usize, connector: &Connector) {
        let scope = &mut self.scopes[scope];
        let node = Node::new(owner_of(connector.kind), &scope.path, connector);
        let node = (self.graph.add(node), connector.kind);
        scope.connectors.insert(connector.name.clone(), node);
    }

    fn forward(
        &mut self,
        start: Role,
        end: Role,
        connection: &ConnectionElement,
    ) -> Result<bool, SspError> {
        match (start, end) {
            (Role::Source, Role::Sink | Role::Either) | (Role::Either, Role::Sink) => Ok(true),
            (Role::Sink, Role::Source | Role::Either) | (Role::Either, Role::Source) => Ok(false),
            (Role::Either, Role::Either) => {
                let message =
                    "neither connector says which way values flow; from start to end was taken";
                self.library.warn(&connection.place, message);
                Ok(true)
            }
            (Role::Source, Role::Source) | (Role::Sink, Role::Sink) => {
                let what = if start == Role::Source {
                    "give values"
                } else {
                    "take values"
                };
                let message = format!(
                    "`{}` and `{}` both {what} here; correct the kind of one of them, or the \
                     connection",
                    label(&connection.start),
                    label(&connection.end),
                );
                Err(SspError::connection(&connection.place, message))
            }
        }
    }

    fn end(&mut self, scope: usize, end: &End, place: &Place) -> Result<(Handle, Role), SspError> {
        let Some(element) = &end.element else {
            return self.own(scope, end, place);
        };
        match self.scopes[scope].elements.get(element).copied() {
            Some(Member::Component(component)) => Ok(self.component_end(component, end, place)),
            Some(Member::System(inner)) => self.system_end(inner, end, place),
            Some(Member::Dictionary(reference)) => Ok(self.dictionary_end(reference, end)),
            None if *element == self.scopes[scope].name => self.own(scope, end, place),
            None => Err(SspError::Unknown {
                place: place.clone(),
                what: "element",
                name: element.clone(),
                owner: self.owner(scope),
                help: known_keys(&self.scopes[scope].elements),
            }),
        }
    }

    fn system_end(
        &self,
        inner: usize,
        end: &End,
        place: &Place,
    ) -> Result<(Handle, Role), SspError> {
        let (node, kind) = self.connector(inner, end, place)?;
        Ok((Handle::Node(node), outside(kind)))
    }

    fn connector(&self, scope: usize, end: &End, place: &Place) -> Result<(usize, Kind), SspError> {
        let found = self.scopes[scope].connectors.get(&end.connector);
        found
            .copied()
            .ok_or_else(|| self.no_connector(scope, end, place))
    }

    fn dictionary_end(&self, reference: usize, end: &End) -> (Handle, Role) {
        let connectors = &self.references[reference].connectors;
        let declared = connectors.get(&end.connector);
        let role = declared.map_or(Role::Either, |connector| outside(connector.kind));
        (Handle::Dictionary(reference, end.connector.clone()), role)
    }

    /// A connector of the system that the connection is in: what flows in from outside is a source
    /// here.
    fn own(&self, scope: usize, end: &End, place: &Place) -> Result<(Handle, Role), SspError> {
        let (node, kind) = self.connector(scope, end, place)?;
        Ok((Handle::Node(node), outside(kind).opposite()))
    }

    fn component_end(&mut self, component: usize, end: &End, place: &Place) -> (Handle, Role) {
        if let Some(&node) = self.connectors[component].get(&end.connector) {
            let kind = self.kinds[component].get(&end.connector).copied();
            return (Handle::Node(node), kind.map_or(Role::Either, outside));
        }

        let name = self.components[component].name.clone();
        let message = format!(
            "`{name}` does not declare its connector `{}`",
            end.connector
        );
        self.library.warn(place, message);
        let node = self
            .graph
            .add(Node::undeclared(component, &name, &end.connector));
        self.connectors[component].insert(end.connector.clone(), node);

        (Handle::Node(node), Role::Either)
    }

    fn node(&mut self, handle: Handle, is_sink: bool, place: &Place) -> Result<usize, SspError> {
        match handle {
            Handle::Node(node) => Ok(node),
            Handle::Dictionary(reference, name) => {
                self.reference_node(reference, name, is_sink, place)
            }
        }
    }

    fn refuse_clocks(&self, ends: [usize; 2], place: &Place) -> Result<(), SspError> {
        let Some(clock) = ends
            .iter()
            .find(|&&node| self.graph.nodes[node].data_type == Some(DataType::Clock))
        else {
            return Ok(());
        };
        Err(SspError::Unsupported {
            place: place.clone(),
            what: format!("`{}`, a clock,", self.graph.name(*clock)),
            help: "clocks are not coupled; remove the connection",
        })
    }

    fn owner(&self, scope: usize) -> String {
        match self.scopes[scope].path.as_str() {
            "" => "the root system".into(),
            path => format!("the system `{path}`"),
        }
    }

    fn no_connector(&self, scope: usize, end: &End, place: &Place) -> SspError {
        SspError::Unknown {
            place: place.clone(),
            what: "connector",
            name: end.connector.clone(),
            owner: self.owner(scope),
            help: known_keys(&self.scopes[scope].connectors),
        }
    }
}

/// What a connector is to a connection outside of its element.
fn outside(kind: Kind) -> Role {
    match kind {
        Kind::Input | Kind::Parameter | Kind::StructuralParameter => Role::Sink,
        Kind::Output | Kind::CalculatedParameter | Kind::Constant | Kind::Local => Role::Source,
        Kind::Inout | Kind::Unspecified => Role::Either,
    }
}

fn label(end: &End) -> String {
    end.element.as_ref().map_or_else(
        || end.connector.clone(),
        |element| format!("{element}.{}", end.connector),
    )
}
