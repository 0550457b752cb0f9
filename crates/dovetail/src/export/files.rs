//! The files of a model, as they travel inside an exported FMU.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dovetail_fmi::archive::Archive;
use dovetail_scenario::{Scenario, Spanned};
use serde::Deserialize;

use super::ExportError;
use super::package::Package;

/// Where they are, seen from the resources.
pub(crate) const MODEL_FOLDER: &str = "dovetail/model";

/// The files of a model.
pub(crate) struct ModelFiles {
    /// The model, seen from the folder.
    pub model: String,
    /// Tables that feed inputs, given beside the model; seen from the folder.
    pub inputs: Vec<PathBuf>,
    text: Option<String>,
    /// Files and folders, with their names in the folder.
    copies: Vec<(String, PathBuf)>,
    /// Archives that stay unpacked until they are written.
    archives: Vec<Archive>,
}

/// The endings of archives that would be unpacked anew, wherever the model is read.
const ARCHIVES: [&str; 2] = ["fmu", "ssp"];

/// What a model file says of other files.
#[derive(Default, Deserialize)]
struct FileReferences {
    #[serde(default)]
    systems: std::collections::BTreeMap<String, SystemReference>,
    #[serde(default)]
    inputs: Vec<InputReference>,
}

#[derive(Deserialize)]
struct SystemReference {
    fmu: Option<Spanned<String>>,
}

#[derive(Deserialize)]
struct InputReference {
    file: Spanned<String>,
}

impl ModelFiles {
    pub fn of(model: &Path, scenario: &Scenario) -> Result<Self, ExportError> {
        let mut files = Self {
            model: String::new(),
            inputs: Vec::new(),
            text: None,
            copies: Vec::new(),
            archives: Vec::new(),
        };
        let source = scenario.source();
        match source.text.is_empty() {
            true => files.take_archive(model)?,
            false => files.take_text(model, &source.text)?,
        }
        for table in &scenario.changes().inputs {
            let name = files.add("tables", table);
            files.inputs.push(PathBuf::from(name));
        }
        Ok(files)
    }

    /// An FMU or a package of a structure: as a folder, so that importers need not unpack it again.
    fn take_archive(&mut self, model: &Path) -> Result<(), ExportError> {
        let wrong = |what: String| ExportError::File {
            path: model.to_owned(),
            what,
        };
        if model
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("ssd"))
        {
            let what = "a structure outside of a package refers to files around it: put it into a package (.ssp) first";
            return Err(wrong(what.to_owned()));
        }
        let archive = Archive::open(model).map_err(|error| wrong(error.to_string()))?;
        let name = self.name_for("model", model);
        let folder = archive.folder().to_owned();
        self.archives.push(archive);
        // What an FMU has among its resources is its own affair.
        let is_package = model
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("ssp"));
        match is_package {
            true => self.take_folder(&name, &folder)?,
            false => self.copies.push((name.clone(), folder)),
        }
        self.model = name;
        Ok(())
    }

    /// A folder, in which archives become folders too.
    fn take_folder(&mut self, name: &str, folder: &Path) -> Result<(), ExportError> {
        let wrong = |path: &Path, what: &dyn std::fmt::Display| ExportError::File {
            path: path.to_owned(),
            what: what.to_string(),
        };
        let entries = std::fs::read_dir(folder).map_err(|error| wrong(folder, &error))?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(|error| wrong(folder, &error))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let own = format!("{name}/{}", entry.file_name().to_string_lossy());
            let ending = path.extension().and_then(|ending| ending.to_str());
            let is_archive = ARCHIVES.iter().any(|known| Some(*known) == ending);
            if path.is_dir() {
                self.take_folder(&own, &path)?;
            } else if is_archive {
                let archive = Archive::open(&path).map_err(|error| wrong(&path, &error))?;
                self.copies.push((own, archive.folder().to_owned()));
                self.archives.push(archive);
            } else {
                self.copies.push((own, path));
            }
        }
        Ok(())
    }

    /// A model file, with its references changed to where the files will be.
    fn take_text(&mut self, model: &Path, text: &str) -> Result<(), ExportError> {
        let wrong = |path: &Path, what: String| ExportError::File {
            path: path.to_owned(),
            what,
        };
        let references: FileReferences =
            toml::from_str(text).map_err(|error| wrong(model, error.to_string()))?;
        let folder = model.parent().unwrap_or(Path::new(""));
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();

        for fmu in references
            .systems
            .values()
            .filter_map(|system| system.fmu.as_ref())
        {
            let path = folder.join(fmu.get_ref());
            let archive = Archive::open(&path).map_err(|error| wrong(&path, error.to_string()))?;
            let unpacked = archive.folder().to_owned();
            self.archives.push(archive);
            let name = self.add_as("fmus", &path, &unpacked);
            changes.push((fmu.span(), name));
        }
        for input in &references.inputs {
            let name = self.add("tables", &folder.join(input.file.get_ref()));
            changes.push((input.file.span(), name));
        }

        changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut moved = text.to_owned();
        for (span, name) in changes {
            moved.replace_range(span, &toml::Value::String(name).to_string());
        }
        self.text = Some(moved);
        self.model = "model.toml".to_owned();
        Ok(())
    }

    fn add(&mut self, folder: &str, file: &Path) -> String {
        self.add_as(folder, file, file)
    }

    /// A file that is kept once, whoever refers to it.
    fn add_as(&mut self, folder: &str, called: &Path, file: &Path) -> String {
        if let Some((name, _)) = self.copies.iter().find(|(_, known)| known == file) {
            return name.clone();
        }
        let name = self.name_for(folder, called);
        self.copies.push((name.clone(), file.to_owned()));
        name
    }

    fn name_for(&self, folder: &str, file: &Path) -> String {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        format!("{folder}/{}-{name}", self.copies.len())
    }

    pub fn write(&self, package: &mut Package) -> Result<(), ExportError> {
        let folder = format!("resources/{MODEL_FOLDER}");
        if let Some(text) = &self.text {
            package.add_text(&format!("{folder}/{}", self.model), text)?;
        }
        for (name, path) in &self.copies {
            let own = format!("{folder}/{name}");
            match path.is_dir() {
                true => package.add_folder(&own, path)?,
                false => package.add_file(&own, path)?,
            }
        }
        Ok(())
    }
}
