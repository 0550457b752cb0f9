//! A model, checked and ready to run.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use dovetail_core::{Connections, Error, list_names};
use dovetail_equations::Definition;
use dovetail_fmi::Prepared;
use dovetail_methods::Registry;

use crate::connect::{Connected, connect};
use crate::diagnostic::{BadModel, Problem, SourceText, printable};
use crate::file::{self, Header, ModelFile};
use crate::load::{self, Format};
use crate::options::{Choices, RunOptions};
use crate::overrides::{self, Overrides};
use crate::part::{Part, PartModel};
use crate::registry::registry;
use crate::shelf::Shelf;
use crate::systems::only_once;
use crate::{structure, system, unit, unit_alone};

/// A model file larger than this is not one.
const LARGEST_FILE: u64 = 64 << 20;

/// A system has no equations, because it is an FMU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{system}` is an FMU, and its equations are not known")]
pub struct NoEquations {
    /// The system.
    pub system: String,
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
    pub(crate) parts: Vec<Part>,
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
    /// The methods and solvers there are.
    pub(crate) registry: Registry,
}

impl Scenario {
    /// Reads and checks a model: a TOML file, an FMU, or a system structure (SSP).
    pub fn load(path: &Path, changes: &Overrides) -> Result<Self, BadModel> {
        let format = load::format_of(path);
        if changes.interface.is_some() && format != Format::Unit {
            let problem =
                Problem::general("--interface is for a single FMU, and this is a model of several");
            let help = "write interface = \"model-exchange\" into the table of its system";
            return Err(BadModel::of_file(path, problem.help(help)));
        }
        match format {
            Format::Toml => Self::load_text(path, changes),
            Format::Unit => unit_alone::scenario(path, changes),
            Format::Structure => structure::scenario(path, changes),
        }
    }

    fn load_text(path: &Path, changes: &Overrides) -> Result<Self, BadModel> {
        let refuse = |message: String| BadModel::of_file(path, Problem::general(message));
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path);
        // Not all that has a path has an end.
        let read = file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        read.map_err(|error| refuse(format!("the model cannot be read: {error}")))?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(refuse(format!(
                "the file has over {LARGEST_FILE} bytes, far too many for a model"
            )));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            refuse("the file is not text (UTF-8); a model is a TOML file".to_owned())
        })?;
        Self::parse(
            SourceText {
                path: path.display().to_string(),
                text,
            },
            changes,
        )
    }

    /// Checks the text of a model file.
    pub fn parse(source: SourceText, changes: &Overrides) -> Result<Self, BadModel> {
        let build = || {
            let mut file = file::parse(&source).map_err(|problem| vec![problem])?;
            overrides::apply(changes, &mut file).map_err(|problem| vec![problem])?;
            Self::build(&source, &file, changes)
        };
        build().map_err(|problems| BadModel {
            source: source.clone(),
            problems,
        })
    }

    fn build(
        source: &SourceText,
        file: &ModelFile,
        changes: &Overrides,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let times = times(&file.model, changes)
            .map_err(|problem| problems.push(problem))
            .ok();
        let choices = Choices::of_file(file)
            .map_err(|problem| problems.push(problem))
            .unwrap_or_default();
        if let Err(problem) = choices.resolve(&registry()) {
            problems.push(problem);
        }
        if file.systems.is_empty() {
            problems.push(
                Problem::general("the model has no systems")
                    .help("add a table such as [systems.prey]"),
            );
        }
        let (parts, warnings) = Self::parts(source, file, times, changes, &mut problems);
        if parts.len() < file.systems.len() {
            return Err(problems); // connections to systems that are not there would only add noise
        }
        let names: Vec<Range<usize>> = file.systems.keys().map(toml::Spanned::span).collect();
        match (connect(&parts, &names, &file.connections), times) {
            (Ok(connected), Some(times)) if problems.is_empty() => {
                let scenario =
                    Self::assemble(source, file, times, choices, (parts, warnings), connected);
                Ok(Self {
                    system_places: names,
                    changes: changes.clone(),
                    ..scenario
                })
            }
            (Ok(_), _) => Err(problems),
            (Err(wrong), _) => Err([problems, wrong].concat()),
        }
    }

    /// The systems that are sound, and what is odd about them.
    fn parts(
        source: &SourceText,
        file: &ModelFile,
        times: Option<(f64, f64)>,
        changes: &Overrides,
        problems: &mut Vec<Problem>,
    ) -> (Vec<Part>, Vec<String>) {
        let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
        // Without times an FMU is still opened, so that all that is wrong is said at once.
        let mut shelf = Shelf::new(changes, times.unwrap_or((0.0, 1.0)));
        let (mut parts, mut warnings) = (Vec::new(), Vec::new());
        for (name, table) in &file.systems {
            let checked = match &table.get_ref().fmu {
                None => system::check(&source.text, name, table.get_ref()),
                Some(_) => unit::check(folder, name, table.get_ref(), &mut shelf),
            };
            match checked {
                Ok((part, odd)) => {
                    parts.push(part);
                    warnings.extend(odd);
                }
                Err(wrong) => problems.extend(wrong),
            }
        }
        (parts, warnings)
    }

    fn assemble(
        source: &SourceText,
        file: &ModelFile,
        (start_time, stop_time): (f64, f64),
        choices: Choices,
        (mut parts, mut warnings): (Vec<Part>, Vec<String>),
        connected: Connected,
    ) -> Self {
        warnings.extend(connected.warnings);
        parts
            .iter_mut()
            .zip(connected.mappings)
            .for_each(|(part, mappings)| part.mappings = mappings);
        Self {
            name: file
                .model
                .name
                .as_ref()
                .unwrap_or(&source.path)
                .chars()
                .map(printable)
                .collect(),
            start_time,
            stop_time,
            connections: connected.connections,
            warnings,
            parts,
            proposed_step: None,
            choices,
            source: source.clone(),
            places: connected.places,
            system_places: Vec::new(),
            changes: Overrides::default(),
            registry: registry(),
        }
    }

    /// The equations of all systems, or the first system that has none.
    pub fn definitions(&self) -> Result<Vec<Definition>, NoEquations> {
        let definition = |part: &Part| match &part.model {
            PartModel::Equations { definition, .. } => Ok(definition.clone()),
            PartModel::Unit { name, .. } => Err(NoEquations {
                system: name.clone(),
            }),
        };
        self.parts.iter().map(definition).collect()
    }

    /// The options of a run: those of the file, and over them those of the command line.
    pub fn options(&self, command_line: &Choices) -> Result<RunOptions, BadModel> {
        self.choices
            .clone()
            .overridden_by(command_line)
            .resolve(&self.registry)
            .map_err(|problem| self.bad(problem))
    }

    /// The FMUs among the systems, with the names of their systems.
    pub fn units(&self) -> Vec<(&str, &Prepared)> {
        self.parts
            .iter()
            .filter_map(|part| Some((part.name(), part.unit()?.as_ref())))
            .collect()
    }

    /// Whether the model has several systems of an FMU of which only one can live in a process.
    pub fn needs_processes(&self) -> bool {
        !only_once(self).is_empty()
    }

    /// Whether the model has an FMU of which only one instance may be made in a process, one run after the other included.
    pub fn has_single_units(&self) -> bool {
        self.units()
            .iter()
            .any(|(_, prepared)| prepared.only_once())
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

    /// An error of a model's start as a problem of its file, where it is one: a loop without a solution.
    pub fn blame(&self, error: &Error) -> BadModel {
        let variables = match error {
            Error::SingularLoop { variables, .. } | Error::UnsolvedLoop { variables, .. } => {
                variables.as_slice()
            }
            _ => &[],
        };
        let on_the_loop = |output: usize| variables.contains(&self.connections.output_name(output));
        let place = self
            .connections
            .sources()
            .iter()
            .zip(&self.places)
            .find_map(|(source, place)| match source {
                dovetail_core::Source::Output(output) if on_the_loop(*output) => {
                    Some(place.clone())
                }
                _ => None,
            });
        self.bad(match place {
            Some(place) => Problem::at(place, error.to_string()),
            None => Problem::general(error.to_string()),
        })
    }

    /// The loops through feedthrough, each as a list of names.
    pub fn algebraic_loops(&self) -> Vec<String> {
        let loops = dovetail_methods::algebraic_loops(&self.connections);
        let names = |members: &Vec<usize>| {
            members
                .iter()
                .map(|&o| self.connections.output_name(o))
                .collect::<Vec<_>>()
        };
        loops
            .iter()
            .map(|members| list_names(&names(members)))
            .collect()
    }

    pub(crate) fn bad(&self, problem: Problem) -> BadModel {
        BadModel {
            source: self.source.clone(),
            problems: vec![problem],
        }
    }
}

/// Start and end of the run, from the command line or else from the file.
fn times(header: &Header, changes: &Overrides) -> Result<(f64, f64), Problem> {
    let start = changes
        .start_time
        .or(header.start_time.as_ref().map(|t| *t.get_ref()))
        .unwrap_or(0.0);
    let Some(stop) = changes
        .stop_time
        .or(header.stop_time.as_ref().map(|t| *t.get_ref()))
    else {
        return Err(Problem::general("the model does not say when to stop")
            .help("add `stop-time = 10.0` to [model], or give --stop-time"));
    };
    let place = header
        .stop_time
        .as_ref()
        .filter(|_| changes.stop_time.is_none())
        .map(toml::Spanned::span);
    possible(start, stop).map_err(|problem| Problem {
        span: place,
        ..problem
    })
}

/// A run needs times in their order.
pub(crate) fn possible(start: f64, stop: f64) -> Result<(f64, f64), Problem> {
    if start.is_finite() && stop.is_finite() && start < stop {
        return Ok((start, stop));
    }
    let message = format!(
        "a run from {start} to {stop} is not possible: the stop time must come after the start time"
    );
    Err(Problem::general(message))
}
