//! Reading a model, whatever kind of file it is.

use std::io::Read;
use std::path::Path;

use crate::catalog::Catalog;
use crate::diagnostic::{BadModel, GivenChoice, Problem, SourceText};
use crate::file::read;
use crate::fmu::alone;
use crate::overrides::Overrides;
use crate::parameter_file::{self, FileValue};
use crate::scenario::Scenario;
use crate::structure;

/// A model file larger than this is not one.
const LARGEST_FILE: u64 = 64 << 20;

/// The kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// A model file of ours.
    Toml,
    /// One FMU.
    Fmu,
    /// A system structure: `.ssp`, `.ssd`, or an unpacked folder.
    Structure,
}

impl Scenario {
    /// Reads and checks a model: a TOML file, an FMU, or a system structure (SSP).
    pub fn load(path: &Path, changes: &Overrides) -> Result<Self, BadModel> {
        Self::load_with(path, changes, &Catalog::default())
    }

    /// The same, with what a program adds to the engine's methods and sources.
    pub fn load_with(
        path: &Path,
        changes: &Overrides,
        catalog: &Catalog,
    ) -> Result<Self, BadModel> {
        dovetail_fmi::note_surroundings();
        let given = with_parameters(changes)?;
        let changes = &given.changes;
        let format = format_of(path);
        if changes.interface.is_some() && format != Format::Fmu {
            let message = "an interface is chosen for a single FMU, and this is a model of several";
            let problem = Problem::general(message);
            let help = "write interface = \"model-exchange\" into the table of its system";
            return Err(BadModel::of_file(path, problem.help(help)));
        }

        let read = match format {
            Format::Toml => read::scenario(text_of(path)?, changes, catalog),
            Format::Fmu => alone::scenario(path, changes, catalog),
            Format::Structure => structure::read::scenario(path, changes, catalog),
        };
        given.finish(read)
    }

    /// Checks the text of a model file.
    pub fn parse(source: SourceText, changes: &Overrides) -> Result<Self, BadModel> {
        Self::parse_with(source, changes, &Catalog::default())
    }

    /// The same, with what a program adds to the engine's methods and sources.
    pub fn parse_with(
        source: SourceText,
        changes: &Overrides,
        catalog: &Catalog,
    ) -> Result<Self, BadModel> {
        dovetail_fmi::note_surroundings();
        let given = with_parameters(changes)?;
        let read = read::scenario(source, &given.changes, catalog);
        given.finish(read)
    }
}

/// Changes with what files of parameters say.
struct WithParameters {
    changes: Overrides,
    /// Those of the changed values that files say.
    from_files: Vec<FileValue>,
    warnings: Vec<String>,
}

impl WithParameters {
    /// The model, or what is wrong with it: what a file of parameters is to blame for is said of that file.
    fn finish(self, read: Result<Scenario, BadModel>) -> Result<Scenario, BadModel> {
        let mut scenario = read.map_err(|mut bad| {
            bad.problems
                .iter_mut()
                .for_each(|problem| self.blame(problem));
            bad
        })?;
        scenario.warnings.extend(self.warnings);
        let ineffective = scenario.ineffective_values();
        scenario.warnings.extend(ineffective);
        Ok(scenario)
    }

    fn blame(&self, problem: &mut Problem) {
        let mut values = self.from_files.iter();
        match problem.choice.as_deref() {
            Some(GivenChoice::Value { name, text }) => {
                let given = values.find(|given| given.name == *name && given.text == *text);
                let choice = given.map(|given| GivenChoice::FileValue {
                    name: given.name.clone(),
                    text: given.text.clone(),
                    place: given.place.clone(),
                });
                problem.choice = choice.map(Box::new).or(problem.choice.take());
            }
            // FMUs know no more than the name of a variable.
            None if problem.span.is_none() || problem.message.contains("FMU") => {
                // Names that were probably meant come later.
                let named =
                    values.filter_map(|given| Some((given.place_in(&problem.message)?, given)));
                if let Some((_, given)) = named.min_by_key(|(place, _)| *place) {
                    problem.message = format!("{}: {}", given.place, problem.message);
                }
            }
            _ => {}
        }
    }
}

fn with_parameters(changes: &Overrides) -> Result<WithParameters, BadModel> {
    let mut changes = changes.clone();
    let mut from_files: Vec<FileValue> = Vec::new();
    let mut warnings = Vec::new();
    for file in std::mem::take(&mut changes.parameter_files) {
        let given = parameter_file::read(&file)?;
        from_files.extend(given.values);
        warnings.extend(given.warnings);
    }
    let values = from_files.iter();
    let values = values.map(|given| (given.name.clone(), given.text.clone()));
    changes.values = values.chain(changes.values).collect();
    Ok(WithParameters {
        changes,
        from_files,
        warnings,
    })
}

/// By its ending, and where that says nothing by what is in it.
fn format_of(path: &Path) -> Format {
    let ending = path.extension();
    let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
    let holds = |file: &str| path.is_dir() && path.join(file).is_file();

    match ending.as_deref() {
        Some("fmu") => Format::Fmu,
        Some("ssp" | "ssd") => Format::Structure,
        Some("toml") => Format::Toml,
        _ if holds("modelDescription.xml") => Format::Fmu,
        _ if holds(dovetail_ssp::DEFAULT_SSD) => Format::Structure,
        _ if begins_like_a_zip(path) => Format::Fmu,
        _ => Format::Toml,
    }
}

fn begins_like_a_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"PK\x03\x04"
}

/// The text of a model file.
fn text_of(path: &Path) -> Result<SourceText, BadModel> {
    let refuse = |message: String| BadModel::of_file(path, Problem::general(message));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    // Not all that has a path has an end.
    let read = file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
    read.map_err(|error| refuse(format!("the model cannot be read: {error}")))?;

    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("the file has over {LARGEST_FILE} bytes, far too many for a model");
        return Err(refuse(message));
    }

    let not_text = |_| refuse("the file is not text (UTF-8); a model is a TOML file".to_owned());
    let text = String::from_utf8(bytes).map_err(not_text)?;

    Ok(SourceText {
        path: path.display().to_string(),
        text,
    })
}
