//! Signal dictionaries: entries that all references to them share.

use std::collections::HashMap;

use crate::declarations::Typing;
use crate::error::{Place, SspError, dotted, known};
use crate::flattener::{DictionaryReference, Flattener, Located, Member};
use crate::graph::{Edge, Node, Owner};
use crate::library::Site;
use crate::ssd::{Element, System};
use crate::structure::{Connector, Kind};

impl Flattener<'_> {
    /// Makes the dictionaries of a system known to the references in it.
    pub fn declare_dictionaries(
        &mut self,
        at: &Located,
        system: &System,
        path: &str,
    ) -> Result<(), SspError> {
        let mut named = HashMap::new();
        for dictionary in &system.dictionaries {
            let site = Site {
                folder: &at.folder,
                place: &dictionary.place,
                component: None,
            };
            let entries = self.library.dictionary(&dictionary.content, &site)?;
            let path = dotted(path, &dictionary.name);
            let add = |entry: &Connector| {
                (
                    entry.name.clone(),
                    self.graph.add(Node::new(Owner::OutOf, &path, entry)),
                )
            };
            let nodes = entries.iter().map(add).collect();
            named.insert(dictionary.name.clone(), self.dictionaries.len());
            self.dictionaries.push(nodes);
        }

        self.visible.push(named);
        Ok(())
    }

    /// An element that stands for a dictionary.
    pub fn reference(
        &mut self,
        path: &str,
        element: &Element,
        dictionary: &str,
    ) -> Result<Member, SspError> {
        let found = self
            .visible
            .iter()
            .rev()
            .find_map(|named| named.get(dictionary).copied());
        let dictionary = found.ok_or_else(|| SspError::Unknown {
            place: element.place.clone(),
            what: "signal dictionary",
            name: dictionary.into(),
            owner: "the systems around".into(),
            help: known(
                self.visible
                    .iter()
                    .flat_map(HashMap::keys)
                    .map(String::as_str),
            ),
        })?;
        let connectors = element
            .connectors
            .iter()
            .map(|connector| (connector.name.clone(), connector.clone()))
            .collect();
        let reference = DictionaryReference {
            path: path.into(),
            dictionary,
            connectors,
            nodes: HashMap::new(),
        };
        self.references.push(reference);

        Ok(Member::Dictionary(self.references.len() - 1))
    }

    /// The node of a reference's connector, for values into the dictionary or out of it. It is made
    /// when it is used.
    pub fn reference_node(
        &mut self,
        index: usize,
        name: String,
        is_sink: bool,
        place: &Place,
    ) -> Result<usize, SspError> {
        let reference = &self.references[index];
        if let Some(&node) = reference.nodes.get(&(name.clone(), is_sink)) {
            return Ok(node);
        }

        let dictionary = reference.dictionary;
        let path = reference.path.clone();
        let declared = reference.connectors.get(&name).cloned();
        let connector = declared.unwrap_or_else(|| undeclared(&name, place));
        let node = self.graph.add(Node::new(Owner::OutOf, &path, &connector));
        self.references[index]
            .nodes
            .insert((name.clone(), is_sink), node);
        let entry = self.entry(dictionary, &path, &name, place);
        let (from, to) = if is_sink {
            (node, entry)
        } else {
            (entry, node)
        };
        self.graph.connect(Edge::plain(from, to, place))?;

        Ok(node)
    }

    fn entry(&mut self, dictionary: usize, path: &str, name: &str, place: &Place) -> usize {
        if let Some(&node) = self.dictionaries[dictionary].get(name) {
            return node;
        }

        let message =
            format!("the signal dictionary behind `{path}` has no entry `{name}`; one was assumed");
        self.library.warn(place, message);
        let node = self
            .graph
            .add(Node::new(Owner::OutOf, path, &undeclared(name, place)));
        self.dictionaries[dictionary].insert(name.into(), node);

        node
    }
}

fn undeclared(name: &str, place: &Place) -> Connector {
    Typing::default().into_connector(name, Kind::Inout, place.clone())
}
