//! Systems of all levels, in all files, down to components, and their connections to one graph.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Place, SspError, dotted};
use crate::flattener::{Bound, Flattener, Located, Member, Scope};
use crate::graph::{Node, Owner, owner_of};
use crate::library::{Library, Unpack};
use crate::parameters::Parameters;
use crate::route::connections;
use crate::source::Folder;
use crate::ssd::{Content, DEEPEST, Description, Element, too_deep};
use crate::structure::{Component, Connector, Structure};

/// More elements than this come of packages that multiply each other.
const MOST_ELEMENTS: usize = 100_000;

pub(crate) fn read<'u>(
    ssd: &Path,
    root: &Path,
    unpack: &'u mut Unpack<'u>,
) -> Result<Structure, SspError> {
    let (file, folder) = located(ssd, root);
    let mut library = Library::new(unpack);
    let description = library.description(&file, &folder)?;
    let at = Located {
        file,
        folder,
        description,
    };
    let mut flattener = Flattener::new(library);
    let place = at.description.systems[at.root()].place.clone();
    flattener.system(&at, at.root(), "", &place)?;

    flattener.finish(&at.description)
}

/// The folder of an .ssd must be a part of the root for paths to be relative to it.
fn located(ssd: &Path, root: &Path) -> (PathBuf, Folder) {
    let folder = Folder::of(ssd, root);
    if !folder.base.starts_with(root)
        && let (Ok(ssd), Ok(root)) = (ssd.canonicalize(), root.canonicalize())
    {
        let folder = Folder::of(&ssd, &root);
        return (ssd, folder);
    }
    (ssd.into(), folder)
}

impl Flattener<'_> {
    fn finish(mut self, description: &Description) -> Result<Structure, SspError> {
        let connections = connections(&self.graph)?;
        let mut parameters = Parameters::new(
            &self.graph,
            &self.scopes,
            &self.connectors,
            &mut self.components,
        );

        for bound in &self.bound {
            parameters.apply(bound, &mut self.library)?;
        }
        Ok(Structure {
            name: description.name.clone(),
            description: description.description.clone(),
            components: self.components,
            connections,
            experiment: description.experiment,
            run_options: description.run_options.clone(),
            warnings: self.library.warnings.into_sentences(),
        })
    }

    /// Adds a system with all that is in it; returns its scope.
    pub fn system(
        &mut self,
        at: &Located,
        index: usize,
        path: &str,
        place: &Place,
    ) -> Result<usize, SspError> {
        self.enter(at, index, place)?;
        let description = at.description.clone();
        let system = &description.systems[index];
        let scope = self.scope(path, &system.name, &system.connectors);
        self.declare_dictionaries(at, system, path)?;

        for (number, element) in system.elements.iter().enumerate() {
            let member = self.element(at, (index, number), path, element)?;
            if self.scopes[scope]
                .elements
                .insert(element.name.clone(), member)
                .is_some()
            {
                return Err(SspError::Malformed {
                    place: element.place.clone(),
                    element: element.name.clone(),
                    message: "another element of this system has the same name; rename one".into(),
                });
            }
        }

        for connection in &system.connections {
            self.connect(scope, connection)?;
        }

        if !system.bindings.is_empty() {
            self.bind(at, (index, None), Member::System(scope), None);
        }

        self.visible.pop();
        self.stack.pop();
        Ok(scope)
    }

    /// Refuses systems inside themselves.
    fn enter(&mut self, at: &Located, index: usize, place: &Place) -> Result<(), SspError> {
        let key = (at.file.clone(), index);
        if self.stack.contains(&key) {
            let message = format!(
                "the system `{}` contains itself; remove the reference",
                at.description.systems[index].name
            );
            return Err(SspError::nesting(place, message));
        }
        if self.stack.len() >= DEEPEST {
            return Err(too_deep(place));
        }

        self.stack.push(key);
        Ok(())
    }

    /// A system without its content.
    pub fn scope(&mut self, path: &str, name: &str, connectors: &[Connector]) -> usize {
        let mut nodes = HashMap::with_capacity(connectors.len());
        for connector in connectors {
            let node = self
                .graph
                .add(Node::new(owner_of(connector.kind), path, connector));
            if nodes
                .insert(connector.name.clone(), (node, connector.kind))
                .is_some()
            {
                self.warn_twice(connector);
            }
        }

        let scope = Scope {
            path: path.into(),
            name: name.into(),
            connectors: nodes,
            elements: HashMap::new(),
        };
        self.scopes.push(scope);
        self.scopes.len() - 1
    }

    fn warn_twice(&mut self, connector: &Connector) {
        let message = format!(
            "the connector `{}` is declared twice; the later counts",
            connector.name
        );
        self.library.warn(&connector.place, message);
    }

    fn element(
        &mut self,
        at: &Located,
        index: (usize, usize),
        path: &str,
        element: &Element,
    ) -> Result<Member, SspError> {
        self.elements += 1;
        if self.elements > MOST_ELEMENTS {
            let message = format!(
                "there are more than {MOST_ELEMENTS} elements; do packages here contain each other?"
            );
            return Err(SspError::nesting(&element.place, message));
        }

        let path = dotted(path, &element.name);
        match &element.content {
            Content::System(inner) => Ok(Member::System(self.system(
                at,
                *inner,
                &path,
                &element.place,
            )?)),
            Content::Component { .. } => {
                let (member, source) = self.instantiate(at, &path, element)?;
                if !element.bindings.is_empty() {
                    self.bind(at, (index.0, Some(index.1)), member, source);
                }
                Ok(member)
            }
            Content::DictionaryReference(dictionary) => self.reference(&path, element, dictionary),
        }
    }

    fn bind(
        &mut self,
        at: &Located,
        (system, element): (usize, Option<usize>),
        member: Member,
        source: Option<PathBuf>,
    ) {
        self.bound.push(Bound {
            member,
            description: at.description.clone(),
            system,
            element,
            folder: at.folder.clone(),
            source,
        });
    }

    /// Adds a component; its name becomes unique.
    pub fn component(&mut self, mut component: Component) -> usize {
        let index = self.components.len();
        let mut number = 2;
        let wanted = component.name.clone();

        while !self.names.insert(component.name.clone()) {
            component.name = format!("{wanted}_{number}");
            number += 1;
        }

        if component.name != wanted {
            let message = format!(
                "two components are called `{wanted}`; this one is called `{}` here",
                component.name
            );
            self.library.warn(&component.place, message);
        }

        let mut nodes = HashMap::new();
        let mut kinds = HashMap::new();

        for connector in &component.connectors {
            let node = self.graph.add(Node::new(
                Owner::Component(index),
                &component.name,
                connector,
            ));
            kinds.insert(connector.name.clone(), connector.kind);
            if nodes.insert(connector.name.clone(), node).is_some() {
                self.warn_twice(connector);
            }
        }

        self.connectors.push(nodes);
        self.kinds.push(kinds);
        self.components.push(component);

        index
    }
}
