//! `dovetail new`: a folder with a model that runs, to start from.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::failure::Failure;
use crate::{output, schema};

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The folder to create; its last part names the model
    pub name: PathBuf,

    /// What to start from
    #[arg(long, value_name = "TEMPLATE", default_value = "equations")]
    pub template: Template,
}

/// What a new model can start from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Template {
    /// A motor and its load, both given by equations
    Equations,
    /// Two systems to be replaced by FMUs
    Fmu,
    /// A controller and its plant, with a reference and a disturbance over time
    Controller,
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Self::Equations => include_str!("../templates/equations.toml"),
            Self::Fmu => include_str!("../templates/fmu.toml"),
            Self::Controller => include_str!("../templates/controller.toml"),
        }
    }
}

/// What stands in a template for the name of the model, quotes included.
const NAME: &str = "name = NAME\n";

pub(crate) fn new(arguments: &NewArguments) -> Result<(), Failure> {
    let folder = &arguments.name;
    let path = folder.join("model.toml");
    let text = named(arguments.template.text(), folder)?;

    fs::create_dir_all(output::from_home(folder))
        .map_err(|error| Failure::cannot_write(folder, error))?;
    write_new(&path, &text)?;
    write_schema(folder)?;

    let path = path.display();
    output::print(&format!(
        "Created {path}.\n\nNext:\n  dovetail check {path}\n  dovetail run {path}\n"
    ))
}

fn named(template: &str, folder: &Path) -> Result<String, Failure> {
    let Some(name) = folder.file_name() else {
        return Err(Failure::misuse(format!(
            "{} has no name of its own: give the name of a folder to create",
            folder.display()
        )));
    };
    // JSON quotes a text as TOML does.
    let quoted = Value::from(name.to_string_lossy()).to_string();
    Ok(template.replace(NAME, &format!("name = {quoted}\n")))
}

/// The schema that the first line of the templates names: editors complete and check the model with it.
fn write_schema(folder: &Path) -> Result<(), Failure> {
    let path = folder.join("dovetail.schema.json");
    fs::write(output::from_home(&path), schema::text())
        .map_err(|error| Failure::cannot_write(&path, error))
}

/// Writes a file that is not there yet: somebody's model is never replaced.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(output::from_home(path));
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::misuse(format!(
            "{} is there already and is not replaced: choose another name",
            path.display()
        )),
        _ => Failure::cannot_write(path, error),
    })
}
