//! `<ModelStructure>`: outputs, derivatives and what they depend on, as positions among the
//! variables.

use std::collections::{HashMap, HashSet};

use super::findings::{DescriptionError, quoted};
use super::xml::Element;
use super::{Causality, Structure, Unknown, ValueType, Variable, Version};

/// From what a file says, an index or a value reference, to a position among the variables.
pub(super) enum Positions {
    /// 2.0 counts variables from 1.
    Indices(usize),
    /// 3.0 names value references, which are unique.
    References(HashMap<u32, usize>),
}

impl Positions {
    pub(super) fn of(version: Version, variables: &[Variable]) -> Self {
        match version {
            Version::One | Version::Two => Self::Indices(variables.len()),
            Version::Three => {
                // Of variables that share a reference against the standard, the first stands for
                // all.
                let pairs = variables
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(at, variable)| (variable.reference, at));
                Self::References(pairs.collect())
            }
        }
    }

    pub(super) fn find(&self, said: u32) -> Option<usize> {
        match self {
            Self::Indices(count) => (said as usize).checked_sub(1).filter(|at| at < count),
            Self::References(map) => map.get(&said).copied(),
        }
    }

    /// The attribute of an unknown that is looked up here.
    fn attribute(&self) -> &'static str {
        match self {
            Self::Indices(_) => "index",
            Self::References(_) => "valueReference",
        }
    }
}

/// Lists of unknowns in 2.0, in the order of [`StructureReader::lists`]; it has no indicators.
const LISTS_OF_TWO: [&str; 3] = ["Outputs", "Derivatives", "InitialUnknowns"];
/// Unknowns in 3.0, in the same order.
const UNKNOWNS_OF_THREE: [&str; 4] = [
    "Output",
    "ContinuousStateDerivative",
    "InitialUnknown",
    "EventIndicator",
];

/// Sorts the unknowns of a list of 2.0 in.
fn lists_of_two<'a>(
    child: Element<'a>,
    lists: &mut [Vec<Element<'a>>; 4],
) -> Result<(), DescriptionError> {
    let Some(place) = LISTS_OF_TWO.iter().position(|name| *name == child.name()) else {
        return check_unlisted(child);
    };
    let unknowns = child.children();
    lists[place].extend(unknowns.filter(|unknown| unknown.name() == "Unknown"));
    Ok(())
}

/// Sorts an unknown of 3.0 in.
fn list_of_three<'a>(
    child: Element<'a>,
    lists: &mut [Vec<Element<'a>>; 4],
) -> Result<(), DescriptionError> {
    let mut names = UNKNOWNS_OF_THREE.iter();
    match names.position(|name| *name == child.name()) {
        Some(place) => lists[place].push(child),
        None => check_unlisted(child)?,
    }
    Ok(())
}

/// What is not listed is known and of no use here, or misplaced.
fn check_unlisted(child: Element<'_>) -> Result<(), DescriptionError> {
    match child.name() {
        "ClockedState" | "DiscreteStates" => Ok(()),
        _ => child.misplaced("ModelStructure"),
    }
}

/// Reads `<ModelStructure>`, and completes what it leaves out.
pub(super) struct StructureReader<'a> {
    pub(super) root: Element<'a>,
    pub(super) variables: &'a [Variable],
    pub(super) positions: &'a Positions,
    /// Without states an FMU for Model Exchange only is of no use, so there we are less lenient.
    pub(super) needs_states: bool,
}

impl<'a> StructureReader<'a> {
    pub(super) fn read(&self) -> Result<Structure, DescriptionError> {
        let mut structure = match self.root.child("ModelStructure") {
            Some(element) => self.listed(element)?,
            None => {
                let taken = "all outputs are assumed to depend on everything";
                self.root.departure(format!(
                    "the file has no <ModelStructure>, which the standard asks for; {taken}"
                ))?;
                Structure::default()
            }
        };
        self.add_outputs(&mut structure)?;
        Ok(structure)
    }

    fn listed(&self, element: Element<'a>) -> Result<Structure, DescriptionError> {
        let [outputs, derivatives, initial, indicators] = self.lists(element)?;
        Ok(Structure {
            outputs: self.unknowns(&outputs, |reader, at| reader.is_output(at))?,
            derivatives: self.unknowns(&derivatives, |reader, at| reader.is_derivative(at))?,
            initial_unknowns: self.listed_variables(&initial)?,
            event_indicators: self.listed_variables(&indicators)?,
            ..Structure::default()
        })
    }

    /// The elements of the four lists of unknowns.
    fn lists(&self, element: Element<'a>) -> Result<[Vec<Element<'a>>; 4], DescriptionError> {
        let mut lists = [const { Vec::new() }; 4];
        for child in element.children() {
            match self.positions {
                Positions::Indices(_) => lists_of_two(child, &mut lists)?,
                Positions::References(_) => list_of_three(child, &mut lists)?,
            }
        }
        Ok(lists)
    }

    fn listed_variables(&self, list: &[Element<'a>]) -> Result<Vec<usize>, DescriptionError> {
        let unknowns = self.unknowns(list, |_, _| Ok(()))?;
        Ok(unknowns
            .into_iter()
            .map(|unknown| unknown.variable)
            .collect())
    }

    /// The unknowns of a list; those that `fits` objects to are passed over with a warning.
    fn unknowns(
        &self,
        list: &[Element<'a>],
        fits: impl Fn(&Self, usize) -> Result<(), Objection>,
    ) -> Result<Vec<Unknown>, DescriptionError> {
        let mut unknowns = Vec::with_capacity(list.len());
        let mut seen = HashSet::new();

        for &element in list {
            element.only(&[&[
                "index",
                "valueReference",
                "dependencies",
                "dependenciesKind",
            ]])?;
            let Some(variable) = self.variable(element)? else {
                continue;
            };
            let name = || quoted(&self.variables[variable].name);
            if let Err(Objection { reason, fatal }) = fits(self, variable) {
                if fatal {
                    return Err(element.invalid(format!("{} {reason}", name())));
                }
                element.departure(format!("{} {reason}; the entry is ignored", name()))?;
            } else if !seen.insert(variable) {
                element.departure(format!("{} is listed twice; the first entry holds", name()))?;
            } else {
                unknowns.push(Unknown {
                    variable,
                    dependencies: self.dependencies(element)?,
                });
            }
        }
        Ok(unknowns)
    }

    fn variable(&self, element: Element<'a>) -> Result<Option<usize>, DescriptionError> {
        let attribute = self.positions.attribute();
        let Some(said) = element.integer(attribute)? else {
            element.departure(format!(
                "an entry of the model structure has no `{attribute}`; it is ignored"
            ))?;
            return Ok(None);
        };
        let found = self.positions.find(said);

        if found.is_none() {
            element.departure(format!(
                "`{attribute}` is `{said}`, which no variable has; the entry is ignored"
            ))?;
        }
        Ok(found)
    }

    /// What an unknown depends on. A list that is not right in all its parts says nothing.
    fn dependencies(&self, element: Element<'a>) -> Result<Option<Vec<usize>>, DescriptionError> {
        let kinds = element
            .text("dependenciesKind")?
            .map(|text| text.split_ascii_whitespace().count());
        let Some(said) = element.references("dependencies")? else {
            if kinds.is_some() {
                element.departure(
                    "`dependenciesKind` stands without `dependencies`; it is ignored".into(),
                )?;
            }
            return Ok(None);
        };

        if kinds.is_some_and(|count| count != said.len()) {
            element.departure(
                "`dependenciesKind` and `dependencies` differ in length; the former is ignored"
                    .into(),
            )?;
        }

        let mut dependencies = Vec::with_capacity(said.len());
        for said in said {
            let Some(found) = self.positions.find(said) else {
                let taken = "all dependencies of the entry are taken as not declared";
                element.departure(format!(
                    "`dependencies` holds `{said}`, which no variable has; {taken}"
                ))?;
                return Ok(None);
            };
            dependencies.push(found);
        }
        Ok(Some(dependencies))
    }

    fn is_output(&self, at: usize) -> Result<(), Objection> {
        match self.variables[at].causality {
            Causality::Output => Ok(()),
            _ => Err(Objection {
                reason: "is listed as an output but its causality is another",
                fatal: false,
            }),
        }
    }

    fn is_derivative(&self, at: usize) -> Result<(), Objection> {
        match self.variables[at].derivative_of {
            Some(_) => Ok(()),
            None => Err(Objection {
                reason: "is listed as a derivative but does not say of which state, by its \
                         attribute `derivative`",
                fatal: self.needs_states,
            }),
        }
    }

    /// Outputs that the structure does not list depend on whatever there is.
    fn add_outputs(&self, structure: &mut Structure) -> Result<(), DescriptionError> {
        let listed: HashSet<usize> = structure
            .outputs
            .iter()
            .map(|unknown| unknown.variable)
            .collect();
        let missing = self.root.child("ModelStructure");

        for (at, variable) in self.variables.iter().enumerate() {
            // Clocks are not computed but tick.
            let output =
                variable.causality == Causality::Output && variable.value_type != ValueType::Clock;
            if !output || listed.contains(&at) {
                continue;
            }
            if let Some(element) = missing {
                let taken = "it is added, and assumed to depend on everything";
                element.departure(format!(
                    "the output {} is not listed in <ModelStructure>; {taken}",
                    quoted(&variable.name)
                ))?;
            }
            structure.outputs.push(Unknown {
                variable: at,
                dependencies: None,
            });
        }
        Ok(())
    }
}

/// Why an entry does not belong in its list.
struct Objection {
    reason: &'static str,
    fatal: bool,
}
