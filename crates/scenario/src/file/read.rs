//! A model file as a model.

use std::ops::Range;
use std::path::Path;

use dovetail_core::Remedy;
use toml::Spanned;

use super::connect::connect;
use super::constants::{self, check_format, constants};
use super::events;
use super::overriding;
use super::pieces;
use super::signals::{self, Signals};
use super::toml_file::{Header, ModelFile};
use crate::catalog::Catalog;
use crate::diagnostic::{BadModel, Problem, SourceText, printable};
use crate::equations::text::KnownModels;
use crate::events::scenario_events::EventsBuilder;
use crate::fmu::store::FmuStore;
use crate::inputs::attach::attach;
use crate::inputs::driving::Driving;
use crate::options::Choices;
use crate::overrides::Overrides;
use crate::scenario::Scenario;
use crate::source::kind::Reading;
use crate::source::part::Part;
use crate::source::table::{KEYS, SystemTable};
use crate::times::possible;

/// Makes a model of the text of a file.
pub(crate) fn scenario(
    source: SourceText,
    changes: &Overrides,
    catalog: &Catalog,
) -> Result<Scenario, BadModel> {
    scenario_with(source, changes, catalog, KnownModels::default())
}

/// The same, where equations may have been compiled already.
pub(crate) fn scenario_with(
    source: SourceText,
    changes: &Overrides,
    catalog: &Catalog,
    compiled: KnownModels,
) -> Result<Scenario, BadModel> {
    let built = read(&source, changes, catalog, compiled);
    built.map_err(|problems| BadModel { source, problems })
}

fn read(
    source: &SourceText,
    changes: &Overrides,
    catalog: &Catalog,
    compiled: KnownModels,
) -> Result<Scenario, Vec<Problem>> {
    let mut file = pieces::parse(source).map_err(|problem| vec![problem])?;
    check_format(&file).map_err(|problem| vec![problem])?;
    check_keys(&file, catalog).map_err(|problem| vec![problem])?;
    let odd = overriding::apply(changes, &mut file, catalog);
    let odd = odd.map_err(|problem| vec![problem])?;
    let signals = prepare(source, &mut file, changes, catalog);
    let signals = signals.map_err(|problem| vec![problem])?;
    let model = ModelTable {
        source,
        file: &file,
        changes,
        catalog,
        signals,
    };

    let mut scenario = model.build(compiled)?;
    scenario.warnings.extend(odd);
    Ok(scenario)
}

/// Writes constants and expressions into the tables of systems; finds what drives inputs.
fn prepare(
    source: &SourceText,
    file: &mut ModelFile,
    changes: &Overrides,
    catalog: &Catalog,
) -> Result<Signals, Problem> {
    let text = &source.text;
    let constants = constants(text, file)?;
    let tables = signals::tables(file, folder(source), changes)?;
    let events = events::events(file, &constants)?;
    for change in events.iter().flat_map(|event| &event.changes) {
        file.change(&change.system, &change.name);
    }
    for column in tables.iter().flat_map(|table| &table.columns) {
        file.change(&column.system, &column.name);
    }
    constants::settle(text, file, &constants, catalog)?;
    let expressions = signals::expressions(text, file, &constants, catalog)?;
    let tuned = signals::tune(file, catalog)?;

    Ok(Signals {
        tables,
        expressions,
        events,
        constants,
        tuned,
    })
}

/// The folder from which files of the model are seen.
fn folder(source: &SourceText) -> &Path {
    let folder = Path::new(&source.path).parent();
    folder.unwrap_or(Path::new(""))
}

/// Keys of systems that no kind of source knows.
fn check_keys(file: &ModelFile, catalog: &Catalog) -> Result<(), Problem> {
    for table in file.systems.values() {
        let table: &SystemTable = table.get_ref();
        let own = catalog.kind_of(table).keys();
        let unknown = |key: &&Spanned<String>| !own.contains(&key.get_ref().as_str());
        if let Some(key) = table.others.keys().find(unknown) {
            let mut known = KEYS.to_vec();
            known.extend(own.iter().filter(|key| !KEYS.contains(key)));
            let name = key.get_ref();
            return Err(Problem::at(key.span(), format!("unknown key `{name}`"))
                .help(format!("the keys here are {}", known.join(", ")))
                .suggest(name, known));
        }
    }
    Ok(())
}

/// A model file on its way to a model.
struct ModelTable<'a> {
    source: &'a SourceText,
    file: &'a ModelFile,
    changes: &'a Overrides,
    catalog: &'a Catalog,
    signals: Signals,
}

fn no_systems() -> Problem {
    let problem = Problem::general("the model has no systems");
    problem.help("add a table such as [systems.prey]")
}

impl ModelTable<'_> {
    /// The name of the model, or else the path of its file.
    fn name(&self) -> String {
        let name = self.file.model.name.as_ref().unwrap_or(&self.source.path);
        name.chars().map(printable).collect()
    }

    fn build(mut self, mut compiled: KnownModels) -> Result<Scenario, Vec<Problem>> {
        let mut problems = Vec::new();
        let times = times(&self.file.model, self.changes);
        let times = times.map_err(|problem| problems.push(problem)).ok();
        let choices = Choices::of_file(self.file);
        let choices = choices.map_err(|problem| problems.push(problem));
        let choices = choices.unwrap_or_default();
        problems.extend(choices.resolve(self.catalog.registry()).err());

        if self.file.systems.is_empty() {
            problems.push(no_systems());
        }

        let (mut parts, mut warnings) = self.parts(times, &mut compiled, &mut problems);
        if parts.len() < self.file.systems.len() {
            return Err(problems); // connections to systems that are not there would only add noise
        }

        let Signals {
            tables,
            expressions,
            events,
            constants,
            tuned,
        } = std::mem::take(&mut self.signals);
        let run = times.unwrap_or((0.0, 1.0));
        let attached = attach(&mut parts, tables, expressions, run, &mut warnings);
        if let Err(wrong) = attached {
            return Err([problems, wrong].concat());
        }

        let mut names: Vec<Range<usize>> = self.file.systems.keys().map(Spanned::span).collect();
        let mut connections = self.file.connections.clone();
        if !events.is_empty() {
            let builder = EventsBuilder {
                text: &self.source.text,
                events: &events,
                constants: &constants,
                run,
                tuned: &tuned,
            };
            if !self.changes.open_inputs {
                warnings.extend(builder.warnings());
            }
            let added = match builder.build(&mut parts) {
                Ok(added) => added,
                Err(wrong) => return Err([problems, wrong].concat()),
            };
            parts.push(added.part);
            names.push(added.place);
            connections.extend(added.connections);
        }
        let connected = match connect(&parts, &names, &connections, self.changes.open_inputs) {
            Ok(connected) => connected,
            Err(wrong) => return Err([problems, wrong].concat()),
        };

        match times {
            Some(times) if problems.is_empty() => {
                let source = self.source.clone();
                let scenario = Scenario::new(source, self.name(), times, parts, connected);
                Ok(Scenario {
                    warnings: [warnings, scenario.warnings].concat(),
                    shared: self.file.shared.clone(),
                    system_places: names,
                    choices,
                    changes: self.changes.clone(),
                    catalog: self.catalog.clone(),
                    compiled,
                    ..scenario
                })
            }
            _ => Err(problems),
        }
    }

    /// The systems that are sound, and what is odd about them.
    fn parts(
        &self,
        times: Option<(f64, f64)>,
        compiled: &mut KnownModels,
        problems: &mut Vec<Problem>,
    ) -> (Vec<Part>, Vec<String>) {
        let mut reading = Reading {
            text: &self.source.text,
            folder: folder(self.source),
            // Without times an FMU is still opened, so that all that is wrong is said at once.
            fmus: FmuStore::new(self.changes, times.unwrap_or((0.0, 1.0))),
            equations: std::mem::take(compiled),
        };
        let mut parts = Vec::new();
        let mut warnings = Vec::new();

        for (name, table) in &self.file.systems {
            let kind = self.catalog.kind_of(table.get_ref());
            match kind.read(name, table.get_ref(), &mut reading) {
                Ok(read) => {
                    warnings.extend(read.warnings);
                    parts.push(Part {
                        source: read.source,
                        mappings: Vec::new(),
                        restrictions: read.restrictions,
                        driving: Driving::default(),
                        overrides: Vec::new(),
                        exposed: Default::default(),
                    });
                }
                Err(wrong) => {
                    let of_system = |problem: Problem| problem.of_system(name.get_ref());
                    problems.extend(wrong.into_iter().map(of_system));
                }
            }
        }
        *compiled = reading.equations;
        (parts, warnings)
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
            .help("add `stop-time = 10.0` to [model]")
            .with([Remedy::StopTime]));
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
