//! A model, checked and ready to run.

use std::ops::Range;
use std::path::Path;

use dovetail_core::{Connections, Notice, Source, list_names};
use dovetail_equations::Definition;
use dovetail_fmi::{PreparedFmu, ProbeResult};

use crate::catalog::Catalog;
use crate::connected::Connected;
use crate::diagnostic::{BadModel, Problem, SourceText};
use crate::equations::text::KnownModels;
use crate::inputs::driving::Driving;
use crate::inputs::outside::open;
use crate::options::{Choices, RunOptions};
use crate::overrides::Overrides;
use crate::shared_constant::SharedConstant;
use crate::source::part::Part;
use crate::source::system_source::KnownEquations;
use crate::source::value::Bounds;

/// The equations of a system are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{system}` {what}")]
pub struct NoEquations {
    /// The system.
    pub system: String,
    /// Why.
    pub what: &'static str,
}

impl NoEquations {
    pub(crate) fn of(part: &Part) -> Self {
        let what = match part.source.fmu() {
            Some(_) => "is an FMU, and its equations are not known",
            None if !part.driving.is_empty() => {
                "is driven by a table, for which there are no equations"
            }
            None if !part.overrides.is_empty() => {
                "has variables that events override, for which there are no equations"
            }
            None if !part.mappings.is_empty() => {
                "has inputs whose units are converted, for which there are no equations"
            }
            None if part.source.equations().is_some() => {
                "has inputs that are left to whoever runs the model"
            }
            None => "is a system of another kind, and its equations are not known",
        };
        let system = part.name().to_owned();
        Self { system, what }
    }
}

/// A checked model. Systems are made from it afresh for every run.
#[derive(Debug)]
pub struct Scenario {
    /// The model's name, or else that of its file.
    pub name: String,
    /// Start of the run.
    pub start_time: f64,
    /// End of the run.
    pub stop_time: f64,
    /// Who feeds whom.
    pub connections: Connections,
    /// What looks odd but does not stand in the way.
    pub warnings: Vec<String>,
    /// Inputs (stacked) that may be anything within bounds at every instant; a run takes the middle.
    pub(crate) disturbances: Vec<(usize, Bounds)>,
    /// Constants that are boxes, and the systems that have them as parameters: one unknown.
    pub(crate) shared: Vec<SharedConstant>,
    pub(crate) parts: Vec<Part>,
    /// For each system the states that it starts from, where these are not its own start values.
    pub(crate) start_states: Option<Vec<Vec<f64>>>,
    /// The step that the model itself proposes.
    pub(crate) proposed_step: Option<f64>,
    pub(crate) choices: Choices,
    pub(crate) source: SourceText,
    /// Where in the file each input (stacked) is connected; empty where there is no text to point at.
    pub(crate) places: Vec<Range<usize>>,
    /// Where in the file each system is named; likewise.
    pub(crate) system_places: Vec<Range<usize>>,
    /// What was changed when the model was read.
    pub(crate) changes: Overrides,
    /// The methods, solvers and sources there are.
    pub(crate) catalog: Catalog,
    /// Its equations, for whoever reads it again with other values.
    pub(crate) compiled: KnownModels,
}

impl Scenario {
    /// A model of these systems, with what is in front of their inputs. Its options are the defaults.
    pub(crate) fn new(
        source: SourceText,
        name: String,
        (start_time, stop_time): (f64, f64),
        mut parts: Vec<Part>,
        connected: Connected,
    ) -> Self {
        for (part, mappings) in parts.iter_mut().zip(connected.mappings) {
            part.mappings = mappings;
        }
        let opened = open(connected.connections, connected.places, &connected.open);
        for (part, exposed) in parts.iter_mut().zip(opened.of_systems) {
            part.exposed = exposed;
        }
        Self {
            name,
            start_time,
            stop_time,
            connections: opened.connections,
            warnings: connected.warnings,
            disturbances: connected.disturbances,
            shared: Vec::new(),
            parts,
            start_states: None,
            proposed_step: None,
            choices: Choices::default(),
            source,
            places: opened.places,
            system_places: Vec::new(),
            changes: Overrides::default(),
            catalog: Catalog::default(),
            compiled: KnownModels::default(),
        }
    }

    /// The equations of all systems, or the first system that has none.
    pub fn definitions(&self) -> Result<Vec<Definition>, NoEquations> {
        let all = self.equations()?;
        let mut all: Vec<Definition> = all.iter().map(|known| known.definition.clone()).collect();
        for (definition, states) in all.iter_mut().zip(self.start_states.iter().flatten()) {
            definition.states.clone_from(states);
        }
        Ok(all)
    }

    /// The equations of one system, where it has any.
    pub fn definition(&self, system: usize) -> Option<&Definition> {
        let known = self.parts.get(system)?.source.equations()?;
        Some(known.definition)
    }

    /// The equations of all systems with their boxes, or the first system that has none.
    pub(crate) fn equations(&self) -> Result<Vec<KnownEquations<'_>>, NoEquations> {
        let known = |part: &'_ Part| part.is_as_its_equations();
        if let Some(part) = self.parts.iter().find(|part| !known(part)) {
            return Err(NoEquations::of(part));
        }

        let parts = self.parts.iter();
        Ok(parts.filter_map(|part| part.source.equations()).collect())
    }

    /// The options of a run: those of the file, and over them these.
    pub fn options(&self, given: &Choices) -> Result<RunOptions, BadModel> {
        self.choices
            .clone()
            .overridden_by(given)
            .resolve(self.catalog.registry())
            .map_err(|problem| self.bad(problem))
    }

    /// What was changed in the model when it was read.
    pub fn changes(&self) -> &Overrides {
        &self.changes
    }

    /// The text of the model file and its path; the text is empty where the model is an FMU or a structure.
    pub fn source(&self) -> &SourceText {
        &self.source
    }

    /// The FMUs among the systems, with the names of their systems.
    pub fn units(&self) -> Vec<(&str, &PreparedFmu)> {
        self.parts
            .iter()
            .filter_map(|part| Some((part.name(), part.source.fmu()?)))
            .collect()
    }

    /// The files of the tables that drive inputs.
    pub fn input_tables(&self) -> Vec<&Path> {
        let drivings = self.parts.iter().map(|part| &part.driving);
        drivings.flat_map(Driving::tables).collect()
    }

    /// What was found of the FMUs, in their order.
    pub fn known_of_fmus(&self) -> Vec<ProbeResult> {
        let units = self.units();
        units
            .iter()
            .map(|(_, prepared)| prepared.knowledge())
            .collect()
    }

    /// Whether the model has a system of which only one instance may be made in a process, one run after the other included.
    pub fn has_single_instances(&self) -> bool {
        let single = |part: &Part| part.source.single_instance().is_some();
        self.parts.iter().any(single)
    }

    /// A system whose equations jump where nothing announces it, if there is one.
    pub fn jumping(&self) -> Option<&str> {
        self.with_equations(|definition| definition.model.jumps())
    }

    /// A system whose equations have corners, if there is one.
    pub fn bending(&self) -> Option<&str> {
        self.with_equations(|definition| definition.model.bends())
    }

    /// A system whose equations are so.
    fn with_equations(&self, so: impl Fn(&Definition) -> bool) -> Option<&str> {
        let is_so = |part: &&Part| {
            let known = part.source.equations();
            known.is_some_and(|known| so(known.definition))
        };
        self.parts.iter().find(is_so).map(Part::name)
    }

    /// Whether any system feeds another, or itself.
    pub(crate) fn is_coupled(&self) -> bool {
        let fed = |source: &Source| matches!(source, Source::Output(_));
        self.connections.sources().iter().any(fed)
    }

    /// Patterns of variables as they are meant: where the model is a single FMU its variables may be named without its name.
    pub fn patterns(&self, given: &[String]) -> Vec<String> {
        let ([part], true) = (&self.parts[..], self.source.text.is_empty()) else {
            return given.to_vec();
        };
        let name = part.name();
        let qualified = |pattern: &String| match pattern
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
        {
            false if !pattern.contains(['*', '$']) => format!("{name}.{pattern}"),
            _ => pattern.clone(),
        };

        given.iter().map(qualified).collect()
    }

    /// The loops through feedthrough, each as a list of names.
    pub fn algebraic_loops(&self) -> Vec<String> {
        let loops = dovetail_methods::algebraic_loops(&self.connections);
        loops
            .iter()
            .map(|members| list_names(&self.output_names(members)))
            .collect()
    }

    fn output_names(&self, outputs: &[usize]) -> Vec<String> {
        let outputs = outputs.iter();
        outputs.map(|&o| self.connections.output_name(o)).collect()
    }

    /// A refusal of what was asked of the model.
    pub fn refuse(&self, why: Notice) -> BadModel {
        self.bad(Problem::general(why.text).with(why.remedies))
    }

    pub(crate) fn bad(&self, problem: Problem) -> BadModel {
        BadModel {
            source: self.source.clone(),
            problems: vec![problem],
        }
    }
}
