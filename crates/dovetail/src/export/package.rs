//! The archive that is written.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{ExportError, FmiVersion};

/// An archive on its way to a file, which it replaces when it is whole.
pub(crate) struct Package {
    writer: ZipWriter<BufWriter<File>>,
    unfinished: PathBuf,
    path: PathBuf,
}

impl Package {
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished).map_err(|error| wrong(path, error))?;
        Ok(Self {
            writer: ZipWriter::new(BufWriter::new(file)),
            unfinished,
            path: path.to_owned(),
        })
    }

    fn options() -> SimpleFileOptions {
        SimpleFileOptions::default()
    }

    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let started = self.writer.start_file(name, Self::options());
        started.map_err(|error| wrong(&self.path, error))?;
        self.writer
            .write_all(bytes)
            .map_err(|error| wrong(&self.path, error))
    }

    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), ExportError> {
        self.add_bytes(name, text.as_bytes())
    }

    pub fn add_file(&mut self, name: &str, file: &Path) -> Result<(), ExportError> {
        let mut source = File::open(file).map_err(|error| wrong(file, error))?;
        let options = Self::options().large_file(false).unix_permissions(0o755);
        let started = self.writer.start_file(name, options);
        started.map_err(|error| wrong(&self.path, error))?;
        std::io::copy(&mut source, &mut self.writer).map_err(|error| wrong(file, error))?;
        Ok(())
    }

    /// All files in a folder, in the order of their names.
    pub fn add_folder(&mut self, name: &str, folder: &Path) -> Result<(), ExportError> {
        let entries = std::fs::read_dir(folder).map_err(|error| wrong(folder, error))?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(|error| wrong(folder, error))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let own = format!("{name}/{}", entry.file_name().to_string_lossy());
            match path.is_dir() {
                true => self.add_folder(&own, &path)?,
                false => self.add_file(&own, &path)?,
            }
        }
        Ok(())
    }

    /// The engine, where importers of this machine look for it.
    pub fn add_library(
        &mut self,
        library: &Path,
        identifier: &str,
        version: FmiVersion,
    ) -> Result<(), ExportError> {
        let platform = match (version, std::env::consts::ARCH) {
            (FmiVersion::Two, "x86_64") => "linux64".to_owned(),
            (_, architecture) => format!("{architecture}-linux"),
        };
        self.add_file(&format!("binaries/{platform}/{identifier}.so"), library)
    }

    pub fn finish(self) -> Result<(), ExportError> {
        let Self {
            writer,
            unfinished,
            path,
        } = self;
        let written = writer.finish().map_err(|error| wrong(&path, error))?;
        let file = written.into_inner().map_err(|error| wrong(&path, error))?;
        drop(file);
        std::fs::rename(&unfinished, &path).map_err(|error| wrong(&path, error))
    }
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> ExportError {
    ExportError::File {
        path: path.to_owned(),
        what: error.to_string(),
    }
}
