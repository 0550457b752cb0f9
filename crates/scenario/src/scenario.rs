//! A model, checked and ready to run.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use dovetail_core::{Connections, Error, Restricted, Restrictions, System, list_names};
use dovetail_equations::{Definition, NativeSystem};

use crate::connect::{Connected, connect};
use crate::diagnostic::{BadModel, Problem, SourceText, printable};
use crate::file::{self, Header, ModelFile};
use crate::options::{Choices, RunOptions};
use crate::overrides::{self, Overrides};
use crate::system::{self, Checked};

/// A model file larger than this is not one.
const LARGEST_FILE: u64 = 64 << 20;

/// A checked model. Systems are made from it afresh for every run.
#[derive(Debug)]
pub struct Scenario {
    /// The model's name, or else that of its file.
    pub name: String,
    /// Start of the run.
    pub start_time: f64,
    /// End of the run.
    pub stop_time: f64,
    /// The systems.
    pub definitions: Vec<Definition>,
    /// Who feeds whom.
    pub connections: Connections,
    /// What looks odd but does not stand in the way.
    pub warnings: Vec<String>,
    restrictions: Vec<Option<Restrictions>>,
    choices: Choices,
    source: SourceText,
    /// Where in the file each input (stacked) is connected.
    places: Vec<Range<usize>>,
}

impl Scenario {
    /// Reads and checks a model file.
    pub fn load(path: &Path, changes: &Overrides) -> Result<Self, BadModel> {
        let shown = path.display().to_string();
        let refuse = |message: String| {
            let source = SourceText { path: shown.clone(), text: String::new() };
            BadModel { source, problems: vec![Problem::general(message)] }
        };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path);
        // Not all that has a path has an end.
        let read = file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        read.map_err(|error| refuse(format!("the model cannot be read: {error}")))?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(refuse(format!("the file has over {LARGEST_FILE} bytes, far too many for a model")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| refuse("the file is not text (UTF-8); a model is a TOML file".to_owned()))?;
        Self::parse(SourceText { path: shown, text }, changes)
    }

    /// Checks the text of a model file.
    pub fn parse(source: SourceText, changes: &Overrides) -> Result<Self, BadModel> {
        let build = || {
            let mut file = file::parse(&source).map_err(|problem| vec![problem])?;
            overrides::apply(changes, &mut file).map_err(|problem| vec![problem])?;
            Self::build(&source, &file, changes)
        };
        build().map_err(|problems| BadModel { source: source.clone(), problems })
    }

    fn build(source: &SourceText, file: &ModelFile, changes: &Overrides) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let times = times(&file.model, changes).map_err(|problem| problems.push(problem)).unwrap_or_default();
        let choices = Choices::of_file(file).map_err(|problem| problems.push(problem)).unwrap_or_default();
        if let Err(problem) = choices.resolve() {
            problems.push(problem);
        }
        if file.systems.is_empty() {
            problems.push(Problem::general("the model has no systems").help("add a table such as [systems.prey]"));
        }
        let mut checked = Vec::new();
        for (name, table) in &file.systems {
            match system::check(&source.text, name, table.get_ref()) {
                Ok(system) => checked.push(system),
                Err(wrong) => problems.extend(wrong),
            }
        }
        if checked.len() < file.systems.len() {
            return Err(problems); // connections to systems that are not there would only add noise
        }
        let interfaces = checked.iter().map(|c| c.definition.interface()).collect();
        let names: Vec<Range<usize>> = file.systems.keys().map(toml::Spanned::span).collect();
        match connect(interfaces, &names, &file.connections) {
            Ok(connected) if problems.is_empty() => {
                Ok(Self::assemble(source, file, times, choices, checked, connected))
            }
            Ok(_) => Err(problems),
            Err(wrong) => Err([problems, wrong].concat()),
        }
    }

    fn assemble(
        source: &SourceText,
        file: &ModelFile,
        (start_time, stop_time): (f64, f64),
        choices: Choices,
        checked: Vec<Checked>,
        connected: Connected,
    ) -> Self {
        let warnings = checked.iter().flat_map(|c| c.warnings.clone()).collect();
        let (definitions, restrictions) = checked.into_iter().map(|c| (c.definition, c.restrictions)).unzip();
        Self {
            name: file.model.name.as_ref().unwrap_or(&source.path).chars().map(printable).collect(),
            start_time,
            stop_time,
            definitions,
            connections: connected.connections,
            warnings,
            restrictions,
            choices,
            source: source.clone(),
            places: connected.places,
        }
    }

    /// The options of a run: those of the file, and over them those of the command line.
    pub fn options(&self, command_line: &Choices) -> Result<RunOptions, BadModel> {
        self.choices.clone().overridden_by(command_line).resolve().map_err(|problem| self.bad(problem))
    }

    /// The systems, at their start values.
    pub fn systems(&self, options: &RunOptions) -> Vec<Box<dyn System>> {
        let tolerance = options.integrator_tolerance;
        let defined = self.definitions.iter().map(|d| NativeSystem::new(&Definition { tolerance, ..d.clone() }));
        defined
            .zip(&self.restrictions)
            .map(|(system, restrictions)| match restrictions {
                Some(restrictions) => Box::new(Restricted::new(system, *restrictions)) as Box<dyn System>,
                None => Box::new(system),
            })
            .collect()
    }

    /// An error of a model's start as a problem of its file, where it is one: a loop without a solution.
    pub fn blame(&self, error: &Error) -> BadModel {
        let variables = match error {
            Error::SingularLoop { variables, .. } | Error::UnsolvedLoop { variables, .. } => variables.as_slice(),
            _ => &[],
        };
        let on_the_loop = |output: usize| variables.contains(&self.connections.output_name(output));
        let place = self.connections.sources().iter().zip(&self.places).find_map(|(source, place)| match source {
            dovetail_core::Source::Output(output) if on_the_loop(*output) => Some(place.clone()),
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
        let names = |members: &Vec<usize>| members.iter().map(|&o| self.connections.output_name(o)).collect::<Vec<_>>();
        loops.iter().map(|members| list_names(&names(members))).collect()
    }

    pub(crate) fn bad(&self, problem: Problem) -> BadModel {
        BadModel { source: self.source.clone(), problems: vec![problem] }
    }
}

/// Start and end of the run, from the command line or else from the file.
fn times(header: &Header, changes: &Overrides) -> Result<(f64, f64), Problem> {
    let start = changes.start_time.or(header.start_time.as_ref().map(|t| *t.get_ref())).unwrap_or(0.0);
    let Some(stop) = changes.stop_time.or(header.stop_time.as_ref().map(|t| *t.get_ref())) else {
        return Err(Problem::general("the model does not say when to stop")
            .help("add `stop-time = 10.0` to [model], or give --stop-time"));
    };
    let place = header.stop_time.as_ref().filter(|_| changes.stop_time.is_none()).map(toml::Spanned::span);
    if start.is_finite() && stop.is_finite() && start < stop {
        return Ok((start, stop));
    }
    let message = format!("a run from {start} to {stop} is not possible: the stop time must come after the start time");
    Err(Problem { span: place, ..Problem::general(message) })
}
