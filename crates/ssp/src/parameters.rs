//! Where the values of parameter sets end up.
//!
//! Bindings are applied from the innermost outwards, and those of one element in their order; a
//! later value replaces an earlier one. So the outer take precedence over the inner, and the later
//! over the earlier, as SSP has it.

use std::collections::HashMap;

use crate::error::{Place, SspError};
use crate::flattener::{Bound, Member, Scope};
use crate::graph::{Graph, Node, Owner};
use crate::library::{Library, Site};
use crate::route::{Leg, Symbol, compile};
use crate::ssm::MappingEntry;
use crate::ssv::SetParameter;
use crate::structure::{Component, Parameter};
use crate::transform::{Map, Route, Step};
use crate::unit::UnitMismatch;
use crate::value::Enumeration;

/// A value with the name it has in the element that it is bound to.
struct Assignment<'a> {
    name: String,
    parameter: &'a SetParameter,
    map: Option<&'a Map>,
    suppress_unit_conversion: bool,
}

pub(crate) struct Parameters<'a> {
    pub graph: &'a Graph,
    pub scopes: &'a [Scope],
    /// Nodes of the connectors of each component.
    pub connectors: &'a [HashMap<String, usize>],
    pub components: &'a mut [Component],
    /// Where a component's parameter of that name is in its list.
    known: Vec<HashMap<String, usize>>,
}

impl<'a> Parameters<'a> {
    pub fn new(
        graph: &'a Graph,
        scopes: &'a [Scope],
        connectors: &'a [HashMap<String, usize>],
        components: &'a mut [Component],
    ) -> Self {
        let known = vec![HashMap::new(); components.len()];
        Self {
            graph,
            scopes,
            connectors,
            components,
            known,
        }
    }

    /// Applies the bindings of one element.
    pub fn apply(&mut self, bound: &Bound, library: &mut Library) -> Result<(), SspError> {
        for binding in bound.bindings() {
            let site = Site {
                folder: &bound.folder,
                place: &binding.place,
                component: bound.source.as_deref(),
            };
            let set = library.set(&binding.values, &site)?;
            let mapping = binding
                .mapping
                .as_ref()
                .map(|mapping| library.mapping(mapping, &site))
                .transpose()?;
            let assignments = match &mapping {
                Some(mapping) => mapped(&set, mapping, &binding.prefix, library),
                None => named(&set, &binding.prefix, library),
            };
            let mut unmatched = Vec::new();
            for assignment in &assignments {
                if !self.assign(bound.member, &assignment.name, assignment, library)? {
                    unmatched.push(assignment.name.as_str());
                }
            }
            report(&unmatched, assignments.len(), &binding.place, library);
        }
        Ok(())
    }

    /// Gives a value to all that `name` can mean; returns whether there is any. Names contain dots,
    /// so that several elements may be meant, and then all of them are.
    fn assign(
        &mut self,
        member: Member,
        name: &str,
        assignment: &Assignment,
        library: &mut Library,
    ) -> Result<bool, SspError> {
        let scope = match member {
            Member::Component(component) => {
                self.assign_variable(component, name, assignment)?;
                return Ok(true);
            }
            Member::Dictionary(_) => return Ok(false),
            Member::System(scope) => &self.scopes[scope],
        };
        let mut found = false;

        if let Some(&(node, _)) = scope.connectors.get(name) {
            self.assign_connector(node, assignment, library)?;
            found = true;
        }

        for (dot, _) in name.match_indices('.') {
            if let Some(&inner) = scope.elements.get(&name[..dot]) {
                found |= self.assign(inner, &name[dot + 1..], assignment, library)?;
            }
        }
        Ok(found)
    }

    fn assign_variable(
        &mut self,
        component: usize,
        name: &str,
        assignment: &Assignment,
    ) -> Result<(), SspError> {
        let owner = Owner::Component(component);
        let leg = match self.connectors[component].get(name) {
            Some(&node) => assignment.leg_to(&self.graph.nodes[node]),
            None => assignment.undeclared_leg(&owner),
        };
        let value = parameter(
            name,
            assignment,
            &[leg],
            &format!("{}.{name}", self.components[component].name),
        )?;
        self.store(component, value);
        Ok(())
    }

    /// A value of a system's connector goes wherever the connector leads.
    fn assign_connector(
        &mut self,
        start: usize,
        assignment: &Assignment,
        library: &mut Library,
    ) -> Result<(), SspError> {
        let graph = self.graph;
        let mut legs = vec![assignment.leg_to(&graph.nodes[start])];
        // Edges still to be followed, and how many legs come before them.
        let mut open: Vec<(usize, usize)> = graph.nodes[start]
            .outgoing
            .iter()
            .map(|&edge| (edge, 1))
            .collect();

        while let Some((index, before)) = open.pop() {
            let edge = &graph.edges[index];
            if edge.has_indices() {
                let message =
                    "the value of a system's connector does not reach single elements of arrays";
                library.warn(&edge.place, message);
                continue;
            }
            legs.truncate(before);
            legs.push(Leg::of(graph, index));
            let target = &graph.nodes[edge.to];
            if let Owner::Component(component) = target.owner {
                let value = parameter(&target.name, assignment, &legs, &target.full_name())?;
                self.store(component, value);
            } else if before <= graph.edges.len() {
                open.extend(target.outgoing.iter().map(|&edge| (edge, before + 1)));
            }
        }
        Ok(())
    }

    fn store(&mut self, component: usize, parameter: Parameter) {
        let parameters = &mut self.components[component].parameters;
        match self.known[component].get(&parameter.name) {
            Some(&index) => parameters[index] = parameter,
            None => {
                self.known[component].insert(parameter.name.clone(), parameters.len());
                parameters.push(parameter);
            }
        }
    }
}

/// The parameter of a component that comes of a value and its way.
fn parameter(
    name: &str,
    assignment: &Assignment,
    legs: &[Leg],
    full_name: &str,
) -> Result<Parameter, SspError> {
    let given = assignment.parameter;
    let start = given.unit.as_ref().map(Symbol::Unit);
    let first: Option<&Enumeration> = legs.first().and_then(|leg| leg.enumeration);
    let route = compile(start, first, legs)
        .map_err(|(_, mismatch)| different_units(given, full_name, mismatch))?;
    let mut parameter = Parameter {
        name: name.into(),
        value: given.value.clone(),
        dimensions: given.dimensions.clone(),
        unit: given.unit.clone(),
        route,
        place: given.place.clone(),
    };

    // Where no unit is left to the variable, the value can be said at once.
    if !converts(&parameter.route) {
        apply_route(&mut parameter, legs.last());
    }
    Ok(parameter)
}

/// Takes a value along its route, to the end of the last leg.
fn apply_route(parameter: &mut Parameter, last: Option<&Leg>) {
    if let Ok(value) = parameter.value_in(None) {
        let target = last.and_then(|leg| leg.enumeration);
        parameter.value = value.numbered_by(target);
    }

    parameter.route = Route::default();
    parameter.unit = last.and_then(|leg| leg.unit).cloned();
}

/// Whether a step of a route converts between units.
fn converts(route: &Route) -> bool {
    let mut steps = route.steps.iter();
    steps.any(|step| matches!(step, Step::Convert { .. }))
}

fn different_units(given: &SetParameter, full_name: &str, mismatch: UnitMismatch) -> SspError {
    let names = [given.name.clone(), full_name.into()];
    SspError::units(&given.place, names, mismatch)
}

impl<'a> Assignment<'a> {
    fn leg_to<'n>(&self, node: &'n Node) -> Leg<'n>
    where
        'a: 'n,
    {
        Leg::to(node, self.map, self.suppress_unit_conversion)
    }

    /// To a variable of a component for which there is no connector.
    fn undeclared_leg<'o>(&self, owner: &'o Owner) -> Leg<'o>
    where
        'a: 'o,
    {
        Leg {
            owner,
            unit: None,
            enumeration: None,
            map: self.map,
            suppress_unit_conversion: self.suppress_unit_conversion,
        }
    }

    fn unmapped(name: String, parameter: &'a SetParameter) -> Self {
        Self {
            name,
            parameter,
            map: None,
            suppress_unit_conversion: false,
        }
    }
}

impl SetParameter {
    fn prefixed(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.name)
    }
}

fn named<'a>(set: &'a [SetParameter], prefix: &str, library: &mut Library) -> Vec<Assignment<'a>> {
    by_name(set, "", library);
    let assignment =
        |parameter: &'a SetParameter| Assignment::unmapped(parameter.prefixed(prefix), parameter);
    set.iter().map(assignment).collect()
}

/// Only what is mapped is applied, and only by the names it is mapped to.
fn mapped<'a>(
    set: &'a [SetParameter],
    mapping: &'a [MappingEntry],
    prefix: &str,
    library: &mut Library,
) -> Vec<Assignment<'a>> {
    let parameters = by_name(set, prefix, library);
    let mut targets: HashMap<&str, &Place> = HashMap::new();
    let mut assignments = Vec::new();

    for entry in mapping {
        // The prefix comes before the mapping; files that forget it there are understood all the
        // same.
        let bare = || parameters.get(format!("{prefix}{}", entry.source).as_str());
        let Some(parameter) = parameters.get(entry.source.as_str()).or_else(bare) else {
            if entry.source.is_empty() {
                continue; // a blank that some tools leave
            }
            let message = format!(
                "the parameter set has no `{}` to map to `{}`",
                entry.source, entry.target
            );
            library.warn(&entry.place, message);
            continue;
        };
        if let Some(other) = targets.insert(&entry.target, &entry.place) {
            let message = format!(
                "`{}` is mapped to at {other} already; the later entry counts",
                entry.target
            );
            library.warn(&entry.place, message);
        }
        assignments.push(Assignment {
            name: entry.target.clone(),
            parameter,
            map: entry.transformation.as_ref(),
            suppress_unit_conversion: entry.suppress_unit_conversion,
        });
    }
    assignments
}

fn by_name<'a>(
    set: &'a [SetParameter],
    prefix: &str,
    library: &mut Library,
) -> HashMap<String, &'a SetParameter> {
    let mut parameters = HashMap::with_capacity(set.len());
    for parameter in set {
        if parameters
            .insert(parameter.prefixed(prefix), parameter)
            .is_some()
        {
            warn_twice(parameter, library);
        }
    }
    parameters
}

fn warn_twice(parameter: &SetParameter, library: &mut Library) {
    let message = format!(
        "the parameter `{}` is given twice in one set; the later counts",
        parameter.name
    );
    library.warn(&parameter.place, message);
}

/// SSP has values ignored that match nothing; a word of it helps those who misspelt one.
fn report(unmatched: &[&str], of: usize, place: &Place, library: &mut Library) {
    if unmatched.is_empty() {
        return;
    }

    let shown = unmatched[..unmatched.len().min(5)].join("`, `");
    let more = if unmatched.len() > 5 { ", …" } else { "" };
    let message = format!(
        "{} of {of} parameter values match nothing and were ignored: `{shown}`{more}",
        unmatched.len()
    );

    library.warn(place, message);
}
